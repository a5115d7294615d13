// Calls: of builtins by the table of their lowerings (lower_builtins.cc), and of the script's own functions.
#include "ir/lowering.h"

#include <cassert>

namespace ir {

using namespace lang;

Operand Lowering::call(const Call& c) {
  if (c.function) return user_call(c, nullptr);
  if (run_builtin(c)) return number(0);
  return builtin(c);
}

Operand Lowering::user_call(const Call& c, const Place* result) {
  std::vector<Operand> arguments;
  if (result) arguments.push_back(address(*result));
  for (size_t i = 0; i < c.arguments.size(); i++) {
    const Type& wanted = *c.function->parameters[i].variable->type;
    if (wanted.is_scalar())
      arguments.push_back(narrow(scalar(*c.arguments[i]), wanted));
    else
      arguments.push_back(address(temporary(*c.arguments[i], wanted)));
  }
  arguments.resize(5);
  Reg dst = fresh();
  append({.op = Op::call,
          .dst = dst,
          .a = arguments[0],
          .b = arguments[1],
          .c = arguments[2],
          .d = arguments[3],
          .e = arguments[4],
          .index = function_ids_[c.function]});
  return Operand::of(dst);
}

// A builtin for its effect; false: it gives a value, which a statement may leave unused.
bool Lowering::run_builtin(const Call& c, bool is_statement) {
  const BuiltinLowering& how = lowering_of(*c.builtin);
  if (!how.run || (how.value && !is_statement)) return false;
  if (is_pinned_ && c.builtin->async && !how.writes_text)
    diagnostics_.error(spec::tag::misplaced, c.where,
                       "`" + std::string(c.name) + "` can't be used in an iterator that stays when acu ends",
                       "what it tells is the text of its file: printf() writes that");
  else
    how.run(*this, c);
  return true;
}

// A builtin's value that is a number.
Operand Lowering::builtin(const Expr& e) {
  const BuiltinLowering& how = lowering_of(*builtin_of(e));
  assert(how.value);
  return how.value(*this, e);
}

// A builtin's value that is not a number.
void Lowering::builtin_into(const Expr& e, const Place& to, const Type& as, bool pad) {
  const BuiltinLowering& how = lowering_of(*builtin_of(e));
  assert(how.into);
  how.into(*this, e, to, as, pad);
}

} // namespace ir
