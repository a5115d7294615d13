// --dump ast: the tree as text, one node a line, children two spaces deeper. After the checker has run,
// expressions show their types.
//
//   probe tracepoint:syscalls:sys_enter_openat
//     predicate
//       binary == : bool
//         name pid : uint32
//         integer 1 : int64
#include "lang/parse.h"
#include "lang/source_text.h"

#include <iterator>

namespace lang {

namespace {

constexpr std::string_view binary_names[] = {
    "*", "/", "%", "+", "-", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "&&", "||"};
constexpr std::string_view unary_names[] = {"-", "!", "~", "*", "&", "++", "--", "++", "--"};
static_assert(std::size(binary_names) == static_cast<size_t>(BinaryOp::logical_or) + 1);
static_assert(std::size(unary_names) == static_cast<size_t>(UnaryOp::post_decrement) + 1);
static_assert(std::size(storage_names) == static_cast<size_t>(Storage::percpulruhash) + 1);

class Printer {
public:
  void program(const Program& p);
  std::string take() { return std::move(out_); }

private:
  void line(std::string_view text, const Expr* typed = nullptr);
  void function(const Function& f);
  void probe(const Probe& p);
  void block(const Block* b);
  void statement(const Stmt& s);
  void expression(const Expr* e);
  void leaf(const Expr& e);
  // A line, and what it is followed by one level deeper.
  void under(std::string_view label, auto... parts) {
    line(label);
    deeper(parts...);
  }
  void deeper(auto... parts) {
    depth_++;
    (part(parts), ...);
    depth_--;
  }
  void node(const Expr& e, std::string_view label, auto... parts) {
    line(label, &e);
    deeper(parts...);
  }
  void part(const Expr* e) { expression(e); }
  void part(const Block* b) { block(b); }
  void part(List<Expr*> list) {
    for (const Expr* e : list) expression(e);
  }
  static std::string name(const TypeName* t);

  std::string out_;
  int depth_ = 0;
};

void Printer::line(std::string_view text, const Expr* typed) {
  out_.append(2 * static_cast<size_t>(depth_), ' ');
  out_ += text;
  if (typed && typed->type) out_ += " : " + type::to_string(*typed->type);
  out_ += '\n';
}

std::string Printer::name(const TypeName* t) {
  if (!t) return "none";
  if (t->type) return type::to_string(*t->type);
  std::string text =
      t->of ? "typeof(…)" : std::string(t->keyword) + (t->keyword.empty() ? "" : " ") + std::string(t->name);
  bool after_star = false;
  for (const TypeSuffix& s : t->suffixes) {
    const Integer* count = if_a<Integer>(static_cast<const Expr*>(s.count));
    if (s.is_array)
      text += "[" + (count ? std::to_string(count->value) : s.count ? "…" : "") + "]";
    else
      text += after_star ? "*" : " *";
    after_star = !s.is_array;
  }
  return text;
}

void Printer::program(const Program& p) {
  for (const Map* m : p.maps) {
    if (!m->declared && !m->value) continue;
    std::string text = "map @" + std::string(m->name);
    if (m->declared)
      text += " " + std::string(name_of(m->storage)) + "(" +
              std::to_string(m->max_entries) + ")";
    if (m->key) text += " [" + type::to_string(*m->key) + "]";
    if (m->value) text += " : " + type::to_string(*m->value);
    line(text);
  }
  for (const Function* f : p.functions) function(*f);
  for (const auto& p : p.probes) probe(*p);
}

void Printer::function(const Function& f) {
  std::string text = "function " + std::string(f.name) + "(";
  for (const Parameter& p : f.parameters)
    text += (&p == &f.parameters[0] ? "$" : ", $") + std::string(p.name) + " : " + name(p.type);
  under(text + ")" + (f.result ? " : " + name(f.result) : ""), f.body);
}

void Printer::probe(const Probe& p) {
  std::string text = "probe ";
  for (const ProbeSpec& s : p.specs) text += (&s == &p.specs[0] ? "" : ", ") + std::string(s.text);
  line(text);
  depth_++;
  if (p.predicate) under("predicate", static_cast<const Expr*>(p.predicate));
  block(p.body);
  depth_--;
}

void Printer::block(const Block* b) {
  if (!b) return;
  for (const Stmt* s : b->statements) statement(*s);
  if (b->value) under("value", static_cast<const Expr*>(b->value));
}

void Printer::statement(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::expression: return expression(as<ExprStmt>(s).value);
  case StmtKind::assign: {
    auto& a = as<Assign>(s);
    return under("assign " + std::string(a.compound ? to_string(*a.compound) : "") + "=", a.target, a.value);
  }
  case StmtKind::discard: return under("discard", as<Discard>(s).value);
  case StmtKind::let: {
    auto& l = as<Let>(s);
    return under("let $" + std::string(l.name) + (l.type ? " : " + name(l.type) : ""), l.value);
  }
  case StmtKind::conditional: {
    auto& i = as<If>(s);
    under("if", i.condition);
    under("then", i.then);
    if (i.otherwise) under("else", i.otherwise);
    return;
  }
  case StmtKind::loop_while: {
    auto& w = as<While>(s);
    under("while", w.condition, w.body);
    if (w.step) under("step", w.step);
    return;
  }
  case StmtKind::loop_range: {
    auto& f = as<ForRange>(s);
    return under("for $" + std::string(f.name) + " in range", f.first, f.last, f.body);
  }
  case StmtKind::loop_map: {
    auto& f = as<ForMap>(s);
    return under("for $" + std::string(f.name) + (f.is_sorted ? " in sorted map" : " in map"), static_cast<const Expr*>(f.map), f.most, f.body);
  }
  case StmtKind::unroll: return under("unroll", as<Unroll>(s).count, as<Unroll>(s).body);
  case StmtKind::speculate: return under("speculate", as<Speculate>(s).key, as<Speculate>(s).body);
  case StmtKind::limit: return under("limit per " + std::string(as<Limit>(s).unit->name), as<Limit>(s).count, as<Limit>(s).body);
  case StmtKind::leave: return line(as<Leave>(s).is_continue ? "continue" : "break");
  case StmtKind::give_back: return under("return", as<Return>(s).value);
  case StmtKind::block: return under("block", as<BlockStmt>(s).block);
  }
}

void Printer::expression(const Expr* e) {
  if (!e) return;
  switch (e->kind) {
  case ExprKind::map: return node(*e, "map @" + std::string(as<MapRef>(*e).name), as<MapRef>(*e).key);
  case ExprKind::call: return node(*e, "call " + std::string(as<Call>(*e).name), as<Call>(*e).arguments);
  case ExprKind::unary: {
    auto& u = as<Unary>(*e);
    bool post = u.op == UnaryOp::post_increment || u.op == UnaryOp::post_decrement;
    return node(*e, "unary " + std::string(post ? "post " : "") + std::string(to_string(u.op)), u.operand);
  }
  case ExprKind::binary: {
    auto& b = as<Binary>(*e);
    return node(*e, "binary " + std::string(to_string(b.op)), b.left, b.right);
  }
  case ExprKind::ternary: {
    auto& t = as<Ternary>(*e);
    return node(*e, "ternary ?:", t.condition, t.then, t.otherwise);
  }
  case ExprKind::attempt: {
    auto& a = as<Attempt>(*e);
    return node(*e, "attempt", a.fault, a.address, a.first, a.otherwise);
  }
  case ExprKind::cast: return node(*e, "cast (" + name(as<Cast>(*e).target) + ")", as<Cast>(*e).operand);
  case ExprKind::field:
    return node(*e, "field ." + std::string(as<FieldRef>(*e).name), as<FieldRef>(*e).operand);
  case ExprKind::index: return node(*e, "index []", as<Index>(*e).operand, as<Index>(*e).index);
  case ExprKind::tuple: {
    auto& t = as<Tuple>(*e);
    std::string text = t.names.empty() ? "tuple" : "record";
    for (std::string_view n : t.names) text += " " + std::string(n);
    return node(*e, text, t.elements);
  }
  case ExprKind::block: return node(*e, "block", as<BlockExpr>(*e).block);
  case ExprKind::conditional: {
    auto& c = as<Conditional>(*e);
    node(*e, "if", c.condition);
    under("then", c.then);
    if (c.otherwise) under("else", c.otherwise);
    return;
  }
  case ExprKind::size_of: {
    auto& s = as<SizeOf>(*e);
    return node(*e, "sizeof" + (s.target ? " " + name(s.target) : ""), s.operand);
  }
  case ExprKind::offset_of: {
    auto& o = as<OffsetOf>(*e);
    std::string text = "offsetof" + (o.target ? " " + name(o.target) : "");
    for (std::string_view step : o.path) text += step.empty() ? " []" : " ." + std::string(step);
    return node(*e, text, o.operand);
  }
  case ExprKind::type_text: {
    auto& t = as<TypeText>(*e);
    return node(*e, "typeinfo" + (t.target ? " " + name(t.target) : "") + (t.is_kind ? " .base_ty" : " .full_ty"), t.operand);
  }
  case ExprKind::comptime: return node(*e, "comptime", as<Comptime>(*e).operand);
  default: return leaf(*e);
  }
}

void Printer::leaf(const Expr& e) {
  switch (e.kind) {
  case ExprKind::integer: return line("integer " + std::to_string(as<Integer>(e).value), &e);
  case ExprKind::boolean: return line(as<Boolean>(e).value ? "boolean true" : "boolean false", &e);
  case ExprKind::string: return line("string " + literal_text(as<String>(e).value), &e);
  case ExprKind::name: return line("name " + std::string(as<Name>(e).name), &e);
  case ExprKind::variable: return line("variable $" + std::string(as<VariableRef>(e).name), &e);
  case ExprKind::type_name: return line("typeof " + name(as<TypeExpr>(e).target), &e);
  case ExprKind::positional: return line("positional $" + std::to_string(as<Positional>(e).number), &e);
  default: return line("positional $#", &e);
  }
}

} // namespace

std::string_view to_string(BinaryOp op) { return binary_names[static_cast<size_t>(op)]; }
std::string_view to_string(UnaryOp op) { return unary_names[static_cast<size_t>(op)]; }

std::string to_string(const Program& program) {
  Printer printer;
  printer.program(program);
  return printer.take();
}

} // namespace lang
