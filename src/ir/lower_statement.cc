// Statements. Loop bodies become functions that the engine calls back; see `body`.
#include "ir/lowering.h"

#include <algorithm>

namespace ir {

using namespace lang;
using spec::id;

void Lowering::lower(const lang::Block& b) {
  for (const Stmt* s : b.statements) lower(*s);
}

void Lowering::lower(const Stmt& s) {
  where_ = s.where;
  switch (s.kind) {
  case StmtKind::expression:
  case StmtKind::discard: {
    const Expr& e = s.kind == StmtKind::expression ? *as<ExprStmt>(s).value : *as<Discard>(s).value;
    where_ = e.where;
    const Call* c = if_a<Call>(&e);
    if (c && c->builtin && run_builtin(*c, s.kind == StmtKind::expression)) return;
    if (const Unary* u = if_a<Unary>(&e); u && u->op >= UnaryOp::pre_increment) {
      increment(*u);
      return;
    }
    if (e.type->is(Kind::none)) return run_for_effect(e);
    if (e.type->is_scalar())
      scalar(e);
    else
      place(e);
    return;
  }
  case StmtKind::assign: return lower_assign(as<Assign>(s));
  case StmtKind::let: {
    const Let& l = as<Let>(s);
    if (!l.variable->type) return; // never used
    if (l.value)
      assign_variable(*l.variable, *l.value);
    else
      define(*l.variable);
    return;
  }
  case StmtKind::conditional: {
    const If& i = as<If>(s);
    BlockId then = new_block(), otherwise = new_block(), after = new_block();
    condition(*i.condition, then, otherwise);
    bool known = i.condition->constant.kind == Constant::integer;
    branches_++;
    start(then);
    if (!known || i.condition->constant.integer_value) lower(*i.then);
    jump(after);
    start(otherwise);
    if (i.otherwise && (!known || !i.condition->constant.integer_value)) lower(*i.otherwise);
    jump(after);
    start(after);
    branches_--;
    return;
  }
  case StmtKind::loop_while: return lower_while(as<While>(s));
  case StmtKind::loop_range: return lower_range(as<ForRange>(s));
  case StmtKind::loop_map: return lower_for_map(as<ForMap>(s));
  case StmtKind::unroll: {
    const Unroll& u = as<Unroll>(s);
    BlockId after = new_block();
    for (int64_t n = 0; n < u.count->constant.integer_value; n++) {
      BlockId next = new_block();
      loops_.push_back({false, after, next});
      lower(*u.body);
      loops_.pop_back();
      jump(next);
      start(next);
    }
    jump(after);
    start(after);
    return;
  }
  case StmtKind::speculate: return lower_speculate(as<Speculate>(s));
  case StmtKind::limit: return lower_limit(as<Limit>(s));
  case StmtKind::leave: {
    const Leave& l = as<Leave>(s);
    const Loop& loop = loops_.back();
    if (loop.is_body && !(l.is_continue && loop.on_continue != no_block))
      give_back(number(!l.is_continue));
    else
      jump(l.is_continue ? loop.on_continue : loop.on_break);
    return;
  }
  case StmtKind::give_back: return lower_return(as<Return>(s));
  case StmtKind::block: return lower(*as<BlockStmt>(s).block);
  }
}

void Lowering::leave_probe() {
  bool in_body = std::any_of(loops_.begin(), loops_.end(), [](const Loop& l) { return l.is_body; });
  if (in_body) {
    body_leaves_ = true;
    store({Space::script, object(returned_object_), 0}, number(1), 8);
    give_back(number(1));
  } else if (result_object_ != ~0u && fn_ && !fn_->result_type->is_scalar()) {
    copy(result_place_, {Space::script, object(result_object_), 0}, fn_->result_type->size);
    give_back(number(0));
  } else if (result_object_ != ~0u) {
    give_back(load_word({Space::script, object(result_object_), 0}, 8, false));
  } else if (return_block_ != no_block) {
    jump(return_block_);
  } else {
    give_back(number(0));
  }
}

void Lowering::lower_return(const Return& r) {
  if (fn_ && r.value && !fn_->result_type->is(Kind::none)) {
    const Type& t = *fn_->result_type;
    bool in_body = std::any_of(loops_.begin(), loops_.end(), [](const Loop& l) { return l.is_body; });
    if (in_body) {
      if (result_object_ == ~0u) result_object_ = add_object(std::max(8u, t.size), "result");
      if (t.is_scalar())
        store({Space::script, object(result_object_), 0}, narrow(scalar(*r.value), t), 8);
      else
        into(*r.value, {Space::script, object(result_object_), 0}, t);
      return leave_probe();
    }
    if (!t.is_scalar()) {
      into(*r.value, result_place_, t);
      return give_back(number(0));
    }
    return give_back(narrow(scalar(*r.value), t));
  }
  bool is_test = probe_ && probe_->events.front()->kind == probe::Kind::test;
  if (is_test && r.value && r.value->type->is_scalar())
    store({Space::script, object(result_object_), 0}, scalar(*r.value), 8);
  else if (r.value && r.value->type->is_scalar())
    scalar(*r.value);
  leave_probe();
}

// ------------------------------------------------------------------------------------------ variables

Reg Lowering::variable_register(const Variable& v) {
  auto [at, is_new] = registers_.try_emplace(&v, 0);
  if (is_new) at->second = fresh();
  return at->second;
}

Place Lowering::variable_place(const Variable& v) {
  auto [at, is_new] = objects_.try_emplace(&v, 0);
  if (is_new) at->second = add_object(v.type->size, "$" + std::string(v.name));
  return {Space::script, object(at->second), 0};
}

void Lowering::define(const Variable& v) {
  if (in_register(v))
    assign(variable_register(v), number(0));
  else
    zero(variable_place(v), (v.type->size + 7) / 8 * 8);
}

void Lowering::assign_variable(const Variable& v, const Expr& value) {
  const Type& t = *v.type;
  if (!t.is_scalar()) {
    // The value may read the variable itself: build it apart, unless it clearly does not.
    bool reads_itself = false;
    lang::walk(&value, [&](const Expr& e) {
      const VariableRef* r = if_a<VariableRef>(&e);
      reads_itself |= r && r->variable == &v;
    });
    if (!reads_itself) return into(value, variable_place(v), t);
    Place made = temporary(value, t);
    return copy(variable_place(v), made, t.size);
  }
  if (type::TimeClock clock = time_clock(value); clock != type::TimeClock::boot) time_clocks_[&v] = clock;
  Operand n = scalar(value);
  set_variable(v, v.declared ? narrow(n, t) : n);
}

// In memory, integers of all types take 8 bytes: a pointer to one may be meant for a wider one.
void Lowering::set_variable(const Variable& v, Operand n) {
  if (in_register(v))
    assign(variable_register(v), n);
  else
    store(variable_place(v), n, as_word(v.type)->size);
}

// The new value of a variable, made from its old one. In a branch nothing of it shall be known: a verifier
// that sees the variable compared would follow each value that a row of branches could have given it.
Operand Lowering::changed(const Variable& v, Operand n) {
  return branches_ && v.type->is_integer() ? emit(Op::blur, n) : n;
}

void Lowering::lower_assign(const Assign& a) {
  if (const MapRef* m = if_a<MapRef>(a.target)) {
    if (!a.compound) return write_map(*m, *a.value);
    Operand value = scalar(*a.value);
    if (uint32_t n = stride(*map_of(*m).value); n > 1) value = emit(Op::mul, value, number(n));
    update_map(*m, *a.compound, value, false);
    return;
  }
  const VariableRef& target = as<VariableRef>(*a.target);
  const Variable& v = *target.variable;
  if (!a.compound) return assign_variable(v, *a.value);
  // `$x op= e` is `$x = $x op e`.
  Binary sum(a.where);
  sum.op = *a.compound;
  sum.left = a.target;
  sum.right = a.value;
  sum.type = v.type;
  set_variable(v, changed(v, narrow(binary(sum), *v.type)));
}

// ---------------------------------------------------------------------------------------------- loops

// Builds a function that is called back: `fill` appends what it does, `call` the operation that calls it.
// Afterwards, a `return` inside the loop is carried on.
void Lowering::body(uint32_t parameters, const std::function<void()>& fill,
                    const std::function<void(uint32_t)>& call) {
  if (returned_object_ == ~0u) returned_object_ = add_object(8, "returned");
  bool outer_leaves = std::exchange(body_leaves_, false);
  uint32_t outer = function_;
  BlockId outer_block = block_;
  base::Range outer_where = where_;
  uint32_t made = begin_function(function().name + ".loop", Role::body, parameters, function().frame);
  // Registers are not shared with the loop: what both sides use is an object (Variable::captured).
  auto outer_registers = std::exchange(registers_, {});
  Operand outer_name = probe_name_;
  uint32_t name_object = ~0u;
  if (outer_name.is_reg()) {
    name_object = add_object(8, "probe name");
    probe_name_ = load_word({Space::script, object(name_object), 0}, 8, false);
  }
  loops_.push_back({true, no_block, no_block});
  fill();
  if (!ended()) give_back(number(0));
  loops_.pop_back();
  probe_name_ = outer_name;
  registers_ = std::move(outer_registers);
  go_to(outer, outer_block);
  where_ = outer_where;
  if (name_object != ~0u) store({Space::script, object(name_object), 0}, outer_name, 8);
  bool leaves = body_leaves_;
  body_leaves_ = outer_leaves;
  if (!leaves) return call(made);
  store({Space::script, object(returned_object_), 0}, number(0), 8);
  // What is only set where the loop returns is read behind a test that a verifier cannot see through.
  if (fn_ && result_object_ != ~0u)
    zero({Space::script, object(result_object_), 0}, std::max(8u, fn_->result_type->size));
  call(made);
  Operand returned = emit(Op::blur, load_word({Space::script, object(returned_object_), 0}, 8, false));
  BlockId leave = new_block(), after = new_block();
  branch(Cond::ne, returned, number(0), leave, after);
  start(leave);
  leave_probe();
  start(after);
}

// Variables that a loop to come shares with what is before it.
std::vector<const Variable*> Lowering::find_shared(const Expr* condition,
                                                   std::initializer_list<const lang::Block*> blocks) const {
  std::vector<const Variable*> found;
  auto look = [&](const Expr& e) {
    const VariableRef* r = if_a<VariableRef>(&e);
    if (!r || !r->variable || !r->variable->captured || !r->variable->type->is_integer()) return;
    if (objects_.count(r->variable) && std::find(found.begin(), found.end(), r->variable) == found.end())
      found.push_back(r->variable);
  };
  if (condition) lang::walk(condition, look);
  for (const lang::Block* block : blocks)
    if (block) lang::walk(block, look);
  return found;
}

// What a verifier knows of variables before a loop it would carry from turn to turn.
void Lowering::blur(const std::vector<const Variable*>& variables) {
  for (const Variable* v : variables) {
    Place at = variable_place(*v);
    store(at, emit(Op::blur, load(at, *as_word(v->type))), as_word(v->type)->size);
  }
}

// A loop as jumps, without limit: for engines that need nobody's consent to it.
void Lowering::jump_in_circles(const lang::Block& block,
                               const std::function<void(BlockId, BlockId)>& condition,
                               const std::function<void()>& begin, const std::function<void()>& step) {
  BlockId head = new_block(), go = new_block(), next = new_block(), stop = new_block();
  jump(head);
  start(head);
  condition(go, stop);
  start(go);
  begin();
  loops_.push_back({false, stop, next});
  lower(block);
  loops_.pop_back();
  jump(next);
  start(next);
  step();
  jump(head);
  start(stop);
}

void Lowering::lower_while(const While& w) {
  if (!options_.calls_loops)
    return jump_in_circles(
        *w.body, [&](BlockId go, BlockId stop) { this->condition(*w.condition, go, stop); }, [] {},
        [&] {
          if (w.step) lower(*w.step);
        });
  auto limit = static_cast<int64_t>(source_.config.number("loop_limit"));
  const std::vector<const Variable*> shared = find_shared(w.condition, {w.body, w.step});
  body(
      1,
      [&] {
        BlockId go = new_block(), stop = new_block();
        condition(*w.condition, go, stop);
        start(stop);
        give_back(number(1));
        start(go);
        if (!w.step) return lower(*w.body);
        BlockId step = loops_.back().on_continue = new_block();
        lower(*w.body);
        jump(step);
        start(step);
        lower(*w.step);
      },
      [&](uint32_t made) {
        blur(shared);
        uint32_t at = site(Fault::loop_limit, std::to_string(limit));
        append({.op = Op::loop,
                .dst = fresh(),
                .a = number(limit + 1),
                .imm = limit,
                .imm2 = at,
                .index = made});
      });
}

void Lowering::lower_range(const ForRange& f) {
  constexpr int64_t most_turns = 1 << 23; // of bpf_loop
  Operand first = scalar(*f.first);
  Operand last = scalar(*f.last);
  if (!options_.calls_loops) {
    Reg turn = fresh(), end = fresh();
    assign(turn, first);
    assign(end, last);
    return jump_in_circles(
        *f.body,
        [&](BlockId go, BlockId stop) { branch(Cond::slt, Operand::of(turn), Operand::of(end), go, stop); },
        [&] { set_variable(*f.variable, Operand::of(turn)); },
        [&] { append({.op = Op::add, .dst = turn, .a = Operand::of(turn), .b = number(1)}); });
  }
  Reg turns = fresh();
  BlockId some = new_block(), none = new_block(), after = new_block();
  branch(Cond::slt, first, last, some, none);
  start(some);
  append({.op = Op::blur, .dst = turns, .a = emit(Op::sub, last, first)});
  jump(after);
  start(none);
  assign(turns, number(0));
  jump(after);
  start(after);
  uint32_t first_object = ~0u;
  if (first.is_reg()) {
    first_object = add_object(8, "first");
    store({Space::script, object(first_object), 0}, first, 8);
  }
  const Variable& v = *f.variable;
  const std::vector<const Variable*> shared = find_shared(nullptr, {f.body});
  body(
      1,
      [&] {
        Operand from = first.is_reg() ? load_word({Space::script, object(first_object), 0}, 8, true) : first;
        set_variable(v, emit(Op::add, Operand::of(1), from));
        lower(*f.body);
      },
      [&](uint32_t made) {
        blur(shared);
        uint32_t at = site(Fault::loop_limit, std::to_string(most_turns));
        append({.op = Op::loop,
                .dst = fresh(),
                .a = Operand::of(turns),
                .imm = most_turns,
                .imm2 = at,
                .index = made});
      });
}

void Lowering::lower_for_map(const ForMap& f) {
  if (f.is_sorted) return lower_for_sorted(f);
  const Variable& v = *f.variable;
  uint32_t map = f.map->map->id;
  const std::vector<const Variable*> shared = find_shared(nullptr, {f.body});
  body(
      2,
      [&] {
        // The callback sees key and value in place; the loop variable is a copy: a tuple (key, value).
        const Map& m = program_.maps[map];
        Place to = variable_place(v);
        const type::Field& key = v.type->fields()[0];
        const type::Field& value = v.type->fields()[1];
        if (has_padding(*v.type)) zero(to, v.type->size);
        convert(to.plus(key.offset), *key.type, {Space::script, Operand::of(1), 0}, *m.key);
        if (is_percpu(m.kind))
          store(to.plus(value.offset), read_percpu(map, Operand::of(1)), value.type->size);
        else
          convert(to.plus(value.offset), *value.type, {Space::script, Operand::of(2), 0}, *m.value);
        lower(*f.body);
      },
      [&](uint32_t made) {
        blur(shared);
        append({.op = Op::for_each, .imm = made, .index = map});
      });
}

} // namespace ir
