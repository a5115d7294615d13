// Constants in the place of what is known before the script runs: the first step of simplify().
#pragma once

#include "lang/ast.h"

#include <unordered_set>

namespace emit {

class Folding {
public:
  explicit Folding(lang::Program& program) : program_(program) {}
  void run(lang::Expr*& e);
  void run(lang::Block* b);

private:
  lang::Expr* fold(lang::Expr& e);
  lang::Expr* fold(lang::Binary& e);
  lang::Expr* as_literal(const lang::Expr& e);
  lang::Expr* boolean(const lang::Expr& of, bool value);
  lang::Expr* as_condition(const lang::Expr& of, lang::Expr* value);
  bool is_made(const lang::Expr* e) const { return made_.contains(e); }

  lang::Program& program_;
  std::unordered_set<const lang::Expr*> made_; // literals that the script does not have
};

// Running it has no effect besides its value.
bool is_pure(const lang::Expr& e);

} // namespace emit
