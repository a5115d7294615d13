// A try() that a front end makes, which knows more than that of a script: why and where its first part failed, and that dividing by 0 is a failure, too.
// In the tree it is a Ternary with neither a condition nor a value for it.
#pragma once

#include "lang/ast.h"

namespace lang {

struct Attempt : Ternary {
  using Ternary::Ternary;
  Expr* first = nullptr; // where it fails, `otherwise` follows; without one, nothing in `first` fails, also within another attempt: failed reads give 0 and are counted
  Expr *fault = nullptr, *address = nullptr; // variables that are set then: the number of an ir::Fault, and what could not be read
};

inline const Attempt* if_attempt(const Expr& e) {
  const Ternary* t = if_a<Ternary>(&e);
  return t && !t->condition && !t->then ? static_cast<const Attempt*>(t) : nullptr;
}
inline Attempt* if_attempt(Expr& e) { return const_cast<Attempt*>(if_attempt(static_cast<const Expr&>(e))); }

} // namespace lang
