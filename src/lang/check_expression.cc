// Expressions: the type of each, by its kind; constants are folded on the way.
#include "lang/checker.h"

#include "lang/c_types.h"
#include "lang/lexer.h"
#include "lang/parse.h"
#include "lang/walk.h"

#include "base/text.h"
#include "spec/numbers.h"
#include "spec/other_names.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace lang {

using type::Kind;
using namespace spec;

const type::Type* Checker::check(Expr& e) {
  auto typed = [&]() -> const type::Type* {
    switch (e.kind) {
    case ExprKind::integer: {
      uint64_t v = as<Integer>(e).value;
      return set_literal(e, static_cast<int64_t>(v), v <= INT64_MAX);
    }
    case ExprKind::boolean: set_integer(e, as<Boolean>(e).value); return types_.boolean();
    case ExprKind::string: {
      std::string_view value = as<String>(e).value;
      set_text(e, value);
      return types_.string(static_cast<uint32_t>(value.size()) + 1);
    }
    case ExprKind::name: return check_name(as<Name>(e));
    case ExprKind::variable: return check_variable(as<VariableRef>(e));
    case ExprKind::map: return check_map(as<MapRef>(e), false);
    case ExprKind::positional: return check_positional(as<Positional>(e));
    case ExprKind::positional_count: return set_literal(e, static_cast<int64_t>(options_.positional.size()), true);
    case ExprKind::call: return check_call(as<Call>(e));
    case ExprKind::unary: return check_unary(as<Unary>(e));
    case ExprKind::binary: return check_binary(as<Binary>(e));
    case ExprKind::ternary: return check_choice(as<Ternary>(e));
    case ExprKind::attempt: {
      Attempt& a = as<Attempt>(e);
      for (Expr* variable : {a.fault, a.address})
        if (variable) check(*variable);
      return a.otherwise ? check_sides(e, nullptr, a.first, a.otherwise) : check(*a.first);
    }
    case ExprKind::cast: return check_cast(as<Cast>(e));
    case ExprKind::field: return check_field(as<FieldRef>(e));
    case ExprKind::index: return check_index(as<Index>(e));
    case ExprKind::tuple: return check_tuple(as<Tuple>(e));
    case ExprKind::block: return check_block_expression(as<BlockExpr>(e));
    case ExprKind::conditional: {
      Conditional& c = as<Conditional>(e);
      if (!check_condition(c.condition)) return types_.none();
      if (c.condition->constant.kind == Constant::integer) {
        Block* taken = c.condition->constant.integer_value ? c.then : c.otherwise;
        return taken ? check_block(*taken) : types_.none();
      }
      const type::Type* then = check_block(*c.then);
      const type::Type* otherwise = c.otherwise ? check_block(*c.otherwise) : types_.none();
      if (const type::Type* both = choice_type(e, then, c.then->value, otherwise, c.otherwise ? c.otherwise->value : nullptr))
        return both;
      return mistake(tag::type_mismatch, e.where,
                     "the branches have different types: " + text(then) + " and " + text(otherwise));
    }
    case ExprKind::size_of: {
      SizeOf& s = as<SizeOf>(e);
      if (s.target) name_in_sizeof(s);
      const type::Type* t = s.target ? resolve(*s.target) : check_for_type(*s.operand);
      set_integer(e, s.operand ? stored_size(*s.operand) : t->size);
      e.adapts = true;
      return types_.uint64();
    }
    case ExprKind::offset_of: return check_offset_of(as<OffsetOf>(e));
    case ExprKind::type_text: return check_type_text(as<TypeText>(e));
    case ExprKind::type_name:
      return mistake(tag::bad_operand, e.where, "a type can't be used as a value",
                     "it may be an argument of a macro, and of sizeof, offsetof and typeinfo");
    case ExprKind::comptime: return check_comptime(as<Comptime>(e));
    }
    return types_.none();
  };
  e.constant = {};
  e.adapts = false;
  e.type = typed();
  return e.type;
}

// The part of an expression that is used for its value and gives none; nullptr if its type is unknown for another
// reason, which was told.
static const Expr* part_without_value(const Expr& e) {
  if (const Call* call = if_a<Call>(&e)) {
    bool of_builtin = call->builtin && call->builtin->gives == Gives::nothing;
    bool of_function = call->function && call->function->result_type && call->function->result_type->is(Kind::none) &&
                       call->arguments.size() == call->function->parameters.size();
    return of_builtin || of_function ? &e : nullptr;
  }
  if (const BlockExpr* b = if_a<BlockExpr>(&e)) return b->block->value ? part_without_value(*b->block->value) : &e;
  if (const Attempt* a = if_a<Attempt>(&e)) return part_without_value(*a->first);
  if (const Ternary* t = if_a<Ternary>(&e)) return part_without_value(t->then && t->condition->constant.integer_value ? *t->then : *t->otherwise);
  const Conditional* c = if_a<Conditional>(&e);
  return !c ? nullptr : c->then->value ? part_without_value(*c->then->value) : &e;
}

// What helps where numbers of floating point cannot be used.
std::string hint_for_floating(const type::Type* a, const type::Type* b) {
  if (!a->is(Kind::floating) && !(b && b->is(Kind::floating))) return {};
  return "there is no arithmetic of floating point: cast it to an integer, `(int64)…`";
}

// Text as a condition, which is true when it is not empty: compared with "". Gives the type of what stands there then.
const type::Type* Checker::check_truth(Expr*& e) {
  const type::Type* t = check_value(*e);
  if (!t->is(Kind::string)) return t;
  Binary* compared = program_.arena.make<Binary>(e->where);
  compared->op = BinaryOp::ne;
  compared->left = e;
  compared->right = program_.arena.make<String>(e->where);
  e = compared;
  return check(*e);
}

// A number or a pointer, which is true when it is not zero, or text. False: what it decides has to wait.
bool Checker::check_condition(Expr*& e) {
  Comptime* decision = if_a<Comptime>(e);
  const type::Type* t = check_truth(e);
  const bool is_number = t->is_scalar() && !t->is(Kind::floating);
  if (!is_number && !t->is(Kind::none))
    error(tag::bad_operand, e->where, "a condition must be a number or a string, not " + text(t), hint_for_floating(t));
  return !decision || decide(*decision);
}

const type::Type* Checker::check_value(Expr& e) {
  const type::Type* t = check(e);
  if (t->is_castable_aggregation()) return e.type = types_.integer(8, t->is_signed);
  if (t->is_aggregation())
    return e.type = mistake(tag::bad_map_use, e.where, text(t) + " can't be used as a value");
  if (t->is(Kind::none)) refuse_without_value(e);
  return t;
}

// Of an expression that is written for its type alone and not evaluated, in sizeof, typeof and the like: a bare map stands for its values.
const type::Type* Checker::check_for_type(Expr& e) {
  MapRef* m = if_a<MapRef>(&e);
  if (!m || m->key) {
    const bool before = std::exchange(wants_type_only_, true);
    const type::Type* t = check_value(e);
    wants_type_only_ = before;
    return t;
  }
  m->map->used = true;
  ask(m->map->inferred_value);
  const type::Type* t = settled(m->map->inferred_value);
  if (t && t->is_castable_aggregation() && !t->is(Kind::stats)) t = types_.integer(8, t->is_signed);
  return e.type = t ? t : types_.none();
}

// Of an expression without a type: tells that it gives no value, unless its mistake was told.
void Checker::refuse_without_value(const Expr& e) {
  const Expr* empty = part_without_value(e);
  const Call* call = if_a<Call>(empty);
  if (call)
    error(tag::bad_operand, empty->where, "`" + std::string(call->name) + "` gives no value");
  else if (empty)
    error(tag::bad_operand, empty->where, "this block gives no value", "its last expression has no `;` behind it");
}

bool Checker::check_integer(Expr& e, std::string_view what) {
  const type::Type* t = check_value(e);
  if (t->is_integer() || t->is(Kind::none)) return true;
  error(tag::bad_operand, e.where, std::string(what) + " must be a number, not " + text(t), hint_for_floating(t));
  return false;
}

void Checker::set_integer(Expr& e, int64_t value) { e.constant = {Constant::integer, value, {}}; }

// A literal, or what is made of literals: its type is the smallest that holds it. `is_signed`: how the bits are meant.
const type::Type* Checker::set_literal(Expr& e, int64_t value, bool is_signed) {
  set_integer(e, value);
  e.adapts = true;
  if (!is_signed && value < 0) return types_.uint64();
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  return types_.integer(bytes_of(static_cast<unsigned>(std::bit_width(magnitude)) + 1), true);
}

void Checker::set_text(Expr& e, std::string_view value) { e.constant = {Constant::text, 0, value}; }

const type::Type* Checker::literal(Expr& e, std::string_view text) {
  set_text(e, types_.keep(text));
  return types_.string(static_cast<uint32_t>(text.size()) + 1);
}

// --------------------------------------------------------------------------------------------- names

std::string hint_for_name(std::string_view unknown, const std::vector<std::string_view>& known) {
  if (std::string_view here = name_here(unknown); !here.empty()) return "here it is " + std::string(here);
  std::string_view near = base::nearest(unknown, known);
  return near.empty() ? "" : "did you mean `" + std::string(near) + "`?";
}

// Of the script, of the traced program, of the kernel.
std::optional<std::pair<const type::Type*, int64_t>> Checker::enumerator(std::string_view name) {
  auto found = program_.c_types->enumerator(name);
  if (!found) found = program_enumerator(name);
  return found ? found : machine_.kernel_enumerator(name);
}

const type::Type* Checker::check_name(Name& e) {
  if (argument_number(e.name)) return check_argument_number(e);
  if (const Builtin* row = find_builtin(e.name)) {
    e.builtin = builtin_named(e.name, e.where, false);
    return e.builtin ? builtin_type(e, *row) : types_.none();
  }
  if (auto found = enumerator(e.name)) {
    set_integer(e, found->second);
    return found->first;
  }
  if (auto value = header_constant(e.name)) {
    set_integer(e, *value);
    e.adapts = true;
    return types_.integer(*value == static_cast<int32_t>(*value) ? 4 : 8, true);
  }
  std::vector<std::string_view> names;
  for (const Builtin& row : builtins) names.push_back(row.name);
  program_.c_types->add_enumerator_names(names);
  return mistake(tag::unknown_name, e.where, "unknown name `" + std::string(e.name) + "`",
                 hint_for_name(e.name, names));
}

const type::Type* Checker::check_variable(VariableRef& e) {
  Variable* v = lookup(e.name, e.expansion);
  if (!v && widen(e)) return types_.none();
  if (!v) {
    std::vector<std::string_view> names;
    for (auto& scope : scopes_)
      for (Variable* known : scope)
        if (known->expansion == e.expansion) names.push_back(known->name);
    std::string_view near = base::nearest(e.name, names);
    if (e.expansion)
      return mistake(tag::unknown_variable, e.where,
                     "variable `$" + std::string(e.name) + "` is not assigned in this macro before it is used",
                     "a macro sees its own variables and those passed to it");
    return mistake(tag::unknown_variable, e.where,
                   "variable `$" + std::string(e.name) + "` is not assigned before it is used",
                   near.empty() ? "" : "did you mean `$" + std::string(near) + "`?");
  }
  use(*v);
  e.variable = v;
  if (!v->declared) ask(v->inferred);
  if (!v->type && v->is_given) return types_.none(); // its value has a mistake, which was told
  if (!v->type) { // `let $a;`, and nothing else: zero
    warning(tag::unknown_variable, e.where, "variable `$" + std::string(e.name) + "` is never given a value",
            "it is 0; declare its type if it is another: `let $" + std::string(e.name) + " : string`");
    never_given_.insert(v);
    v->type = types_.int64();
  }
  return v->type;
}

void Checker::use_map(MapRef& e) {
  e.map->used = true;
  if (e.key) return check_key(e);
  e.map->scalar_use = true;
  e.map->tid_only = false;
}

const type::Type* Checker::check_map(MapRef& e, bool written) {
  Map& m = *e.map;
  use_map(e);
  if (!e.key && m.keyed_use && !written)
    return mistake(tag::bad_map_use, e.where,
                   "`@" + std::string(m.name) + "` has keys: name one, `@" + std::string(m.name) + "[…]`");
  if (!written) m.only_adds = false;
  ask(m.inferred_value);
  m.value = settled(m.inferred_value);
  return m.value ? m.value : types_.none();
}

// What a part of a key is called where it is written: comm, args.fd, $size, str(args.filename).
static std::string_view called(const Expr& e) {
  if (const Name* name = if_a<Name>(&e)) return name->name;
  if (const VariableRef* variable = if_a<VariableRef>(&e)) return variable->name;
  if (const FieldRef* field = if_a<FieldRef>(&e)) return field->name;
  if (const Cast* cast = if_a<Cast>(&e)) return called(*cast->operand);
  const Call* call = if_a<Call>(&e);
  if (!call) return {};
  const std::string_view inner = call->arguments.empty() ? std::string_view() : called(*call->arguments[0]);
  return inner.empty() ? call->name : inner;
}

static std::vector<std::string_view> names_of_key(const Expr& key) {
  const Tuple* parts = if_a<Tuple>(&key);
  if (!parts) return {called(key)};
  if (!parts->names.empty()) return {parts->names.begin(), parts->names.end()};
  std::vector<std::string_view> out;
  for (const Expr* part : parts->elements) out.push_back(called(*part));
  return out;
}

void Checker::check_key(MapRef& e) { check_key(*e.map, *e.key); }

void Checker::check_key(Map& m, Expr& key) {
  const type::Type* t = check_value(key);
  m.used = m.keyed_use = true;
  guessed_ |= m.scalar_use; // what was read without a key is looked at again
  const Name* name = if_a<Name>(&key);
  bool by_event = probe_ && probe_->events.front()->kind >= probe::Kind::profile;
  if (!name || !name->builtin || id_of(*name->builtin) != id("tid") || !by_event) m.tid_only = false;
  if (t->is(Kind::none)) return;
  const type::Type* had = settled(m.inferred_key);
  if (!had) m.key_where = key.where, m.key_names = program_.arena.copy(names_of_key(key));
  if (!join(m.inferred_key, t, &key))
    conflict(tag::type_mismatch, key.where,
             "`@" + std::string(m.name) + "` has keys of type " + text(had) + " and can't have one of type " +
                 text(t),
             "", m.key_where, "its type was told here");
  warn_of_mixed_signs(key.where);
  m.key = settled(m.inferred_key);
}

const type::Type* Checker::check_positional(Positional& e) {
  bool given = e.number >= 1 && e.number <= options_.positional.size();
  std::string_view value = given ? types_.keep(options_.positional[e.number - 1]) : std::string_view();
  bool negative = value.starts_with("-");
  auto number = integer_value(negative ? value.substr(1) : value);
  if (value.empty() && tells() && told_parameters_.insert(e.number).second)
    warning(tag::bad_parameter, e.where,
            "parameter $" + std::to_string(e.number) + (given ? " is empty" : " is not given: it is 0, and \"\" as text"));
  if (given && !number) {
    set_text(e, value);
    return types_.string(static_cast<uint32_t>(value.size()) + 1);
  }
  // Also a text, for str($1).
  uint64_t n = number.value_or(0);
  const type::Type* t = set_literal(e, static_cast<int64_t>(negative ? -n : n), negative || n <= INT64_MAX);
  e.constant.text_value = value;
  return t;
}

// ----------------------------------------------------------------------------------------- operators

// A number that is followed is the address of a uint64. That the cast is none of the script's is told by its type's name, which is this one and no
// text of the script; a place may be a macro's and have other casts, too.
static constexpr char followed_type[] = "uint64"; // an object: no other has its address

static Expr* as_address(Program& program, Expr* number) {
  auto* target = program.arena.make<TypeName>();
  target->name = followed_type;
  target->where = number->where;
  target->suffixes = program.arena.copy(std::vector<TypeSuffix>(1));
  Cast* cast = program.arena.make<Cast>(number->where);
  cast->target = target;
  cast->operand = number;
  return cast;
}

// The number in such a cast: in a later round it may turn out to be a pointer.
static Expr* as_written(Expr* e) {
  const Cast* cast = if_a<Cast>(e);
  const bool is_made = cast && cast->target->name.data() == followed_type;
  return is_made ? cast->operand : e;
}

const type::Type* Checker::check_unary(Unary& e) {
  if (e.op >= UnaryOp::pre_increment) return check_increment(e);
  if (e.op == UnaryOp::address_of) {
    use_unstable("unstable_addr", e.where, "the operator `&`");
    return check_address(e);
  }
  if (e.op == UnaryOp::dereference) e.operand = as_written(e.operand);
  const type::Type* t = e.op == UnaryOp::logical_not ? check_truth(e.operand) : check_value(*e.operand);
  if (t->is(Kind::none)) return t;
  switch (e.op) {
  case UnaryOp::logical_not:
    if (!t->is_integer() && !t->is(Kind::pointer))
      return mistake(tag::bad_operand, e.where, "`!` needs a number or a string, not " + text(t), hint_for_floating(t));
    fold(e);
    return types_.boolean();
  case UnaryOp::bit_not:
  case UnaryOp::negate: {
    if (!t->is_integer())
      return mistake(tag::bad_operand, e.where,
                     std::string(e.op == UnaryOp::negate ? "`-`" : "`~`") + " needs a number, not " +
                         text(t),
                     hint_for_floating(t));
    fold(e);
    if (e.operand->adapts) return fold_literal(e);
    return types_.integer(8, e.op == UnaryOp::negate || t->is_signed);
  }
  case UnaryOp::dereference:
    if (t->is(Kind::integer) && !e.operand->adapts) t = check_value(*(e.operand = as_address(program_, e.operand)));
    if (!t->is(Kind::pointer))
      return mistake(tag::bad_operand, e.where, "`*` needs a pointer, not " + text(t));
    return check_pointee(e, t, "followed");
  default: return types_.none();
  }
}

void Checker::join_step(Inferred& into, UnaryOp op, const type::Type* t) {
  if (op == UnaryOp::pre_decrement || op == UnaryOp::post_decrement)
    join_result(into, BinaryOp::sub, types_.integer(1, false), nullptr);
  else if (t->is(Kind::boolean))
    join_result(into, BinaryOp::add, t, nullptr);
  else
    grow(into);
}

const type::Type* Checker::check_increment(Unary& e) {
  if (MapRef* m = if_a<MapRef>(e.operand)) {
    const type::Type* t = check_map(*m, true);
    if (t->is_aggregation() || !(t->is_integer() || t->is(Kind::pointer) || t->is(Kind::none)))
      return mistake(tag::bad_operand, e.where, "`++` and `--` need a number, not " + text(t), hint_for_floating(t));
    if (!t->is(Kind::pointer) && !t->is(Kind::enumeration)) join_step(m->map->inferred_value, e.op, t);
    m->map->only_adds = false; // where the result is used; check(Stmt) knows better for statements
    m->type = m->map->value = settled(m->map->inferred_value);
    return m->type;
  }
  if (VariableRef* v = if_a<VariableRef>(e.operand)) {
    start_at_zero(*v, nullptr);
    const type::Type* t = v->type = check_variable(*v);
    const bool is_declared = v->variable && v->variable->declared;
    if ((!t->is_integer() && !t->is(Kind::pointer) && !t->is(Kind::none)) || (is_declared && t->is(Kind::boolean)))
      return mistake(tag::bad_operand, e.where, "`++` and `--` need a number, not " + text(t), hint_for_floating(t));
    if (v->variable && !is_declared && (t->is(Kind::integer) || t->is(Kind::boolean))) {
      join_step(v->variable->inferred, e.op, t);
      v->type = v->variable->type = settled(v->variable->inferred);
    }
    return v->type;
  }
  check(*e.operand);
  return mistake(tag::bad_operand, e.where, "`++` and `--` can be used on variables and maps only");
}

static bool is_comparison(BinaryOp op) { return op >= BinaryOp::lt && op <= BinaryOp::ne; }

const type::Type* Checker::check_binary(Binary& e) {
  const bool is_logical = e.op == BinaryOp::logical_and || e.op == BinaryOp::logical_or;
  const type::Type* l = is_logical ? check_truth(e.left) : check_value(*e.left);
  const bool decides = is_logical && e.left->constant.kind == Constant::integer &&
                       (e.left->constant.integer_value != 0) == (e.op == BinaryOp::logical_or);
  if (decides) { // the other side is never reached, and not looked at
    set_integer(e, e.op == BinaryOp::logical_or);
    return types_.boolean();
  }
  const type::Type* r = is_logical ? check_truth(e.right) : check_value(*e.right);
  if (l->is(Kind::none) || r->is(Kind::none))
    return is_comparison(e.op) || e.op >= BinaryOp::logical_and ? types_.boolean() : types_.int64();
  if (is_logical) {
    for (Expr* side : {e.left, e.right})
      if (!side->type->is_integer() && !side->type->is(Kind::pointer))
        error(tag::bad_operand, side->where, "`&&` and `||` need numbers or strings, not " + text(side->type),
              hint_for_floating(side->type));
    fold(e);
    return types_.boolean();
  }
  if (is_comparison(e.op)) return check_comparison(e, l, r);
  return check_arithmetic(e, l, r);
}

// The type that holds both sides of a comparison that are no numbers and no text; nullptr: there is none.
const type::Type* Checker::common_in_memory(const Binary& e) {
  const type::Type *l = e.left->type, *r = e.right->type;
  if (l == r && (l->is(Kind::inet) || l->is(Kind::mac) || l->is(Kind::ksym))) return l;
  auto is_one = [](const type::Type* t) { return t->is(Kind::tuple) || t->is(Kind::array) || t->is(Kind::buffer) || t->is(Kind::probe_name); };
  return is_one(l) || r->is(Kind::probe_name) ? unify(l, e.left, r, e.right) : nullptr;
}

// A parameter of the command line next to text: its own text, also where that is a number or was not given.
static bool meets_text(const Expr& e, const Expr& other) {
  const bool is_text = other.type->is(Kind::string) || other.type->is(Kind::probe_name);
  return e.kind == ExprKind::positional && e.type->is_integer() && is_text;
}

// What a comparison comes to of two sides in this order (below 0: the left one is smaller).
static bool compares(BinaryOp op, int order) {
  switch (op) {
  case BinaryOp::lt: return order < 0;
  case BinaryOp::le: return order <= 0;
  case BinaryOp::gt: return order > 0;
  case BinaryOp::ge: return order >= 0;
  case BinaryOp::eq: return order == 0;
  default: return order != 0;
  }
}

const type::Type* Checker::check_comparison(Binary& e, const type::Type* l, const type::Type* r) {
  if (meets_text(*e.left, *e.right)) l = e.left->type = literal(*e.left, e.left->constant.text_value);
  if (meets_text(*e.right, *e.left)) r = e.right->type = literal(*e.right, e.right->constant.text_value);
  auto is_number = [](const type::Type* t) { return t->is_integer() || t->is(Kind::pointer); };
  if (is_number(l) && is_number(r)) {
    auto is_large = [](const Expr& x) {
      return x.type->is(Kind::integer) && !x.type->is_signed && x.type->size == 8;
    };
    bool mixed = (is_large(*e.left) && may_be_negative(*e.right)) || (may_be_negative(*e.left) && is_large(*e.right));
    bool by_order = e.op != BinaryOp::eq && e.op != BinaryOp::ne;
    auto is_small_literal = [](const Expr& x) { return x.adapts && x.type->is_signed; };
    if (mixed && by_order && !is_small_literal(*e.left) && !is_small_literal(*e.right))
      warning(tag::sign_mix, e.where, "signed comparison of " + text(l) + " and " + text(r),
              "cast one of them to the other's type");
    fold(e);
    return types_.boolean();
  }
  bool is_equality = e.op == BinaryOp::eq || e.op == BinaryOp::ne;
  auto is_text = [](const type::Type* t) { return t->is(Kind::string); };
  compare_address_bytes(e);
  l = e.left->type, r = e.right->type;
  // Bytes meet text as text.
  if (is_text(l) && (r->is(Kind::array) || r->is(Kind::buffer))) r = (e.right = as_text(*e.right))->type;
  if (is_text(r) && (l->is(Kind::array) || l->is(Kind::buffer))) l = (e.left = as_text(*e.left))->type;
  auto is_probe = [](const Expr* x) {
    return x->type->is(Kind::probe_name) ||
           (x->constant.kind == Constant::text && x->type->is(Kind::string));
  };
  // A user's name is a number here: it is looked up when the script is compiled.
  auto is_user = [](const Expr& a, const Expr& b) {
    return a.type->is(Kind::username) && (b.type->is(Kind::username) || b.constant.kind == Constant::text);
  };
  // Control groups are compared by their IDs, with a set that is kept up to date while the script runs.
  if (std::optional<GroupComparison> groups = is_equality ? group_comparison(e) : std::nullopt) {
    ask_for_groups(std::move(groups->set));
    return types_.boolean();
  }
  const bool are_texts = is_text(l) && is_text(r);
  bool fits = are_texts || is_user(*e.left, *e.right) || is_user(*e.right, *e.left) || (is_probe(e.left) && is_probe(e.right));
  if (!fits) e.common = common_in_memory(e), fits = e.common != nullptr;
  if (!fits || !(is_equality || are_texts))
    return mistake(tag::type_mismatch, e.where,
                   "can't compare " + text(l) + " with " + text(r) +
                       (fits ? " by order: only `==` and `!=` are defined for them" : ""),
                   hint_for_floating(l, r));
  if (e.left->constant.kind == Constant::text && e.right->constant.kind == Constant::text) {
    bool is_bytes = l->is(Kind::array); // of pton(): NULs are bytes like others
    const int order = is_bytes ? text_of(*e.left).compare(text_of(*e.right)) : c_text_of(*e.left).compare(c_text_of(*e.right));
    set_integer(e, compares(e.op, order));
  }
  return types_.boolean();
}

const type::Type* Checker::check_arithmetic(Binary& e, const type::Type* l, const type::Type* r) {
  if (l->is(Kind::pointer) && r->is_integer() && (e.op == BinaryOp::add || e.op == BinaryOp::sub)) return l;
  if (r->is(Kind::pointer) && l->is_integer() && e.op == BinaryOp::add) return r;
  if (l->is(Kind::pointer) && r->is(Kind::pointer) && e.op == BinaryOp::sub) return types_.int64();
  auto is_number = [](const type::Type* t) { return t->is_integer(); };
  for (Expr* side : {e.left, e.right})
    if (!is_number(side->type))
      return mistake(tag::bad_operand, e.where,
                     "can't use " + text(l) + " and " + text(r) + " with this operator: it needs numbers",
                     hint_for_floating(l, r));
  bool divides = e.op == BinaryOp::div || e.op == BinaryOp::mod;
  for (const Expr* side : {e.left, e.right})
    if (divides && side->constant.kind != Constant::integer && may_be_negative(*side)) {
      warning(tag::sign_mix, side->where,
              "this may be negative, but `" + std::string(to_string(e.op)) + "` takes its sides as numbers without sign",
              "cast it to say so: `(uint64)…`");
      break;
    }
  // A literal takes the sign of the other side.
  bool signed_left =
      e.left->type->is_signed && !(e.left->adapts && e.left->constant.integer_value >= 0 && !e.right->adapts);
  bool signed_right = e.right->type->is_signed &&
                      !(e.right->adapts && e.right->constant.integer_value >= 0 && !e.left->adapts);
  bool is_signed = signed_left || signed_right || e.op == BinaryOp::sub;
  if (e.left->adapts && e.right->adapts) return fold_literals(e);
  fold(e);
  return types_.integer(8, is_signed);
}

const type::Type* Checker::check_choice(Ternary& e) {
  Expr* value = e.then ? nullptr : e.condition; // c ?: e gives the condition itself
  Comptime* decision = if_a<Comptime>(e.condition);
  const type::Type* c = check_truth(e.condition);
  if (decision && !decide(*decision)) return types_.none();
  if (!e.then && value != e.condition) e.then = value;
  if (!c->is_integer() && !c->is(Kind::pointer) && !c->is(Kind::none))
    error(tag::bad_operand, e.condition->where, "a condition must be a number or a string, not " + text(c));
  const Constant& known = e.condition->constant;
  if (known.kind != Constant::integer) return check_sides(e, e.condition, e.then, e.otherwise);
  // The other side is never reached, and not looked at.
  Expr* taken = !known.integer_value ? e.otherwise : e.then ? e.then : e.condition;
  const type::Type* t = taken == e.condition ? c : check(*taken);
  if (t->is_aggregation()) t = check_value(*taken);
  e.constant = taken->constant;
  e.adapts = taken->adapts;
  return t;
}

// The type that holds both values of a choice, or nullptr.
const type::Type* Checker::choice_type(const Expr& choice, const type::Type* a, const Expr* ea, const type::Type* b, const Expr* eb) {
  if (a == b) return a;
  has_mixed_signs_ = false;
  const type::Type* both = unify(a, ea, b, eb);
  warn_of_mixed_signs(choice.where);
  return both;
}

// Both sides of a choice, of which either may be taken; without a first one it is the condition.
const type::Type* Checker::check_sides(Expr& e, Expr* condition, Expr* then, Expr* otherwise) {
  const type::Type* a = then ? check(*then) : condition->type;
  const type::Type* b = check(*otherwise);
  if (a->is_aggregation()) a = check_value(*then);
  if (b->is_aggregation()) b = check_value(*otherwise);
  if (const type::Type* both = choice_type(e, a, then ? then : condition, b, otherwise)) return both;
  auto is_told = [](const type::Type* t, const Expr* of) { return t->is(Kind::none) && of && !part_without_value(*of); };
  if (!tells() || is_told(a, then) || is_told(b, otherwise)) return a->is(Kind::none) ? b : a;
  return mistake(tag::type_mismatch, e.where,
                 "both sides of a choice must be of one type: " + text(a) + " and " + text(b));
}

const type::Type* Checker::check_tuple(Tuple& e) {
  std::vector<const type::Type*> elements;
  bool all_known = true; // a map that is assigned further below is known in the next round
  for (Expr* x : e.elements) {
    const type::Type* t = check_value(*x);
    all_known &= !t->is(Kind::none);
    elements.push_back(t);
  }
  for (size_t i = 0; i < e.names.size(); i++)
    for (size_t j = 0; j < i; j++)
      if (e.names[i] == e.names[j])
        error(tag::redeclared, e.elements[i]->where,
              "member `" + std::string(e.names[i]) + "` is given twice");
  if (!all_known) return types_.none();
  return types_.record(elements, std::vector<std::string_view>(e.names.begin(), e.names.end()));
}

const type::Type* Checker::check_block(Block& block) {
  scopes_.emplace_back();
  for (Stmt* s : block.statements) check(*s);
  const type::Type* t = types_.none();
  if (block.value) {
    t = check(*block.value);
    if (t->is_aggregation()) t = check_value(*block.value);
  }
  scopes_.pop_back();
  return t;
}

// A use of a macro is a block from elsewhere: mistakes inside tell where it is used.
const type::Type* Checker::check_block_expression(BlockExpr& e) {
  const Block& block = *e.block;
  bool is_use = block.where.begin < e.where.begin || block.where.end > e.where.end;
  const BlockExpr* outer = macro_use_;
  if (is_use && !outer) macro_use_ = &e;
  const type::Type* t = check_block(*e.block);
  macro_use_ = outer;
  if (block.statements.empty() && block.value) {
    e.constant = block.value->constant;
    e.adapts = block.value->adapts;
  }
  return t;
}

} // namespace lang
