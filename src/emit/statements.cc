#include "emit/statements.h"

namespace emit {

using namespace lang;

static std::vector<Block*> present(std::initializer_list<Block*> blocks) {
  std::vector<Block*> out;
  for (Block* b : blocks)
    if (b) out.push_back(b);
  return out;
}

static std::vector<Expr*> present(std::initializer_list<Expr*> all) {
  std::vector<Expr*> out;
  for (Expr* e : all)
    if (e) out.push_back(e);
  return out;
}

std::vector<Block*> blocks_of(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::conditional: return present({as<If>(s).then, as<If>(s).otherwise});
  case StmtKind::loop_while: return present({as<While>(s).body, as<While>(s).step});
  case StmtKind::loop_range: return present({as<ForRange>(s).body});
  case StmtKind::loop_map: return present({as<ForMap>(s).body});
  case StmtKind::unroll: return present({as<Unroll>(s).body});
  case StmtKind::speculate: return present({as<Speculate>(s).body});
  case StmtKind::limit: return present({as<Limit>(s).body});
  case StmtKind::block: return present({as<BlockStmt>(s).block});
  default: return {};
  }
}

std::vector<Expr*> expressions_of(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::expression: return present({as<ExprStmt>(s).value});
  case StmtKind::assign: return present({as<Assign>(s).target, as<Assign>(s).value});
  case StmtKind::discard: return present({as<Discard>(s).value});
  case StmtKind::let: return present({as<Let>(s).value});
  case StmtKind::conditional: return present({as<If>(s).condition});
  case StmtKind::loop_while: return present({as<While>(s).condition});
  case StmtKind::loop_range: return present({as<ForRange>(s).first, as<ForRange>(s).last});
  case StmtKind::loop_map: return present({as<ForMap>(s).map, as<ForMap>(s).most});
  case StmtKind::unroll: return present({as<Unroll>(s).count});
  case StmtKind::speculate: return present({as<Speculate>(s).key});
  case StmtKind::limit: return present({as<Limit>(s).count});
  case StmtKind::give_back: return present({as<Return>(s).value});
  case StmtKind::leave:
  case StmtKind::block: return {};
  }
  return {};
}

void walk_statements(const Block* b, const std::function<void(const Stmt&)>& visit) {
  if (!b) return;
  for (const Stmt* s : b->statements) {
    visit(*s);
    for (const Block* inner : blocks_of(*s)) walk_statements(inner, visit);
  }
}

} // namespace emit
