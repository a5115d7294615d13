// Expressions: D's integer rules on top of the 64-bit arithmetic of acu's language.
//
// acu computes with signs if either side is signed; D, like C, without if the wider side is unsigned. acu's division is unsigned. Where these
// differ, operands are cast and divisions become d_divide.
#include "base/text.h"
#include "dlang/lowering.h"
#include "lang/parse.h"

namespace dlang {

using namespace spec;
using base::quoted;
using lang::BinaryOp;
using lang::UnaryOp;

namespace {

struct NamedType {
  std::string_view name;
  uint8_t size;
  bool is_signed;
};
constexpr NamedType number_types[] = {
    {"char", 1, true},          {"signed char", 1, true},     {"unsigned char", 1, false}, {"short", 2, true},      {"unsigned short", 2, false}, {"int", 4, true},
    {"signed", 4, true},        {"signed int", 4, true},      {"unsigned", 4, false},      {"unsigned int", 4, false}, {"long", 8, true},          {"long int", 8, true},
    {"long long", 8, true},     {"unsigned long", 8, false},  {"long long int", 8, true},  {"unsigned long long", 8, false}, {"unsigned long int", 8, false},
    {"unsigned long long int", 8, false}, {"int8_t", 1, true}, {"uint8_t", 1, false},      {"int16_t", 2, true},    {"uint16_t", 2, false},       {"int32_t", 4, true},
    {"uint32_t", 4, false},     {"int64_t", 8, true},         {"uint64_t", 8, false},      {"size_t", 8, false},    {"ssize_t", 8, true},         {"uintptr_t", 8, false},
    {"intptr_t", 8, true},      {"off_t", 8, true},           {"hrtime_t", 8, true},       {"id_t", 4, true},       {"pid_t", 4, true},           {"uid_t", 4, false},
    {"gid_t", 4, false},        {"zoneid_t", 4, true},        {"uint_t", 4, false},        {"ushort_t", 2, false},  {"uchar_t", 1, false},        {"ulong_t", 8, false},
    {"longlong_t", 8, true},    {"u_longlong_t", 8, false},   {"dev_t", 4, false},         {"mode_t", 4, false},    {"lwpid_t", 4, true},         {"short int", 2, true},
    {"ipaddr_t", 4, false},     {"in_addr_t", 4, false},      {"in_port_t", 2, false},     {"sa_family_t", 2, false}, {"socklen_t", 4, false},     {"time_t", 8, true},
    {"boolean_t", 4, true},     {"processorid_t", 4, true},   {"uint", 4, false},          {"ulong", 8, false},     {"ushort", 2, false},        {"u_int", 4, false},
    {"u_long", 8, false},       {"u_short", 2, false},        {"u_char", 1, false},
};

const NamedType* find_type(std::string_view name) {
  for (const NamedType& t : number_types)
    if (t.name == name) return &t;
  return nullptr;
}

std::string acu_name(uint8_t size, bool is_signed) { return (is_signed ? "int" : "uint") + std::to_string(size * 8); }

// The usual arithmetic conversions of C.
Type common(const Type& a, const Type& b) {
  if (!a.is_number() || !b.is_number()) return {};
  auto promoted = [](Type t) { return t.size < 4 ? int32_type : t; };
  const Type x = promoted(a), y = promoted(b);
  if (x.size != y.size) return x.size > y.size ? x : y;
  return x.is_signed ? y : x;
}

bool is_small_literal(const lang::Expr& e) { return e.kind == lang::ExprKind::integer; }

bool is_comparison(BinaryOp op) { return op >= BinaryOp::lt && op <= BinaryOp::ne; }

} // namespace

Type Lowering::type_of(const TypeName& t) {
  if (t.keyword == "enum" && t.pointers == 0) return int32_type;
  if (t.keyword.empty() && t.name == "string" && t.pointers == 0) return text_type;
  const NamedType* number = t.keyword.empty() ? find_type(t.name) : nullptr;
  if (t.pointers == 0 && number) return {Type::number, number->size, number->is_signed};
  if (t.pointers > 0) return {Type::pointer, static_cast<uint8_t>(t.pointers == 1 && number ? number->size : 0), number && number->is_signed};
  return {};
}

lang::TypeName* Lowering::type_name(std::string_view name, Range where, int pointers, std::string_view keyword) {
  // Of programs; the kernel has them by other names.
  constexpr std::pair<std::string_view, std::string_view> times[] = {{"timespec", "__kernel_timespec"}, {"timeval", "__kernel_old_timeval"}};
  for (const auto& [theirs, kernels] : times)
    if (keyword == "struct" && name == theirs && !script_.definition({.where = where, .keyword = "struct", .name = std::string(name)})) name = kernels;
  lang::TypeName* t = program_->arena.make<lang::TypeName>();
  t->where = where;
  t->name = program_->types.keep(name);
  t->keyword = program_->types.keep(keyword);
  t->suffixes = program_->arena.copy(std::vector<lang::TypeSuffix>(static_cast<size_t>(pointers)));
  return t;
}

lang::Expr* Lowering::cast(lang::Expr* e, const Type& to) {
  if (!to.is_number()) return e;
  lang::Cast* c = at(e->where).node<lang::Cast>();
  c->target = type_name(acu_name(to.size, to.is_signed), e->where);
  c->operand = e;
  return c;
}

lang::Expr* Lowering::coerce(const Value& v, const Type& to) {
  return to.is_number() && (v.type.is_number() || v.type.kind == Type::unknown || v.type.kind == Type::pointer) ? cast(v.e, to) : v.e;
}

// With 64 bits of that sign.
lang::Expr* Lowering::as_sign(Value v, bool is_signed) {
  if (!v.type.is_number() || v.type.is_signed == is_signed || is_small_literal(*v.e)) return v.e;
  return cast(v.e, is_signed ? int64_type : uint64_type);
}

Value Lowering::lower(const Node& n) {
  if (diagnostics_.error_count() > 20) return wrong(n.where);
  switch (n.kind) {
  case NodeKind::integer: return lower_integer(n);
  case NodeKind::text: return {text(n.text, n.where), text_type};
  case NodeKind::name: return lower_name(n);
  case NodeKind::kernel_name: {
    lang::Expr* symbol = at(n.where).call("kaddr", {text(n.text, n.where)});
    lang::Cast* c = at(n.where).node<lang::Cast>();
    c->target = type_name("uint64", n.where, 1);
    c->operand = symbol;
    lang::Unary* value = at(n.where).node<lang::Unary>();
    value->op = UnaryOp::dereference;
    value->operand = c;
    return {value, uint64_type};
  }
  case NodeKind::self:
  case NodeKind::clause: return lower_variable(n);
  case NodeKind::aggregation:
    error(d_tag::op_dyn, n.where, "@" + n.text + " is an aggregation: it has no value in an expression", "printa() prints it");
    return wrong(n.where);
  case NodeKind::call: return lower_call(n);
  case NodeKind::unary: return lower_unary(n);
  case NodeKind::binary: return lower_binary(n);
  case NodeKind::logical_xor: {
    lang::Expr* differ = at(n.where).binary(BinaryOp::ne, condition(*n.parts[0]), condition(*n.parts[1]));
    return {differ, int32_type};
  }
  case NodeKind::ternary: return lower_ternary(n);
  case NodeKind::assign: return lower_assignment_value(n);
  case NodeKind::increment: return lower_increment(n);
  case NodeKind::cast: return lower_cast(n);
  case NodeKind::size_of: return lower_size(n);
  case NodeKind::offset_of: {
    if (type_of(n.type).is_number() || type_of(n.type).kind == Type::text || n.type.pointers) return error(d_tag::offsetof_type, n.type.where, quoted(source_.text(n.type.where)) + " has no members"), wrong(n.where);
    lang::OffsetOf* o = at(n.where).node<lang::OffsetOf>();
    o->target = type_name(n.type.name, n.type.where, 0, n.type.keyword);
    std::vector<std::string_view> path;
    for (std::string_view name : base::split(n.text, '.')) path.push_back(program_->types.keep(name));
    o->path = program_->arena.copy(path);
    return {o, uint64_type};
  }
  case NodeKind::translate: return lower_translation(n);
  case NodeKind::member: return lower_member(n);
  case NodeKind::index: return lower_index(n);
  }
  return wrong(n.where);
}

Value Lowering::lower_integer(const Node& n) {
  const bool is_wide = n.is_long || n.value > (n.is_unsigned ? UINT32_MAX : static_cast<uint64_t>(INT32_MAX));
  return {at(n.where).number(static_cast<int64_t>(n.value)), {Type::number, static_cast<uint8_t>(is_wide ? 8 : 4), !n.is_unsigned}};
}

// As 0 or 1.
lang::Expr* Lowering::condition(const Node& n, std::string_view tag) {
  const Value v = lower(n);
  if (v.type.kind == Type::text || v.type.kind == Type::other || v.type.kind == Type::translated) {
    error(tag, n.where, quoted(source_.text(n.where)) + " is not a number, so it cannot be a condition",
          v.type.kind == Type::text ? "compare it: `" + std::string(source_.text(n.where)) + " != \"\"`" : "");
    return at(n.where).number(0);
  }
  const lang::Binary* b = lang::if_a<lang::Binary>(v.e);
  if (b && (is_comparison(b->op) || b->op == BinaryOp::logical_and || b->op == BinaryOp::logical_or)) return v.e;
  return at(n.where).binary(BinaryOp::ne, v.e, at(n.where).number(0));
}

Value Lowering::lower_unary(const Node& n) {
  lang::Unary* u = at(n.where).node<lang::Unary>();
  u->op = n.unary;
  switch (n.unary) {
  case UnaryOp::logical_not: {
    u->operand = condition(*n.parts[0]);
    return {u, int32_type};
  }
  case UnaryOp::dereference: {
    if (const auto place = place_of(n)) return lower_variable(n);
    const Value v = lower(*n.parts[0]);
    u->operand = v.e;
    if (v.type.kind == Type::text || v.type.is_number()) {
      error(d_tag::deref_nonptr, n.where, quoted(source_.text(n.parts[0]->where)) + " is not a pointer", "cast it: `*(int *)copyin(arg0, sizeof (int))`");
      return wrong(n.where);
    }
    if (v.type.kind == Type::pointer && v.type.size) return {u, {Type::number, v.type.size, v.type.is_signed}};
    return {u, {}};
  }
  case UnaryOp::address_of: {
    if (const auto place = place_of(*n.parts[0]); place && (place->type || place->root->kind != NodeKind::name || variables_.contains(place->name))) {
      error(d_tag::addrof_var, n.where, "a variable of the script has no address", "pass its value");
      return wrong(n.where);
    }
    if (const Node& of = *n.parts[0]; of.kind != NodeKind::member && of.kind != NodeKind::index && of.kind != NodeKind::kernel_name && !(of.kind == NodeKind::unary && of.unary == UnaryOp::dereference)) {
      error(of.kind == NodeKind::name ? d_tag::addrof_var : d_tag::addrof_lval, n.where, quoted(source_.text(of.where)) + " has no address", "`&p->member` and `&`symbol` have one");
      return wrong(n.where);
    }
    u->operand = lower(*n.parts[0]).e;
    return {u, {Type::pointer, 0, false}};
  }
  default: break;
  }
  const Value v = lower(*n.parts[0]);
  if (v.type.kind == Type::text) {
    error(n.unary == UnaryOp::bit_not ? d_tag::op_int : d_tag::op_arith, n.where, "a string has no sign and no bits");
    return wrong(n.where);
  }
  u->operand = v.e;
  const Type t = v.type.is_number() ? common(v.type, int32_type) : v.type;
  // acu's `~` gives an unsigned number, and so does `-` of one.
  if (t.is_number() && !(n.unary == UnaryOp::negate && is_small_literal(*v.e))) return {cast(u, t.is_signed ? int64_type : uint64_type), t};
  return {u, t};
}

Value Lowering::lower_binary(const Node& n) {
  const lang::TreeMaker make = at(n.where);
  if (n.op == BinaryOp::logical_and || n.op == BinaryOp::logical_or) return {make.binary(n.op, condition(*n.parts[0]), condition(*n.parts[1])), int32_type};
  if (n.op == BinaryOp::eq || n.op == BinaryOp::ne) {
    // strstr(a, b) != NULL
    for (int side : {0, 1})
      if (n.parts[static_cast<size_t>(side)]->kind == NodeKind::integer && n.parts[static_cast<size_t>(side)]->value == 0)
        if (const Value offset = found_in(*n.parts[static_cast<size_t>(1 - side)], false); offset.e)
          return {make.binary(n.op == BinaryOp::eq ? BinaryOp::lt : BinaryOp::ge, offset.e, make.number(0)), int32_type};
  }
  Value a = lower(*n.parts[0]), b = lower(*n.parts[1]);
  // A string that is NULL is one that a function did not find: an empty one.
  auto take_null = [&](Value& v, const Node& of, const Value& other) {
    if ((n.op != BinaryOp::eq && n.op != BinaryOp::ne) || other.type.kind != Type::text || of.kind != NodeKind::integer || of.value != 0) return;
    v.e = text("", of.where);
    v.type = text_type;
  };
  take_null(a, *n.parts[0], b);
  take_null(b, *n.parts[1], a);
  const bool has_text = a.type.kind == Type::text || b.type.kind == Type::text;
  const bool has_number = a.type.is_number() || b.type.is_number();
  if (has_text && (has_number || !is_comparison(n.op))) {
    const bool is_of_integers = n.op != BinaryOp::add && n.op != BinaryOp::sub && n.op != BinaryOp::mul && n.op != BinaryOp::div;
    error(is_comparison(n.op) || n.op == BinaryOp::add || n.op == BinaryOp::sub ? d_tag::op_incompat : is_of_integers ? d_tag::op_int : d_tag::op_arith, n.where,
          has_number ? "a string and a number have no `" + std::string(lang::to_string(n.op)) + "`" : "strings have no `" + std::string(lang::to_string(n.op)) + "`",
          has_number ? "" : "strjoin() joins strings");
    return wrong(n.where);
  }
  const Type t = common(a.type, b.type);
  if (is_comparison(n.op)) {
    if (!t.is_number()) return {make.binary(n.op, a.e, b.e), int32_type};
    return {make.binary(n.op, as_sign(a, t.is_signed), as_sign(b, t.is_signed)), int32_type};
  }
  if (n.op == BinaryOp::div || n.op == BinaryOp::mod) {
    if (constant(*n.parts[1]) == 0) {
      error(d_tag::div_zero, n.where, "this divides by 0");
      return wrong(n.where);
    }
    return {divide(n.op, a, b, t.is_number() ? t.is_signed : a.type.is_number() && a.type.is_signed && b.type.is_number(), n.where), t};
  }
  if (!t.is_number()) return {make.binary(n.op, a.e, b.e), a.type.kind == Type::pointer ? a.type : b.type.kind == Type::pointer ? b.type : Type{}};
  if (n.op == BinaryOp::shl || n.op == BinaryOp::shr) {
    const Type left = common(a.type, int32_type);
    return {make.binary(n.op, as_sign(a, left.is_signed), b.e), left};
  }
  lang::Expr* e = make.binary(n.op, as_sign(a, t.is_signed), as_sign(b, t.is_signed));
  if (n.op == BinaryOp::sub && !t.is_signed) e = cast(e, uint64_type);
  return {e, t};
}

lang::Expr* Lowering::divide(BinaryOp op, Value a, Value b, bool is_signed, Range where) {
  const lang::TreeMaker make = at(where);
  auto is_never_negative = [](const Value& v) { return is_small_literal(*v.e) || (v.type.is_number() && (!v.type.is_signed)); };
  if (!is_signed || (is_never_negative(a) && is_never_negative(b))) {
    const bool known = a.type.is_number() && b.type.is_number();
    return make.binary(op, known ? as_sign(a, false) : a.e, known ? as_sign(b, false) : b.e);
  }
  return expand(op == BinaryOp::div ? "d_divide" : "d_modulo", {a.e, b.e}, where);
}

Value Lowering::lower_ternary(const Node& n) {
  lang::Ternary* t = at(n.where).node<lang::Ternary>();
  t->condition = condition(*n.parts[0]);
  const Value a = lower(*n.parts[1]), b = lower(*n.parts[2]);
  if ((a.type.kind == Type::text) != (b.type.kind == Type::text) && a.type.kind != Type::unknown && b.type.kind != Type::unknown) {
    error(d_tag::op_incompat, n.where, "one side of this conditional is a string, the other is not");
    return wrong(n.where);
  }
  const Type c = common(a.type, b.type);
  t->then = c.is_number() ? cast(a.e, c.is_signed ? int64_type : uint64_type) : a.e;
  t->otherwise = c.is_number() ? cast(b.e, c.is_signed ? int64_type : uint64_type) : b.e;
  return {t, c.is_number() ? c : a.type.kind != Type::unknown ? a.type : b.type};
}

// x = value as a part of an expression: { x = value; x }
Value Lowering::lower_assignment_value(const Node& n) {
  std::vector<lang::Stmt*> statements;
  assign(n, statements);
  lang::BlockExpr* block = at(n.where).node<lang::BlockExpr>();
  block->block = at(n.where).block(statements);
  const Value v = lower(*n.parts[0]);
  block->block->value = v.e;
  return {block, v.type};
}

Value Lowering::lower_increment(const Node& n) {
  const auto place = place_of(*n.parts[0]);
  if (place && (place->bits || place->is_number_of_union)) {
    Node sum = compound_of(n);
    const Value after = lower_assignment_value(sum);
    if (!n.is_post) return after;
    return fit({at(n.where).binary(n.is_down ? BinaryOp::add : BinaryOp::sub, after.e, at(n.where).number(1)), after.type}, *place);
  }
  Variable* v = variable_of(*n.parts[0]);
  if (!v) {
    error(d_tag::op_lval, n.where, "only variables can be incremented");
    return wrong(n.where);
  }
  if (!v->is_typed) v->type = int64_type, v->is_typed = true;
  lang::Unary* u = at(n.where).node<lang::Unary>();
  u->op = n.is_post ? (n.is_down ? UnaryOp::post_decrement : UnaryOp::post_increment) : n.is_down ? UnaryOp::pre_decrement : UnaryOp::pre_increment;
  u->operand = target_of(*n.parts[0], *v);
  return {v->type.is_number() ? cast(u, v->type) : u, v->type};
}

Value Lowering::lower_cast(const Node& n) {
  const Type to = type_of(n.type);
  if (to.kind == Type::text) {
    const Value v = lower(*n.parts[0]);
    return v.type.kind == Type::text ? v : Value{at(n.where).call("str", {v.e}), text_type};
  }
  constexpr std::string_view described[] = {"psinfo_t", "lwpsinfo_t", "bufinfo_t", "devinfo_t", "fileinfo_t"};
  const Value v = lower(*n.parts[0]);
  if (base::is_one_of(described, n.type.name)) return v;
  if (v.type.kind == Type::text) {
    error(d_tag::cast_inval, n.where, "a string cannot be cast to " + quoted(source_.text(n.type.where)));
    return wrong(n.where);
  }
  if (to.is_number()) return {cast(v.e, to), to};
  if (n.type.name == "void" && n.type.pointers == 0) return v;
  lang::Cast* c = at(n.where).node<lang::Cast>();
  const NamedType* number = n.type.keyword.empty() ? find_type(n.type.name) : nullptr;
  std::string_view keyword = n.type.keyword;
  std::string name = number ? acu_name(number->size, number->is_signed) : n.type.name;
  if (name == "kthread_t" || name == "proc_t") name = "task_struct", keyword = "struct";
  if (name == "caddr_t") name = "int8";
  c->target = type_name(name, n.type.where, n.type.pointers + (n.type.name == "caddr_t"), keyword);
  c->operand = v.e;
  return {c, to.kind == Type::unknown ? Type{} : to};
}

lang::Expr* Lowering::size_of(const TypeName& of, Range where) {
  const Type t = type_of(of);
  if (t.is_number()) return at(where).number(t.size);
  if (t.kind == Type::pointer) return at(where).number(8);
  if (t.kind == Type::text) return name("default_str_length", where);
  lang::SizeOf* s = at(where).node<lang::SizeOf>();
  s->target = type_name(of.name, of.where, 0, of.keyword);
  return s;
}

Value Lowering::lower_size(const Node& n) {
  if (n.parts.empty()) {
    return {size_of(n.type, n.where), uint64_type};
  }
  if (const auto place = place_of(*n.parts[0]); place && place->type && !place->is_associative) {
    lang::Expr* size = size_of(*place->type, n.where);
    for (size_t i = place->taken; i < place->type->counts.size(); i++)
      if (const Node* count = place->type->counts[i]) size = at(n.where).binary(BinaryOp::mul, size, at(n.where).number(constant(*count).value_or(0)));
    return {size, uint64_type};
  }
  // A name that is nothing else is that of a type of the kernel.
  if (const Node& of = *n.parts[0]; of.kind == NodeKind::name && !is_builtin(of.text) && !variables_.contains(of.text) && !bound_to(of.text) && !constant(of) && !script_.inline_named(of.text))
    return {size_of({.where = of.where, .name = of.text}, n.where), uint64_type};
  const Value v = lower(*n.parts[0]);
  if (v.type.is_number()) return {at(n.where).number(v.type.size), uint64_type};
  if (v.type.kind == Type::text) return {name("default_str_length", n.where), uint64_type};
  lang::SizeOf* s = at(n.where).node<lang::SizeOf>();
  s->operand = v.e;
  return {s, uint64_type};
}

// args[N], an element of a variable's array, or of an array of C.
Value Lowering::lower_index(const Node& n) {
  const Node& base = *n.parts[0];
  if (const Inline* i = base.kind == NodeKind::name ? script_.inline_named(base.text) : nullptr; i && !i->parameters.empty()) {
    if (n.parts.size() != i->parameters.size() + 1) {
      error(tag::wrong_argument_count, n.where, quoted(i->name) + " takes " + std::to_string(i->parameters.size()) + (i->parameters.size() == 1 ? " key" : " keys"));
      return wrong(n.where);
    }
    std::vector<std::pair<std::string, const Node*>> names;
    for (size_t k = 0; k < i->parameters.size(); k++) names.emplace_back(i->parameters[k], n.parts[k + 1]);
    return lower_bound(names, *i->value, n.where);
  }
  if (base.kind == NodeKind::name && base.text == "args") {
    const auto index = n.parts.size() == 2 ? constant(*n.parts[1]) : std::nullopt;
    if (!index || *index < 0 || *index > 9) {
      error(d_tag::args_idx, n.where, "args[] takes a constant number from 0 to 9");
      return wrong(n.where);
    }
    return lower_args(static_cast<size_t>(*index), n);
  }
  if (base.kind == NodeKind::name && base.text == "fds" && n.parts.size() == 2) return {number(*n.parts[1]), {Type::translated, 0, false, "fds"}};
  if (variable_of(n)) return lower_variable(n);
  if (n.parts.size() != 2) {
    error(d_tag::arr_badref, n.where, quoted(source_.text(base.where)) + " is not an associative array");
    return wrong(n.where);
  }
  lang::Index* i = at(n.where).node<lang::Index>();
  i->operand = lower(base).e;
  i->index = lower(*n.parts[1]).e;
  return {i, {}};
}

Value Lowering::lower_member(const Node& n) {
  const Node& base = *n.parts[0];
  const lang::TreeMaker make = at(n.where);
  lang::FieldRef* f = make.node<lang::FieldRef>();
  f->name = program_->types.keep(n.text);
  f->name_where = n.where;
  if (base.kind == NodeKind::name && base.text == "args") { // of tracepoints: acu's own way
    f->operand = name("args", base.where);
    return {f, {}};
  }
  if (const auto place = place_of(n); place && place->type) return lower_variable(n);
  if (const auto place = place_of(base); place && is_whole(*place)) {
    error(tag::unknown_field, n.where, quoted(source_.text(base.where)) + " has no member " + quoted(n.text));
    return wrong(n.where);
  }
  const Value v = lower(base);
  if (v.type.translation) return member_of_translation(v.type, n);
  if (v.type.kind == Type::translated) {
    std::string known;
    for (const Member& m : members) {
      if (m.translator != v.type.translator) continue;
      if (m.name == n.text) return member_value(m, n.where, {v.e});
      known += (known.empty() ? "" : ", ") + std::string(m.name);
    }
    error(tag::unknown_field, n.where, quoted(source_.text(base.where)) + " has no member " + quoted(n.text) + " here", "it has " + known);
    return wrong(n.where);
  }
  if (v.type.is_number() || v.type.kind == Type::text) {
    error(d_tag::op_sou, n.where, quoted(source_.text(base.where)) + " is a " + (v.type.is_number() ? "number" : "string") + ": it has no members",
          v.type.is_number() ? "cast it: `((struct file *)arg0)->f_pos`" : "");
    return wrong(n.where);
  }
  f->operand = v.e;
  return {f, {}};
}

} // namespace dlang
