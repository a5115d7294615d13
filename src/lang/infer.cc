// What values have in common: the type of a variable, a map or a choice that is given values in several places.
//
// An integer type is the smallest that holds all values: a literal has the smallest signed type and takes the other
// side's sign, an unsigned number meets a signed one in the next larger signed type. There is none above uint64: with a
// number that may be negative it becomes an int64, with a warning.
//
// The difference of numbers without sign, of two times for example, is an int64, but nobody means it to be negative: it
// goes together with a uint64.
#include "lang/checker.h"

#include <algorithm>
#include <bit>

namespace lang {

using type::Kind;
using namespace spec;

uint8_t bytes_of(unsigned bits) { return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8; }

namespace {

IntegerNeed together(const IntegerNeed& a, const IntegerNeed& b) {
  return {std::max(a.signed_size, b.signed_size), std::max(a.unsigned_size, b.unsigned_size),
          std::max(a.difference_size, b.difference_size), std::max(a.literal_bits, b.literal_bits)};
}

bool mixes_signs(const IntegerNeed& n) { return n.unsigned_size == 8 && n.signed_size; }

// What is known of the values of an expression that is no more than a variable, a map, or an element of such.
const Inferred* inferred_of(const Expr* e) {
  const Inferred* known = nullptr;
  if (const VariableRef* v = if_a<VariableRef>(e)) {
    if (v->variable && !v->variable->declared) known = &v->variable->inferred;
  } else if (const MapRef* m = if_a<MapRef>(e)) {
    if (m->map) known = &m->map->inferred_value;
  } else if (const FieldRef* f = if_a<FieldRef>(e)) {
    const Inferred* of = f->operand->type && f->operand->type->is(Kind::tuple) ? inferred_of(f->operand) : nullptr;
    for (size_t i = 0; of && of->type == f->operand->type && i < of->parts.size(); i++)
      if (of->type->fields()[i].name == f->name) known = &of->parts[i];
  }
  return known && known->type && (known->type->is(Kind::integer) || known->type->is(Kind::tuple)) ? known : nullptr;
}

IntegerNeed need_of_known(const Inferred& i) {
  IntegerNeed n = i.need;
  if (!i.is_counted) return n;
  if (n.signed_size) n.signed_size = 8;
  else if (n.difference_size) n.difference_size = 8;
  else if (n.unsigned_size) n.unsigned_size = 8;
  else n.literal_bits = 63;
  return n;
}

IntegerNeed need_of(const type::Type& t, const Expr* e);
IntegerNeed need_of(const Expr* e) {
  return e && e->type && e->type->is(Kind::integer) ? need_of(*e->type, e) : IntegerNeed();
}

// Of a choice, of which one side may be known not to be taken: that one has no types.
IntegerNeed need_of_choice(const Expr& condition, const Expr* then, const Expr* otherwise) {
  if (condition.constant.kind == Constant::integer) return need_of(condition.constant.integer_value ? then : otherwise);
  return together(need_of(then), need_of(otherwise));
}

IntegerNeed need_of_literal(const type::Type& t, int64_t n) {
  if (t.is_signed && n < 0) return {.signed_size = bytes_of(std::bit_width(static_cast<uint64_t>(~n)) + 1u)};
  if (n < 0) return {.unsigned_size = 8}; // above INT64_MAX
  return {.literal_bits = static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(n)))};
}

// Of an integer of this type, with the expression that gives it (or nullptr).
IntegerNeed need_of(const type::Type& t, const Expr* e) {
  const auto size = static_cast<uint8_t>(t.size);
  if (e && e->adapts && e->constant.kind == Constant::integer) return need_of_literal(t, e->constant.integer_value);
  if (const Inferred* known = inferred_of(e)) return need_of_known(*known);
  if (const Ternary* c = if_a<Ternary>(e))
    return need_of_choice(*c->condition, c->then ? c->then : c->condition, c->otherwise);
  if (const Conditional* c = if_a<Conditional>(e); c && c->otherwise)
    return need_of_choice(*c->condition, c->then->value, c->otherwise->value);
  if (const BlockExpr* b = if_a<BlockExpr>(e)) return need_of(b->block->value);
  if (!t.is_signed) return {.unsigned_size = size};
  if (const VariableRef* v = if_a<VariableRef>(e); v && v->variable && v->variable->declared && v->variable->inferred.need.difference_size)
    return {.difference_size = size}; // of a loop
  const Binary* b = if_a<Binary>(e);
  const MapRef* m = if_a<MapRef>(e); // of an aggregation
  const bool is_difference = m || (b && !need_of(b->left).signed_size && !need_of(b->right).signed_size);
  return is_difference ? IntegerNeed{.difference_size = size} : IntegerNeed{.signed_size = size};
}

bool is_null(const Expr* e) { return e && e->constant.kind == Constant::integer && e->constant.integer_value == 0; }

// What an integer of another kind needs: a boolean, an enumeration.
IntegerNeed need_of_other(const type::Type& t) {
  const auto size = static_cast<uint8_t>(t.size);
  return t.is_signed ? IntegerNeed{.signed_size = size} : IntegerNeed{.unsigned_size = size};
}

} // namespace

// A number that has a sign because it was given one.
bool may_be_negative(const Expr& e) { return need_of(&e).signed_size != 0; }

static bool is_one_shape(const type::Type& a, const type::Type& b) {
  if (a.fields().size() != b.fields().size() || a.is_named != b.is_named) return false;
  for (size_t i = 0; i < a.fields().size(); i++)
    if (!b.index_of(a.fields()[i], i)) return false;
  return true;
}

const type::Type* Checker::integer_type(const IntegerNeed& n) {
  const unsigned literal_signed = bytes_of(n.literal_bits + 1u), literal_unsigned = bytes_of(n.literal_bits);
  if (n.unsigned_size == 8) return types_.integer(8, n.signed_size != 0);
  const unsigned with_sign = std::max({unsigned{n.signed_size}, unsigned{n.difference_size}, literal_signed});
  if (!n.unsigned_size) return types_.integer(with_sign, true);
  if (!n.signed_size && !n.difference_size) return types_.integer(std::max(unsigned{n.unsigned_size}, literal_unsigned), false);
  return types_.integer(std::max(with_sign, 2u * n.unsigned_size), true);
}

const type::Type* Checker::settled(const Inferred& i) {
  if (!i.type || !i.type->is(Kind::integer)) return i.type;
  return integer_type(need_of_known(i));
}

// Expressions were given their types by what they ask: what nobody has asked for yet changes none.
void Checker::note_change(const Inferred& of, bool is_other) {
  if (is_other) (of.is_asked ? changed_ : learned_) = true;
}

void Checker::ask(Inferred& i) {
  i.is_asked = true;
  guessed_ |= !i.type;
}

// Arithmetic is done in 64 bits: what is counted up or down must hold the result.
void Checker::grow(Inferred& i) {
  if (i.is_counted && i.type) return;
  i.is_counted = true;
  if (!i.type) i.type = types_.int64();
  note_change(i, true);
}

bool Checker::join(Inferred& into, const type::Type* t, const Expr* e, const Inferred* known) {
  const type::Type* before = settled(into);
  const IntegerNeed need = into.need;
  has_mixed_signs_ = false;
  const bool fits = merge(into, t, e, known ? known : inferred_of(e));
  note_change(into, settled(into) != before || need != into.need);
  return fits;
}

// `into op= value`: like other arithmetic it gives a number, also for truth values and enumerators, and `-` a
// difference. `value` is nullptr for `++` and `--`.
bool Checker::join_result(Inferred& into, BinaryOp op, const type::Type* t, const Expr* value) {
  const bool is_difference = op == BinaryOp::sub && t->is_integer() && (!into.type || into.type->is_integer());
  const bool is_number = is_difference || t->is(Kind::boolean) || t->is(Kind::enumeration);
  Inferred result{.type = types_.int64(), .need = t->is(Kind::integer) ? need_of(*t, value) : need_of_other(*t)};
  if (is_difference)
    result.need = into.need.signed_size || result.need.signed_size ? IntegerNeed{.signed_size = 8} : IntegerNeed{.difference_size = 8};
  const bool fits = is_number ? join(into, result.type, nullptr, &result) : join(into, t, value);
  if (into.type && into.type->is(Kind::integer)) grow(into);
  return fits;
}

// After a join(): warns if a uint64 has met a number that may be negative.
void Checker::warn_of_mixed_signs(Range where) {
  if (std::exchange(has_mixed_signs_, false))
    warning(tag::sign_mix, where, "a number that may be negative is mixed with a uint64: both become int64",
            "cast one of them to the other's type");
}

// Adds a value: of this type, by this expression (or nullptr), of what is known of (or nullptr).
bool Checker::merge(Inferred& into, const type::Type* t, const Expr* e, const Inferred* known) {
  if (t->is(Kind::integer) && (!into.type || into.type->is(Kind::integer))) {
    const IntegerNeed need = known ? need_of_known(*known) : need_of(*t, e);
    const bool was_mixed = mixes_signs(into.need);
    into.type = types_.int64();
    into.need = together(into.need, need);
    has_mixed_signs_ |= mixes_signs(into.need) && (need.signed_size || !was_mixed);
    return true;
  }
  if (t->is(Kind::tuple) && (!into.type || into.type->is(Kind::tuple))) return merge_parts(into, t, e, known);
  const type::Type* both = into.type ? unify(into.type, nullptr, t, e) : t;
  if (!both) return false;
  if (both->is(Kind::integer))
    for (const type::Type* part : {into.type, t}) {
      if (!part->is(Kind::integer)) into.need = together(into.need, need_of_other(*part));
      else if (part == t) into.need = together(into.need, need_of(*t, e));
    }
  into.type = both;
  return true;
}

bool Checker::merge_parts(Inferred& into, const type::Type* t, const Expr* e, const Inferred* known) {
  const type::Type& shape = into.type ? *into.type : *t;
  if (!is_one_shape(shape, *t)) return false;
  if (into.parts.size() != shape.fields().size()) into.parts = program_.arena.copy(std::vector<Inferred>(shape.fields().size()));
  const Tuple* made = if_a<Tuple>(e);
  std::vector<const type::Type*> elements;
  std::vector<std::string_view> names;
  for (size_t i = 0; i < shape.fields().size(); i++) {
    const size_t from = *t->index_of(shape.fields()[i], i);
    const bool is_known = known && from < known->parts.size() && t == known->type;
    if (!merge(into.parts[i], t->fields()[from].type, made ? made->elements[from] : nullptr, is_known ? &known->parts[from] : nullptr))
      return false;
    elements.push_back(settled(into.parts[i]));
    if (shape.is_named) names.push_back(shape.fields()[i].name);
  }
  into.type = types_.record(elements, names);
  return true;
}

// Where the name of a probe meets other text it has to be text itself, in the whole script.
void Checker::name_probes_by_text() {
  changed_ |= !probe_as_text_;
  probe_as_text_ = true;
}

uint32_t Checker::longest_probe_name() {
  if (longest_probe_name_) return longest_probe_name_;
  const bool demangles = program_.config.flag("cpp_demangle");
  size_t longest = 0;
  for (auto& p : program_.probes)
    for (const probe::Event* e : p->events) longest = std::max({longest, e->name.size(), probe::shown_function(*e, demangles).size()});
  return longest_probe_name_ = static_cast<uint32_t>(longest) + 1;
}

// Whether two structures are one: read from the kernel here and from a process there, or described by two
// files of a program, of which one may do without its members.
static bool is_one_structure(const type::Type& a, const type::Type& b) {
  if (!a.is(Kind::structure) || !b.is(Kind::structure) || !a.provider || !b.provider) return false;
  if (a.provider == b.provider && a.provider_id == b.provider_id) return true;
  if (a.provider == b.provider || a.name.empty() || a.name != b.name || a.is_union != b.is_union)
    return false;
  if (!a.has_size || !b.has_size) return true;
  return a.size == b.size && std::ranges::equal(a.fields(), b.fields(), [](const auto& x, const auto& y) {
           return x.name == y.name && x.offset == y.offset;
         });
}

// The type that holds both, or nullptr. The expressions (or nullptr) tell literals from other numbers.
const type::Type* Checker::unify(const type::Type* a, const Expr* ea, const type::Type* b, const Expr* eb) {
  if (a == b) return a;
  if ((a->is(Kind::integer) && b->is(Kind::integer)) || (a->is(Kind::tuple) && b->is(Kind::tuple))) {
    Inferred both;
    const bool fits = merge(both, a, ea, inferred_of(ea)) && merge(both, b, eb, inferred_of(eb));
    return fits ? settled(both) : nullptr;
  }
  if (a->is_integer() && b->is_integer()) return types_.int64();
  if (a->is(Kind::string) && b->is(Kind::string)) return types_.string(std::max(a->size, b->size));
  if ((a->is(Kind::string) && b->is(Kind::probe_name)) || (a->is(Kind::probe_name) && b->is(Kind::string))) {
    name_probes_by_text();
    return types_.string(std::max(
        {a->is(Kind::string) ? a->size : 0, b->is(Kind::string) ? b->size : 0, longest_probe_name()}));
  }
  if (is_one_structure(*a, *b)) return a->has_size ? a : b;
  if (a->is(Kind::buffer) && b->is(Kind::buffer)) return types_.buffer(std::max(a->count, b->count));
  if (a->is(Kind::pointer) && b->is(Kind::pointer)) {
    const type::Type* element = a->element ? a->element : b->element;
    const bool are_own = a->space == type::Space::script && b->space == type::Space::script;
    if (are_own && a->element && b->element && a->element->is(Kind::integer) && b->element->is(Kind::integer)) {
      element = unify(a->element, nullptr, b->element, nullptr); // of variables, whose integers all take 8 bytes
    } else if (a->element != b->element && a->element && b->element) {
      if (!is_one_structure(*a->element, *b->element)) return nullptr;
      if (!element->has_size) element = b->element;
    }
    return types_.pointer(element, a->space == type::Space::none ? b->space : a->space);
  }
  if (a->is(Kind::pointer) && b->is_integer() && is_null(eb)) return a;
  if (b->is(Kind::pointer) && a->is_integer() && is_null(ea)) return b;
  // Bytes are bytes, whatever their sign: those of pton() and of the kernel's addresses.
  if (a->is(Kind::array) && b->is(Kind::array) && a->count == b->count && a->element->is(Kind::integer) &&
      b->element->is(Kind::integer) && a->element->size == b->element->size)
    return a;
  if (a->is(Kind::tseries) && b->is(Kind::tseries) && a->low == b->low && a->count == b->count &&
      a->step == b->step)
    return types_.tseries(a->low, a->count, static_cast<type::Slice>(a->step), a->is_signed || b->is_signed);
  // hist and lhist carry their parameters: all uses must agree, which interning has checked above.
  if (a->kind == b->kind && a->is_castable_aggregation())
    return types_.simple(a->kind, a->is_signed || b->is_signed);
  return nullptr;
}

} // namespace lang
