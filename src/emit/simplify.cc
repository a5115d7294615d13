// The order of work: fold constants, then one pass over each block that builds its new list of statements. A statement's
// expressions are searched for blocks as values; what these do is put before the statement (Flattening::hoist).
#include "emit/simplify.h"

#include "emit/fold.h"
#include "lang/walk.h"
#include "spec/diagnostics.h"

#include <algorithm>
#include <set>

namespace emit {

using namespace lang;

namespace {

bool holds_block(const Expr* e) {
  bool found = false;
  walk(e, [&](const Expr& part) { found |= part.kind == ExprKind::block || part.kind == ExprKind::conditional; });
  return found;
}

class Flattening {
public:
  Flattening(Program& program, base::Diagnostics& diagnostics) : program_(program), diagnostics_(diagnostics) {}
  void block(Block* b);
  void predicate(Probe& p);

private:
  using Statements = std::vector<Stmt*>;
  void statement(Stmt& s, Statements& out);
  void statement_of(Expr* value, Range where, Statements& out);
  void conditional(If& s, Statements& out);
  void splice(Block* b, Statements& out);
  void hoist(Expr*& e, Statements& out);
  void hoist_all(std::vector<Expr**> parts, Statements& out);
  void hoist_logical(Expr*& e, Statements& out);
  void hoist_choice(Expr*& e, Expr*& condition, Block* then, Block* otherwise, Statements& out);
  VariableRef* keep(Expr* value, const type::Type* type, Range where, Statements& out);
  VariableRef* reference(Variable* v, Range where);
  Stmt* assign(Expr* target, Expr* value);
  Block* block_of(Statements statements, Expr* value, Range where);
  bool may_change(const Expr& what, const Expr& by);
  Expr* zero_of(const type::Type* t, Range where);

  Program& program_;
  base::Diagnostics& diagnostics_;
  uint32_t made_ = 0; // variables
};

VariableRef* Flattening::reference(Variable* v, Range where) {
  auto* r = program_.arena.make<VariableRef>(where);
  r->name = v->name;
  r->variable = v;
  r->type = v->type;
  return r;
}

// A new variable with a value; its name is made different from others by Names.
VariableRef* Flattening::keep(Expr* value, const type::Type* type, Range where, Statements& out) {
  auto* v = program_.arena.make<Variable>();
  v->name = "value";
  v->where = where;
  v->expansion = UINT32_MAX - made_++; // no other variable's
  v->type = type;
  auto* let = program_.arena.make<Let>(where);
  let->name = v->name;
  let->name_where = where;
  let->value = value;
  let->variable = v;
  out.push_back(let);
  return reference(v, where);
}

Stmt* Flattening::assign(Expr* target, Expr* value) {
  auto* a = program_.arena.make<Assign>(value->where);
  a->target = target;
  a->value = value;
  return a;
}

Block* Flattening::block_of(Statements statements, Expr* value, Range where) {
  auto* b = program_.arena.make<Block>();
  b->where = where;
  b->statements = program_.arena.copy(statements);
  b->value = value;
  return b;
}

Expr* Flattening::zero_of(const type::Type* t, Range where) {
  if (!t) return nullptr;
  if (t->is(type::Kind::string)) {
    auto* s = program_.arena.make<String>(where);
    s->type = t;
    s->constant = {Constant::text, 0, {}};
    return s;
  }
  if (!t->is_integer() && !t->is(type::Kind::pointer)) return nullptr;
  auto* i = program_.arena.make<Integer>(where);
  i->type = t;
  i->adapts = true;
  i->constant = {Constant::integer, 0, {}};
  return i;
}

// Whether the statements in `by` may change what `what` reads.
bool Flattening::may_change(const Expr& what, const Expr& by) {
  std::set<const void*> reads;
  walk(&what, [&](const Expr& e) {
    if (const MapRef* m = if_a<MapRef>(&e)) reads.insert(m->map);
    if (const VariableRef* v = if_a<VariableRef>(&e)) reads.insert(v->variable);
  });
  if (!is_pure(what)) return true;
  bool changes = false;
  // Statements are not visited, but the targets of assignments are expressions: every use counts.
  walk(&by, [&](const Expr& e) {
    if (const MapRef* m = if_a<MapRef>(&e)) changes |= reads.contains(m->map);
    if (const VariableRef* v = if_a<VariableRef>(&e)) changes |= reads.contains(v->variable);
  });
  return changes;
}

// Parts of one node, in the order of their evaluation.
void Flattening::hoist_all(std::vector<Expr**> parts, Statements& out) {
  std::erase_if(parts, [](Expr** p) { return !*p; });
  for (size_t i = 0; i < parts.size(); i++) {
    if (!holds_block(*parts[i])) continue;
    for (size_t k = 0; k < i; k++)
      if (may_change(**parts[k], **parts[i])) *parts[k] = keep(*parts[k], (*parts[k])->type, (*parts[k])->where, out);
    hoist(*parts[i], out);
  }
}

// a && { …; b }: the block runs only where a decides nothing.
void Flattening::hoist_logical(Expr*& e, Statements& out) {
  Binary& b = as<Binary>(*e);
  hoist(b.left, out);
  if (!holds_block(b.right)) return;
  VariableRef* result = keep(b.left, program_.types.boolean(), e->where, out);
  Statements inner;
  hoist(b.right, inner);
  inner.push_back(assign(reference(result->variable, e->where), b.right));
  Expr* condition = reference(result->variable, e->where);
  if (b.op == BinaryOp::logical_or) {
    auto* inverted = program_.arena.make<Unary>(e->where);
    inverted->op = UnaryOp::logical_not;
    inverted->operand = condition;
    inverted->type = program_.types.boolean();
    condition = inverted;
  }
  auto* choice = program_.arena.make<If>(e->where);
  choice->condition = condition;
  choice->then = block_of(std::move(inner), nullptr, e->where);
  out.push_back(choice);
  e = result;
}

// A choice of which a branch holds statements: `if`, with a variable for the value.
void Flattening::hoist_choice(Expr*& e, Expr*& condition, Block* then, Block* otherwise, Statements& out) {
  hoist(condition, out);
  const bool has_value = e->type && !e->type->is(type::Kind::none);
  VariableRef* result = nullptr;
  if (has_value) result = keep(zero_of(e->type, e->where), e->type, e->where, out);
  auto* choice = program_.arena.make<If>(e->where);
  choice->condition = condition;
  for (Block* b : {then, otherwise}) {
    if (!b) continue;
    Statements inner;
    Expr* value = b->value;
    b->value = nullptr;
    splice(b, inner);
    if (value) hoist(value, inner);
    if (value && result) inner.push_back(assign(reference(result->variable, value->where), value));
    else if (value) statement_of(value, value->where, inner);
    (b == then ? choice->then : choice->otherwise) = block_of(std::move(inner), nullptr, b->where);
  }
  out.push_back(choice);
  e = result;
}

void Flattening::hoist(Expr*& e, Statements& out) {
  if (!e || !holds_block(e)) return;
  switch (e->kind) {
  case ExprKind::block: {
    Block* b = as<BlockExpr>(*e).block;
    Expr* value = b->value;
    b->value = nullptr;
    splice(b, out);
    if (value) hoist(value, out);
    e = value;
    return;
  }
  case ExprKind::conditional: {
    Conditional& c = as<Conditional>(*e);
    return hoist_choice(e, c.condition, c.then, c.otherwise, out);
  }
  case ExprKind::ternary: {
    Ternary& t = as<Ternary>(*e);
    if (!holds_block(t.then) && !holds_block(t.otherwise)) return hoist(t.condition, out);
    if (!t.then) break;
    return hoist_choice(e, t.condition, block_of({}, t.then, t.then->where), block_of({}, t.otherwise, t.otherwise->where), out);
  }
  case ExprKind::binary: {
    Binary& b = as<Binary>(*e);
    if (b.op == BinaryOp::logical_and || b.op == BinaryOp::logical_or) return hoist_logical(e, out);
    return hoist_all({&b.left, &b.right}, out);
  }
  case ExprKind::map: return hoist(as<MapRef>(*e).key, out);
  case ExprKind::unary: return hoist(as<Unary>(*e).operand, out);
  case ExprKind::cast: return hoist(as<Cast>(*e).operand, out);
  case ExprKind::field: return hoist(as<FieldRef>(*e).operand, out);
  case ExprKind::index: return hoist_all({&as<Index>(*e).operand, &as<Index>(*e).index}, out);
  case ExprKind::call:
  case ExprKind::tuple: {
    std::vector<Expr**> parts;
    for (Expr*& part : e->kind == ExprKind::call ? as<Call>(*e).arguments : as<Tuple>(*e).elements) parts.push_back(&part);
    return hoist_all(std::move(parts), out);
  }
  default: break; // also of try(): its value fails as a whole, which statements before it would not
  }
  diagnostics_.error(spec::tag::misplaced, e->where, "a block with statements can't be the value here in another framework",
                     "assign its value to a variable before");
}

void Flattening::statement_of(Expr* value, Range where, Statements& out) {
  if (BlockExpr* b = if_a<BlockExpr>(value)) return splice(b->block, out);
  if (value->kind == ExprKind::conditional) {
    const Conditional& c = as<Conditional>(*value);
    if (const auto known = known_condition(*c.condition)) {
      if (Block* taken = *known ? c.then : c.otherwise) splice(taken, out);
      return;
    }
    Expr* e = value;
    e->type = nullptr; // its value is not used
    return hoist_choice(e, as<Conditional>(*value).condition, c.then, c.otherwise, out);
  }
  hoist(value, out);
  const Call* call = if_a<Call>(value);
  if (call && call->builtin && call->builtin->group == spec::Group::compile) return; // static_assert() has been checked
  if (!value || is_pure(*value)) return;
  auto* s = program_.arena.make<ExprStmt>(where);
  s->value = value;
  out.push_back(s);
}

void Flattening::splice(Block* b, Statements& out) {
  for (Stmt* s : b->statements) statement(*s, out);
  if (b->value) statement_of(b->value, b->value->where, out);
}

void Flattening::conditional(If& s, Statements& out) {
  if (const auto known = known_condition(*s.condition)) {
    if (Block* taken = *known ? s.then : s.otherwise) splice(taken, out);
    return;
  }
  hoist(s.condition, out);
  block(s.then);
  if (s.otherwise) block(s.otherwise);
  if (s.otherwise && s.otherwise->statements.empty()) s.otherwise = nullptr;
  if (s.then->statements.empty() && !s.otherwise && is_pure(*s.condition)) return;
  out.push_back(&s);
}

void Flattening::statement(Stmt& s, Statements& out) {
  switch (s.kind) {
  case StmtKind::expression: return statement_of(as<ExprStmt>(s).value, s.where, out);
  case StmtKind::discard: return statement_of(as<Discard>(s).value, s.where, out);
  case StmtKind::block: return splice(as<BlockStmt>(s).block, out);
  case StmtKind::conditional: return conditional(as<If>(s), out);
  case StmtKind::assign: {
    Assign& a = as<Assign>(s);
    MapRef* m = if_a<MapRef>(a.target);
    hoist_all({m ? &m->key : &a.value, &a.value}, out);
    break;
  }
  case StmtKind::let: {
    Let& l = as<Let>(s);
    hoist(l.value, out);
    if (!l.value && l.variable) l.value = zero_of(l.variable->type, l.where);
    break;
  }
  case StmtKind::loop_while: {
    While& w = as<While>(s);
    if (holds_block(w.condition)) {
      Statements inner;
      hoist(w.condition, inner); // reports what can't be moved
      if (!inner.empty())
        diagnostics_.error(spec::tag::misplaced, w.condition->where, "a loop's condition with statements can't be carried over",
                           "compute the condition at the end of the loop's body");
    }
    block(w.body);
    if (w.step) block(w.step);
    break;
  }
  case StmtKind::loop_range: hoist_all({&as<ForRange>(s).first, &as<ForRange>(s).last}, out), block(as<ForRange>(s).body); break;
  case StmtKind::loop_map: hoist(as<ForMap>(s).most, out), block(as<ForMap>(s).body); break;
  case StmtKind::unroll: block(as<Unroll>(s).body); break;
  case StmtKind::speculate: hoist(as<Speculate>(s).key, out), block(as<Speculate>(s).body); break;
  case StmtKind::limit: block(as<Limit>(s).body); break;
  case StmtKind::give_back: hoist(as<Return>(s).value, out); break;
  case StmtKind::leave: break;
  }
  out.push_back(&s);
}

void Flattening::block(Block* b) {
  Statements out;
  splice(b, out);
  b->statements = program_.arena.copy(out);
  b->value = nullptr;
}

// A predicate with statements becomes a condition around the body.
void Flattening::predicate(Probe& p) {
  if (!p.predicate || !holds_block(p.predicate)) return;
  Statements out;
  hoist(p.predicate, out);
  auto* choice = program_.arena.make<If>(p.predicate->where);
  choice->condition = p.predicate;
  choice->then = p.body;
  out.push_back(choice);
  p.predicate = nullptr;
  p.body = block_of(std::move(out), nullptr, p.body->where);
}

} // namespace

void simplify(Program& program, base::Diagnostics& diagnostics) {
  split_by_name(program);
  Folding folding(program);
  for (auto& p : program.probes) {
    folding.run(p->predicate);
    folding.run(p->body);
  }
  for (Function* f : program.functions) folding.run(f->body);
  Flattening flattening(program, diagnostics);
  std::erase_if(program.probes, [](const auto& p) { return p->predicate && known_condition(*p->predicate) == false; });
  for (auto& p : program.probes) {
    if (p->predicate && known_condition(*p->predicate)) p->predicate = nullptr;
    flattening.block(p->body);
    flattening.predicate(*p);
  }
  for (Function* f : program.functions) flattening.block(f->body);
  remove_idle_maps(program);
}

std::vector<ProbeGroup> group_probes(const Program& program) {
  std::vector<ProbeGroup> out;
  for (const auto& p : program.probes) {
    const auto same = std::ranges::find_if(out, [&](const ProbeGroup& g) {
      return g.copies[0]->where.begin == p->where.begin && g.copies[0]->is_own == p->is_own && !p->is_own;
    });
    if (same != out.end())
      same->copies.push_back(p.get());
    else
      out.push_back({{p.get()}});
  }
  return out;
}

} // namespace emit
