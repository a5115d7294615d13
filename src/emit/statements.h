// The parts of a statement, where a use needs to know which statement an expression belongs to (lang/walk.h visits expressions only).
#pragma once

#include "lang/ast.h"

#include <functional>
#include <vector>

namespace emit {

// Blocks directly in a statement, in their order; a missing `else` or step is left out.
std::vector<lang::Block*> blocks_of(const lang::Stmt& s);
// Expressions directly in a statement: targets, values, conditions, limits.
std::vector<lang::Expr*> expressions_of(const lang::Stmt& s);
// Every statement, outer ones first.
void walk_statements(const lang::Block* b, const std::function<void(const lang::Stmt&)>& visit);

} // namespace emit
