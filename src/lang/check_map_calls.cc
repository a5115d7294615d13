// Builtins that take a map: delete, find, has_key, len.
#include "lang/checker.h"

namespace lang {

using type::Kind;
using namespace spec;

// In len(): whether a whole map is meant, not the stack that is its value.
bool Checker::names_map(const MapRef& e) {
  Map& m = *e.map;
  ask(m.inferred_value);
  bool holds_stack = m.scalar_use && m.value && (m.value->is(Kind::kstack) || m.value->is(Kind::ustack));
  return !e.key && !holds_stack;
}

const type::Type* Checker::check_delete(Call& e) {
  MapRef& m = as<MapRef>(*e.arguments[0]);
  std::string name = "@" + std::string(m.map->name);
  if (m.key && !told_old_delete_ && tells()) {
    warning(tag::deprecated, e.where, "this is the old form of delete", "write `delete(" + name + ", key)`");
    told_old_delete_ = true;
  }
  if (m.key || e.arguments.size() > 1) return nullptr;
  if (m.map->keyed_use)
    return mistake(tag::bad_map_use, e.where, "`" + name + "` has keys: name the one to delete",
                   "delete(" + name + ", key); clear() removes all");
  m.map->scalar_use = true;
  return nullptr;
}

const type::Type* Checker::check_len(Call& e) {
  Expr& of = *e.arguments[0];
  if (MapRef* m = if_a<MapRef>(&of); m && names_map(*m)) {
    m->map->tid_only = false;
    if (m->map->scalar_use) return mistake(tag::bad_map_use, e.where, "`len` needs a map with keys");
    return nullptr;
  }
  if (of.type->is(Kind::kstack) || of.type->is(Kind::ustack) || of.type->is(Kind::none)) return nullptr;
  return mistake(tag::bad_argument, of.where, "`len` takes a map or a stack, not " + text(of.type));
}

// Whether a map has no keys. Those may show only further below, which the next round knows.
void Checker::check_is_scalar(Call& e) {
  const Expr& of = *e.arguments[0];
  const MapRef* m = if_a<MapRef>(&of);
  const bool is_map = m && !m->key;
  guessed_ |= is_map && !m->map->keyed_use;
  set_integer(e, is_map ? !m->map->keyed_use : of.type->is_integer() || of.type->is(Kind::pointer));
}

// find(@m, k, $v): $v takes the type of the map's values.
const type::Type* Checker::check_find(Call& e) {
  MapRef& m = as<MapRef>(*e.arguments[0]);
  VariableRef& v = as<VariableRef>(*e.arguments[2]);
  m.map->only_adds = m.map->tid_only = false;
  const type::Type* value = m.map->value;
  ask(m.map->inferred_value);
  if (!value || !v.variable) return nullptr;
  if (value->is_aggregation()) {
    if (!value->is_castable_aggregation())
      return mistake(tag::bad_map_use, e.where, "`find` can't give a value of type " + text(value));
    value = types_.integer(8, value->is_signed);
  }
  const type::Type* declared = v.variable->declared ? v.variable->type : nullptr;
  bool fits = declared ? (declared->is_integer() && value->is_integer()) || unify(declared, nullptr, value, nullptr) == declared
                       : join(v.variable->inferred, value, nullptr, m.map->value->is_aggregation() ? nullptr : &m.map->inferred_value);
  if (!fits)
    error(tag::type_mismatch, v.where,
          "`$" + std::string(v.name) + "` can't hold a value of type " + text(value));
  if (!v.variable->declared) ask(v.variable->inferred), v.type = v.variable->type = settled(v.variable->inferred);
  return nullptr;
}

const type::Type* Checker::check_has_key(Call& e) {
  as<MapRef>(*e.arguments[0]).map->only_adds = false;
  return nullptr;
}

} // namespace lang
