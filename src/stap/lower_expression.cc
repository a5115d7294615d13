// Expressions. Comparisons are booleans in acu and numbers in SystemTap: where their value is kept, it becomes a number.
#include "stap/lowering.h"

#include "base/text.h"
#include "spec/diagnostics.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace stap {

using namespace spec;
using base::quoted;
using lang::BinaryOp;
using lang::UnaryOp;

namespace {

struct Sign {
  std::string_view sign;
  BinaryOp op;
};
constexpr Sign signs[] = {{"*", BinaryOp::mul}, {"+", BinaryOp::add},     {"-", BinaryOp::sub},          {"<<", BinaryOp::shl},
                          {">>", BinaryOp::shr}, {"<", BinaryOp::lt},  {"<=", BinaryOp::le},    {">", BinaryOp::gt},      {">=", BinaryOp::ge},          {"==", BinaryOp::eq},
                          {"!=", BinaryOp::ne},  {"&", BinaryOp::bit_and}, {"^", BinaryOp::bit_xor}, {"|", BinaryOp::bit_or}, {"&&", BinaryOp::logical_and}, {"||", BinaryOp::logical_or}};

// Names and blanks.
bool is_words(std::string_view text) {
  const bool begins = !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_');
  return begins && std::ranges::all_of(text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ' '; });
}

bool is_comparison(BinaryOp op) { return op >= BinaryOp::lt && op <= BinaryOp::ne; }

} // namespace

lang::Expr* Lowering::as_number(const Value& v, Range where) {
  if (v.kind != Kind::truth) return v.e;
  lang::Cast* c = at(where).node<lang::Cast>();
  c->target = program_->arena.make<lang::TypeName>();
  c->target->where = where;
  c->target->name = "int64";
  c->operand = v.e;
  return c;
}

lang::Expr* Lowering::number(const Node& n) { return as_number(lower(n), n.where); }

// Division of acu has no signs.
lang::Expr* Lowering::divide(const Node& left, const Node& right, bool is_remainder, Range where) {
  lang::Expr *a = number(left), *b = number(right);
  if (may_be_negative(left) || may_be_negative(right)) return help(is_remainder ? "remainder" : "quotient", {a, b}, where);
  return at(where).binary(is_remainder ? BinaryOp::mod : BinaryOp::div, a, b);
}

// Several keys are a tuple.
lang::Expr* Lowering::keys_of(const std::vector<Node*>& parts, size_t from, size_t to, Range where) {
  std::vector<lang::Expr*> out;
  for (size_t i = from; i < to; i++) {
    if (parts[i]->kind == NodeKind::any) {
      error(tag::bad_map_use, parts[i]->where, "`*` as a key is not converted", "loop over the array, and compare the keys");
      return at(where).number(0);
    }
    out.push_back(number(*parts[i]));
  }
  return out.size() == 1 ? out[0] : at(where).tuple(out);
}

Value Lowering::lower_binary(const Node& n) {
  if (n.text == ".") return {text_value(n), Kind::text};
  if (n.text == "=~" || n.text == "!~") {
    lang::Expr* match = at(n.where).call("match", {lower(*n.parts[0]).e, lower(*n.parts[1]).e});
    if (n.text == "=~") return {match, Kind::truth};
    lang::Unary* no = at(n.where).node<lang::Unary>();
    no->op = UnaryOp::logical_not;
    no->operand = match;
    return {no, Kind::truth};
  }
  if (n.text == "/" || n.text == "%") return {divide(*n.parts[0], *n.parts[1], n.text == "%", n.where), Kind::number};
  for (const Sign& s : signs) {
    if (s.sign != n.text) continue;
    const bool is_logical = s.op == BinaryOp::logical_and || s.op == BinaryOp::logical_or;
    const Value left = lower(*n.parts[0]);
    Statements* const outer = std::exchange(hoist_, is_logical ? nullptr : hoist_); // the right side may not be evaluated
    const Value right = lower(*n.parts[1]);
    hoist_ = outer;
    if (is_logical) return {at(n.where).binary(s.op, left.e, right.e), Kind::truth};
    return {at(n.where).binary(s.op, as_number(left, n.where), as_number(right, n.where)), is_comparison(s.op) ? Kind::truth : Kind::number};
  }
  error(tag::bad_operand, n.where, quoted(n.text) + " is no operator that acu has", "write the expression in another way");
  return wrong(n.where);
}

// x[k] of an array, $p[i] of a value of the program
Value Lowering::lower_index(const Node& n) {
  const Node* array = n.parts[0] ? array_of(n) : nullptr;
  if (!n.parts[0] || n.parts.size() < 2) {
    error(tag::bad_index, n.where, "an index is missing", "write `x[key]`");
    return wrong(n.where);
  }
  if (array && array->text == "argv") {
    lang::Positional* p = at(n.where).node<lang::Positional>();
    p->number = static_cast<uint32_t>(n.parts[1]->value);
    if (n.parts[1]->kind != NodeKind::integer || p->number == 0) error(tag::bad_index, n.where, "the index of argv must be a number from 1", "write `argv[1]`");
    return {at(n.where).call("str", {p}), Kind::text};
  }
  if (array && is_global(array->text)) {
    if (statistics_.contains(array->text)) return lower_name(*array); // says what is wrong
    const Kind kind = global_kinds_[array->text];
    return {at(n.where).map(map_named(array->text, array->where), keys_of(n.parts, 1, n.parts.size(), n.where)), kind == Kind::unknown ? Kind::number : kind};
  }
  if (array && (scope_->locals.contains(array->text) || scope_->parameters.contains(array->text))) {
    error(tag::bad_map_use, n.where, quoted(array->text) + " is no array", "declare it: global " + array->text);
    return wrong(n.where);
  }
  lang::Index* i = at(n.where).node<lang::Index>();
  i->operand = lower(*n.parts[0]).e;
  i->index = number(*n.parts[1]);
  return {i, Kind::number};
}

// k in x, [k, l] in x
Value Lowering::lower_contained(const Node& n) {
  const Node& array = *n.parts.back();
  if (array.kind != NodeKind::name || !is_global(array.text)) {
    error(tag::bad_map_use, array.where, "`in` needs the name of an array", "write `key in x`, where x is global");
    return wrong(n.where);
  }
  lang::Expr* key = keys_of(n.parts, 0, n.parts.size() - 1, n.where);
  lang::Expr* map = statistics_.contains(array.text) ? statistic_map(array, {}) : at(array.where).map(map_named(array.text, array.where), nullptr);
  return {at(n.where).call("has_key", {map, key}), Kind::truth};
}

// @cast(p, "struct task_struct", "kernel")
Value Lowering::lower_cast(const Node& n) {
  if (n.parts.size() < 2 || n.parts[1]->kind != NodeKind::text) {
    error(tag::bad_cast, n.where, "@cast needs an address and a type", "write `@cast(p, \"task_struct\")->pid`");
    return wrong(n.where);
  }
  std::string type(base::trim(n.parts[1]->text));
  lang::TypeName* t = program_->arena.make<lang::TypeName>();
  t->where = n.where;
  size_t stars = 1;
  while (type.ends_with('*')) type.pop_back(), type = base::trim(type), stars++;
  for (std::string_view keyword : {"struct", "union", "enum"})
    if (type.starts_with(std::string(keyword) + " ")) t->keyword = keyword, type = base::trim(std::string_view(type).substr(keyword.size()));
  if (!is_words(type)) {
    error(tag::bad_cast, n.parts[1]->where, quoted(base::printable(type)) + " is no type that acu can have", "write the name of a structure: `@cast(p, \"task_struct\")->pid`");
    return wrong(n.where);
  }
  // SystemTap finds structures by their bare names.
  constexpr std::string_view plain[] = {"int", "long", "char", "short", "unsigned", "void", "unsigned int", "unsigned long", "unsigned char", "long long", "unsigned long long", "unsigned short"};
  if (t->keyword.empty() && !type.ends_with("_t") && !base::is_one_of(plain, type)) t->keyword = "struct";
  t->name = keep(type);
  t->suffixes = program_->arena.copy(std::vector<lang::TypeSuffix>(stars));
  lang::Cast* c = at(n.where).node<lang::Cast>();
  c->target = t;
  c->operand = number(*n.parts[0]);
  return {c, Kind::number};
}

// @entry(e) of a function of the kernel: a probe at its entry keeps the value for the thread.
Value Lowering::lower_entry(const Node& n) {
  scope_->context.is_return = false;
  lang::Expr* value = number(*n.parts[0]);
  scope_->context.is_return = true;
  const std::string name = "entry" + std::to_string(++entry_count_);
  entries_.emplace_back(name, value);
  return {variable(name, n.where), Kind::number};
}

// What begins, ends and ticks has no variables of a program.
bool Lowering::is_defined(const Node& n) {
  const bool has_variables = scope_->context.kind != ContextKind::none || scope_->function;
  if (!has_variables && n.parts.size() == 1 && n.parts[0]->kind == NodeKind::target) return false;
  remark("@defined(…) was taken as true: acu reports a name that does not exist", n.where);
  return true;
}

// @count(x), @cast(…), @defined(…), @entry(…), @var(…)
Value Lowering::lower_operation(const Node& n) {
  const std::string& what = n.text;
  if (what == "cast") return lower_cast(n);
  if (what == "defined") return {at(n.where).number(is_defined(n) ? 1 : 0), Kind::truth};
  if (what == "choose_defined" && n.parts.size() == 2) {
    remark("of @choose_defined the first was taken", n.where);
    return lower(*n.parts[0]);
  }
  if (what == "entry" && n.parts.size() == 1) {
    if (n.parts[0]->kind == NodeKind::target) return lower(*n.parts[0]);
    const Context& c = scope_->context;
    const bool is_function = c.kind == ContextKind::kernel_function || (c.kind == ContextKind::tapset && c.name.find("syscall_any") == c.name.npos);
    if (c.is_return && is_function) return lower_entry(n);
    return {at(n.where).call("entry", {number(*n.parts[0])}), Kind::number};
  }
  if (what == "var" && !n.parts.empty() && n.parts[0]->kind == NodeKind::text) {
    const std::string& of = n.parts[0]->text;
    if (of.find('@') != of.npos) remark("the file in @var(\"" + of + "\") was dropped", n.where);
    const std::string variable = of.substr(0, of.find('@'));
    if (!is_words(variable) || variable.find(' ') != variable.npos) {
      error(tag::unknown_name, n.where, quoted(base::printable(variable)) + " is no name of a variable", "write `@var(\"name\")`");
      return wrong(n.where);
    }
    return {field(name("target", n.where), variable, n.where), Kind::number};
  }
  return statistic_value(n);
}

Value Lowering::lower(const Node& n) {
  if (++depth_ > 400) {
    depth_ = 0;
    error(tag::too_deep, n.where, "the expression is nested too deep", "split it");
    return wrong(n.where);
  }
  const auto one = [&]() -> Value {
    switch (n.kind) {
    case NodeKind::integer: return {at(n.where).number(static_cast<int64_t>(n.value)), n.value <= INT32_MAX ? Kind::narrow : Kind::number};
    case NodeKind::text: return {text(n.text, n.where), Kind::text};
    case NodeKind::name: return lower_name(n);
    case NodeKind::argument: return lower_argument(n);
    case NodeKind::target: return lower_target(n);
    case NodeKind::operation: return lower_operation(n);
    case NodeKind::call: return lower_call(n);
    case NodeKind::binary: return lower_binary(n);
    case NodeKind::index: return lower_index(n);
    case NodeKind::contained: return lower_contained(n);
    case NodeKind::ternary: {
      lang::Ternary* t = at(n.where).node<lang::Ternary>();
      t->condition = condition(*n.parts[0]);
      Statements* const outer = std::exchange(hoist_, nullptr);
      const Value then = lower(*n.parts[1]), otherwise = lower(*n.parts[2]);
      hoist_ = outer;
      t->then = as_number(then, n.where), t->otherwise = as_number(otherwise, n.where);
      return {t, then.kind == Kind::truth ? Kind::narrow : then.kind == Kind::narrow ? otherwise.kind == Kind::truth ? Kind::narrow : otherwise.kind : then.kind};
    }
    case NodeKind::unary: {
      if (n.text == "+") return lower(*n.parts[0]);
      lang::Unary* u = at(n.where).node<lang::Unary>();
      if (n.text == "&") {
        if (n.parts[0]->kind != NodeKind::member && n.parts[0]->kind != NodeKind::index) {
          error(tag::bad_operand, n.where, "the address of a variable is not converted", "read the value itself, or its structure");
          return wrong(n.where);
        }
        u->op = UnaryOp::address_of;
        u->operand = number(*n.parts[0]);
        return {u, Kind::number};
      }
      u->op = n.text == "-" ? UnaryOp::negate : n.text == "!" ? UnaryOp::logical_not : UnaryOp::bit_not;
      u->operand = n.text == "!" ? condition(*n.parts[0]) : number(*n.parts[0]);
      return {u, n.text == "!" ? Kind::truth : Kind::number};
    }
    case NodeKind::increment: {
      lang::Unary* u = at(n.where).node<lang::Unary>();
      const bool is_up = n.text == "++";
      u->op = n.is_post ? (is_up ? UnaryOp::post_increment : UnaryOp::post_decrement) : is_up ? UnaryOp::pre_increment : UnaryOp::pre_decrement;
      if (!array_of(*n.parts[0])) error(tag::bad_assignment, n.where, "only variables and array elements can be counted", "assign to a variable first");
      u->operand = lower(*n.parts[0]).e;
      return {u, Kind::number};
    }
    case NodeKind::member: return {field(lower(*n.parts[0]).e, n.text, n.where), Kind::number};
    case NodeKind::assign:
      if (hoist_ && n.text != "<<<") {
        lower_assign(n, *hoist_);
        return lower(*n.parts[0]);
      }
      error(tag::misplaced, n.where, "an assignment in an expression is not converted", "make it a statement of its own");
      return wrong(n.where);
    case NodeKind::any:
      error(tag::bad_map_use, n.where, "`*` is no value", "loop over the array, and compare the keys");
      return wrong(n.where);
    }
    return wrong(n.where);
  };
  const Value out = one();
  if (depth_ > 0) depth_--;
  return out;
}

} // namespace stap
