// Statements: scopes, assignments, loops.
#include "lang/checker.h"

#include "lang/walk.h"

#include "base/text.h"

#include <algorithm>

namespace lang {

using type::Kind;
using namespace spec;

static bool ends_probe(const Expr& e) {
  const Call* call = if_a<Call>(&e);
  return call && call->builtin && id_of(*call->builtin) == id("exit");
}

// Whether the statement may leave the loop that it is in. Those of a loop inside leave that one.
static bool breaks(const Stmt& s) {
  auto any = [](const Block* b) { return b && std::ranges::any_of(b->statements, [](const Stmt* inner) { return breaks(*inner); }); };
  switch (s.kind) {
  case StmtKind::leave: return !as<Leave>(s).is_continue;
  case StmtKind::block: return any(as<BlockStmt>(s).block);
  case StmtKind::speculate: return any(as<Speculate>(s).body);
  case StmtKind::limit: return any(as<Limit>(s).body);
  case StmtKind::conditional: return any(as<If>(s).then) || any(as<If>(s).otherwise);
  default: return false;
  }
}

// The statement hands control to none behind it: it leaves the loop, the function or the probe on every path.
static bool leaves(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::leave:
  case StmtKind::give_back: return true;
  case StmtKind::expression: return ends_probe(*as<ExprStmt>(s).value);
  case StmtKind::block: return leaves(*as<BlockStmt>(s).block);
  case StmtKind::speculate: return leaves(*as<Speculate>(s).body);
  case StmtKind::conditional: {
    const If& i = as<If>(s);
    if (i.condition->constant.kind != Constant::integer) return i.otherwise && leaves(*i.then) && leaves(*i.otherwise);
    const Block* taken = i.condition->constant.integer_value ? i.then : i.otherwise;
    return taken && leaves(*taken);
  }
  case StmtKind::loop_while: {
    const While& w = as<While>(s);
    const bool is_endless = w.condition->constant.kind == Constant::integer && w.condition->constant.integer_value != 0;
    return is_endless && std::ranges::none_of(w.body->statements, [](const Stmt* inner) { return breaks(*inner); });
  }
  default: return false;
  }
}

bool leaves(const Block& block) {
  return std::ranges::any_of(block.statements, [](const Stmt* s) { return leaves(*s); }) ||
         (block.value && ends_probe(*block.value));
}

void Checker::check(Block& block, bool new_scope) {
  if (new_scope) scopes_.emplace_back();
  bool ended = false;
  for (Stmt* s : block.statements) {
    if (ended) warning(tag::unreachable, s->where, "this statement is never reached");
    check(*s);
    ended = leaves(*s);
  }
  if (block.value) check(*block.value);
  if (new_scope) scopes_.pop_back();
}

// Warns where its value is lost.
void Checker::check_expression_statement(ExprStmt& s) {
  Expr& e = *s.value;
  // `@x++` alone only adds; used as a value it is also a read.
  if (Unary* u = if_a<Unary>(&e); u && u->op >= UnaryOp::pre_increment && u->operand->kind == ExprKind::map) {
    bool only_adds = as<MapRef>(*u->operand).map->only_adds;
    check(e);
    as<MapRef>(*u->operand).map->only_adds = only_adds;
    return;
  }
  const type::Type* t = check(e);
  bool is_effect = e.kind == ExprKind::call || e.kind == ExprKind::unary || e.kind == ExprKind::ternary ||
                   e.kind == ExprKind::attempt || e.kind == ExprKind::conditional || e.kind == ExprKind::block || t->is(Kind::none);
  const Call* call = if_a<Call>(&e);
  const Builtin* row = call ? call->builtin : nullptr;
  bool is_for_effect = row && (id_of(*row) == id("delete") || id_of(*row) == id("write_user"));
  bool discards = row && !is_for_effect && !t->is(Kind::none);
  if (!is_effect || discards)
    warning(tag::discarded, s.where, "the value of this expression is not used", "write `_ = …` if that is meant");
}

void Checker::check_for_range(ForRange& f) {
  check_integer(*f.first, "the start of a range");
  check_integer(*f.last, "the end of a range");
  scopes_.emplace_back();
  uint32_t& depth = options_.calls_loops ? loop_depth_ : unroll_depth_;
  depth++;
  Variable* v = declare(f.variable, f.name, f.name_where, f.expansion);
  v->declared = true;
  v->type = types_.int64();
  const Constant& first = f.first->constant;
  if (first.kind == Constant::integer && first.integer_value >= 0) v->inferred.need.difference_size = 8; // it counts up from there
  check(*f.body);
  depth--;
  scopes_.pop_back();
}

void Checker::check(Stmt& s) {
  switch (s.kind) {
  case StmtKind::expression: return check_expression_statement(as<ExprStmt>(s));
  case StmtKind::assign: return check_assign(as<Assign>(s));
  case StmtKind::discard: check(*as<Discard>(s).value); return;
  case StmtKind::let: return check_let(as<Let>(s));
  case StmtKind::conditional: {
    If& i = as<If>(s);
    return check_if(i.condition, i.then, i.otherwise);
  }
  case StmtKind::loop_while: {
    While& w = as<While>(s);
    uint32_t& depth = options_.calls_loops ? loop_depth_ : unroll_depth_;
    depth++; // the condition is part of the body that is called back
    check_condition(w.condition);
    check(*w.body);
    if (w.step) check(*w.step);
    depth--;
    return;
  }
  case StmtKind::loop_range: return check_for_range(as<ForRange>(s));
  case StmtKind::loop_map: return check_for_map(as<ForMap>(s));
  case StmtKind::unroll: {
    Unroll& u = as<Unroll>(s);
    check_value(*u.count);
    int64_t n = u.count->constant.integer_value;
    if (u.count->constant.kind != Constant::integer)
      error(tag::bad_argument, u.count->where,
            "unroll takes a number that is known when the script is compiled");
    else if (n < 1 || n > 100)
      error(tag::bad_argument, u.count->where, "unroll takes a number from 1 to 100",
            "use a while or for loop for more");
    unroll_depth_++;
    check(*u.body);
    unroll_depth_--;
    return;
  }
  case StmtKind::speculate: return check_speculate(as<Speculate>(s));
  case StmtKind::limit: return check_limit(as<Limit>(s));
  case StmtKind::leave:
    if (!loop_depth_ && !unroll_depth_) {
      std::string word = as<Leave>(s).is_continue ? "continue" : "break";
      error(tag::misplaced, s.where, "`" + word + "` outside a loop");
    }
    return;
  case StmtKind::give_back: return check_return(as<Return>(s));
  case StmtKind::block: return check(*as<BlockStmt>(s).block);
  }
}

Variable* Checker::lookup(std::string_view name, uint32_t expansion) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    for (Variable* v : *scope)
      if (v->name == name && v->expansion == expansion) return v;
  return nullptr;
}

// The variable of a declaring node; the same one in every round, so that what was learned stays.
Variable* Checker::declare(Variable*& slot, std::string_view name, Range where, uint32_t expansion) {
  if (lookup(name, expansion))
    error(tag::redeclared, where,
          "variable `$" + std::string(name) + "` is already declared in this or an outer block",
          "choose another name, or assign without `let`");
  if (!slot) slot = program_.arena.make<Variable>(Variable{.name = name, .where = where});
  slot->expansion = expansion;
  slot->loop_depth = loop_depth_;
  slot->id = probe_ ? probe_->variable_count++ : function_->variable_count++;
  scopes_.back().push_back(slot);
  return slot;
}

void Checker::use(Variable& v) {
  if (v.loop_depth < loop_depth_) v.captured = true;
}

// `let $x;` and then `$x++` or `$x += e`: it begins as zero, of the type that is added.
void Checker::start_at_zero(const VariableRef& e, const Expr* added) {
  Variable* v = lookup(e.name, e.expansion);
  if (!v || v->type || v->is_given) return;
  if (added && added->type && added->type->is(Kind::integer)) join(v->inferred, added->type, added);
  grow(v->inferred);
  v->type = settled(v->inferred);
}

// A declared type does not say where a pointer points: the first value does.
void Checker::learn_pointer(Variable& v, const type::Type& value) {
  if (v.inferred.type || !value.is(Kind::pointer) || value.space == type::Space::none) return;
  v.inferred.type = &value;
  changed_ = true;
}

void Checker::check_let(Let& let) {
  const type::Type* value = let.value ? check_value(*let.value) : nullptr;
  Variable* v = declare(let.variable, let.name, let.name_where, let.expansion);
  v->is_calculated |= let.value && !is_vouched(*let.value);
  if (let.type) {
    const type::Type* t = resolve(*let.type);
    v->declared = true;
    if (value) learn_pointer(*v, *value);
    v->type = in_learned_space(t, v->inferred.type ? v->inferred.type->space : type::Space::none);
    if (value && value != types_.none() && t != types_.none()) {
      bool is_member = t->is(Kind::string) && value->is(Kind::string) && stored_size(*let.value) == t->size;
      if (!is_member && !fits_declared(*t, *let.value))
        error(tag::type_mismatch, let.value->where,
              "`$" + std::string(let.name) + "` is declared as " + text(t) + " but gets a value of type " + text(value),
              t->is(Kind::integer) && value->is(Kind::integer) ? "cast it to keep its low bits: `(" + text(t) + ")…`" : "");
    }
    return;
  }
  v->is_given |= let.value != nullptr;
  if (value && value != types_.none()) join(v->inferred, value, let.value), warn_of_mixed_signs(let.value->where);
  ask(v->inferred);
  v->type = settled(v->inferred);
}

void Checker::check_assign(Assign& a) {
  if (MapRef* m = if_a<MapRef>(a.target)) {
    if (a.compound) {
      bool adds = m->map->only_adds && (*a.compound == BinaryOp::add || *a.compound == BinaryOp::sub);
      const type::Type* t = check_map(*m, true);
      check_integer(*a.value, "the right side of a compound assignment");
      bool steps = *a.compound == BinaryOp::add || *a.compound == BinaryOp::sub;
      bool moves_pointer = steps && t->is(Kind::pointer) && a.value->type->is_integer();
      if (!moves_pointer) assign_map(*m, *a.value, a.value->type, a.compound);
      m->map->only_adds = m->map->only_adds && adds;
      return;
    }
    use_map(*m);
    bool before = std::exchange(wants_aggregation_, a.value->kind == ExprKind::call);
    const type::Type* t = check(*a.value);
    wants_aggregation_ = before;
    bool from_call = a.value->kind == ExprKind::call;
    m->map->assigned = true;
    const type::Type* had = m->map->inferred_value.type;
    const bool is_number = t->is_castable_aggregation() && !t->is(Kind::stats);
    if (is_number && !from_call && !(had && had->is_aggregation())) t = check_value(*a.value);
    if (t->is_aggregation() && !from_call)
      return error(tag::bad_assignment, a.where,
                   "a map value of type " + text(t) + " can't be assigned to another map",
                   t->is_castable_aggregation() ? "cast it to an integer: `(int64)…`" : "");
    m->map->only_adds = false;
    return assign_map(*m, *a.value, t, {});
  }
  if (VariableRef* v = if_a<VariableRef>(a.target)) {
    const type::Type* t = check_value(*a.value);
    if (!a.compound) return assign_variable(*v, *a.value, t);
    start_at_zero(*v, a.value);
    v->type = check_variable(*v);
    if (!v->variable || t->is(Kind::none)) return;
    bool pointer_step = v->type->is(Kind::pointer) && t->is_integer() &&
                        (*a.compound == BinaryOp::add || *a.compound == BinaryOp::sub);
    if (!pointer_step && (!v->type->is_integer() || !t->is_integer()))
      return error(tag::bad_operand, a.where,
                   "compound assignment needs numbers, not " + text(v->type) + " and " + text(t),
                   hint_for_floating(v->type, t));
    if (!pointer_step && !v->variable->declared) {
      join_result(v->variable->inferred, *a.compound, t, a.value);
      warn_of_mixed_signs(a.where);
    }
    return;
  }
  check(*a.target);
  error(tag::bad_assignment, a.target->where, "only variables and maps can be assigned to");
}

void Checker::assign_variable(VariableRef& target, Expr& value, const type::Type* t) {
  Variable* v = lookup(target.name, target.expansion);
  if (!v && !target.expansion && probe_) assigned_[probe_].insert(target.name);
  if (!v)
    v = declare(target.variable, target.name, target.where, target.expansion);
  else
    use(*v);
  target.variable = v;
  v->is_given = true;
  v->is_calculated |= !is_vouched(value);
  if (v->declared) learn_pointer(*v, *t);
  if (t != types_.none()) {
    bool fits = v->declared ? fits_declared(*v->type, value) : join(v->inferred, t, &value);
    if (!fits)
      error(tag::type_mismatch, target.where.to(value.where),
            "`$" + std::string(target.name) + "` is of type " + text(v->declared ? v->type : settled(v->inferred)) +
                " and can't hold a value of type " + text(t),
            t->is(Kind::integer) && v->type && v->type->is(Kind::integer)
                ? "cast it to keep its low bits: `(" + text(v->type) + ")…`"
                : "");
    if (!v->declared) warn_of_mixed_signs(target.where.to(value.where));
  }
  if (!v->declared) ask(v->inferred), v->type = settled(v->inferred);
  target.type = v->type ? v->type : types_.none();
}

void Checker::assign_map(MapRef& target, Expr& value, const type::Type* t, std::optional<BinaryOp> compound) {
  Map& m = *target.map;
  m.assigned = true;
  if (t == types_.none()) {
    if (value.kind == ExprKind::call && as<Call>(value).builtin &&
        as<Call>(value).builtin->gives == Gives::nothing)
      error(tag::bad_assignment, value.where, "this gives no value that could be assigned");
    return;
  }
  const type::Type* had = settled(m.inferred_value);
  bool mixed = had && compound && had->is_aggregation();
  if (!had) m.value_where = target.where.to(value.where);
  if (mixed || !(compound ? join_result(m.inferred_value, *compound, t, &value) : join(m.inferred_value, t, &value)))
    conflict(tag::type_mismatch, target.where.to(value.where),
             "`@" + std::string(m.name) + "` holds values of type " + text(had) +
                 " and can't be given one of type " + text(t),
             t->kind == had->kind && !t->is(Kind::tuple) ? "everywhere it takes the same parameters" : "",
             m.value_where, "its type was told here");
  warn_of_mixed_signs(target.where.to(value.where));
  m.value = settled(m.inferred_value);
  target.type = m.value;
}

void Checker::check_if(Expr*& condition, Block* then, Block* otherwise) {
  if (!check_condition(condition)) return;
  bool known = condition->constant.kind == Constant::integer;
  // What is never reached is not looked at: scripts choose by parameters and by what the machine has.
  const bool skips_then = known && condition->constant.integer_value == 0, skips_otherwise = known && !skips_then;
  skips_then ? learn_from_skipped(then) : check(*then);
  if (otherwise) skips_otherwise ? learn_from_skipped(otherwise) : check(*otherwise);
}

// `if ($# > 0) { @name = str($1); }`: where no parameter is given, nothing assigns the map that other probes compare with. Its type is that
// of what would have been assigned; so is that of a variable.
void Checker::learn_from_skipped(Block* block) {
  if (unassigned_.empty() && never_given_.empty()) return;
  auto is_unassigned = [&](const Expr* e) {
    const MapRef* m = if_a<MapRef>(e);
    return m && unassigned_.contains(m->map);
  };
  auto learn = [&](Assign& a) {
    if (is_unassigned(a.target)) return check_assign(a);
    const VariableRef* ref = if_a<VariableRef>(a.target);
    Variable* v = ref ? lookup(ref->name, ref->expansion) : nullptr;
    if (!v || v->is_given || !never_given_.contains(v)) return;
    const type::Type* t = check_value(*a.value);
    if (!t->is(Kind::none)) join(v->inferred, t, a.value);
    v->type = settled(v->inferred);
  };
  rewrite(block, {.expression = [](Expr& e) { return &e; },
                  .statement = [&](Stmt& s) {
                    if (s.kind == StmtKind::assign) return learn(as<Assign>(s));
                    Unary* u = s.kind == StmtKind::expression ? if_a<Unary>(as<ExprStmt>(s).value) : nullptr;
                    if (u && u->op >= UnaryOp::pre_increment && is_unassigned(u->operand)) check(*u);
                  }});
}

void Checker::check_for_map(ForMap& loop) {
  Map& m = *loop.map->map;
  if (loop.map->key)
    error(tag::bad_map_use, loop.map->where, "a loop goes over a whole map, not over one key");
  m.only_adds = m.tid_only = false;
  m.used = m.keyed_use = true;
  loop.map->type = types_.none();
  ask(m.inferred_key);
  ask(m.inferred_value);
  if (m.value && m.value->is_aggregation() && !m.value->is_castable_aggregation())
    error(tag::bad_map_use, loop.map->where, "a loop can't go over a map of " + text(m.value));
  else if (loop.is_sorted)
    check_sorted(loop);
  scopes_.emplace_back();
  loop_depth_++;
  Variable* v = declare(loop.variable, loop.name, loop.name_where, loop.expansion);
  v->declared = true;
  v->type = types_.none(); // until the map's types are known
  if (m.key && m.value) {
    const type::Type* parts[] = {m.key, m.value->is_aggregation() ? types_.integer(8, m.value->is_signed) : m.value};
    v->type = types_.tuple(parts);
  }
  check(*loop.body);
  loop_depth_--;
  scopes_.pop_back();
}

void Checker::check_sorted(ForMap& loop) {
  const Map& m = *loop.map->map;
  if (m.value && !m.value->is_integer() && !m.value->is_castable_aggregation())
    error(tag::bad_map_use, loop.map->where, "a map of " + text(m.value) + " can't be sorted", "sorted() needs numbers as values: it begins with the largest");
  if (!loop.most) return;
  check_value(*loop.most);
  const Constant& most = loop.most->constant;
  if (most.kind != Constant::integer || most.integer_value < 1 || most.integer_value > most_sorted)
    error(tag::bad_argument, loop.most->where, "sorted: the number of entries must be a constant from 1 to " + std::to_string(most_sorted));
}

void Checker::check_return(Return& r) {
  const type::Type* t = r.value ? check_value(*r.value) : types_.none();
  if (!function_) {
    if (r.value && !t->is_integer()) error(tag::type_mismatch, r.where, "a probe can only return a number");
    return;
  }
  const type::Type* wanted = function_->result_type;
  bool numbers = wanted->is_integer() && t->is_integer();
  if (r.value && t->is(Kind::none) && r.value->kind != ExprKind::call) return; // told already
  if (!numbers && wanted != t && !(r.value && unify(wanted, nullptr, t, r.value) == wanted))
    error(tag::type_mismatch, r.where,
          "function `" + std::string(function_->name) + "` returns " + text(wanted) + ", not " + text(t));
  if (r.value) check_range(*wanted, *r.value);
  if (r.value) learn_space(function_->result_space.seen, *t, r.value->where);
}

} // namespace lang
