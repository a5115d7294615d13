// Walking and copying trees.
#pragma once

#include "lang/ast.h"

#include <functional>

namespace lang {

// Calls `visit` for every expression below, outer ones first.
void walk(const Expr* e, const std::function<void(const Expr&)>& visit);
void walk(const Block* b, const std::function<void(const Expr&)>& visit);

// Bytes of memory that an expression's place has. Characters in a C structure need no NUL: the text that they become
// has one byte more than they.
uint32_t stored_size(const Expr& e);

// A deep copy in the program's arena, without what the checker filled in.
Expr* copy(Program& program, const Expr* e);
Block* copy(Program& program, const Block* b);

// Changes a tree in place. Every expression and statement is visited after its parts; what `expression` gives
// stands in the place of what it got. A statement's block is changed, never replaced; nor is a type.
struct Rewriting {
  std::function<Expr*(Expr&)> expression;
  std::function<void(Stmt&)> statement;
  std::function<void(TypeName&)> type = {};
};
void rewrite(Expr*& e, const Rewriting& how);
void rewrite(Block* b, const Rewriting& how);

} // namespace lang
