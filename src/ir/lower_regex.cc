// match(text, "pattern"): the text is read byte by byte through the pattern's table (lang/regex.h), in a loop that is called
// back. The state is in an object, which the loop can reach; the NUL behind the text leads to one of the two last states.
#include "ir/lowering.h"

#include "lang/regex.h"

namespace ir {

using namespace lang;

// The tables of a pattern: columns of bytes, and behind it the next states.
std::pair<uint32_t, uint32_t> Lowering::regex_tables(std::string_view pattern) {
  const auto [at, is_new] = regexes_.try_emplace(std::string(pattern));
  if (!is_new) return at->second;
  RegexMistake mistake;
  const std::optional<Automaton> automaton = compile_regex(pattern, mistake); // the checker knows that it can be compiled
  at->second = {static_cast<uint32_t>(program_.tables.size()), automaton->start};
  program_.tables.emplace_back(automaton->class_of.begin(), automaton->class_of.end());
  program_.tables.push_back(automaton->next);
  return at->second;
}

Operand Lowering::match_regex(const Call& c) {
  const auto [columns, first] = regex_tables(c.arguments[1]->constant.text_value);
  if (first <= Automaton::matches) return number(first);
  const Text t = text(*c.arguments[0]);
  const uint32_t state = add_object(8, "state");
  auto place = [&] { return Place{Space::script, object(state), 0}; };
  auto look_up = [&](uint32_t table, Operand index) {
    Reg dst = fresh();
    append({.op = Op::table, .dst = dst, .a = index, .index = table});
    return Operand::of(dst);
  };
  store(place(), emit(Op::blur, number(first)), 8); // an old verifier would take the first state for the only one
  Operand found = search(t.size, [&](Operand turn, const Place& result) {
    BlockId stop = new_block(), ended = new_block(), next = new_block();
    Operand column = look_up(columns, byte_of(t, turn, stop));
    Operand to = look_up(columns + 1, emit(Op::add, load_word(place(), 8, false), column));
    store(place(), to, 8);
    branch(Cond::ule, to, number(Automaton::matches), ended, next);
    start(ended);
    end_turn(result, to, stop, next);
  });
  return set(Cond::eq, found, number(Automaton::matches));
}

} // namespace ir
