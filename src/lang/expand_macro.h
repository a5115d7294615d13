// Macros: every use becomes a block expression that holds the macro's body with its arguments in it.
//
// The expansion is hygienic. Variables that a body makes itself are told from the caller's by a number
// (Variable::expansion), so equal names never meet; maps reach a body as arguments only. An argument that is an
// expression is checked and evaluated at each place where the body names it.
//
// In: a parsed program. Out: the same without macros; mistakes in their use go to `diagnostics`.
#pragma once

#include "base/diagnostics.h"
#include "lang/ast.h"

namespace lang {

void expand_macros(Program& program, base::Diagnostics& diagnostics);

} // namespace lang
