// Faults: a clause ends where memory cannot be read or something is divided by 0. Nothing of its record is printed; a line about the fault is, and
// the clauses of ERROR run, whose arg1 … arg5 describe it. What a clause stored before stays, and later clauses run.
#include "dlang/lowering.h"
#include "ir/ir.h"
#include "lang/walk.h"

namespace dlang {

namespace {

// Variables of a group, whose names no script can have.
constexpr std::string_view kind_variable = "fault", address_variable = "fault address", action_variable = "fault action",
                           error_kind = "error", error_address = "error address", error_action = "error action"; // as the clauses of ERROR see them

// Whether something in it may read memory or divide.
bool may_fail(const lang::Expr* e) {
  bool out = false;
  lang::walk(e, [&](const lang::Expr& part) {
    const lang::Unary* u = lang::if_a<lang::Unary>(&part);
    const lang::Binary* b = lang::if_a<lang::Binary>(&part);
    const lang::Name* n = lang::if_a<lang::Name>(&part); // arguments of USDT probes may be in memory; other tasks are
    out |= part.kind == lang::ExprKind::field || part.kind == lang::ExprKind::index || part.kind == lang::ExprKind::call || part.kind == lang::ExprKind::block ||
           (u && u->op == lang::UnaryOp::dereference) || (b && (b->op == lang::BinaryOp::div || b->op == lang::BinaryOp::mod)) || (n && (n->name.starts_with("arg") || n->name == "ppid" || n->name == "leader_comm"));
  });
  return out;
}

} // namespace

std::vector<lang::Stmt*> Lowering::fault_variables(Range where) {
  const lang::TreeMaker make = at(where);
  return {let(kind_variable, cast(make.number(0), int64_type), where), let(address_variable, cast(make.number(0), uint64_type), where),
          let(action_variable, cast(make.number(0), int64_type), where)};
}

// Which action runs now, counted from 1; 0: the predicate.
lang::Stmt* Lowering::note_action(size_t number, Range where) {
  return set(scratch(action_variable, where), cast(at(where).number(static_cast<int64_t>(number)), int64_type), where);
}

// A value of the record, which is computed when the clause ends.
lang::Expr* Lowering::in_action(lang::Expr* e) {
  if (!may_fail(e)) return e;
  lang::BlockExpr* block = at(e->where).node<lang::BlockExpr>();
  block->block = at(e->where).block({note_action(action_number_, e->where)});
  block->block->value = e;
  return block;
}

// What a table of acu reads is no read of the script: where that fails it is 0, and counted.
lang::Expr* Lowering::never_failing(lang::Expr* e, Range where) {
  if (!may_fail(e)) return e;
  lang::Attempt* a = at(where).node<lang::Attempt>();
  a->first = e;
  return a;
}

// try({ first; 0 }, { second; 0 })
lang::Stmt* Lowering::attempt(const std::vector<lang::Stmt*>& first, const std::vector<lang::Stmt*>& second, Range where) {
  const lang::TreeMaker make = at(where);
  auto part = [&](const std::vector<lang::Stmt*>& statements) {
    lang::BlockExpr* block = make.node<lang::BlockExpr>();
    block->block = make.block(statements);
    block->block->value = make.number(0);
    return block;
  };
  lang::Attempt* a = make.node<lang::Attempt>();
  a->first = part(first), a->otherwise = part(second);
  a->fault = scratch(kind_variable, where), a->address = scratch(address_variable, where);
  lang::Discard* s = make.node<lang::Discard>();
  s->value = a;
  return s;
}

lang::Stmt* Lowering::guarded(const Clause& clause, const std::vector<lang::Stmt*>& body) {
  std::vector<lang::Stmt*> first = {note_action(0, clause.where)};
  first.insert(first.end(), body.begin(), body.end());
  return attempt(first, fault_handler(clause.where), clause.where);
}

// A record of the fault, and the clauses of ERROR: a fault in one of these only ends that clause.
std::vector<lang::Stmt*> Lowering::fault_handler(Range where) {
  const lang::TreeMaker make = at(where);
  const Context& c = group_->context;
  Record r{.has_line = false, .id = group_->id, .provider = c.provider, .module = c.module, .function = c.varies ? "" : c.function, .name = c.name, .items = {{.kind = ItemKind::fault}}};
  std::vector<lang::Expr*> values = {cast(make.number(static_cast<int64_t>(plan_->records.size())), int32_type)};
  if (c.varies) r.has_function = true, values.push_back(function_value(where));
  for (std::string_view variable : {kind_variable, address_variable, action_variable}) values.push_back(scratch(variable, where));
  plan_->records.push_back(r);
  std::vector<lang::Stmt*> out = {make.statement(make.call("print", {make.tuple(values)}))};
  const auto errors = std::ranges::find_if(groups_, [](const Group& g) { return g.context.kind == ContextKind::error; });
  if (errors == groups_.end()) return out;
  const Group* group = std::exchange(group_, &*errors);
  const auto locals = std::exchange(locals_, {});
  faulting_ = group;
  out.push_back(let(error_kind, scratch(kind_variable, where), where));
  out.push_back(let(error_address, scratch(address_variable, where), where));
  out.push_back(let(error_action, scratch(action_variable, where), where));
  for (const Clause* clause : errors->clauses) out.push_back(attempt(clause_statements(*clause), {}, clause->where));
  faulting_ = nullptr;
  locals_ = locals;
  group_ = group;
  return out;
}

// argN of ERROR: the probe, the action, no offset, the kind of the fault as dtrace numbers them, the address.
Value Lowering::fault_argument(size_t index, Range where) {
  const lang::TreeMaker make = at(where);
  constexpr int64_t bad_address = 1, divided_by_zero = 4;
  lang::Expr* e = make.number(0);
  switch (index) {
  case 1: e = make.number(faulting_ ? faulting_->id : 0); break;
  case 2: e = scratch(error_action, where); break;
  case 3: e = make.binary(lang::BinaryOp::sub, make.number(0), make.number(1)); break;
  case 4: {
    lang::Ternary* t = make.node<lang::Ternary>();
    t->condition = make.binary(lang::BinaryOp::eq, scratch(error_kind, where), make.number(static_cast<int64_t>(ir::Fault::division_by_zero)));
    t->then = make.number(divided_by_zero), t->otherwise = make.number(bad_address);
    e = t;
    break;
  }
  case 5: e = scratch(error_address, where); break;
  default: break;
  }
  return {cast(e, int64_type), int64_type};
}

} // namespace dlang
