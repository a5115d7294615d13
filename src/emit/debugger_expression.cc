// Expressions as Python. See debugger.h for what values are.
#include "emit/debugger.h"

#include "lang/walk.h"

#include <bit>

namespace emit {

using namespace lang;
using type::Kind;

static bool is_signed(const type::Type& t) { return t.is_signed; }

static std::string literal(uint64_t bits, bool has_sign) {
  return has_sign ? std::to_string(static_cast<int64_t>(bits)) : std::to_string(bits);
}

// Large numbers are addresses, masks and magic numbers.
static std::string number_literal(int64_t value, bool has_sign) {
  const auto bits = static_cast<uint64_t>(value);
  if (has_sign && value < 0) return "(" + literal(bits, true) + ")";
  if (bits < 65536) return literal(bits, has_sign);
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  return text;
}

static std::optional<int64_t> known(const Expr& e) {
  if (e.constant.kind == Constant::integer) return e.constant.integer_value;
  if (const Integer* i = if_a<Integer>(&e)) return static_cast<int64_t>(i->value);
  if (const Boolean* b = if_a<Boolean>(&e)) return b->value;
  return std::nullopt;
}

static std::string wrapped(const std::string& raw, bool has_sign) { return (has_sign ? "i64(" : "u64(") + without_parentheses(raw) + ")"; }

// The function that cuts a number to a type.
static std::string cutter(const type::Type& t) {
  return (t.is_signed ? "i" : "u") + std::to_string(8 * t.size);
}

static bool takes_part(const type::Type& t) { return t.is_scalar() || t.is_castable_aggregation(); }

// Whether all numbers of one type are numbers of the other.
static bool holds(const type::Type& wide, const type::Type& t) {
  if (t.is(Kind::boolean)) return true;
  if (t.size == 0 || wide.size == 0) return t.is_signed == wide.is_signed;
  if (t.is_signed == wide.is_signed) return t.size <= wide.size;
  return !t.is_signed && t.size < wide.size;
}

std::string DebuggerScript::number(const Expr& e) {
  if (auto n = known(e); n && e.type->is_scalar()) return number_literal(*n, is_signed(*e.type) || (e.adapts && *n < 0));
  return number_of(e);
}

static bool is_element(const Expr& e) {
  const FieldRef* f = if_a<FieldRef>(&e);
  const Index* x = if_a<Index>(&e);
  return (f && f->operand->type->is(Kind::tuple)) || (x && x->operand->type->is(Kind::tuple));
}

std::string DebuggerScript::number_of(const Expr& e) {
  if (is_element(e)) return tuple(e);
  switch (e.kind) {
  case ExprKind::variable: return names_.of(*as<VariableRef>(e).variable);
  case ExprKind::map: return map_read(as<MapRef>(e));
  case ExprKind::name:
    if (as<Name>(e).recipe) return program_value(e, true);
    if (const spec::Builtin* b = builtin_of(e)) return builtin_number(e, b->name);
    break;
  case ExprKind::call: {
    const Call& c = as<Call>(e);
    if (c.recipe) return program_value(e, true);
    if (c.function) {
      std::string out = names_.of(*c.function) + "(";
      for (size_t i = 0; i < c.arguments.size(); i++)
        out += (i ? ", " : "") + without_parentheses(value_as(*c.arguments[i], *c.function->parameters[i].variable->type));
      return out + ")";
    }
    if (c.builtin) return builtin_number(e, c.builtin->name);
    break;
  }
  case ExprKind::unary: {
    const Unary& u = as<Unary>(e);
    switch (u.op) {
    case UnaryOp::negate: return wrapped("-" + raw(*u.operand), is_signed(*e.type));
    case UnaryOp::bit_not: return wrapped("~" + raw(*u.operand), is_signed(*e.type));
    case UnaryOp::logical_not: return "(not " + condition(*u.operand) + ")";
    case UnaryOp::dereference: return load(e);
    case UnaryOp::address_of: return is_in_memory(*u.operand) ? "u64(" + without_parentheses(place(*u.operand)) + ")" : refuse(e.where, "the address of a variable or map", "values of the script have no addresses there");
    default: return increment(u);
    }
  }
  case ExprKind::binary: return binary(as<Binary>(e));
  case ExprKind::ternary:
  case ExprKind::attempt: return choice(e);
  case ExprKind::cast: {
    const Expr& operand = *as<Cast>(e).operand;
    if (!takes_part(*operand.type)) {
      if (e.type->is(Kind::pointer) && is_in_memory(operand)) return "u64(" + without_parentheses(place(operand)) + ")";
      if (operand.type->is(Kind::array) || operand.type->is(Kind::structure))
        return "in_bytes(" + bytes(operand) + ", 0, " + std::to_string(e.type->size) + ", " + (is_signed(*e.type) ? "True" : "False") + ")";
      return refuse(e.where, "this cast", "such values are no numbers there");
    }
    return number_as(operand, *e.type);
  }
  case ExprKind::field: {
    const FieldRef& f = as<FieldRef>(e);
    if (f.recipe) return program_value(e, true);
    return load(e);
  }
  case ExprKind::index: return load(e);
  default: break;
  }
  return refuse(e.where, "this expression", "it has no counterpart");
}

std::string DebuggerScript::sided(const Expr& e, bool has_sign) {
  if (auto n = known(e)) return number_literal(*n, has_sign);
  const Type& t = *e.type;
  const bool fits = t.is(Kind::boolean) || t.is_signed == has_sign || (has_sign && t.size && t.size < 8 && t.is_integer());
  return fits ? number(e) : wrapped(number(e), has_sign);
}

std::string DebuggerScript::number_as(const Expr& e, const Type& t) {
  if (t.is(Kind::floating) || e.type->is(Kind::floating))
    return t.is(Kind::floating) ? number(e) : cutter(t) + "(int(" + number(e) + "))";
  if (t.is(Kind::boolean)) return e.type->is(Kind::boolean) ? number(e) : "bool(" + without_parentheses(condition(e)) + ")";
  const uint32_t size = t.size && t.is_integer() ? t.size : 8;
  if (auto n = known(e)) {
    uint64_t bits = static_cast<uint64_t>(*n);
    if (size < 8) {
      const unsigned unused = 64 - size * 8;
      bits = t.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused) : bits << unused >> unused;
    }
    return number_literal(static_cast<int64_t>(bits), is_signed(t));
  }
  if (holds(t, *e.type)) return number(e);
  if (size == 8) return e.type->is_signed == t.is_signed ? number(e) : wrapped(raw(e), is_signed(t));
  return cutter(t) + "(" + without_parentheses(raw(e)) + ")";
}

// Sums and products of sums need to be cut to 64 bits only once.
std::string DebuggerScript::raw(const Expr& e) {
  if (known(e)) return number(e);
  if (const Binary* b = if_a<Binary>(&e))
    if (b->op == BinaryOp::add || b->op == BinaryOp::sub || b->op == BinaryOp::mul || b->op == BinaryOp::bit_and || b->op == BinaryOp::bit_or ||
        b->op == BinaryOp::bit_xor)
      return raw_binary(*b);
  if (const Cast* c = if_a<Cast>(&e); c && e.type->size == 8 && takes_part(*c->operand->type) && !c->operand->type->is(Kind::floating)) return raw(*c->operand);
  return number(e);
}

std::string DebuggerScript::stride_times(const Type& pointer, std::string number) {
  const uint32_t size = pointer.is(Kind::pointer) && pointer.element ? pointer.element->size : 1;
  if (size <= 1) return number;
  if (is_of_program(*pointer.element)) expect(*pointer.element);
  return std::to_string(size) + " * " + number;
}

std::string DebuggerScript::raw_binary(const Binary& e) {
  std::string_view op;
  switch (e.op) {
  case BinaryOp::add: op = " + "; break;
  case BinaryOp::sub: op = " - "; break;
  case BinaryOp::mul: op = " * "; break;
  case BinaryOp::bit_and: op = " & "; break;
  case BinaryOp::bit_or: op = " | "; break;
  default: op = " ^ "; break;
  }
  std::string left = raw(*e.left);
  if (needs_statement(e.right) && !known(*e.left)) left = spill("left", left);
  std::string right = raw(*e.right);
  if (e.right->type->is_integer()) right = stride_times(*e.left->type, right);
  if (e.left->type->is_integer()) left = stride_times(*e.right->type, left);
  return "(" + left + std::string(op) + right + ")";
}

std::string DebuggerScript::binary(const Binary& e) {
  switch (e.op) {
  case BinaryOp::logical_and:
  case BinaryOp::logical_or: return "bool(" + without_parentheses(condition(e)) + ")";
  case BinaryOp::lt:
  case BinaryOp::le:
  case BinaryOp::gt:
  case BinaryOp::ge:
  case BinaryOp::eq:
  case BinaryOp::ne: return compare(e);
  case BinaryOp::div:
  case BinaryOp::mod: {
    const bool divides = e.op == BinaryOp::div;
    std::string left = sided(*e.left, false);
    if (needs_statement(e.right)) left = spill("left", left);
    const std::string right = sided(*e.right, false);
    const auto by = known(*e.right);
    std::string out = by && *by ? "(" + left + (divides ? " // " : " % ") + right + ")"
                                : std::string(divides ? "divide(" : "remainder(") + without_parentheses(left) + ", " + without_parentheses(right) + ")";
    return is_signed(*e.type) && !(by && *by > 1) ? wrapped(out, true) : out;
  }
  case BinaryOp::shl:
  case BinaryOp::shr: {
    const bool goes_left = e.op == BinaryOp::shl;
    std::string left = goes_left ? raw(*e.left) : sided(*e.left, e.left->type->is_signed);
    if (needs_statement(e.right)) left = spill("left", left);
    const auto by = known(*e.right);
    std::string out = by && *by >= 0 && *by < 64 ? "(" + left + (goes_left ? " << " : " >> ") + std::to_string(*by) + ")"
                                                 : std::string(goes_left ? "shift_left(" : "shift_right(") + without_parentheses(left) + ", " +
                                                       without_parentheses(number(*e.right)) + ")";
    return goes_left || e.left->type->is_signed != e.type->is_signed ? wrapped(out, is_signed(*e.type)) : out;
  }
  default: break;
  }
  std::string out = raw_binary(e);
  const auto mask = known(*e.right);
  if (e.op == BinaryOp::bit_and && mask && *mask >= 0) return out;
  return wrapped(out, is_signed(*e.type));
}

std::string DebuggerScript::compare(const Binary& e) {
  static constexpr std::string_view signs[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
  const std::string op(signs[static_cast<size_t>(e.op) - static_cast<size_t>(BinaryOp::lt)]);
  const Type &l = *e.left->type, &r = *e.right->type;
  if (takes_part(l) && takes_part(r) && !l.is(Kind::probe_name) && !r.is(Kind::probe_name)) {
    const bool has_sign = is_signed_comparison(e);
    const bool is_floating = l.is(Kind::floating) || r.is(Kind::floating);
    std::string left = is_floating ? number(*e.left) : sided(*e.left, has_sign);
    if (needs_statement(e.right)) left = spill("left", left);
    return "(" + left + op + (is_floating ? number(*e.right) : sided(*e.right, has_sign)) + ")";
  }
  std::string left = value(*e.left);
  if (needs_statement(e.right)) left = spill("left", left);
  return "(" + left + op + value(*e.right) + ")";
}

std::string DebuggerScript::condition(const Expr& e) {
  if (auto n = known(e)) return *n ? "True" : "False";
  if (const Binary* b = if_a<Binary>(&e); b && (b->op == BinaryOp::logical_and || b->op == BinaryOp::logical_or)) {
    const bool is_and = b->op == BinaryOp::logical_and;
    if (!needs_statement(b->right)) return "(" + condition(*b->left) + (is_and ? " and " : " or ") + condition(*b->right) + ")";
    const std::string name = spill("holds", "bool(" + without_parentheses(condition(*b->left)) + ")");
    out_.open(is_and ? "if " + name + ":" : "if not " + name + ":");
    out_.line(name + " = bool(" + without_parentheses(condition(*b->right)) + ")");
    out_.close_level();
    return name;
  }
  if (const Unary* u = if_a<Unary>(&e); u && u->op == UnaryOp::logical_not) return "(not " + condition(*u->operand) + ")";
  return takes_part(*e.type) ? number(e) : value(e);
}

std::string DebuggerScript::choice(const Expr& e) {
  const Type& t = *e.type;
  auto part = [&](const Expr* x) { return t.is(Kind::none) ? std::string("0") : value_as(*x, t); };
  if (const Attempt* a = if_a<Attempt>(&e)) {
    const std::string name = names_.fresh("tried");
    const bool outer = std::exchange(in_try_, true);
    out_.open("try:");
    out_.line(name + " = " + without_parentheses(part(a->first)));
    in_try_ = outer;
    out_.close_level();
    out_.open("except Fault:");
    out_.line(name + " = " + without_parentheses(part(a->otherwise)));
    out_.close_level();
    return name;
  }
  const Ternary& c = as<Ternary>(e);
  if (!needs_statement(c.then) && !needs_statement(c.otherwise)) {
    if (!c.then) return "(" + number(*c.condition) + " or " + part(c.otherwise) + ")";
    return "(" + part(c.then) + " if " + without_parentheses(condition(*c.condition)) + " else " + part(c.otherwise) + ")";
  }
  const std::string chosen = condition(*c.condition), name = names_.fresh("chosen");
  out_.open("if " + without_parentheses(chosen) + ":");
  out_.line(name + " = " + without_parentheses(part(c.then ? c.then : c.condition)));
  out_.close_level();
  out_.open("else:");
  out_.line(name + " = " + without_parentheses(part(c.otherwise)));
  out_.close_level();
  return name;
}

std::string DebuggerScript::increment(const Unary& e) {
  const bool up = e.op == UnaryOp::pre_increment || e.op == UnaryOp::post_increment;
  const bool wants_old = e.op == UnaryOp::post_increment || e.op == UnaryOp::post_decrement;
  const std::string step = stride_times(*e.operand->type, up ? "1" : "-1");
  const Type& t = *e.operand->type;
  if (const MapRef* m = if_a<MapRef>(e.operand)) {
    const std::string k = spill("key", key(*m->map, m->key)), map = names_.of(*m->map);
    const std::string old = spill("old", map + ".get(" + k + ")");
    out_.line(map + ".set(" + k + ", " + wrapped(old + " + " + step, is_signed(t)) + ")");
    return wants_old ? old : map + ".get(" + k + ")";
  }
  const Variable& v = *as<VariableRef>(*e.operand).variable;
  const std::string name = names_.of(v);
  std::string old = wants_old ? spill("old", name) : "";
  const bool is_narrow = v.type->is_integer() && v.type->size < 8;
  out_.line(name + " = " + (is_narrow ? cutter(*v.type) + "(" : is_signed(*v.type) ? "i64(" : "u64(") + name + (up ? " + " : " - ") +
            stride_times(t, "1") + ")");
  return wants_old ? old : name;
}

// ---------------------------------------------------------------------------------------------- other values

std::string DebuggerScript::text(const Expr& e) {
  if (e.constant.kind == Constant::text || e.kind == ExprKind::string) {
    if (e.constant.kind == Constant::text && is_cut(e)) return "Cut(" + python_bytes(text_of(e)) + ")";
    return python_bytes(e.constant.kind == Constant::text ? text_of(e) : as<String>(e).value);
  }
  if (const spec::Builtin* b = builtin_of(e); b && !(e.kind == ExprKind::call && as<Call>(e).function)) return builtin_text(e, b->name);
  if (is_in_memory(e)) {
    const uint32_t size = stored_size(e);
    return "text_in(" + without_parentheses(place(e)) + ", " + std::to_string(size) + ", " + std::to_string(std::min(size, e.type->size)) + ")";
  }
  switch (e.kind) {
  case ExprKind::variable: return names_.of(*as<VariableRef>(e).variable);
  case ExprKind::map: return map_read(as<MapRef>(e));
  case ExprKind::call: return number_of(e);
  case ExprKind::ternary:
  case ExprKind::attempt: return choice(e);
  case ExprKind::cast: return text(*as<Cast>(e).operand);
  case ExprKind::field: return tuple(e);
  case ExprKind::index: return tuple(e);
  default: return refuse(e.where, "this text", "it has no counterpart");
  }
}

// An element of a tuple, or a tuple as a whole.
std::string DebuggerScript::tuple(const Expr& e) {
  if (const FieldRef* f = if_a<FieldRef>(&e); f && f->operand->type->is(Kind::tuple)) {
    const auto fields = f->operand->type->fields();
    for (size_t i = 0; i < fields.size(); i++)
      if (fields[i].name == f->name) return value(*f->operand) + "[" + std::to_string(i) + "]";
  }
  if (const Index* x = if_a<Index>(&e); x && x->operand->type->is(Kind::tuple))
    return value(*x->operand) + "[" + std::to_string(x->index->constant.integer_value) + "]";
  switch (e.kind) {
  case ExprKind::tuple: return value_as(e, *e.type);
  case ExprKind::variable: return names_.of(*as<VariableRef>(e).variable);
  case ExprKind::map: return map_read(as<MapRef>(e));
  case ExprKind::call: return number_of(e);
  case ExprKind::ternary:
  case ExprKind::attempt: return choice(e);
  default: return refuse(e.where, "this tuple", "it has no counterpart");
  }
}

std::string DebuggerScript::value(const Expr& e) {
  const Type& t = *e.type;
  if (is_element(e)) return tuple(e);
  if (t.is(Kind::probe_name)) {
    if (e.constant.kind == Constant::text) return python_bytes(e.constant.text_value);
    const spec::Builtin* b = builtin_of(e);
    return b && b->name == "func" ? "here.function" : "here.probe";
  }
  if (takes_part(t) || t.is(Kind::none)) return number(e);
  switch (t.kind) {
  case Kind::string: return text(e);
  case Kind::buffer:
  case Kind::usym:
  case Kind::ustack:
    if (const spec::Builtin* b = builtin_of(e)) return builtin_value(e, b->name);
    [[fallthrough]];
  case Kind::tuple: return tuple(e);
  case Kind::array:
  case Kind::structure: return bytes(e);
  default: return refuse(e.where, "a value of type " + type::to_string(t), "there are none of this kind");
  }
}

std::string DebuggerScript::bytes(const Expr& e) {
  if (is_in_memory(e)) {
    if (is_of_program(*e.type)) expect(*e.type);
    return "bytes_at(" + without_parentheses(place(e)) + ", " + std::to_string(e.type->size) + ")";
  }
  if (const FieldRef* f = if_a<FieldRef>(&e))
    return bytes(*f->operand) + "[" + std::to_string(f->field.offset) + ":" + std::to_string(f->field.offset + e.type->size) + "]";
  switch (e.kind) {
  case ExprKind::variable: return names_.of(*as<VariableRef>(e).variable);
  case ExprKind::map: return map_read(as<MapRef>(e));
  case ExprKind::call: return number_of(e);
  case ExprKind::ternary:
  case ExprKind::attempt: return choice(e);
  default: return refuse(e.where, "this value", "it is in no memory");
  }
}

std::string DebuggerScript::value_as(const Expr& e, const Type& t) {
  if (t.is(Kind::string) && (e.type->is(Kind::string) || e.constant.kind == Constant::text)) {
    std::string out = text(e);
    if (e.type->size > t.size && t.size && e.constant.kind != Constant::text) out += "[:" + std::to_string(t.size - 1) + "]";
    return out;
  }
  if (takes_part(t) && takes_part(*e.type) && !is_element(e)) return number_as(e, t);
  const Tuple* made = if_a<Tuple>(&e);
  if (made && t.is(Kind::tuple)) {
    std::vector<std::string> parts(made->elements.size());
    for (size_t i = 0; i < parts.size(); i++) {
      const size_t at = t.index_of(e.type->fields()[i], i).value_or(i);
      parts[at] = value_as(*made->elements[i], *t.fields()[at].type);
      if (i + 1 < parts.size() && needs_statement(made->elements[i + 1])) parts[at] = spill("part", parts[at]);
    }
    std::string out = "(";
    for (size_t i = 0; i < parts.size(); i++) out += (i ? ", " : "") + without_parentheses(parts[i]);
    return out + (parts.size() == 1 ? ",)" : ")");
  }
  if (is_element(e) && t.is_integer() && e.type->is_integer() && !holds(t, *e.type))
    return (t.size < 8 ? cutter(t) + "(" : is_signed(t) ? "i64(" : "u64(") + value(e) + ")";
  return value(e);
}

std::string DebuggerScript::key(const Map& map, const Expr* key) { return key && map.key ? value_as(*key, *map.key) : "None"; }

std::string DebuggerScript::key_argument(const MapRef& e) { return e.key ? without_parentheses(key(*e.map, e.key)) : ""; }

std::string DebuggerScript::map_read(const MapRef& e) { return names_.of(*e.map) + ".get(" + key_argument(e) + ")"; }

} // namespace emit
