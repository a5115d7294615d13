#include "lang/source_text.h"

#include "base/text.h"
#include "lang/parse.h"
#include "lang/precedence.h"
#include "spec/config.h"

#include <cstdio>

namespace lang {

std::string literal_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    char octal[5];
    if (c == '\n')
      out += "\\n";
    else if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < ' ' || c == 127)
      snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned char>(c)), out += octal;
    else
      out += c;
  }
  return out + '"';
}

namespace {

using namespace precedence;

struct Piece {
  std::string text;
  int precedence = postfix;
};

class SourcePrinter {
public:
  SourcePrinter(const Program& program, const CommentsAbove& comments) : program_(program), comments_(comments) {}
  std::string run();

private:
  void line(std::string_view text) { out_ += std::string(2 * depth_, ' ') + std::string(text) + "\n"; }
  void blank() {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }
  void above(Range where) {
    for (const std::string& c : comments_(where)) line(c.empty() ? "//" : "// " + c);
  }
  void config();
  void probe(const Probe& p);
  void function(const Function& f);
  void block(const Block* b);
  void body(const std::string& head, const Block* b, std::string_view behind = "}");
  void statement(const Stmt& s);
  void conditional(const If& s, std::string head);
  void loop(const While& s);
  std::string assign(const Assign& a);
  std::string simple(const Stmt& s); // without a semicolon
  std::string text(const Expr* e, int at_least = lowest);
  std::string list(List<Expr*> all);
  std::string type(const TypeName& t);
  Piece expression(const Expr& e);
  Piece binary(const Binary& e);
  Piece unary(const Unary& e);
  Piece map(const MapRef& e);
  Piece tuple(const Tuple& e);

  const Program& program_;
  const CommentsAbove& comments_;
  std::string out_;
  size_t depth_ = 0;
};

// --------------------------------------------------------------------------------------------- expressions

std::string SourcePrinter::text(const Expr* e, int at_least) {
  if (!e) return {};
  Piece p = expression(*e);
  return p.precedence < at_least ? "(" + p.text + ")" : p.text;
}

std::string SourcePrinter::list(List<Expr*> all) {
  std::string out;
  for (const Expr* e : all) out += (out.empty() ? "" : ", ") + text(e);
  return out;
}

std::string SourcePrinter::type(const TypeName& t) {
  std::string out = t.of ? "typeof(" + text(t.of) + ")" : std::string(t.keyword) + (t.keyword.empty() ? "" : " ") + std::string(t.name);
  bool is_after_star = false;
  for (const TypeSuffix& s : t.suffixes) {
    out += s.is_array ? "[" + text(s.count) + "]" : is_after_star ? "*" : " *";
    is_after_star = !s.is_array;
  }
  return out;
}

Piece SourcePrinter::binary(const Binary& e) {
  const int own = precedence_of(e.op);
  // Without parentheses, & in a comparison and && in || are read wrong by people.
  const bool is_bitwise = own >= bit_or && own <= bit_and;
  const int inner = is_bitwise ? sum : own == logical_or ? equality : own;
  return {text(e.left, own == logical_or ? own : inner) + " " + std::string(to_string(e.op)) + " " + text(e.right, std::max(inner, own + 1)), own};
}

Piece SourcePrinter::unary(const Unary& e) {
  const std::string sign(to_string(e.op));
  if (e.op == UnaryOp::post_increment || e.op == UnaryOp::post_decrement) return {text(e.operand, postfix) + sign, postfix};
  std::string operand = text(e.operand, prefix);
  if (operand.starts_with(sign[0])) operand = "(" + operand + ")"; // - -x
  return {sign + operand, prefix};
}

Piece SourcePrinter::map(const MapRef& e) {
  std::string out = "@" + std::string(e.name);
  if (!e.key) return {out};
  const Tuple* several = if_a<Tuple>(static_cast<const Expr*>(e.key));
  return {out + "[" + (several && several->names.empty() && several->elements.size() > 1 ? list(several->elements) : text(e.key)) + "]"};
}

Piece SourcePrinter::tuple(const Tuple& e) {
  std::string out = "(";
  for (size_t i = 0; i < e.elements.size(); i++) out += (i ? ", " : "") + (e.names.empty() ? "" : std::string(e.names[i]) + "=") + text(e.elements[i]);
  return {out + (e.elements.size() == 1 && e.names.empty() ? ",)" : ")")};
}

Piece SourcePrinter::expression(const Expr& e) {
  switch (e.kind) {
  case ExprKind::integer: {
    const auto value = static_cast<int64_t>(as<Integer>(e).value);
    return {std::to_string(value), value < 0 ? prefix : postfix};
  }
  case ExprKind::boolean: return {as<Boolean>(e).value ? "true" : "false"};
  case ExprKind::string: return {literal_text(as<String>(e).value)};
  case ExprKind::name: return {std::string(as<Name>(e).name)};
  case ExprKind::variable: return {"$" + std::string(as<VariableRef>(e).name)};
  case ExprKind::map: return map(as<MapRef>(e));
  case ExprKind::positional: return {"$" + std::to_string(as<Positional>(e).number)};
  case ExprKind::positional_count: return {"$#"};
  case ExprKind::call: return {std::string(as<Call>(e).name) + "(" + list(as<Call>(e).arguments) + ")"};
  case ExprKind::unary: return unary(as<Unary>(e));
  case ExprKind::binary: return binary(as<Binary>(e));
  case ExprKind::ternary: {
    auto& t = as<Ternary>(e);
    return {text(t.condition, choice + 1) + " ? " + text(t.then, choice + 1) + " : " + text(t.otherwise, choice), choice};
  }
  case ExprKind::attempt: {
    auto& a = as<Attempt>(e);
    return {a.otherwise ? "try(" + text(a.first) + ", " + text(a.otherwise) + ")" : text(a.first)};
  }
  case ExprKind::cast: return {"(" + type(*as<Cast>(e).target) + ")" + text(as<Cast>(e).operand, prefix), prefix};
  case ExprKind::field: return {text(as<FieldRef>(e).operand, postfix) + "." + std::string(as<FieldRef>(e).name)};
  case ExprKind::index: return {text(as<Index>(e).operand, postfix) + "[" + text(as<Index>(e).index) + "]"};
  case ExprKind::tuple: return tuple(as<Tuple>(e));
  case ExprKind::size_of: return {"sizeof(" + (as<SizeOf>(e).target ? type(*as<SizeOf>(e).target) : text(as<SizeOf>(e).operand)) + ")"};
  case ExprKind::type_name: return {type(*as<TypeExpr>(e).target)};
  case ExprKind::comptime: return {"comptime " + text(as<Comptime>(e).operand, prefix), prefix};
  default: return {"0"}; // blocks as values, offsetof and typeinfo: no other language has them
  }
}

// ---------------------------------------------------------------------------------------------- statements

void SourcePrinter::block(const Block* b) {
  if (!b) return;
  for (const Stmt* s : b->statements) statement(*s);
  if (b->value) line(text(b->value));
}

void SourcePrinter::body(const std::string& head, const Block* b, std::string_view behind) {
  line(head + " {");
  depth_++;
  block(b);
  depth_--;
  line(behind);
}

std::string SourcePrinter::assign(const Assign& a) {
  return text(a.target) + " " + (a.compound ? std::string(to_string(*a.compound)) : "") + "= " + text(a.value);
}

std::string SourcePrinter::simple(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::expression: return text(as<ExprStmt>(s).value);
  case StmtKind::assign: return assign(as<Assign>(s));
  case StmtKind::discard: return "_ = " + text(as<Discard>(s).value);
  case StmtKind::let: {
    auto& l = as<Let>(s);
    return "let $" + std::string(l.name) + (l.type ? " : " + type(*l.type) : "") + (l.value ? " = " + text(l.value) : "");
  }
  case StmtKind::leave: return as<Leave>(s).is_continue ? "continue" : "break";
  case StmtKind::give_back: return as<Return>(s).value ? "return " + text(as<Return>(s).value) : "return";
  default: return {};
  }
}

void SourcePrinter::conditional(const If& s, std::string head) {
  head += "if (" + text(s.condition) + ")";
  const Block* otherwise = s.otherwise && (s.otherwise->statements.empty() ? nullptr : s.otherwise) ? s.otherwise : nullptr;
  if (!otherwise) return body(head, s.then);
  const bool is_chain = otherwise->statements.size() == 1 && otherwise->statements[0]->kind == StmtKind::conditional;
  line(head + " {");
  depth_++;
  block(s.then);
  depth_--;
  if (is_chain) {
    above(otherwise->statements[0]->where);
    return conditional(as<If>(*otherwise->statements[0]), "} else ");
  }
  body("} else", otherwise);
}

// A loop with a step is a for, whose first part is a statement of its own.
void SourcePrinter::loop(const While& s) {
  if (!s.step) return body("while (" + text(s.condition) + ")", s.body);
  std::string step;
  for (const Stmt* part : s.step->statements) step += simple(*part);
  body("for (; " + text(s.condition) + "; " + step + ")", s.body);
}

void SourcePrinter::statement(const Stmt& s) {
  above(s.where);
  switch (s.kind) {
  case StmtKind::conditional: return conditional(as<If>(s), {});
  case StmtKind::loop_while: return loop(as<While>(s));
  case StmtKind::loop_range: {
    auto& f = as<ForRange>(s);
    return body("for ($" + std::string(f.name) + " : " + text(f.first, postfix) + ".." + text(f.last, postfix) + ")", f.body);
  }
  case StmtKind::loop_map: {
    auto& f = as<ForMap>(s);
    const std::string of = text(f.map);
    return body("for ($" + std::string(f.name) + " : " + (f.is_sorted ? "sorted(" + of + (f.most ? ", " + text(f.most) : "") + ")" : of) + ")", f.body);
  }
  case StmtKind::unroll: return body("unroll (" + text(as<Unroll>(s).count) + ")", as<Unroll>(s).body);
  case StmtKind::speculate: return body(as<Speculate>(s).key ? "speculate(" + text(as<Speculate>(s).key) + ")" : "speculate", as<Speculate>(s).body);
  case StmtKind::limit: return body("limit(" + text(as<Limit>(s).count) + "/" + std::string(as<Limit>(s).unit->name) + ")", as<Limit>(s).body);
  case StmtKind::block: {
    line("{");
    depth_++;
    block(as<BlockStmt>(s).block);
    depth_--;
    return line("}");
  }
  default: return line(simple(s) + ";");
  }
}

// ----------------------------------------------------------------------------------------------- program

void SourcePrinter::config() {
  std::string lines;
  for (const spec::ConfigKey& key : spec::config_keys)
    if (const std::string& value = program_.config.text(key.name); value != key.value) lines += (lines.empty() ? "" : "; ") + std::string(key.name) + " = " + value;
  if (!lines.empty()) line("config = { " + lines + " }");
}

void SourcePrinter::function(const Function& f) {
  blank();
  above(f.where);
  std::string head = "fn " + std::string(f.name) + "(";
  for (const Parameter& p : f.parameters) head += (&p == &f.parameters[0] ? "$" : ", $") + std::string(p.name) + " : " + type(*p.type);
  body(head + ")" + (f.result ? " : " + type(*f.result) : ""), f.body);
}

void SourcePrinter::probe(const Probe& p) {
  blank();
  above(p.where);
  std::string head;
  for (const ProbeSpec& s : p.specs) head += (head.empty() ? "" : ",\n") + std::string(s.text);
  if (!p.predicate) return body(head, p.body);
  line(head);
  line("/" + text(p.predicate) + "/");
  line("{");
  depth_++;
  block(p.body);
  depth_--;
  line("}");
}

std::string SourcePrinter::run() {
  config();
  bool is_first = true;
  for (const Map* m : program_.maps) {
    if (!m->declared) continue;
    if (is_first) blank();
    is_first = false;
    line("let @" + std::string(m->name) + " = " + std::string(name_of(m->storage)) + "(" + std::to_string(m->max_entries) + ");");
  }
  for (const Function* f : program_.functions) function(*f);
  for (const auto& p : program_.probes) probe(*p);
  return std::move(out_);
}

} // namespace

std::string source_text(const Program& program, const CommentsAbove& comments) { return SourcePrinter(program, comments).run(); }

} // namespace lang
