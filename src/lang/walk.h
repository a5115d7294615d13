// Walking and copying trees.
#pragma once

#include "lang/ast.h"

#include <functional>

namespace lang {

// Calls `visit` for every expression below, outer ones first.
void walk(const Expr* e, const std::function<void(const Expr&)>& visit);
void walk(const Block* b, const std::function<void(const Expr&)>& visit);

// A deep copy in the program's arena, without what the checker filled in.
Expr* copy(Program& program, const Expr* e);
Block* copy(Program& program, const Block* b);

} // namespace lang
