#include "lang/countable.h"

#include "base/text.h"
#include "lang/walk.h"
#include "probe/probe.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace lang {

namespace {

bool is_of_events(const Probe& p) {
  const probe::Kind kind = p.events.front()->kind;
  return kind >= probe::Kind::profile && kind != probe::Kind::iterator && !probe::is_stopped(kind);
}

// It does nothing but give a value.
bool is_question(const spec::Builtin& b) {
  using enum spec::Group;
  constexpr spec::Group questions[] = {context, time, memory, text, symbol, network, compile};
  return !b.async && !b.unsafe && !b.writes && std::ranges::find(questions, b.group) != std::end(questions);
}

// Of a map's value: `@m = count()`.
bool is_addition(const Expr* value) {
  const Call* call = if_a<Call>(value);
  constexpr std::string_view sums[] = {"count", "sum", "avg", "stats", "hist", "lhist"};
  return call && call->builtin && base::is_one_of(sums, call->builtin->name);
}

// What the statements of a block do to maps.
class Additions {
public:
  // false: something that is no addition.
  bool take(const Block* block) {
    return !block || std::ranges::all_of(block->statements, [&](const Stmt* s) { return take(*s); });
  }
  size_t count() const { return count_; }

private:
  bool take(const Stmt& s) {
    switch (s.kind) {
    case StmtKind::expression: return take_step(*as<ExprStmt>(s).value);
    case StmtKind::assign: return take_assign(as<Assign>(s));
    case StmtKind::conditional: return take(as<If>(s).then) && take(as<If>(s).otherwise);
    case StmtKind::block: return take(as<BlockStmt>(s).block);
    case StmtKind::let:
    case StmtKind::leave:
    case StmtKind::give_back: return true;
    case StmtKind::discard:
    case StmtKind::loop_while: // its body may be a function of its own, which does not know the weight
    case StmtKind::loop_range:
    case StmtKind::loop_map:
    case StmtKind::unroll:
    case StmtKind::speculate:
    case StmtKind::limit: return false;
    }
    return false;
  }
  // @m++, @m--; other expressions have no maps, as the count says.
  bool take_step(const Expr& e) {
    const Unary* u = if_a<Unary>(&e);
    const MapRef* m = u ? if_a<MapRef>(u->operand) : nullptr;
    if (m && m->map->only_adds) count_++;
    return !m || m->map->only_adds;
  }
  bool take_assign(const Assign& a) {
    const MapRef* m = if_a<MapRef>(a.target);
    if (!m) return true;
    count_++;
    return a.compound ? m->map->only_adds : is_addition(a.value);
  }

  size_t count_ = 0;
};

// Which maps it names, and whether its expressions do nothing but give values.
struct Uses {
  std::set<const Map*> maps;
  size_t map_uses = 0;
  bool only_asks = true;

  void look(const Expr& e) {
    if (const MapRef* m = if_a<MapRef>(&e)) maps.insert(m->map), map_uses++;
    if (e.kind == ExprKind::block || e.kind == ExprKind::conditional) only_asks = false;
    const Call* call = if_a<Call>(&e);
    const spec::Builtin* builtin = builtin_of(e);
    if (builtin ? !is_question(*builtin) && !is_addition(&e) : call != nullptr) only_asks = false;
  }
};

Uses uses_of(const Block* block, const Expr* predicate = nullptr) {
  Uses out;
  walk(block, [&](const Expr& e) { out.look(e); });
  walk(predicate, [&](const Expr& e) { out.look(e); });
  return out;
}

} // namespace

std::vector<const Probe*> countable_probes(const Program& program) {
  struct Candidate {
    const Probe* probe;
    Uses uses;
  };
  std::vector<Candidate> candidates;
  std::set<const Map*> read; // by others
  for (const auto& p : program.probes) {
    if (p->events.empty() || !is_of_events(*p)) continue;
    Uses uses = uses_of(p->body, p->predicate);
    Additions additions;
    const bool only_adds = additions.take(p->body) && additions.count() && additions.count() == uses.map_uses; // none is read
    if (only_adds && uses.only_asks)
      candidates.push_back({p.get(), std::move(uses)});
    else
      read.merge(uses.maps);
  }
  for (const Function* f : program.functions) read.merge(uses_of(f->body).maps);
  std::vector<const Probe*> out;
  for (const Candidate& c : candidates)
    if (std::ranges::none_of(c.uses.maps, [&](const Map* m) { return read.contains(m); })) out.push_back(c.probe);
  return out;
}

} // namespace lang
