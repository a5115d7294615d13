#include "emit/recipe_text.h"

#include "lang/parse.h"
#include "spec/arch.h"

namespace emit {

using lang::BinaryOp;
using probe::Step;

namespace {

std::string_view register_at(int64_t offset) {
  for (const spec::Register& r : spec::arch.registers)
    if (r.offset == offset) return r.name;
  return {};
}

std::optional<BinaryOp> binary_of(Step::Op op) {
  switch (op) {
  case Step::add: return BinaryOp::add;
  case Step::sub: return BinaryOp::sub;
  case Step::mul: return BinaryOp::mul;
  case Step::udiv: return BinaryOp::div;
  case Step::umod: return BinaryOp::mod;
  case Step::and_: return BinaryOp::bit_and;
  case Step::or_: return BinaryOp::bit_or;
  case Step::xor_: return BinaryOp::bit_xor;
  case Step::shl: return BinaryOp::shl;
  case Step::lshr: return BinaryOp::shr;
  case Step::eq: return BinaryOp::eq;
  case Step::ne: return BinaryOp::ne;
  default: return std::nullopt; // by sign: the target's own signs would decide
  }
}

std::string wrapped(const Text& t, int at_least) { return t.precedence < at_least ? "(" + t.text + ")" : t.text; }

// "a + -8" is "a - 8".
Text joined(const Text& a, BinaryOp op, const Text& b) {
  const int p = precedence_of(op);
  if (op == BinaryOp::add && b.text[0] == '-') return {wrapped(a, p) + " - " + b.text.substr(1), p};
  if (op == BinaryOp::add && b.text == "0") return a;
  return {wrapped(a, p) + " " + std::string(lang::to_string(op)) + " " + wrapped(b, p + 1), p};
}

} // namespace

std::optional<Text> recipe_text(const std::vector<Step>& steps, const RecipeWords& words) {
  std::vector<Text> stack;
  const auto pop = [&] {
    Text t = std::move(stack.back());
    stack.pop_back();
    return t;
  };
  for (const Step& s : steps) {
    switch (s.op) {
    case Step::constant: stack.push_back({std::to_string(s.value), s.value < 0 ? prefix : postfix}); continue;
    case Step::reg: stack.push_back(words.reg(register_at(s.value))); continue;
    case Step::code_start:
    case Step::thread_base: {
      const std::string& word = s.op == Step::code_start ? words.code_start : words.thread_base;
      if (word.empty()) return std::nullopt;
      stack.push_back({word});
      continue;
    }
    case Step::load:
      if (stack.empty()) return std::nullopt;
      stack.push_back(words.load(pop(), s.size, s.is_signed));
      continue;
    case Step::zext:
    case Step::sext:
      if (stack.empty()) return std::nullopt;
      stack.push_back(words.extend(pop(), s.size, s.op == Step::sext));
      continue;
    default: break;
    }
    const auto op = binary_of(s.op);
    if (!op || stack.size() < 2) return std::nullopt;
    const Text b = pop(), a = pop();
    stack.push_back(joined(a, *op, b));
  }
  if (stack.size() != 1) return std::nullopt;
  return stack[0];
}

} // namespace emit
