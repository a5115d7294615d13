// globmatch(text, pattern): a loop that is called back and keeps its place in both. Where they differ, it
// goes back to the last `*` and lets that stand for one character more; an earlier one need never be tried
// again.
//
// A class such as [a-z] is read member by member, a turn each. One that is never closed stands for its first
// character.
#include "ir/lowering.h"

namespace ir {

using namespace lang;

namespace {

// Words of the loop's state.
enum Word : uint32_t { in_text, in_pattern, star_text, star_pattern, class_mode, class_start, words };

// Bits of class_mode; 0 outside of classes.
enum Mode : int64_t { inside_class = 1, is_negated = 2, is_hit = 4, is_first = 8 };

} // namespace

struct Lowering::Glob {
  Text text, pattern;
  uint32_t state;
  bool has_classes;          // or may have
  Operand character, wanted; // of this turn
  BlockId differ, stop;
};

Place Lowering::glob_word(const Glob& g, uint32_t word) {
  return {Space::script, object(g.state), 8 * static_cast<int64_t>(word)};
}

Operand Lowering::glob_get(const Glob& g, uint32_t word) {
  return emit(Op::blur, load_word(glob_word(g, word), 8, false));
}

// What a verifier knows of a word it would carry from turn to turn, with all that it knows of the others.
void Lowering::glob_put(const Glob& g, uint32_t word, Operand value) {
  store(glob_word(g, word), emit(Op::blur, value), 8);
}

// Goes on with the next character of the text and a later one of the pattern.
void Lowering::glob_advance(const Glob& g, int64_t pattern_step) {
  glob_put(g, in_text, emit(Op::add, glob_get(g, in_text), number(1)));
  glob_put(g, in_pattern, emit(Op::add, glob_get(g, in_pattern), number(pattern_step)));
  if (g.has_classes) glob_put(g, class_mode, number(0));
  give_back(number(0));
}

// A turn outside of a class.
void Lowering::glob_plain_turn(const Glob& g, const Place& result) {
  auto test = [&](Operand a, Operand b) {
    BlockId yes = new_block(), no = new_block();
    branch(Cond::eq, a, b, yes, no);
    start(no);
    return yes;
  };
  BlockId star = test(g.wanted, number('*'));
  BlockId end = test(g.wanted, number(0));
  BlockId text_end = test(g.character, number(0));
  BlockId any = test(g.wanted, number('?'));
  BlockId open = g.has_classes ? test(g.wanted, number('[')) : no_block;
  BlockId same = test(g.wanted, g.character);
  jump(g.differ);
  start(any);
  jump(same);
  start(same);
  glob_advance(g, 1);
  start(text_end);
  jump(g.stop);
  start(end);
  BlockId match = new_block();
  branch(Cond::eq, g.character, number(0), match, g.differ);
  start(match);
  store(result, number(1), 8);
  jump(g.stop);
  start(star);
  Operand behind = emit(Op::add, glob_get(g, in_pattern), number(1));
  glob_put(g, star_text, glob_get(g, in_text));
  glob_put(g, star_pattern, behind);
  glob_put(g, in_pattern, behind);
  give_back(number(0));
  if (!g.has_classes) return;
  start(open);
  Operand first = emit(Op::add, glob_get(g, in_pattern), number(1));
  Operand other = emit(Op::xor_, byte_of(g.pattern, first, g.stop), number('!'));
  Operand negated = emit(Op::lshr, emit(Op::sub, other, number(1)), number(63));
  glob_put(g, class_start, glob_get(g, in_pattern));
  glob_put(g, in_pattern, emit(Op::add, first, negated));
  Operand mode = emit(Op::mul, negated, number(is_negated));
  glob_put(g, class_mode, emit(Op::or_, mode, number(inside_class | is_first)));
  give_back(number(0));
}

// A turn inside a class: its end, or one member.
void Lowering::glob_class_turn(const Glob& g) {
  BlockId unclosed = new_block(), closed = new_block(), bracket = new_block(), member = new_block(),
          accept = new_block(), literal = new_block();
  Operand mode = glob_get(g, class_mode);
  BlockId some = new_block();
  branch(Cond::eq, g.wanted, number(0), unclosed, some);
  start(some);
  branch(Cond::eq, g.wanted, number(']'), bracket, member);
  start(bracket);
  branch(Cond::eq, emit(Op::and_, mode, number(is_first)), number(0), closed, member);
  start(closed);
  Operand hit = emit(Op::lshr, emit(Op::and_, mode, number(is_hit)), number(1)); // as high as is_negated
  branch(Cond::ne, hit, emit(Op::and_, mode, number(is_negated)), accept, g.differ);
  start(accept);
  glob_advance(g, 1);
  start(unclosed);
  branch(Cond::eq, g.character, number('['), literal, g.differ);
  start(literal);
  glob_put(g, in_pattern, glob_get(g, class_start));
  glob_advance(g, 1);
  start(member);
  Operand at = glob_get(g, in_pattern);
  Operand dash = byte_of(g.pattern, emit(Op::add, at, number(1)), g.stop);
  Operand last = byte_of(g.pattern, emit(Op::add, at, number(2)), g.stop);
  // By arithmetic: each comparison would double the ways that a verifier goes.
  auto negative = [&](Operand n) { return emit(Op::lshr, n, number(63)); };
  auto same = [&](Operand a, Operand b) { return negative(emit(Op::sub, emit(Op::xor_, a, b), number(1))); };
  auto less = [&](Operand a, Operand b) { return negative(emit(Op::sub, a, b)); };
  auto both = [&](Operand a, Operand b) { return emit(Op::and_, a, b); };
  Operand has_end = emit(Op::xor_, emit(Op::or_, same(last, number(0)), same(last, number(']'))), number(1));
  Operand is_range = both(same(dash, number('-')), has_end);
  Operand outside = emit(Op::or_, less(g.character, g.wanted), less(last, g.character));
  Operand between = emit(Op::xor_, outside, number(1));
  Operand fits = emit(Op::or_, same(g.wanted, g.character), both(is_range, between));
  Operand kept = emit(Op::and_, mode, number(inside_class | is_negated | is_hit));
  glob_put(g, class_mode, emit(Op::or_, kept, emit(Op::mul, fits, number(is_hit))));
  Operand step = emit(Op::add, emit(Op::mul, is_range, number(2)), number(1));
  glob_put(g, in_pattern, emit(Op::add, at, step));
  give_back(number(0));
}

Operand Lowering::match_glob(const Call& c) {
  const Expr& pattern_text = *c.arguments[1];
  bool is_literal = pattern_text.constant.kind == Constant::text;
  std::string_view literal = is_literal ? text_of(pattern_text) : std::string_view();
  if (is_literal && literal.find_first_of("*?[") == literal.npos)
    return equal_text(*c.arguments[0], pattern_text);
  Glob g{text(*c.arguments[0]), text(pattern_text), add_object(8 * words, "glob"), true, {}, {}, 0, 0};
  g.has_classes = !is_literal || literal.find('[') != literal.npos;
  zero(glob_word(g, 0), 8 * words);
  int64_t turns = (int64_t{g.text.size} + 1) * (int64_t{g.pattern.size} + 1);
  Operand found = search(turns, [&](Operand, const Place& result) {
    g.differ = new_block();
    g.stop = new_block();
    g.character = byte_of(g.text, glob_get(g, in_text), g.stop);
    g.wanted = byte_of(g.pattern, glob_get(g, in_pattern), g.stop);
    BlockId again = new_block();
    if (g.has_classes) {
      BlockId in_class = new_block(), plain = new_block();
      branch(Cond::ne, glob_get(g, class_mode), number(0), in_class, plain);
      start(in_class);
      glob_class_turn(g);
      start(plain);
    }
    glob_plain_turn(g, result);
    start(g.differ); // `*` takes one character more
    Operand pattern = glob_get(g, star_pattern);
    branch(Cond::eq, pattern, number(0), g.stop, again);
    start(again);
    Operand from = emit(Op::add, glob_get(g, star_text), number(1));
    glob_put(g, star_text, from);
    glob_put(g, in_text, from);
    glob_put(g, in_pattern, pattern);
    if (g.has_classes) glob_put(g, class_mode, number(0));
    give_back(number(0));
    start(g.stop);
    give_back(number(1));
  });
  return set(Cond::sge, found, number(0));
}

} // namespace ir
