// Structures, unions and typedefs of a script.
//
// Types become those of acu's C definitions, so that the checker lays them out. A variable with such a type is not one block of memory: each member that
// is no structure is a variable of its own (`calls[pid].total` is the array "calls.total"), so that members are stored, shared and freed like any other
// variable. The members of a union of numbers share one number of 64 bits.
#include "base/text.h"
#include "dlang/lowering.h"
#include "lang/c_types.h"

namespace dlang {

using namespace spec;
using base::quoted;
using lang::BinaryOp;

// ----------------------------------------------------------------------------------------------- definitions

const lang::CType* Lowering::c_type(const TypeName& t) {
  auto make = [&](lang::CType::Kind kind) {
    lang::CType* c = program_->arena.make<lang::CType>();
    c->kind = kind;
    c->where = t.where;
    return c;
  };
  TypeName base = t;
  base.pointers = 0;
  base.counts.clear();
  lang::CType* out = nullptr;
  const Type number = type_of(base);
  if (number.is_number()) {
    out = make(lang::CType::known);
    out->number = program_->types.integer(number.size, number.is_signed);
  } else if (number.kind == Type::text) {
    lang::CType* letter = make(lang::CType::known);
    letter->number = program_->types.integer(1, true);
    out = make(lang::CType::array);
    out->of = letter;
    out->count = at(t.where).number(256);
  } else if (!t.keyword.empty()) {
    out = make(lang::CType::tag);
    out->of_tag = program_->c_types->tag(program_->types.keep(t.keyword), program_->types.keep(t.name), t.where);
  } else if (t.name == "void") {
    out = make(lang::CType::nothing);
  } else {
    out = make(lang::CType::name);
    out->text = program_->types.keep(t.name);
  }
  for (int i = 0; i < t.pointers; i++) {
    lang::CType* pointer = make(lang::CType::pointer);
    pointer->of = out;
    out = pointer;
  }
  for (size_t i = t.counts.size(); i-- > 0;) {
    lang::CType* array = make(lang::CType::array);
    array->of = out;
    if (t.counts[i]) array->count = at(t.where).number(constant(*t.counts[i]).value_or(0));
    out = array;
  }
  return out;
}

void Lowering::define_types() {
  for (const Definition& d : script_.definitions) {
    lang::CTag* tag = program_->c_types->tag(program_->types.keep(d.keyword), program_->types.keep(d.name), d.where);
    std::vector<lang::CMember> members;
    for (const StructMember& m : d.members) {
      lang::CMember c{.name = program_->types.keep(m.name), .where = m.where, .type = c_type(m.type)};
      if (m.bits) c.bits = at(m.where).number(constant(*m.bits).value_or(0));
      members.push_back(c);
      const Type t = type_of(m.type);
      if (m.bits && (!t.is_number() || *constant(*m.bits) > t.size * 8))
        error(t.is_number() ? d_tag::decl_bfsize : d_tag::decl_bftype, m.where, "the bit-field " + quoted(m.name) + (t.is_number() ? " is wider than its type" : " has no type of integers"));
    }
    tag->in_script = true;
    (void)program_->c_types->define(*tag, program_->arena.copy(members), {});
  }
}

// --------------------------------------------------------------------------------------------------- scratch

Node* Lowering::node_of(NodeKind kind, Range where, std::vector<Node*> parts) {
  script_.nodes.emplace_back();
  Node& out = script_.nodes.back();
  out.kind = kind, out.where = where, out.parts = std::move(parts);
  return &out;
}

// Memory of alloca() is a variable's: of one number, that is stored through it, or what copyinto() and bcopy() copy to it, which is read where it is.
void Lowering::note_scratch() {
  for (const Node& n : script_.nodes) {
    if (n.kind == NodeKind::assign && is_allocation(*n.parts[1])) {
      const Node& value = *n.parts[1];
      const auto place = place_of(*n.parts[0]);
      TypeName type = value.kind == NodeKind::cast ? value.type : TypeName{.where = n.where, .name = "void", .pointers = 1};
      type.pointers--;
      if (place && place->keys.empty()) allocated_.emplace(place->name, type);
    }
    const size_t target = n.kind != NodeKind::call ? 0 : n.text == "copyinto" ? 2 : n.text == "bcopy" ? 1 : 0;
    if (target && target < n.parts.size())
      if (const auto place = place_of(*n.parts[target])) filled_.insert(place->name);
  }
}

// alloca(n), (TYPE *)alloca(n)
bool Lowering::is_allocation(const Node& value) {
  const Node& call = value.kind == NodeKind::cast ? *value.parts[0] : value;
  return call.kind == NodeKind::call && call.text == "alloca";
}

// copyinto(address, size, memory), bcopy(from, memory, size)
void Lowering::fill_scratch(const Node& n, std::vector<lang::Stmt*>& into) {
  if (!has_arguments(n, 3, 3)) return;
  const bool is_of_program = n.text == "copyinto";
  Node* memory = n.parts[is_of_program ? 2 : 1];
  const auto place = place_of(*memory);
  const auto type = place ? allocated_.find(place->name) : allocated_.end();
  if (type == allocated_.end()) return error(d_tag::proto_arg, memory->where, quoted(n.text) + " copies to memory of alloca(), in a variable", "write `this->p = alloca(SIZE); " + n.text + (is_of_program ? "(ADDRESS, SIZE, this->p);`" : "(FROM, this->p, SIZE);`"));
  Node* from = n.parts[0];
  if (is_of_program) {
    from = node_of(NodeKind::call, n.where, {n.parts[0], n.parts[1]});
    from->text = "copyin";
  }
  Node* value = node_of(NodeKind::cast, n.where, {from});
  value->type = type->second;
  value->type.pointers++;
  assign(*node_of(NodeKind::assign, n.where, {memory, value}), into);
}

// ---------------------------------------------------------------------------------------------------- places

const Declaration* Lowering::declaration_of(const std::string& name) const {
  for (const Declaration& d : script_.declarations)
    if ((d.scope == Scope::self ? "self->" : d.scope == Scope::clause ? "this->" : "") + d.name == name) return &d;
  return nullptr;
}

// The variable, or part of one, that an expression names.
std::optional<Part> Lowering::place_of(const Node& n, size_t bindings) const {
  if (n.kind == NodeKind::name || n.kind == NodeKind::self || n.kind == NodeKind::clause) {
    if (n.kind == NodeKind::name)
      for (size_t i = std::min(bindings, bindings_.size()); i-- > 0;)
        if (bindings_[i].first == n.text) return place_of(*bindings_[i].second, i);
    if (n.kind == NodeKind::name && (is_builtin(n.text) || script_.inline_named(n.text))) return std::nullopt;
    Part out{.name = (n.kind == NodeKind::self ? "self->" : n.kind == NodeKind::clause ? "this->" : "") + n.text, .root = &n};
    if (const Declaration* d = declaration_of(out.name)) out.type = &d->type, out.is_associative = d->is_associative;
    return out;
  }
  if (n.kind == NodeKind::unary && n.unary == lang::UnaryOp::dereference) { // the number in memory of alloca()
    auto pointer = place_of(*n.parts[0], bindings);
    const auto type = pointer ? allocated_.find(pointer->name) : allocated_.end();
    if (type == allocated_.end() || filled_.contains(pointer->name)) return std::nullopt;
    pointer->name += ".*";
    pointer->type = type->second.name == "void" ? nullptr : &type->second;
    return pointer;
  }
  if (n.kind != NodeKind::index && n.kind != NodeKind::member) return std::nullopt;
  auto base = place_of(*n.parts[0], bindings);
  if (!base || base->is_number_of_union) return std::nullopt;
  if (n.kind == NodeKind::index) {
    const bool may_have_keys = base->type ? base->is_associative || base->taken < base->type->counts.size() : base->keys.empty() && !assigned_whole_.contains(base->name);
    if (!may_have_keys) return std::nullopt;
    if (base->type && !base->is_associative) base->taken++;
    base->is_associative = false;
    base->keys.insert(base->keys.end(), n.parts.begin() + 1, n.parts.end());
    return base;
  }
  const Definition* d = base->type && base->taken == base->type->counts.size() && !base->is_associative ? script_.definition(*base->type) : nullptr;
  if (!d) return std::nullopt;
  for (const StructMember& m : d->members) {
    if (m.name != n.text) continue;
    const Type t = type_of(m.type);
    base->is_number_of_union = d->keyword == "union" && (t.is_number() || t.kind == Type::pointer) && !m.type.is_array();
    base->name += base->is_number_of_union ? ".union" : "." + m.name;
    base->type = &m.type;
    base->taken = 0;
    base->bits = m.bits ? static_cast<unsigned>(constant(*m.bits).value_or(0)) : 0;
    base->in_union |= d->keyword == "union" && !base->is_number_of_union;
    return base;
  }
  return std::nullopt;
}

// Whether it is a structure, a union or an array, which have no value of their own.
bool Lowering::is_whole(const Part& p) const {
  return p.type && (p.is_associative || p.taken < p.type->counts.size() || script_.definition(*p.type) || p.in_union);
}

// A value as a member of some bits holds it, or as a member of a union shows it.
Value Lowering::fit(Value v, const Part& p) {
  const Type t = p.type ? type_of(*p.type) : Type{};
  if (p.is_number_of_union) return t.is_number() ? Value{cast(v.e, t), t} : Value{v.e, t};
  if (!p.bits || !t.is_number()) return v;
  const lang::TreeMaker make = at(v.e->where);
  if (!t.is_signed) return {cast(make.binary(BinaryOp::bit_and, v.e, make.number(p.bits >= 64 ? -1 : (int64_t{1} << p.bits) - 1)), t), t};
  const int64_t shift = 64 - static_cast<int64_t>(p.bits);
  lang::Expr* high = cast(make.binary(BinaryOp::shl, cast(v.e, int64_type), make.number(shift)), int64_type);
  return {cast(make.binary(BinaryOp::shr, high, make.number(shift)), t), t};
}

// What a union's number becomes when one of its members is stored.
lang::Expr* Lowering::stored_in_union(lang::Expr* old, lang::Expr* value, const Type& member) {
  const lang::TreeMaker make = at(value->where);
  if (!member.is_number() || member.size >= 8) return cast(value, uint64_type);
  const int64_t mask = (int64_t{1} << (member.size * 8)) - 1;
  lang::Expr* kept = make.binary(BinaryOp::bit_and, old, make.number(~mask));
  return cast(make.binary(BinaryOp::bit_or, kept, make.binary(BinaryOp::bit_and, cast(value, uint64_type), make.number(mask))), uint64_type);
}

const Node* Lowering::member_node(const Node& of, const StructMember& m) {
  Node* out = node_of(NodeKind::member, of.where, {const_cast<Node*>(&of)});
  out->text = m.name;
  return out;
}

// a = b of structures: each member.
void Lowering::assign_whole(const Node& n, const Part& target, std::vector<lang::Stmt*>& into) {
  const auto source = place_of(*n.parts[1]);
  const Definition* d = target.type && target.taken == target.type->counts.size() ? script_.definition(*target.type) : nullptr;
  if (!d) return error(tag::bad_assignment, n.where, "a whole array cannot be assigned", "assign its elements");
  const bool same = source ? source->type && script_.definition(*source->type) == d : n.parts[1]->kind != NodeKind::integer;
  if (n.is_compound || !same || target.in_union) return error(tag::type_mismatch, n.where, quoted(source_.text(n.parts[0]->where)) + " is a " + d->keyword + ": this has another type", "assign its members");
  for (const StructMember& m : d->members) {
    assign(*node_of(NodeKind::assign, n.where, {const_cast<Node*>(member_node(*n.parts[0], m)), const_cast<Node*>(member_node(*n.parts[1], m))}), into);
    if (d->keyword == "union") break; // its members share their number
  }
}

// ----------------------------------------------------------------------------------------------- translators

const Node* Lowering::bound_to(std::string_view name) const {
  for (size_t i = bindings_.size(); i-- > 0;)
    if (bindings_[i].first == name) return bindings_[i].second;
  return nullptr;
}

// xlate <struct out> (e): only its members have a value.
Value Lowering::lower_translation(const Node& n) {
  const std::string output = n.type.keyword + " " + n.type.name;
  for (size_t i = 0; i < script_.translators.size(); i++)
    if (script_.translators[i].output == output) {
      Type t{Type::translated};
      t.translation = static_cast<uint32_t>(translations_.size()) + 1;
      translations_.push_back({&script_.translators[i], n.parts[0]});
      return {at(n.where).number(0), t};
    }
  error(d_tag::xlate_none, n.where, "this script has no translator for " + quoted(source_.text(n.type.where)), "write `translator " + std::string(source_.text(n.type.where)) + " < TYPE NAME > { MEMBER = VALUE; };`");
  return wrong(n.where);
}

Value Lowering::member_of_translation(const Type& t, const Node& n) {
  const auto [translator, operand] = translations_[t.translation - 1];
  std::string known;
  for (const auto& [name, value] : translator->members) {
    known += (known.empty() ? "" : ", ") + name;
    if (name != n.text) continue;
    return lower_bound({{translator->parameter, operand}}, *value, n.where);
  }
  error(tag::unknown_field, n.where, "the translator for " + quoted(translator->output) + " has no member " + quoted(n.text), "it has " + known);
  return wrong(n.where);
}

// An expression in which names stand for other expressions.
Value Lowering::lower_bound(const std::vector<std::pair<std::string, const Node*>>& names, const Node& value, Range where) {
  if (++depth_ > 50) return depth_ = 0, error(tag::recursion, where, "this is made of itself"), wrong(where);
  const size_t before = bindings_.size();
  bindings_.insert(bindings_.end(), names.begin(), names.end());
  const Value out = lower(value);
  bindings_.resize(before);
  depth_--;
  return out;
}

} // namespace dlang
