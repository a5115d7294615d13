// Maps that nothing reads any more, once parameters are constants: see remove_idle_maps() in simplify.h.
#include "emit/fold.h"
#include "emit/simplify.h"
#include "emit/statements.h"
#include "lang/walk.h"
#include "probe/probe.h"

#include <algorithm>
#include <map>

namespace emit {

using namespace lang;

namespace {

struct Uses {
  bool is_read = false, is_cleared_at_end = false;
};
using AllUses = std::map<const Map*, Uses>;

bool is_removal(std::string_view name) { return name == "clear" || name == "delete" || name == "zero"; }

// The map that a statement only writes or empties; nullptr: it does more.
const Map* written_map(const Stmt& s) {
  if (s.kind == StmtKind::assign) {
    const Assign& a = as<Assign>(s);
    const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(a.target));
    return m && is_pure(*a.value) && (!m->key || is_pure(*m->key)) ? m->map : nullptr;
  }
  if (s.kind != StmtKind::expression) return nullptr;
  const Expr* value = as<ExprStmt>(s).value;
  if (const Unary* u = if_a<Unary>(value); u && u->op >= UnaryOp::pre_increment) {
    const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(u->operand));
    return m && (!m->key || is_pure(*m->key)) ? m->map : nullptr;
  }
  const Call* c = if_a<Call>(value);
  if (!c || !is_removal(c->name) || c->arguments.empty()) return nullptr;
  const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(c->arguments[0]));
  return m ? m->map : nullptr;
}

class Reading {
public:
  Reading(AllUses& uses, bool at_end) : uses_(uses), at_end_(at_end) {}

  void look(const Expr* e) {
    walk(e, [&](const Expr& part) {
      if (const MapRef* m = if_a<MapRef>(&part)) uses_[m->map].is_read = true;
    });
  }
  void look(const Block* b) {
    for (const Stmt* s : b->statements) look(*s);
  }
  void look(const Stmt& s) {
    if (const Map* m = written_map(s)) {
      const Call* c = s.kind == StmtKind::expression ? if_a<Call>(static_cast<const Expr*>(as<ExprStmt>(s).value)) : nullptr;
      if (c && c->name == "clear" && at_end_) uses_[m].is_cleared_at_end = true;
      if (s.kind == StmtKind::assign) {
        if (const MapRef& target = as<MapRef>(*as<Assign>(s).target); target.key) look(target.key);
        look(as<Assign>(s).value);
      }
      return;
    }
    for (const Expr* e : expressions_of(s)) look(e);
    for (const Block* b : blocks_of(s)) look(b);
  }

private:
  AllUses& uses_;
  bool at_end_;
};

class Removing {
public:
  Removing(Program& program, const AllUses& uses) : program_(program), uses_(uses) {}

  bool is_idle(const Map* m) const {
    const auto u = uses_.find(m);
    return u != uses_.end() && !u->second.is_read && (u->second.is_cleared_at_end || m->is_own);
  }
  void take(Block* b) {
    if (!b) return;
    std::vector<Stmt*> kept;
    for (Stmt* s : b->statements) {
      const Map* m = written_map(*s);
      if (m && is_idle(m)) continue;
      for (Block* inner : blocks_of(*s)) take(inner);
      if (s->kind == StmtKind::conditional && as<If>(*s).then->statements.empty() && !as<If>(*s).otherwise && is_pure(*as<If>(*s).condition)) continue;
      kept.push_back(s);
    }
    if (kept.size() != b->statements.size()) b->statements = program_.arena.copy(kept);
  }

private:
  Program& program_;
  const AllUses& uses_;
};

bool is_at_end(const Probe& p) { return std::ranges::all_of(p.events, [](const probe::Event* e) { return e->kind == probe::Kind::end; }); }
bool is_run_by_acu(const Probe& p) {
  return std::ranges::all_of(p.events, [](const probe::Event* e) { return e->kind == probe::Kind::begin || e->kind == probe::Kind::end; });
}

} // namespace

void remove_idle_maps(Program& program) {
  AllUses uses;
  for (const auto& p : program.probes) {
    Reading reading(uses, is_at_end(*p));
    if (p->predicate) reading.look(static_cast<const Expr*>(p->predicate));
    reading.look(static_cast<const Block*>(p->body));
  }
  for (const Function* f : program.functions) Reading(uses, false).look(static_cast<const Block*>(f->body));
  Removing removing(program, uses);
  const auto is_idle = [&](const Map* m) { return removing.is_idle(m); };
  if (std::ranges::none_of(program.maps, is_idle)) return;
  for (auto& p : program.probes) removing.take(p->body);
  std::erase_if(program.maps, is_idle);
  // A script without other events would end at once, or never.
  const auto is_empty = [](const auto& p) { return p->body->statements.empty(); };
  if (std::ranges::any_of(program.probes, [&](const auto& p) { return !is_empty(p) && !is_run_by_acu(*p); }))
    std::erase_if(program.probes, is_empty);
}

} // namespace emit
