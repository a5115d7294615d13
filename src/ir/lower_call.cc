// Calls: of builtins by the table of their lowerings (lower_builtins.cc), and of the script's own functions.
#include "ir/lowering.h"

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

} // namespace ir
