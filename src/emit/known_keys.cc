#include "emit/known_keys.h"

#include "emit/statements.h"
#include "lang/walk.h"

namespace emit {

using namespace lang;
using type::Kind;

static bool is_nonzero(const Expr& e) {
  if (const Integer* i = if_a<Integer>(&e)) return i->value != 0;
  const spec::Builtin* b = builtin_of(e);
  return b && (b->name == "nsecs" || b->name == "elapsed" || b->name == "comm" || b->name == "pid" || b->name == "kstack");
}

KnownKeys::KnownKeys(const Program& program, bool has_has_key) {
  std::vector<const Map*> asked;
  const auto look = [&](const Expr& e) {
    const Call* c = if_a<Call>(&e);
    if (c && c->builtin && c->builtin->name == "has_key")
      if (const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(c->arguments[0])); m && std::ranges::find(asked, m->map) == asked.end()) asked.push_back(m->map);
  };
  const auto assigned = [&](const Stmt& s) {
    if (s.kind == StmtKind::assign) {
      const Assign& a = as<Assign>(s);
      const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(a.target));
      if (m && (a.compound || !is_nonzero(*a.value))) zero_.push_back(m->map);
    }
    if (s.kind == StmtKind::expression)
      if (const Unary* u = if_a<Unary>(static_cast<const Expr*>(as<ExprStmt>(s).value)))
        if (const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(u->operand))) zero_.push_back(m->map);
  };
  for (const auto& p : program.probes) {
    walk(p->predicate, look);
    walk(p->body, look);
    walk_statements(p->body, assigned);
  }
  if (has_has_key) return;
  for (const Map* m : asked) {
    const bool is_readable = m->value && (m->value->is_integer() || m->value->is(Kind::pointer) || m->value->is(Kind::string));
    if (!is_never_zero(*m) || !is_readable) maps_.push_back(m);
  }
}

} // namespace emit
