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
  Operand character, wanted; // of this turn
  BlockId differ, stop;
};

Place Lowering::glob_word(const Glob& g, uint32_t word) {
  return {Space::script, object(g.state), 8 * static_cast<int64_t>(word)};
}

Operand Lowering::glob_get(const Glob& g, uint32_t word) {
  return emit(Op::blur, load_word(glob_word(g, word), 8, false));
}

// Goes on with the next character of the text and a later one of the pattern.
void Lowering::glob_advance(const Glob& g, int64_t pattern_step) {
  store(glob_word(g, in_text), emit(Op::add, glob_get(g, in_text), number(1)), 8);
  store(glob_word(g, in_pattern), emit(Op::add, glob_get(g, in_pattern), number(pattern_step)), 8);
  store(glob_word(g, class_mode), number(0), 8);
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
  BlockId open = test(g.wanted, number('['));
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
  store(glob_word(g, star_text), glob_get(g, in_text), 8);
  store(glob_word(g, star_pattern), behind, 8);
  store(glob_word(g, in_pattern), behind, 8);
  give_back(number(0));
  start(open);
  Operand first = emit(Op::add, glob_get(g, in_pattern), number(1));
  Operand negated = set(Cond::eq, byte_of(g.pattern, first), number('!'));
  store(glob_word(g, class_start), glob_get(g, in_pattern), 8);
  store(glob_word(g, in_pattern), emit(Op::add, first, negated), 8);
  Operand mode = emit(Op::mul, negated, number(is_negated));
  store(glob_word(g, class_mode), emit(Op::or_, mode, number(inside_class | is_first)), 8);
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
  Operand hit = set(Cond::ne, emit(Op::and_, mode, number(is_hit)), number(0));
  Operand negated = set(Cond::ne, emit(Op::and_, mode, number(is_negated)), number(0));
  branch(Cond::ne, hit, negated, accept, g.differ);
  start(accept);
  glob_advance(g, 1);
  start(unclosed);
  branch(Cond::eq, g.character, number('['), literal, g.differ);
  start(literal);
  store(glob_word(g, in_pattern), glob_get(g, class_start), 8);
  glob_advance(g, 1);
  start(member);
  Operand at = glob_get(g, in_pattern);
  Operand dash = byte_of(g.pattern, emit(Op::add, at, number(1)));
  Operand last = byte_of(g.pattern, emit(Op::add, at, number(2)));
  Operand is_range = emit(Op::and_, set(Cond::eq, dash, number('-')),
                          emit(Op::and_, set(Cond::ne, last, number(0)), set(Cond::ne, last, number(']'))));
  Operand equal = set(Cond::eq, g.wanted, g.character);
  Operand between = emit(Op::and_, set(Cond::uge, g.character, g.wanted), set(Cond::ule, g.character, last));
  Operand fits = emit(Op::or_, equal, emit(Op::and_, is_range, between));
  Operand kept = emit(Op::and_, mode, number(inside_class | is_negated | is_hit));
  store(glob_word(g, class_mode), emit(Op::or_, kept, emit(Op::mul, fits, number(is_hit))), 8);
  Operand step = emit(Op::add, emit(Op::mul, is_range, number(2)), number(1));
  store(glob_word(g, in_pattern), emit(Op::add, at, step), 8);
  give_back(number(0));
}

Operand Lowering::match_glob(const Call& c) {
  Glob g{text(*c.arguments[0]), text(*c.arguments[1]), add_object(8 * words, "glob"), {}, {}, 0, 0};
  zero(glob_word(g, 0), 8 * words);
  int64_t turns = (int64_t{g.text.size} + 1) * (int64_t{g.pattern.size} + 1);
  Operand found = search(turns, [&](Operand, const Place& result) {
    g.differ = new_block();
    g.stop = new_block();
    g.character = byte_of(g.text, glob_get(g, in_text));
    g.wanted = byte_of(g.pattern, glob_get(g, in_pattern));
    BlockId in_class = new_block(), plain = new_block(), again = new_block();
    branch(Cond::ne, glob_get(g, class_mode), number(0), in_class, plain);
    start(in_class);
    glob_class_turn(g);
    start(plain);
    glob_plain_turn(g, result);
    start(g.differ); // `*` takes one character more
    Operand pattern = glob_get(g, star_pattern);
    branch(Cond::eq, pattern, number(0), g.stop, again);
    start(again);
    Operand from = emit(Op::add, glob_get(g, star_text), number(1));
    store(glob_word(g, star_text), from, 8);
    store(glob_word(g, in_text), from, 8);
    store(glob_word(g, in_pattern), pattern, 8);
    store(glob_word(g, class_mode), number(0), 8);
    give_back(number(0));
    start(g.stop);
    give_back(number(1));
  });
  return set(Cond::sge, found, number(0));
}

} // namespace ir
