// What values have in common: the type of a variable or map that is assigned in several places.
//
// Integers are kept in 8 bytes, so that only their sign is to be inferred. A value that fits both signs (a
// literal that is not negative, or an unsigned number of less than 8 bytes) decides nothing; a map or
// variable that was given both a uint64 and a negative number has no type that holds both.
#include "lang/checker.h"

#include <algorithm>

namespace lang {

using type::Kind;

const type::Type* Checker::widen(const type::Type* t) {
  if (t->is(Kind::integer) && t->size < 8) return types_.integer(8, t->is_signed);
  return t;
}

const type::Type* Checker::settled(const Inferred& i) {
  if (!i.type || !i.type->is(Kind::integer)) return i.type;
  bool is_unsigned = i.may_be_unsigned && (!i.may_be_signed || i.prefers_unsigned);
  return types_.integer(8, !is_unsigned);
}

// The type of a variable: values of one integer type keep it, so that `(uint8)x` stays a uint8.
const type::Type* Checker::variable_type(const Inferred& i) {
  return i.exact && !i.is_mixed && i.type->is(Kind::integer) ? i.exact : settled(i);
}

namespace {

struct Signs {
  bool may_be_signed, may_be_unsigned, prefers_unsigned;
};

Signs signs_of(const type::Type* t, const Expr* e) {
  if (e && e->adapts && e->constant.kind == Constant::integer) {
    bool is_large = !t->is_signed && e->constant.integer_value < 0; // above INT64_MAX
    bool is_negative = t->is_signed && e->constant.integer_value < 0;
    return {!is_large, !is_negative, is_large};
  }
  if (t->is_signed) return {true, e && !may_be_negative(*e), false};
  return {t->size < 8, true, true};
}

bool has_reason(const Expr* e) { return e && may_be_negative(*e); }

// A literal that a variable of this type holds as it is.
bool is_literal_of(const Expr* e, const type::Type& t) {
  if (!e || !e->adapts || e->constant.kind != Constant::integer) return false;
  int64_t n = e->constant.integer_value;
  if (n < 0 && !(t.is_signed && e->type->is_signed)) return false;
  unsigned bits = t.size * 8 - (t.is_signed ? 1 : 0);
  return bits >= 63 || (n < 0 ? ~n : n) >> bits == 0;
}

bool is_null(const Expr* e) {
  return e && e->constant.kind == Constant::integer && e->constant.integer_value == 0;
}

} // namespace

// A number that has a sign because it was given one. The difference of numbers without sign, of two times for
// example, is an int64 as well, but nobody means it to be negative: it goes together with a uint64.
bool may_be_negative(const Expr& e) {
  if (!e.type || !e.type->is(Kind::integer) || !e.type->is_signed) return false;
  if (e.constant.kind == Constant::integer) return !e.adapts || e.constant.integer_value < 0;
  if (const VariableRef* v = if_a<VariableRef>(&e))
    return v->variable && v->variable->inferred.may_be_negative;
  if (const MapRef* m = if_a<MapRef>(&e)) return m->map && m->map->inferred_value.may_be_negative;
  if (const Binary* b = if_a<Binary>(&e)) return has_reason(b->left) || has_reason(b->right);
  if (const Conditional* c = if_a<Conditional>(&e); c && c->condition->constant.kind != Constant::integer)
    return has_reason(c->then->value) || (c->otherwise && has_reason(c->otherwise->value));
  return true;
}

// Expressions were given their types by what they ask: what nobody has asked for yet changes none.
void Checker::note_change(const Inferred& of, bool is_other) {
  if (is_other) (of.is_asked ? changed_ : learned_) = true;
}

void Checker::ask(Inferred& i) {
  i.is_asked = true;
  guessed_ |= !i.type;
}

bool Checker::join(Inferred& into, const type::Type* t, const Expr* e) {
  const type::Type* before = settled(into);
  const bool was_mixed = into.is_mixed, could_be_negative = into.may_be_negative;
  if (t->is(Kind::integer) && (!into.type || into.type->is(Kind::integer))) {
    Signs s = signs_of(t, e);
    into.type = types_.int64();
    bool fits = (into.may_be_signed && s.may_be_signed) || (into.may_be_unsigned && s.may_be_unsigned);
    if (fits) {
      into.may_be_signed &= s.may_be_signed;
      into.may_be_unsigned &= s.may_be_unsigned;
    }
    into.prefers_unsigned |= s.prefers_unsigned;
    into.may_be_negative |= has_reason(e);
    if (!into.exact || !is_literal_of(e, *into.exact)) {
      into.is_mixed |= (e && e->adapts) || (into.exact && into.exact != t);
      into.exact = t;
    }
    note_change(into, settled(into) != before || was_mixed != into.is_mixed ||
                          could_be_negative != into.may_be_negative);
    return fits;
  }
  const type::Type* together = into.type ? unify(into.type, nullptr, t, e) : t;
  if (!together) return false;
  into.type = together;
  note_change(into, settled(into) != before);
  return true;
}

// Where the name of a probe meets other text it has to be text itself, in the whole script.
void Checker::name_probes_by_text() {
  changed_ |= !probe_as_text_;
  probe_as_text_ = true;
}

uint32_t Checker::longest_probe_name() const {
  size_t longest = 0;
  for (auto& p : program_.probes)
    for (const probe::Event* e : p->events) longest = std::max({longest, e->name.size(), e->function.size()});
  return static_cast<uint32_t>(longest) + 1;
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
  if (a->is(Kind::integer) && b->is(Kind::integer)) {
    Signs sa = signs_of(a, ea), sb = signs_of(b, eb);
    if (sa.may_be_signed && sb.may_be_signed && (a->is_signed || b->is_signed)) return types_.int64();
    if (sa.may_be_unsigned && sb.may_be_unsigned) return types_.uint64();
    return types_.int64(); // inside tuples and choices the bits are kept as they are
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
    if (a->element != b->element && a->element && b->element) {
      if (!is_one_structure(*a->element, *b->element)) return nullptr;
      if (!element->has_size) element = b->element;
    }
    return types_.pointer(element, a->space == type::Space::none ? b->space : a->space);
  }
  if (a->is(Kind::pointer) && b->is_integer() && is_null(eb)) return a;
  if (b->is(Kind::pointer) && a->is_integer() && is_null(ea)) return b;
  if (a->is(Kind::tuple) && b->is(Kind::tuple) && a->fields().size() == b->fields().size() &&
      a->is_named == b->is_named) {
    const Tuple* ta = if_a<Tuple>(ea);
    const Tuple* tb = if_a<Tuple>(eb);
    std::vector<const type::Type*> elements;
    std::vector<std::string_view> names;
    for (size_t i = 0; i < a->fields().size(); i++) {
      if (a->is_named && a->fields()[i].name != b->fields()[i].name) return nullptr;
      const type::Type* t = unify(a->fields()[i].type, ta ? ta->elements[i] : nullptr, b->fields()[i].type,
                                  tb ? tb->elements[i] : nullptr);
      if (!t) return nullptr;
      elements.push_back(t);
      if (a->is_named) names.push_back(a->fields()[i].name);
    }
    return types_.record(elements, names);
  }
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
