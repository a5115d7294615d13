#include "emit/c_like.h"

#include "base/text.h"
#include "lang/parse.h"

#include <cstdio>

namespace emit {

using namespace lang;

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    char octal[5];
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
    case '\n': out += "\\n"; break;
    case '\t': out += "\\t"; break;
    case '\r': out += "\\r"; break;
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    default:
      if (byte < ' ' || byte == 127)
        snprintf(octal, sizeof octal, "\\%03o", byte), out += octal;
      else
        out += c;
    }
  }
  return out + '"';
}

std::string literal(const base::Source& source, const Integer& e) {
  const std::string_view written = source.text(e.where);
  if (!written.empty() && written[0] >= '0' && written[0] <= '9' && base::parse_integer(written) == e.value) return std::string(written);
  if (e.type && e.type->is_signed) return std::to_string(static_cast<int64_t>(e.value));
  return std::to_string(e.value);
}

// ------------------------------------------------------------------------------------------- expressions

std::string CLike::text(const Expr& e, int at_least) {
  Text t = expression(e);
  return t.precedence < at_least ? "(" + t.text + ")" : t.text;
}

std::string CLike::list(List<Expr*> all, size_t from) {
  std::string out;
  for (size_t i = from; i < all.size(); i++) out += (i > from ? ", " : "") + text(*all[i]);
  return out;
}

std::vector<const Expr*> CLike::keys(const MapRef& m) const {
  if (!m.key) return {};
  const Tuple* t = if_a<Tuple>(static_cast<const Expr*>(m.key));
  if (!t || !t->names.empty()) return {m.key};
  return {t->elements.begin(), t->elements.end()};
}

std::string CLike::key_list(const MapRef& m) {
  std::string out;
  for (const Expr* k : keys(m)) out += (out.empty() ? "" : ", ") + text(*k);
  return out;
}

std::string CLike::type_class(const type::Type* t) const { return t ? type::to_string(*t) : std::string(); }

// A macro's variables may live while the caller's of the same name do; those of sibling blocks do not.
std::string CLike::variable_name(const Variable& v) {
  const std::tuple key(v.name, v.expansion, type_class(v.type));
  auto found = variables_.find(key);
  if (found == variables_.end()) found = variables_.emplace(key, names_.fresh(v.name)).first;
  return found->second;
}

Text CLike::number(const Integer& e) {
  std::string digits = literal(job_.source, e);
  return {digits, digits[0] == '-' ? prefix : postfix};
}

Text CLike::string(const String& e) { return {quoted_text(e.value)}; }

Text CLike::unary(const Unary& e) {
  const std::string op(to_string(e.op));
  if (e.op == UnaryOp::post_increment || e.op == UnaryOp::post_decrement) return {text(*e.operand, postfix) + op, postfix};
  std::string operand = text(*e.operand, prefix);
  // "- -1" and "& &x" are not "--1" and "&&x".
  if (operand[0] == op[0]) operand = "(" + operand + ")";
  return {op + operand, prefix};
}

Text CLike::binary(const Binary& e) {
  const Precedence p = precedence_of(e.op);
  // People take the precedence of & | ^ against == and of && against || from parentheses, not from memory.
  const auto side = [&](const Expr& part, int at_least) {
    const Binary* b = if_a<Binary>(&part);
    const bool mixes = b && b->op != e.op &&
                       ((p >= bit_or && p <= bit_and) || p == shift || (p == logical_or && b->op == BinaryOp::logical_and));
    return text(part, mixes ? static_cast<int>(prefix) : at_least);
  };
  return {side(*e.left, p) + " " + std::string(to_string(e.op)) + " " + side(*e.right, p + 1), p};
}

Text CLike::ternary(const Ternary& e) {
  const Expr& then = e.then ? *e.then : *e.condition;
  return {text(*e.condition, choice + 1) + " ? " + text(then, choice + 1) + " : " + text(*e.otherwise, choice + 1), choice};
}

Text CLike::field(const FieldRef& e) {
  return {text(*e.operand, postfix) + (e.through_pointer ? "->" : ".") + std::string(e.name), postfix};
}

Text CLike::index(const Index& e) { return {text(*e.operand, postfix) + "[" + text(*e.index) + "]", postfix}; }

Text CLike::tuple(const Tuple& e) { return {"(" + list(e.elements) + (e.elements.size() == 1 ? ",)" : ")"), postfix}; }

Text CLike::expression(const Expr& e) {
  switch (e.kind) {
  case ExprKind::integer: return number(as<Integer>(e));
  case ExprKind::boolean: return boolean(as<Boolean>(e));
  case ExprKind::string: return string(as<String>(e));
  case ExprKind::name: return name(as<Name>(e));
  case ExprKind::variable: return variable(as<VariableRef>(e));
  case ExprKind::map: return map(as<MapRef>(e));
  case ExprKind::call: return call(as<Call>(e));
  case ExprKind::unary: return unary(as<Unary>(e));
  case ExprKind::binary: return binary(as<Binary>(e));
  case ExprKind::ternary: return ternary(as<Ternary>(e));
  case ExprKind::cast: return cast(as<Cast>(e));
  case ExprKind::field: return field(as<FieldRef>(e));
  case ExprKind::index: return index(as<Index>(e));
  case ExprKind::tuple: return tuple(as<Tuple>(e));
  default: break;
  }
  refuse(e.where, base::quoted(job_.source.text(e.where)), "it has no counterpart there");
  return {"0"};
}

// -------------------------------------------------------------------------------------------- statements

void CLike::block(const Block& b) {
  for (const Stmt* s : b.statements) statement(*s);
}

void CLike::body(const Block& b) {
  out_.indent();
  block(b);
  out_.close_level();
}

void CLike::assign(const Assign& s) {
  const std::string op = s.compound ? std::string(to_string(*s.compound)) + "=" : "=";
  out_.line(assigned(*s.target) + " " + op + " " + text(*s.value) + ";");
}

void CLike::conditional(const If& s) {
  const If* at = &s;
  out_.line("if (" + text(*at->condition) + ") {");
  body(*at->then);
  while (at->otherwise && at->otherwise->statements.size() == 1 && at->otherwise->statements[0]->kind == StmtKind::conditional) {
    at = &as<If>(*at->otherwise->statements[0]);
    out_.line("} else if (" + text(*at->condition) + ") {");
    body(*at->then);
  }
  if (at->otherwise) {
    out_.line("} else {");
    body(*at->otherwise);
  }
  out_.line("}");
}

void CLike::loop(const While& s) {
  out_.line("while (" + text(*s.condition) + ") {");
  steps_.push_back(s.step);
  step_lines_.emplace_back();
  body(*s.body);
  steps_.pop_back();
  step_lines_.pop_back();
  if (s.step) body(*s.step);
  out_.line("}");
}

// A while loop; `let` and the variable's text are the target's.
void CLike::range(const ForRange& s) {
  VariableRef v(s.where);
  v.name = s.name;
  v.variable = s.variable;
  v.type = s.variable->type;
  const std::string i = text(v);
  out_.line(i + " = " + text(*s.first) + ";");
  out_.line("while (" + i + " < " + text(*s.last, relation + 1) + ") {");
  steps_.push_back(nullptr);
  step_lines_.push_back(i + "++;");
  body(*s.body);
  out_.indent();
  out_.line(step_lines_.back());
  out_.close_level();
  steps_.pop_back();
  step_lines_.pop_back();
  out_.line("}");
}

void CLike::leave(const Leave& s) {
  if (s.is_continue && !steps_.empty()) {
    if (steps_.back()) block(*steps_.back());
    if (!step_lines_.back().empty()) out_.line(step_lines_.back());
  }
  out_.line(s.is_continue ? "continue;" : "break;");
}

void CLike::statement(const Stmt& s) {
  out_.comments_above(s.where);
  switch (s.kind) {
  case StmtKind::expression: return call_statement(*as<ExprStmt>(s).value);
  case StmtKind::assign: return assign(as<Assign>(s));
  case StmtKind::let: return let(as<Let>(s));
  case StmtKind::conditional: return conditional(as<If>(s));
  case StmtKind::loop_while: return loop(as<While>(s));
  case StmtKind::loop_range: return range(as<ForRange>(s));
  case StmtKind::leave: return leave(as<Leave>(s));
  case StmtKind::give_back: return give_back(as<Return>(s));
  case StmtKind::block: return block(*as<BlockStmt>(s).block);
  default: return refuse(s.where, "this statement", "it has no counterpart there");
  }
}

} // namespace emit
