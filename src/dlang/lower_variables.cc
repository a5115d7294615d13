// Variables of the script. Global ones and arrays are maps, thread-local ones maps with the thread as (first part of) the key; clause-local ones
// are scratch variables of their group, or maps by thread where clauses of several groups share them. Assigning 0 removes an element, as in D.
#include "base/text.h"
#include "dlang/lowering.h"

namespace dlang {

using namespace spec;
using base::quoted;
using lang::BinaryOp;

// Of a variable, of an element of an array or of a member; nullptr: the node is none of these.
Variable* Lowering::variable_of(const Node& n) {
  const auto place = place_of(n);
  if (!place || is_whole(*place)) return nullptr;
  auto found = variables_.find(place->name);
  if (found == variables_.end()) {
    if (!place->type) return nullptr;
    found = variables_.emplace(place->name, Variable{}).first;
  }
  Variable& v = found->second;
  if (place->type && !v.is_typed) { // a member
    v.type = place->is_number_of_union ? uint64_type : type_of(*place->type);
    v.is_typed = v.type.kind != Type::unknown;
    v.has_value = true;
    if (v.where.end == 0) v.where = n.where;
  }
  return place->root->kind != NodeKind::name || v.has_value ? &v : nullptr;
}

lang::Expr* Lowering::key_of(const std::vector<Node*>& keys, size_t first, bool by_thread, Range where, std::vector<KeyPart>* as) {
  std::vector<lang::Expr*> parts;
  if (by_thread) parts.push_back(name("tid", where));
  for (size_t i = first; i < keys.size(); i++) {
    const Value v = lower(*keys[i]);
    if (v.type.kind == Type::translated) error(d_tag::key_type, keys[i]->where, quoted(source_.text(keys[i]->where)) + " cannot be a key", "use one of its members");
    parts.push_back(v.type.is_number() ? cast(v.e, v.type) : v.e);
    if (as) as->push_back({v.type.is_number() ? v.type.size : uint8_t{0}, v.type.symbol});
  }
  if (parts.empty()) return nullptr;
  return parts.size() == 1 ? parts[0] : at(where).tuple(parts);
}

lang::Expr* Lowering::target_of(const Node& n, Variable& v) {
  const Part place = *place_of(n);
  if (locals_.contains(place.name)) return scratch(place.name, n.where);
  const bool by_thread = place.root->kind != NodeKind::name;
  if (!v.map) v.map = map_named(by_thread ? place.name : "global " + place.name, v.where.end ? v.where : n.where);
  if (place.type)
    for (size_t i = 0; i < place.type->counts.size() && place.type->counts.size() == place.keys.size(); i++) {
      const auto index = constant(*place.keys[i]), count = place.type->counts[i] ? constant(*place.type->counts[i]) : std::nullopt;
      if (index && count && (*index < 0 || *index >= *count))
        error(tag::bad_index, place.keys[i]->where, "the index " + std::to_string(*index) + " is outside of the array, which has " + std::to_string(*count) + " elements");
    }
  if (const Declaration* declared = declaration_of(place.name))
    for (size_t i = 0; i < declared->keys.size() && i < place.keys.size(); i++) {
      const Type::Kind is = lower(*place.keys[i]).type.kind, wanted = type_of(declared->keys[i]).kind;
      if ((is == Type::text || is == Type::number) && (wanted == Type::text || wanted == Type::number) && is != wanted)
        error(d_tag::proto_arg, place.keys[i]->where, "key " + std::to_string(i + 1) + " of " + quoted(declared->name) + " is declared as a " + (wanted == Type::text ? "string" : "number"));
    }
  return at(n.where).map(v.map, key_of(place.keys, 0, by_thread, n.where));
}

Value Lowering::lower_variable(const Node& n) {
  const auto place = place_of(n);
  if (place && is_whole(*place)) {
    error(tag::bad_operand, n.where, quoted(source_.text(n.where)) + " is " + (place->is_associative || place->taken < place->type->counts.size() ? "an array" : "a " + place->type->keyword) + ", which has no value of its own",
          place->in_union ? "a union may have members that are numbers" : "use its elements or members");
    return wrong(n.where);
  }
  Variable* v = variable_of(n);
  if (!v || !v->has_value) {
    error(d_tag::var_undef, n.where, quoted(source_.text(n.where)) + " is not assigned anywhere in this script");
    return wrong(n.where);
  }
  const Value value = {target_of(n, *v), v->type};
  return place->is_number_of_union ? fit(value, *place) : value;
}

// Whether an assignment of this value removes an element.
bool Lowering::deletes(const Node& value, const Variable&) const { return value.kind == NodeKind::integer && value.value == 0; }

void Lowering::assign(const Node& n, std::vector<lang::Stmt*>& into) {
  if (end_text(n, into)) return;
  const Node& target = *n.parts[0];
  if (target.kind == NodeKind::aggregation) return aggregate(n, into);
  const auto where_to = place_of(target);
  if (where_to && is_whole(*where_to)) return assign_whole(n, *where_to, into);
  if (where_to && filled_.contains(where_to->name) && is_allocation(*n.parts[1])) return; // it is read where it comes from
  Variable* v = variable_of(target);
  if (!v) {
    const bool is_builtin = target.kind == NodeKind::name;
    const bool has_place = is_builtin || target.kind == NodeKind::member || target.kind == NodeKind::index || target.kind == NodeKind::unary || target.kind == NodeKind::kernel_name;
    return error(has_place ? d_tag::op_write : d_tag::op_lval, n.where, is_builtin ? quoted(target.text) + " cannot be assigned" : "only variables can be assigned",
                 is_builtin ? "" : "memory of programs and of the kernel is not changed");
  }
  const lang::TreeMaker make = at(n.where);
  if (!n.is_compound && deletes(*n.parts[1], *v) && !where_to->is_number_of_union) {
    lang::Expr* place = target_of(target, *v);
    lang::MapRef* map = lang::if_a<lang::MapRef>(place);
    const bool others = valued_.contains(where_to->name);
    if (map && map->key && others) {
      lang::Discard* s = make.node<lang::Discard>(); // as a value, delete() does not mind a key that is missing
      s->value = make.call("delete", {make.map(map->map, nullptr), map->key});
      return into.push_back(s);
    }
    if (v->type.kind == Type::text) return into.push_back(set(place, text("", n.where), n.where));
    if (!v->is_typed && !others) v->type = int32_type, v->is_typed = true;
    return into.push_back(set(place, v->type.is_number() ? cast(make.number(0), v->type) : make.number(0), n.where));
  }
  Value value;
  if (n.is_compound) {
    Node sum;
    sum.kind = NodeKind::binary;
    sum.op = n.op;
    sum.where = n.where;
    sum.parts = {n.parts[0], n.parts[1]};
    if (!v->is_typed) v->type = int64_type, v->is_typed = true;
    value = lower(sum);
  } else {
    value = lower(*n.parts[1]);
  }
  if (value.type.kind == Type::translated)
    return error(d_tag::op_dyn, n.where, quoted(source_.text(n.parts[1]->where)) + " cannot be kept in a variable", "keep its members");
  if (!v->is_typed) {
    v->type = value.type;
    v->is_typed = value.type.kind != Type::unknown;
  }
  const bool is_text = value.type.kind == Type::text, wants_text = v->type.kind == Type::text;
  if (v->is_typed && value.type.kind != Type::unknown && is_text != wants_text)
    return error(d_tag::op_incompat, n.where, quoted(source_.text(target.where)) + " is a " + (wants_text ? "string" : "number") + ", this is a " + (is_text ? "string" : "number"));
  if (is_text && strsize_) value.e = make.call("str", {value.e, make.number(strsize_ - 1)});
  lang::Expr* stored = coerce(fit({coerce(value, v->type), v->type}, *where_to), v->type);
  if (where_to->is_number_of_union) stored = stored_in_union(target_of(target, *v), value.e, type_of(*where_to->type));
  into.push_back(set(target_of(target, *v), stored, n.where));
  text_ends_.erase(where_to->name);
}

// this->s[n] = '\0', where this->s points to characters: nothing is stored, but stringof(this->s) ends there in the rest of the clause.
bool Lowering::end_text(const Node& n, std::vector<lang::Stmt*>& into) {
  const Node& target = *n.parts[0];
  if (n.is_compound || target.kind != NodeKind::index || target.parts.size() != 2 || constant(*n.parts[1]) != 0) return false;
  const auto place = place_of(*target.parts[0]);
  const Variable* v = place && !place_of(target) ? variable_of(*target.parts[0]) : nullptr;
  if (!v || v->type.kind != Type::pointer || v->type.size != 1) return false;
  const std::string end = "end of text " + std::to_string(++kept_);
  into.push_back(let(end, cast(numeric(*target.parts[1]), uint64_type), n.where));
  text_ends_[place->name] = end;
  return true;
}

// x++ as x += 1
Node Lowering::compound_of(const Node& increment) {
  script_.nodes.emplace_back();
  Node& one = script_.nodes.back();
  one.where = increment.where;
  one.value = 1;
  Node out;
  out.kind = NodeKind::assign;
  out.where = increment.where;
  out.is_compound = true;
  out.op = increment.is_down ? BinaryOp::sub : BinaryOp::add;
  out.parts = {increment.parts[0], &one};
  return out;
}

// x++ as a statement: x = (type)(x + 1)
void Lowering::increment(const Node& n, std::vector<lang::Stmt*>& into) {
  if (const auto place = place_of(*n.parts[0]); place && (place->bits || place->is_number_of_union)) return assign(compound_of(n), into);
  Variable* v = variable_of(*n.parts[0]);
  if (!v) return error(d_tag::op_lval, n.where, "only variables can be incremented");
  if (!v->is_typed) v->type = int64_type, v->is_typed = true;
  if (v->type.kind == Type::text) return error(d_tag::op_arith, n.where, quoted(source_.text(n.parts[0]->where)) + " is a string");
  lang::Expr* sum = at(n.where).binary(n.is_down ? BinaryOp::sub : BinaryOp::add, target_of(*n.parts[0], *v), at(n.where).number(1));
  into.push_back(set(target_of(*n.parts[0], *v), v->type.is_number() ? cast(sum, v->type) : sum, n.where));
}

} // namespace dlang
