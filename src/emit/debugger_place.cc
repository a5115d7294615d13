// Values in the program's memory: addresses, members, elements, variables of the program.
#include "emit/debugger.h"

#include "probe/recipe.h"

#include <algorithm>

namespace emit {

using namespace lang;
using type::Kind;

static const probe::Recipe* recipe_of(const Expr& e) {
  if (const FieldRef* f = if_a<FieldRef>(&e)) return f->recipe;
  if (const Name* n = if_a<Name>(&e)) return n->recipe;
  if (const Call* c = if_a<Call>(&e)) return c->recipe;
  return nullptr;
}

static bool is_pointer(const Expr& e) { return e.type->is(Kind::pointer); }

bool DebuggerScript::is_in_memory(const Expr& e) const {
  if (const probe::Recipe* r = recipe_of(e)) return e.kind == ExprKind::field && (r->kind != probe::Recipe::value || !e.type->is_scalar());
  if (const FieldRef* f = if_a<FieldRef>(&e)) {
    if (f->operand->type->is(Kind::tuple)) return false;
    return f->through_pointer || is_in_memory(*f->operand);
  }
  if (const Unary* u = if_a<Unary>(&e)) return u->op == UnaryOp::dereference;
  if (const Index* x = if_a<Index>(&e))
    return !x->operand->type->is(Kind::tuple) && !x->operand->type->is(Kind::string) && (is_pointer(*x->operand) || is_in_memory(*x->operand));
  return false;
}

std::string DebuggerScript::place(const Expr& e) {
  if (recipe_of(e)) return program_value(e, false);
  if (const FieldRef* f = if_a<FieldRef>(&e)) return member(*f, false);
  if (const Unary* u = if_a<Unary>(&e); u && u->op == UnaryOp::dereference) return raw(*u->operand);
  if (const Index* x = if_a<Index>(&e)) return element_address(*x);
  return refuse(e.where, "this value", "it is in no memory");
}

std::string DebuggerScript::element_address(const Index& x) {
  const Type& of = *x.operand->type;
  const uint32_t size = of.element ? std::max(1u, of.element->size) : 1;
  if (of.element && is_of_program(*of.element)) expect(*of.element);
  const std::string base = is_pointer(*x.operand) ? raw(*x.operand) : place(*x.operand);
  if (x.index->constant.kind == Constant::integer) {
    const int64_t offset = x.index->constant.integer_value * size;
    return offset ? "(" + base + " + " + std::to_string(offset) + ")" : base;
  }
  return "(" + base + " + " + (size > 1 ? std::to_string(size) + " * " : "") + raw(*x.index) + ")";
}

// The member of a structure, by way of all members of members that are named in one expression.
std::string DebuggerScript::member(const FieldRef& e, bool wants_value) {
  const FieldRef* first = &e;
  std::string path(e.name);
  type::Field field = e.field;
  while (!first->through_pointer) {
    const FieldRef* outer = if_a<FieldRef>(first->operand);
    if (!outer || outer->recipe || outer->operand->type->is(Kind::tuple) || outer->field.bit_size) break;
    first = outer;
    path = std::string(outer->name) + "." + path;
    field.offset += outer->field.offset;
  }
  const Type& of = *(first->through_pointer ? first->operand->type->element : first->operand->type);
  const std::string base = first->through_pointer ? raw(*first->operand) : place(*first->operand);
  return field_object(of, path, field) + (wants_value ? ".get(" : ".at(") + without_parentheses(base) + ")";
}

// A number in memory, or of a structure that is a value.
std::string DebuggerScript::load(const Expr& e) {
  const Type& t = *e.type;
  const uint32_t size = t.is(Kind::pointer) ? 8 : std::max(1u, t.size);
  if (t.is(Kind::floating) && size > 8) return refuse(e.where, "long double", "Python has none");
  const FieldRef* f = if_a<FieldRef>(&e);
  const Index* x = if_a<Index>(&e);
  if (x && x->operand->type->is(Kind::string)) return "character(" + text(*x->operand) + ", " + number(*x->index) + ")";
  const std::string sign = t.is_signed && t.is_integer() ? "True" : "False";
  if (!is_in_memory(e)) {
    if (f && !f->field.bit_size)
      return "in_bytes(" + bytes(*f->operand) + ", " + std::to_string(f->field.offset) + ", " + std::to_string(size) + ", " + sign + ")";
    if (x && x->operand->type->is(Kind::array))
      return "in_bytes(" + bytes(*x->operand) + ", " + std::to_string(size) + " * " + number(*x->index) + ", " + std::to_string(size) + ", " + sign + ")";
    return refuse(e.where, "this member", "the structure is a value of the script");
  }
  if (t.is(Kind::floating)) return "floating_at(" + without_parentheses(place(e)) + ", " + std::to_string(size) + ")";
  if (f) return member(*f, true);
  std::string guard;
  if (x && x->operand->type->is(Kind::array) && x->index->constant.kind != Constant::integer) {
    const std::string index = spill("index", number(*x->index));
    const std::string base = place(*x->operand);
    const Type& of = *x->operand->type;
    const std::string at = base + " + " + (size > 1 ? std::to_string(size) + " * " : "") + index;
    return "(" + std::string(t.is_signed ? "i" : "u") + std::to_string(8 * size) + "_at(" + at + ") if inside(" + index + ", " +
           std::to_string(of.count) + ") else 0)";
  }
  return std::string(t.is_signed && t.is_integer() ? "i" : "u") + std::to_string(8 * size) + "_at(" + without_parentheses(place(e)) + ")";
}

// target.NAME, args.NAME, locals.NAME, uaddr("NAME").
std::string DebuggerScript::program_value(const Expr& e, bool wants_value) {
  const Type& t = *e.type;
  const uint32_t size = t.is(Kind::pointer) ? 8 : std::max(1u, t.size);
  if (const Call* c = if_a<Call>(&e))
    return "address_of(" + python_string(c->arguments.empty() ? std::string_view() : c->arguments[0]->constant.text_value) + ")";
  const FieldRef* f = if_a<FieldRef>(&e);
  const spec::Builtin* b = f ? builtin_of(*f->operand) : nullptr;
  if (!f || !b) return refuse(e.where, "this value of the program", "the debugger finds variables by their names");
  if (t.is(Kind::floating)) return refuse(e.where, "a floating-point variable", "it is read as a number");
  const std::string sign = t.is_signed && t.is_integer() ? "True" : "False";
  if (b->name != "target") {
    if (wants_value && t.is_scalar()) return "value_of(" + python_string(f->name) + ", " + std::to_string(size) + ", " + sign + ")";
    return "place_of_variable(" + python_string(f->name) + ")";
  }
  if (f->operand->kind == ExprKind::call && !as<Call>(*f->operand).arguments.empty())
    return refuse(e.where, "a variable of a named library", "the debugger looks a name up in all files", "`target.NAME`");
  const bool of_thread = std::ranges::any_of(f->recipe->steps, [](const probe::Step& s) { return s.op == probe::Step::thread_base; });
  if (of_thread && debugger_ == "lldb") return refuse(e.where, "a thread-local variable", "lldb does not find them in core dumps", "--to gdb");
  if (f->recipe->kind != probe::Recipe::address) return refuse(e.where, "this variable", "it is in no memory");
  std::string place;
  if (const size_t at = f->name.rfind("::"); at != f->name.npos && f->name.substr(0, at).find('.') != f->name.npos)
    place = "address_of(" + python_string(f->name.substr(at + 2)) + ", " + python_string(f->name.substr(0, at)) + ")";
  else
    place = std::string(of_thread ? "thread_local(" : "address_of(") + python_string(f->name) + ")";
  if (!wants_value || !t.is_scalar()) return place;
  return std::string(sign == "True" ? "i" : "u") + std::to_string(8 * size) + "_at(" + place + ")";
}

} // namespace emit
