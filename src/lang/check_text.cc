// Text and bytes: what reads as text, and the lengths and results of the functions that take it.
//
// Functions of text take arrays of characters, pointers to characters and buffers too: those become arguments
// of a str() of their own, so that everything behind the checker knows one kind of text.
#include "lang/checker.h"

#include "lang/walk.h"

#include <algorithm>

namespace lang {

using type::Kind;
using namespace spec;

// Bytes that str() makes text of.
static bool reads_as_text(const type::Type& t) {
  if (t.is(Kind::buffer)) return true;
  bool has_bytes = (t.is(Kind::array) && t.count > 0) || t.is(Kind::pointer);
  return has_bytes && t.element && t.element->is(Kind::integer) && t.element->size == 1;
}

Expr* Checker::in_call(std::string_view builtin, Expr& e, Expr* more) {
  Call* call = program_.arena.make<Call>(e.where);
  call->name = builtin;
  call->name_where = e.where;
  call->builtin = find_builtin(builtin);
  call->arguments = program_.arena.copy(more ? std::vector<Expr*>{&e, more} : std::vector<Expr*>{&e});
  check(*call);
  return call;
}

// The expression itself where it is text or can't be; else str() of it.
Expr* Checker::as_text(Expr& e) {
  return reads_as_text(*e.type) ? in_call("str", e) : &e;
}

// A member of type char[] meets as many bytes of pton(): NULs count like other bytes.
void Checker::compare_address_bytes(Binary& e) {
  auto is_address = [](const Expr& x) { return x.type->is(Kind::array) && x.constant.kind == Constant::text; };
  auto is_member = [&](const Expr& x, const Expr& address) {
    return x.type->is(Kind::string) && x.constant.kind == Constant::none && stored_size(x) == address.type->size;
  };
  bool left = is_address(*e.left) && is_member(*e.right, *e.left);
  bool right = is_address(*e.right) && is_member(*e.left, *e.right);
  if (!left && !right) return;
  e.left = in_call("buf", *e.left);
  e.right = in_call("buf", *e.right);
}

bool Checker::check_text_parameter(Call& e, Expr*& a) {
  check_value(*a);
  a = as_text(*a);
  const type::Type* t = a->type;
  if (t->is(Kind::probe_name)) name_probes_by_text();
  if (t->is(Kind::string) || t->is(Kind::probe_name)) return true;
  if (!t->is(Kind::none))
    error(tag::bad_argument, a->where, "`" + std::string(e.name) + "` takes a string here, not " + text(t),
          t->is_integer() || t->is(Kind::pointer) ? "str() reads the text at an address"
                                                  : std::string(e.builtin->texts().signature));
  return false;
}

// ----------------------------------------------------------------------------------------------- str, buf

// `$1 + 2`: in str() the end of a parameter's text.
static Binary* parameter_tail(Expr& e) {
  Binary* sum = if_a<Binary>(&e);
  return sum && sum->op == BinaryOp::add && sum->left->kind == ExprKind::positional ? sum : nullptr;
}

// str() of text from the command line; nullptr where it is an ordinary call.
const type::Type* Checker::check_str_call(Call& e) {
  if (e.arguments.empty() || e.arguments.size() > 2) return nullptr;
  Binary* sum = parameter_tail(*e.arguments[0]);
  if (!sum) return nullptr;
  check(*sum->left);
  check(*sum->right);
  if (e.arguments.size() == 2 && !check_parameter(e, *e.arguments[1], Takes::integer)) return types_.none();
  auto size = static_cast<int64_t>(sum->left->constant.text_value.size());
  const Constant& offset = sum->right->constant;
  if (offset.kind != Constant::integer)
    return mistake(tag::bad_argument, sum->right->where,
                   "only a constant can be added to a parameter's text");
  if (offset.integer_value < 0 || offset.integer_value > size)
    return mistake(tag::bad_argument, sum->right->where,
                   "the parameter has " + std::to_string(size) + " characters: this is behind its end");
  sum->type = types_.string(1);
  return check_str(e);
}

// A literal of at most `length` bytes; where that is no wish of the script, one byte more, in place of the NUL, marks that
// it was cut.
const type::Type* Checker::cut_text(Expr& e, std::string_view value, uint64_t length, bool marks) {
  value = value.substr(0, value.find('\0'));
  set_text(e, length ? value.substr(0, length + marks) : std::string_view());
  return types_.string(static_cast<uint32_t>(std::min<uint64_t>(value.size(), length)) + 1);
}

// Bytes of text that a value holds at most.
static uint64_t text_capacity(const Expr& e) {
  const type::Type& t = *e.type;
  if (t.is(Kind::buffer)) return t.count;
  return t.is(Kind::array) || t.size == 0 ? t.size : t.size - 1;
}

// str("literal"), str($1), str(value), str(pointer [, length]): a string of at most `length` bytes and a NUL; of memory
// that is read up to there, the length that the script asks for counts the NUL.
const type::Type* Checker::check_str(Call& e) {
  List<Expr*> arguments = e.arguments;
  Expr& from = *arguments[0];
  uint64_t length = program_.config.number("max_strlen");
  const Expr* given = arguments.size() > 1 ? arguments[1] : nullptr;
  bool is_known = !given || given->constant.kind == Constant::integer;
  if (given && is_known) {
    if (given->type->is_signed && given->constant.integer_value < 0)
      return mistake(tag::bad_argument, given->where, "a length can't be negative");
    length = std::min(length, static_cast<uint64_t>(given->constant.integer_value));
  }
  const bool marks = !cuts_as_asked(e, program_.config);
  // A parameter of the command line is text here, and `$1 + n` its end.
  Binary* sum = parameter_tail(from);
  const Expr& base = sum ? *sum->left : from;
  if (base.kind == ExprKind::positional) {
    std::string_view value = base.constant.text_value;
    if (sum) value.remove_prefix(static_cast<size_t>(sum->right->constant.integer_value));
    if (is_known) return cut_text(e, value, length, marks);
    set_text(from, value);
    from.type = types_.string(static_cast<uint32_t>(value.size()) + 1);
  }
  if (from.constant.kind == Constant::text && is_known) return cut_text(e, from.constant.text_value, length, marks);
  const type::Type& t = *from.type;
  const bool is_value = t.is(Kind::string) || t.is(Kind::array) || t.is(Kind::buffer);
  if (is_value) length = std::min(length, text_capacity(from));
  return types_.string(static_cast<uint32_t>(std::max<uint64_t>(1, length + (is_value || marks))));
}

bool cuts_as_asked(const Call& str, const spec::Config& config) {
  if (str.arguments.size() < 2 || str.arguments[1]->constant.kind != Constant::integer) return false;
  return static_cast<uint64_t>(str.arguments[1]->constant.integer_value) <= config.number("max_strlen");
}

// str_concat(a, b)
const type::Type* Checker::check_str_concat(Call& e) {
  const Expr& a = *e.arguments[0];
  const Expr& b = *e.arguments[1];
  if (a.constant.kind == Constant::text && b.constant.kind == Constant::text)
    return literal(e, std::string(c_text_of(a)) + std::string(c_text_of(b)));
  for (Expr* side : e.arguments)
    if (side->type->is(Kind::probe_name)) return types_.string(longest_probe_name() + std::max(a.type->size, b.type->size));
  return types_.string(std::max(1u, a.type->size + b.type->size) - 1);
}

// substr(text, offset [, length])
const type::Type* Checker::check_substr(Call& e) {
  const Expr& of = *e.arguments[0];
  if (of.type->is(Kind::probe_name)) return types_.string(longest_probe_name() + 1);
  return types_.string(std::max(1u, of.type->size));
}

const type::Type* Checker::check_buf(Call& e) {
  List<Expr*> arguments = e.arguments;
  const type::Type& t = *arguments[0]->type;
  bool is_value = t.is(Kind::array) || t.is(Kind::string) || t.is(Kind::structure) || t.is(Kind::tuple);
  uint64_t most = program_.config.number("max_strlen");
  uint64_t length = most;
  if (!is_value && !t.is_integer() && !t.is(Kind::pointer))
    return mistake(tag::bad_argument, arguments[0]->where,
                   "`buf` takes an address or an array, not " + text(&t),
                   std::string(find_builtin("buf")->texts().signature));
  if (arguments.size() < 2) {
    if (!is_value) return mistake(tag::wrong_argument_count, e.where, "`buf` needs a length for " + text(&t));
    length = stored_size(*arguments[0]);
  } else if (const Constant& n = arguments[1]->constant; n.kind == Constant::integer) {
    if (arguments[1]->type->is_signed && n.integer_value < 0)
      return mistake(tag::bad_argument, arguments[1]->where, "a length can't be negative");
    length = static_cast<uint64_t>(n.integer_value);
    if (length > most)
      warning(tag::too_large, arguments[1]->where,
              "a buffer holds at most " + std::to_string(most) + " bytes: the rest is left out",
              "set the configuration key max_strlen");
  }
  if (is_value) length = std::min<uint64_t>(length, stored_size(*arguments[0]));
  return types_.buffer(static_cast<uint32_t>(std::min(length, most)));
}

// --------------------------------------------------------------------------------------- other functions

const type::Type* Checker::check_strcap(Call& e) {
  const Expr& of = *e.arguments[0];
  const type::Type& t = *of.type;
  if (t.is(Kind::none)) return nullptr;
  if (!t.is(Kind::string) && !reads_as_text(t))
    return mistake(tag::bad_argument, of.where, "`strcap` takes a string here, not " + text(&t));
  set_integer(e, t.is(Kind::pointer)  ? static_cast<int64_t>(program_.config.number("max_strlen"))
                 : t.is(Kind::buffer) ? t.count
                                      : stored_size(of));
  return nullptr;
}

// assert_str(value): told when the script is compiled.
void Checker::check_assert_str(Call& e) {
  const Expr& value = *e.arguments[0];
  const type::Type& t = *value.type;
  if (t.is(Kind::string) || t.is(Kind::probe_name) || t.is(Kind::none) || reads_as_text(t)) return;
  error(tag::bad_argument, value.where, "this is no string but " + text(&t));
}

const type::Type* Checker::check_strncmp(Call& e) {
  const Constant& n = e.arguments[2]->constant;
  if (n.kind != Constant::integer) return nullptr;
  if (n.integer_value < 0)
    return mistake(tag::bad_argument, e.arguments[2]->where, "a length can't be negative");
  if (e.arguments[0]->constant.kind != Constant::text || e.arguments[1]->constant.kind != Constant::text)
    return nullptr;
  auto length = static_cast<size_t>(n.integer_value);
  set_integer(e,
              c_text_of(*e.arguments[0]).substr(0, length) != c_text_of(*e.arguments[1]).substr(0, length));
  return nullptr;
}

const type::Type* Checker::check_memcmp(Call& e) {
  const Constant& n = e.arguments[2]->constant;
  if (n.kind == Constant::integer && n.integer_value < 0)
    return mistake(tag::bad_argument, e.arguments[2]->where, "a length can't be negative");
  for (const Expr* side : {e.arguments[0], e.arguments[1]}) {
    const type::Type& t = *side->type;
    uint64_t size = t.is(Kind::pointer)  ? program_.config.number("max_strlen")
                    : t.is(Kind::buffer) ? t.count
                                         : stored_size(*side);
    if (t.is(Kind::probe_name) || t.is_aggregation())
      return mistake(tag::bad_argument, side->where, "`memcmp` can't compare bytes of " + text(&t));
    if (n.kind == Constant::integer && static_cast<uint64_t>(n.integer_value) > size)
      return mistake(tag::bad_argument, e.arguments[2]->where,
                     "`memcmp` can't compare " + std::to_string(n.integer_value) + " bytes: " + text(&t) +
                         " has " + std::to_string(size));
  }
  return nullptr;
}

} // namespace lang
