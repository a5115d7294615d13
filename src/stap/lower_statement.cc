// Statements, and where local variables are declared: those of SystemTap live as long as the probe runs, those of acu in their block.
#include "stap/lowering.h"

#include "base/text.h"
#include "lang/walk.h"
#include "spec/diagnostics.h"

#include <algorithm>
#include <utility>

namespace stap {

using namespace spec;
using base::quoted;
using lang::StmtKind;

lang::Block* Lowering::block_of(const Statements& all, Range where) { return at(where).block(all); }

lang::Block* Lowering::block(const Statement* s) {
  Statements out;
  if (s && s->kind == StatementKind::block)
    for (const Statement* inner : s->list) lower(*inner, out);
  else if (s)
    lower(*s, out);
  return block_of(out, s ? s->where : Range{});
}

lang::Stmt* Lowering::assign(lang::Expr* target, lang::Expr* value, Range where) {
  lang::Assign* a = at(where).node<lang::Assign>();
  a->target = target;
  a->value = value;
  return a;
}

lang::Stmt* Lowering::let(std::string_view name, lang::Expr* value, Range where) {
  lang::Let* l = at(where).node<lang::Let>();
  l->name = keep(name);
  l->name_where = where;
  l->value = value;
  return l;
}

void Lowering::lower_assign(const Node& n, Statements& to) {
  if (n.text == "<<<") return add_value(n, to);
  const Node* value = n.parts[1];
  // a = b = 0
  if (value->kind == NodeKind::assign) {
    lower_assign(*value, to);
    value = value->parts[0];
  }
  const Node* array = array_of(*n.parts[0]);
  if (array && statistics_.contains(array->text)) return error(tag::bad_map_use, n.where, "the statistic " + quoted(array->text) + " can't be assigned to", "add a value: " + array->text + " <<< value");
  if (n.text == ".=") {
    Node joined;
    joined.kind = NodeKind::binary;
    joined.where = n.where;
    joined.text = ".";
    joined.parts = {n.parts[0], n.parts[1]};
    to.push_back(assign(lower(*n.parts[0]).e, text_value(joined), n.where));
    return;
  }
  const bool is_division = n.text == "/=" || n.text == "%=";
  if (is_division && (may_be_negative(*n.parts[0]) || may_be_negative(*value))) {
    to.push_back(assign(lower(*n.parts[0]).e, divide(*n.parts[0], *value, n.text == "%=", n.where), n.where));
    return;
  }
  lang::Assign* a = at(n.where).node<lang::Assign>();
  a->target = lower(*n.parts[0]).e;
  a->value = number(*value);
  constexpr std::pair<std::string_view, lang::BinaryOp> compounds[] = {{"+=", lang::BinaryOp::add}, {"-=", lang::BinaryOp::sub}, {"*=", lang::BinaryOp::mul}, {"/=", lang::BinaryOp::div}, {"%=", lang::BinaryOp::mod}, {"&=", lang::BinaryOp::bit_and}, {"|=", lang::BinaryOp::bit_or}, {"^=", lang::BinaryOp::bit_xor}, {"<<=", lang::BinaryOp::shl}, {">>=", lang::BinaryOp::shr}};
  for (const auto& [sign, op] : compounds)
    if (n.text == sign) a->compound = op;
  to.push_back(a);
}

void Lowering::lower_expression_statement(const Node& n, Statements& to) {
  if (n.kind == NodeKind::assign) return lower_assign(n, to);
  const bool is_own = std::ranges::any_of(script_.functions, [&](const Function& f) { return f.name == n.text; });
  if (n.kind == NodeKind::call && !is_own && is_output(n.text)) return lower_output(n, to);
  if (n.kind == NodeKind::call || n.kind == NodeKind::increment) {
    const Value v = lower(n);
    if (n.kind == NodeKind::increment || v.kind == Kind::nothing || v.e->kind == lang::ExprKind::call) {
      to.push_back(at(n.where).statement(v.e));
      return;
    }
    remark("the value of " + n.text + "() is not used: the statement was dropped", n.where);
    return;
  }
  (void)lower(n); // its mistakes
  remark("a value that is not used was dropped", n.where);
}

// What the condition assigns is assigned at the begin of the body.
void Lowering::lower_while(const Statement& s, Statements& to) {
  lang::While* w = at(s.where).node<lang::While>();
  Statements front;
  hoist_ = &front;
  w->condition = condition(*s.value);
  hoist_ = nullptr;
  w->body = block(s.body);
  if (!front.empty()) {
    lang::If* stop = at(s.where).node<lang::If>();
    lang::Unary* no = at(s.where).node<lang::Unary>();
    no->op = lang::UnaryOp::logical_not;
    no->operand = std::exchange(w->condition, at(s.where).number(1));
    stop->condition = no;
    stop->then = block_of({at(s.where).node<lang::Leave>()}, s.where);
    front.push_back(stop);
    front.insert(front.end(), w->body->statements.begin(), w->body->statements.end());
    w->body = block_of(front, s.where);
  }
  to.push_back(w);
}

void Lowering::lower_for(const Statement& s, Statements& to) {
  if (s.first) lower_expression_statement(*s.first, to);
  lang::While* w = at(s.where).node<lang::While>();
  w->condition = s.value ? condition(*s.value) : at(s.where).number(1);
  w->body = block(s.body);
  if (s.step) {
    Statements step;
    lower_expression_statement(*s.step, step);
    w->step = block_of(step, s.where);
  }
  to.push_back(w);
}

void Lowering::lower_each(const Statement& s, Statements& to) {
  const Each& each = s.each;
  const Node* array = array_of(*each.array);
  if (!array || !is_global(array->text)) return error(tag::bad_map_use, each.array->where, quoted(array ? array->text : "this") + " is no array", "loop over a global array");
  const bool is_statistic = statistics_.contains(array->text);
  const std::string pair = fresh("kv");
  lang::ForMap* f = at(s.where).node<lang::ForMap>();
  f->name = keep(pair);
  f->name_where = s.where;
  const bool has_counts = is_statistic && statistics_[array->text].operations.contains("count");
  f->map = is_statistic ? statistic_map(*array, !each.sort_by.empty() ? std::string_view(each.sort_by) : has_counts ? "count" : "") : at(array->where).map(map_named(array->text, array->where), nullptr);
  f->is_sorted = each.sort < 0 && each.sort_key < 0;
  if (each.sort > 0 && each.sort_key < 0) remark("ascending order is not available: the elements come in any order", s.where);
  if (each.sort && each.sort_key >= 0) remark("order by a key is not available: the elements come in any order; print(@" + array->text + ") prints them in order", s.where);
  Statements body;
  const auto value_of = [&](std::string_view part) { return field(variable(pair, s.where), part, s.where); };
  // Names of keys that several loops share have the kinds of this array's.
  const std::vector<Kind>& kinds = key_kinds_[array->text];
  for (size_t i = 0; i < each.keys.size() && i < kinds.size(); i++)
    if (scope_->locals.contains(each.keys[i]->text) && kinds[i] != Kind::unknown) scope_->kinds[each.keys[i]->text] = kinds[i];
  for (size_t i = 0; i < each.keys.size(); i++) {
    lang::Expr* key = value_of("0");
    if (each.keys.size() > 1) key = field(key, std::to_string(i), s.where);
    body.push_back(assign(lower(*each.keys[i]).e, key, s.where));
  }
  if (!each.value.empty()) body.push_back(assign(variable(each.value, s.where), value_of("1"), s.where));
  if (each.array->kind == NodeKind::index) // keys that select
    for (size_t i = 1; i < each.array->parts.size() && i <= each.keys.size(); i++) {
      if (each.array->parts[i]->kind == NodeKind::any) continue;
      lang::If* skip = at(s.where).node<lang::If>();
      skip->condition = at(s.where).binary(lang::BinaryOp::ne, lower(*each.keys[i - 1]).e, number(*each.array->parts[i]));
      lang::Leave* next = at(s.where).node<lang::Leave>();
      next->is_continue = true;
      skip->then = block_of({next}, s.where);
      body.push_back(skip);
    }
  const bool is_constant = each.limit && (each.limit->kind == NodeKind::integer);
  if (each.limit && f->is_sorted && is_constant && each.array->kind == NodeKind::name) {
    f->most = number(*each.limit);
  } else if (each.limit) {
    const std::string count = fresh("visited");
    to.push_back(let(count, at(s.where).number(0), s.where));
    lang::If* stop = at(s.where).node<lang::If>();
    stop->condition = at(s.where).binary(lang::BinaryOp::ge, variable(count, s.where), number(*each.limit));
    stop->then = block_of({at(s.where).node<lang::Leave>()}, s.where);
    lang::Unary* up = at(s.where).node<lang::Unary>();
    up->op = lang::UnaryOp::post_increment;
    up->operand = variable(count, s.where);
    body.push_back(stop);
    body.push_back(at(s.where).statement(up));
  }
  lang::Block* inner = block(s.body);
  body.insert(body.end(), inner->statements.begin(), inner->statements.end());
  f->body = block_of(body, s.where);
  to.push_back(f);
}

// delete x, delete x[k]
void Lowering::lower_remove(const Statement& s, Statements& to) {
  const Node& n = *s.value;
  const Node* array = array_of(n);
  if (!array || (!is_global(array->text) && n.kind == NodeKind::index)) return error(tag::bad_map_use, n.where, "only arrays, elements and variables can be deleted", "write `delete x[key]`");
  if (!is_global(array->text)) {
    const bool is_text = scope_->kinds[array->text] == Kind::text;
    to.push_back(assign(lower(n).e, is_text ? text("", s.where) : at(s.where).number(0), s.where));
    return;
  }
  std::vector<std::pair<lang::Map*, bool>> maps; // with whether a loop can visit it
  if (statistics_.contains(array->text)) {
    (void)statistic_map(*array, {});
    for (const std::string& operation : statistics_[array->text].operations)
      maps.emplace_back(map_named(statistic_name(array->text, operation), n.where), !operation.starts_with("hist") && operation != "stats");
  } else {
    maps.emplace_back(map_named(array->text, n.where), true);
  }
  for (const auto& [map, is_visited] : maps) {
    const auto whole = [&] { return at(s.where).map(map, nullptr); };
    if (n.kind == NodeKind::index)
      to.push_back(at(s.where).statement(at(s.where).call("delete", {whole(), keys_of(n.parts, 1, n.parts.size(), n.where)})));
    else if (is_visited && !key_kinds_[array->text].empty())
      to.push_back(remove_all(map, s.where));
    else
      to.push_back(at(s.where).statement(at(s.where).call("clear", {whole()})));
  }
}

// clear() takes place when what was printed before is printed; this at once.
lang::Stmt* Lowering::remove_all(lang::Map* map, Range where) {
  const std::string pair = fresh("kv");
  lang::ForMap* f = at(where).node<lang::ForMap>();
  f->name = keep(pair);
  f->name_where = where;
  f->map = at(where).map(map, nullptr);
  f->body = block_of({at(where).statement(at(where).call("delete", {at(where).map(map, nullptr), field(variable(pair, where), "0", where)}))}, where);
  return f;
}

// What @defined decides is no branch.
void Lowering::lower_if(const Statement& s, Statements& to) {
  const Node* c = s.value;
  bool is_not = false;
  while (c->kind == NodeKind::unary && c->text == "!") c = c->parts[0], is_not = !is_not;
  if (c->kind == NodeKind::operation && c->text == "defined") {
    const Statement* taken = is_defined(*c) != is_not ? s.body : s.otherwise;
    if (!taken) return;
    lang::Block* inner = block(taken);
    to.insert(to.end(), inner->statements.begin(), inner->statements.end());
    return;
  }
  lang::If* out = at(s.where).node<lang::If>();
  out->condition = condition(*s.value);
  out->then = block(s.body);
  if (s.otherwise) out->otherwise = block(s.otherwise);
  to.push_back(out);
}

void Lowering::lower_return(const Statement& s, Statements& to) {
  lang::Return* out = at(s.where).node<lang::Return>();
  const Function* f = scope_->function;
  const Kind result = f ? function_kinds_[f->name] : Kind::nothing;
  if (s.kind == StatementKind::next && f) remark("`next` in a function ends the function only", s.where);
  if (result != Kind::nothing) {
    out->value = s.value ? (result == Kind::text ? bounded(text_value(*s.value)) : number(*s.value)) : result == Kind::text ? text("", s.where) : at(s.where).number(0);
  } else if (s.value) {
    error(tag::misplaced, s.where, "a probe has no result", "write `next`");
  }
  to.push_back(out);
}

void Lowering::lower(const Statement& s, Statements& to) {
  const Range outer = statement_;
  statement_ = s.where;
  const bool may_hoist = s.kind == StatementKind::expression || s.kind == StatementKind::conditional || s.kind == StatementKind::give_back;
  Statements* const outer_hoist = std::exchange(hoist_, may_hoist ? &to : nullptr);
  switch (s.kind) {
  case StatementKind::empty: break;
  case StatementKind::expression: lower_expression_statement(*s.value, to); break;
  case StatementKind::block:
    for (const Statement* inner : s.list) lower(*inner, to);
    break;
  case StatementKind::conditional: lower_if(s, to); break;
  case StatementKind::loop_while: lower_while(s, to); break;
  case StatementKind::loop_for: lower_for(s, to); break;
  case StatementKind::loop_each: lower_each(s, to); break;
  case StatementKind::leave_loop:
  case StatementKind::continue_loop: {
    lang::Leave* l = at(s.where).node<lang::Leave>();
    l->is_continue = s.kind == StatementKind::continue_loop;
    to.push_back(l);
    break;
  }
  case StatementKind::next:
  case StatementKind::give_back: lower_return(s, to); break;
  case StatementKind::remove: lower_remove(s, to); break;
  case StatementKind::attempt:
    remark("a failed read ends the probe: the block of `catch` was dropped; try(e, default) gives a value instead", s.where);
    if (s.body) lower(*s.body, to);
    break;
  }
  statement_ = outer;
  hoist_ = outer_hoist;
}

// -------------------------------------------------------------------------------------- local variables

namespace {

bool mentions(const lang::Block* b, std::string_view name) {
  bool found = false;
  lang::walk(b, [&](const lang::Expr& e) {
    const lang::VariableRef* v = lang::if_a<lang::VariableRef>(&e);
    found |= v && v->name == name;
  });
  return found;
}
bool mentions(const lang::Expr* e, std::string_view name) {
  bool found = false;
  lang::walk(e, [&](const lang::Expr& x) {
    const lang::VariableRef* v = lang::if_a<lang::VariableRef>(&x);
    found |= v && v->name == name;
  });
  return found;
}
bool mentions(lang::Stmt* s, std::string_view name) {
  lang::Block one;
  one.statements = lang::List<lang::Stmt*>(&s, 1);
  return mentions(&one, name);
}

bool is_assigned_first(const lang::Stmt& s, std::string_view name) {
  if (s.kind != StmtKind::assign) return false;
  const lang::Assign& a = lang::as<lang::Assign>(s);
  const lang::VariableRef* target = lang::if_a<lang::VariableRef>(static_cast<const lang::Expr*>(a.target));
  return target && target->name == name && !a.compound && !mentions(a.value, name);
}

// The blocks in a statement, and its own expressions.
struct Parts {
  std::vector<lang::Block*> blocks;
  std::vector<const lang::Expr*> own;
  bool is_loop = false;
};
Parts parts_of(lang::Stmt& s) {
  switch (s.kind) {
  case StmtKind::conditional: {
    lang::If& i = lang::as<lang::If>(s);
    Parts out{{i.then}, {i.condition}};
    if (i.otherwise) out.blocks.push_back(i.otherwise);
    return out;
  }
  case StmtKind::loop_while: {
    lang::While& w = lang::as<lang::While>(s);
    Parts out{{w.body}, {w.condition}, true};
    if (w.step) out.blocks.push_back(w.step);
    return out;
  }
  case StmtKind::loop_map: {
    lang::ForMap& f = lang::as<lang::ForMap>(s);
    return {{f.body}, {f.map, f.most}, true};
  }
  default: return {};
  }
}

// The one block of a statement that has all uses, and begins with an assignment; nullptr: there is none.
lang::Block* block_of_its_own(lang::Stmt& s, std::string_view name) {
  const Parts parts = parts_of(s);
  for (const lang::Expr* e : parts.own)
    if (e && mentions(e, name)) return nullptr;
  lang::Block* found = nullptr;
  for (lang::Block* block : parts.blocks) {
    if (!mentions(block, name)) continue;
    if (found) return nullptr;
    found = block;
  }
  if (!found) return nullptr;
  const auto at_first = std::ranges::find_if(found->statements, [&](lang::Stmt* inner) { return mentions(inner, name); });
  return is_assigned_first(**at_first, name) ? found : nullptr;
}

} // namespace

// In the innermost block that has all uses; without a declaration where it is assigned before it is read.
void Lowering::declare(lang::Block* b, const std::string& name, Kind kind) {
  std::vector<size_t> users;
  for (size_t i = 0; i < b->statements.size(); i++)
    if (mentions(b->statements[i], name)) users.push_back(i);
  if (users.empty()) return;
  lang::Stmt& first = *b->statements[users[0]];
  // Several that each begin with an assignment are different variables, as those of two loops are.
  std::vector<lang::Block*> own;
  for (size_t i : users)
    if (lang::Block* inner = block_of_its_own(*b->statements[i], name)) own.push_back(inner);
  if (users.size() > 1 && own.size() == users.size()) {
    for (lang::Block* inner : own) declare(inner, name, kind);
    return;
  }
  if (users.size() == 1) {
    const Parts parts = parts_of(first);
    const bool in_own = std::ranges::any_of(parts.own, [&](const lang::Expr* e) { return e && mentions(e, name); });
    std::vector<lang::Block*> inner;
    for (lang::Block* block : parts.blocks)
      if (mentions(block, name)) inner.push_back(block);
    if (!in_own && inner.size() == 1) {
      // A loop keeps its value from one round to the next, unless each begins with an assignment.
      const auto at_first = std::ranges::find_if(inner[0]->statements, [&](lang::Stmt* s) { return mentions(s, name); });
      if (!parts.is_loop || is_assigned_first(**at_first, name)) return declare(inner[0], name, kind);
    }
  }
  if (is_assigned_first(first, name)) return;
  std::vector<lang::Stmt*> all(b->statements.begin(), b->statements.end());
  const Range where = first.where;
  all.insert(all.begin() + static_cast<long>(users[0]), let(name, kind == Kind::text || kind == Kind::symbol ? text("", where) : at(where).number(0), where));
  b->statements = program_->arena.copy(all);
}

void Lowering::declare_locals(lang::Block* b, const Scope& scope) {
  for (const std::string& name : scope.locals) {
    const auto kind = scope.kinds.find(name);
    declare(b, name, kind == scope.kinds.end() ? Kind::number : kind->second);
  }
}

} // namespace stap
