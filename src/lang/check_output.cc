// Builtins that print: print() with its own ways of being called, and printf and its kin against their formats.
#include "lang/checker.h"

#include "type/format_string.h"

namespace lang {

using type::Kind;
using namespace spec;

const type::Type* Checker::check_print(Call& e) {
  if (e.arguments.empty() || e.arguments.size() > 3) {
    check_parameters(e, *e.builtin);
    return types_.none();
  }
  for (size_t i = 1; i < e.arguments.size(); i++)
    if (check_parameter(e, *e.arguments[i], Takes::literal_integer) &&
        e.arguments[i]->type->is_signed && e.arguments[i]->constant.integer_value < 0)
      error(tag::bad_argument, e.arguments[i]->where, "`top` and `div` can't be negative");
  Expr& a = *e.arguments[0];
  if (MapRef* m = if_a<MapRef>(&a); m && !m->key) {
    m->map->used = true;
    a.type = types_.none();
    return types_.none();
  }
  if (e.arguments.size() > 1)
    error(tag::wrong_argument_count, e.where, "only maps are printed with `top` and `div`",
          std::string(e.builtin->texts().signature));
  // What is more than one number is printed as a whole: a.type stays.
  const type::Type* t = check(a);
  bool is_number = t->is_castable_aggregation() && !t->is(Kind::stats);
  if (is_number || (t->is_aggregation() && a.kind != ExprKind::map)) t = check_value(a);
  if (t->is(Kind::none)) refuse_without_value(a);
  return types_.none();
}

// Arguments of printf and its kin against the format.
const type::Type* Checker::check_format(Call& e) {
  std::vector<const type::Type*> given;
  for (size_t i = 1; i < e.arguments.size(); i++) given.push_back(e.arguments[i]->type);
  for (const type::Type* t : given)
    if (t->is(Kind::none)) return types_.none();
  std::string wrong = type::check_format(e.arguments[0]->constant.text_value, given);
  if (wrong.empty()) return types_.none();
  bool wants_text = wrong.starts_with("%s");
  bool is_address = wrong.find("(pointer") != wrong.npos;
  bool is_floating = wrong.ends_with("float supplied)") || wrong.ends_with("double supplied)");
  error(tag::bad_format, e.where, std::string(e.name) + ": " + wrong,
        is_floating ? "%f, %e and %g print numbers of floating point"
        : !wants_text ? "" : is_address ? "str() reads the text at an address" : "%d prints numbers");
  return types_.none();
}

} // namespace lang
