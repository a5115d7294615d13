// Statements as Python.
#include "emit/debugger.h"

namespace emit {

using namespace lang;
using type::Kind;

void DebuggerScript::body(const Block& b) {
  if (b.statements.empty()) return out_.line("pass");
  lower(b);
}

void DebuggerScript::lower(const Block& b) {
  for (const Stmt* s : b.statements) lower(*s);
}

static bool is_block(const Stmt& s) { return s.kind == StmtKind::block; }

void DebuggerScript::lower(const Stmt& s) {
  if (!is_block(s)) out_.comments_above(s.where);
  where_ = s.where;
  switch (s.kind) {
  case StmtKind::expression:
  case StmtKind::discard: {
    const Expr& e = s.kind == StmtKind::expression ? *as<ExprStmt>(s).value : *as<Discard>(s).value;
    const Call* c = if_a<Call>(&e);
    if (c && c->builtin && run_builtin(*c)) return;
    if (!e.type) return out_.line("pass"); // never reached, and so not checked
    if (const Unary* u = if_a<Unary>(&e); u && u->op >= UnaryOp::pre_increment) {
      const bool up = u->op == UnaryOp::pre_increment || u->op == UnaryOp::post_increment;
      if (const MapRef* m = if_a<MapRef>(u->operand)) {
        out_.line(names_.of(*m->map) + ".change(" + without_parentheses(key(*m->map, m->key)) + ", " + (up ? "" : "-") + stride_times(*m->type, "1") + ")");
        return;
      }
      Unary pre = *u;
      pre.op = up ? UnaryOp::pre_increment : UnaryOp::pre_decrement;
      increment(pre);
      return;
    }
    const std::string code = without_parentheses(value(e));
    out_.line(code);
    return;
  }
  case StmtKind::assign: return lower_assign(as<Assign>(s));
  case StmtKind::let: {
    const Let& l = as<Let>(s);
    if (!l.variable->type) return;
    const std::string made = l.value ? without_parentheses(value_as(*l.value, *l.variable->type)) : zero_of(*l.variable->type);
    out_.line(names_.of(*l.variable) + " = " + made);
    return;
  }
  case StmtKind::conditional: return lower_if(as<If>(s), false);
  case StmtKind::loop_while: return lower_while(as<While>(s));
  case StmtKind::loop_range: {
    const ForRange& f = as<ForRange>(s);
    const std::string first = sided(*f.first, true), last = sided(*f.last, true);
    out_.open("for " + names_.of(*f.variable) + " in range(" + without_parentheses(first) + ", " + without_parentheses(last) + "):");
    steps_.push_back(nullptr);
    body(*f.body);
    steps_.pop_back();
    return out_.close_level();
  }
  case StmtKind::loop_map: {
    const ForMap& f = as<ForMap>(s);
    const std::string most = f.most ? without_parentheses(number(*f.most)) : std::to_string(most_sorted);
    out_.open("for " + names_.of(*f.variable) + " in " + names_.of(*f.map->map) + (f.is_sorted ? ".largest(" + most + "):" : ".items():"));
    steps_.push_back(nullptr);
    body(*f.body);
    steps_.pop_back();
    return out_.close_level();
  }
  case StmtKind::unroll: {
    const Unroll& u = as<Unroll>(s);
    out_.open("for _ in range(" + std::to_string(u.count->constant.integer_value) + "):");
    steps_.push_back(nullptr);
    body(*u.body);
    steps_.pop_back();
    return out_.close_level();
  }
  case StmtKind::leave: return leave(as<Leave>(s));
  case StmtKind::give_back: {
    const Return& r = as<Return>(s);
    if (!r.value || r.value->type->is(Kind::none)) return out_.line("return");
    return out_.line("return " + without_parentheses(function_ ? value_as(*r.value, *function_->result_type) : value(*r.value)));
  }
  case StmtKind::block: return lower(*as<BlockStmt>(s).block);
  case StmtKind::speculate:
  case StmtKind::limit: refuse(s.where, "this block", "nothing happens there over time"); return;
  }
}

void DebuggerScript::lower_if(const If& s, bool is_else) {
  const std::string chooser = without_parentheses(condition(*s.condition));
  out_.open((is_else ? "elif " : "if ") + chooser + ":");
  body(*s.then);
  out_.close_level();
  if (!s.otherwise || s.otherwise->statements.empty()) return;
  const Stmt& first = *s.otherwise->statements.front();
  if (s.otherwise->statements.size() == 1 && first.kind == StmtKind::conditional && !needs_statement(as<If>(first).condition))
    return lower_if(as<If>(first), true);
  out_.open("else:");
  body(*s.otherwise);
  out_.close_level();
}

void DebuggerScript::lower_while(const While& s) {
  if (needs_statement(s.condition)) {
    out_.open("while True:");
    const std::string goes_on = condition(*s.condition);
    out_.open("if not " + goes_on + ":");
    out_.line("break");
    out_.close_level();
  } else {
    out_.open("while " + without_parentheses(condition(*s.condition)) + ":");
  }
  steps_.push_back(s.step);
  if (s.body->statements.empty() && !s.step) out_.line("pass");
  lower(*s.body);
  steps_.pop_back();
  if (s.step) lower(*s.step);
  out_.close_level();
}

void DebuggerScript::leave(const Leave& s) {
  if (!s.is_continue) return out_.line("break");
  if (!steps_.empty() && steps_.back()) lower(*steps_.back());
  out_.line("continue");
}

void DebuggerScript::lower_assign(const Assign& s) {
  if (const MapRef* m = if_a<MapRef>(s.target)) {
    const Map& map = *m->map;
    const Call* call = if_a<Call>(s.value);
    if (map.value->is_aggregation() && call && call->builtin) return aggregate(*m, *call);
    const std::string name = names_.of(map);
    if (!s.compound) {
      std::string made = value_as(*s.value, *map.value);
      if (needs_statement(m->key)) made = spill("value", made);
      return out_.line(name + ".set(" + without_parentheses(key(map, m->key)) + ", " + without_parentheses(made) + ")");
    }
    const bool adds = *s.compound == BinaryOp::add || *s.compound == BinaryOp::sub;
    if (adds) {
      std::string by = raw(*s.value);
      if (s.value->type->is_integer()) by = stride_times(*map.value, by);
      return out_.line(name + ".change(" + without_parentheses(key(map, m->key)) + ", " + (*s.compound == BinaryOp::sub ? "-" + by : without_parentheses(by)) + ")");
    }
    const std::string k = spill("key", key(map, m->key));
    // The old value as an expression of its own.
    Variable old;
    old.name = "old";
    old.type = m->type;
    VariableRef ref(m->where);
    ref.variable = &old;
    ref.type = m->type;
    out_.line(names_.of(old) + " = " + name + ".get(" + k + ")");
    Binary changed(s.where);
    changed.op = *s.compound;
    changed.left = &ref;
    changed.right = s.value;
    changed.type = m->type;
    return out_.line(name + ".set(" + k + ", " + without_parentheses(number_as(changed, *map.value)) + ")");
  }
  const Variable& v = *as<VariableRef>(*s.target).variable;
  if (!s.compound) return out_.line(names_.of(v) + " = " + without_parentheses(value_as(*s.value, *v.type)));
  Binary changed(s.where);
  changed.op = *s.compound;
  changed.left = s.target;
  changed.right = s.value;
  const bool goes_negative = v.type->is_signed;
  changed.type = v.type;
  const bool is_narrow = v.type->is_integer() && v.type->size < 8;
  const std::string sum = is_narrow ? (goes_negative ? "i" : "u") + std::to_string(8 * v.type->size) + "(" + without_parentheses(binary(changed)) + ")"
                                    : without_parentheses(binary(changed));
  out_.line(names_.of(v) + " = " + sum);
}

} // namespace emit
