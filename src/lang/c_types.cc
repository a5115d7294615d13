// From C declarations to types, see c_types.h. Sizes and offsets are c_layout.cc's.
#include "lang/c_types.h"

#include "spec/diagnostics.h"

#include "base/text.h"

#include <algorithm>

namespace lang {

namespace tag = spec::tag;
using type::Kind;

namespace {

std::string full_name(std::string_view keyword, std::string_view name) {
  return (keyword.empty() ? std::string() : std::string(keyword) + " ") + std::string(name);
}

} // namespace

// ------------------------------------------------------------------------------------------ declarations

CTag* CTypes::tag(std::string_view keyword, std::string_view name, Range where) {
  if (!name.empty()) {
    CTag*& at = tags_[full_name(keyword, name)];
    if (at) return at;
    at = program_.arena.make<CTag>();
    by_id_.push_back(at);
  } else {
    by_id_.push_back(program_.arena.make<CTag>());
  }
  CTag* made = by_id_.back();
  made->keyword = keyword;
  made->name = name;
  made->where = where;
  made->id = static_cast<uint32_t>(by_id_.size() - 1);
  return made;
}

bool CTypes::define(CTag& tag, List<CMember> members, List<CEnumerator> enumerators) {
  if (tag.is_defined) return false;
  tag.is_defined = true;
  tag.members = members;
  tag.enumerators = enumerators;
  for (uint32_t i = 0; i < enumerators.size(); i++)
    enumerators_.try_emplace(enumerators[i].name, std::pair{&tag, i});
  return true;
}

bool CTypes::add(CTypedef made) {
  auto [at, is_new] = typedefs_.try_emplace(made.name, nullptr);
  if (!is_new) return false;
  at->second = program_.arena.make<CTypedef>(made);
  // A structure without a name of its own goes by this one.
  if (made.type && made.type->kind == CType::tag && made.type->of_tag->name.empty())
    made.type->of_tag->name = made.name;
  return true;
}

std::vector<std::string_view> CTypes::names(std::string_view keyword) const {
  std::vector<std::string_view> out;
  for (const CTag* t : by_id_)
    if (t->is_defined && (keyword.empty() || t->keyword == keyword)) out.push_back(t->name);
  if (keyword.empty())
    for (auto& [name, made] : typedefs_) out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

void CTypes::add_enumerator_names(std::vector<std::string_view>& to) const {
  size_t first = to.size();
  for (auto& [name, at] : enumerators_) to.push_back(name);
  std::sort(to.begin() + static_cast<ptrdiff_t>(first), to.end());
}

void CTypes::mistake(std::string_view tag, Range where, std::string message, std::string hint) {
  if (telling_ && telling_->in_script && tell) tell(tag, where, std::move(message), std::move(hint));
}

// ------------------------------------------------------------------------------------------------- types

const type::Type* CTypes::find(std::string_view keyword, std::string_view name) {
  if (keyword.empty()) {
    if (auto at = typedefs_.find(name); at != typedefs_.end()) return type_of_typedef(*at->second);
    for (std::string_view word : {"struct", "union", "enum"})
      if (const type::Type* t = find(word, name)) return t;
    return nullptr;
  }
  auto at = tags_.find(full_name(keyword, name));
  return at != tags_.end() && at->second->is_defined ? tag_type(*at->second) : nullptr;
}

const type::Type* CTypes::find_declared(std::string_view keyword, std::string_view name) {
  auto at = tags_.find(full_name(keyword, name));
  return at != tags_.end() && keyword != "enum" ? tag_type(*at->second) : nullptr;
}

const type::Type* CTypes::tag_type(CTag& t) {
  if (t.type) return t.type;
  if (!t.is_defined) {
    if (kernel_type && !t.name.empty()) t.type = kernel_type(t.keyword, t.name);
    if (t.type) return t.type;
  }
  type::Type made{.kind = Kind::structure,
                  .is_union = t.keyword == "union",
                  .has_size = t.is_defined,
                  .name = types().keep(t.name),
                  .provider = this,
                  .provider_id = t.id,
                  .table = &types()};
  if (t.keyword == "enum") {
    made.kind = Kind::enumeration;
    lay_out_enum(t);
    made.is_signed = t.type && t.type->is_signed; // left there by lay_out_enum
    made.size = made.align = t.type ? t.type->size : 4;
  } else if (t.is_defined) {
    Shape shape = shape_of_tag(t);
    made.size = static_cast<uint32_t>(shape.size);
    made.align = shape.align;
  }
  return t.type = types().arena().make<type::Type>(made);
}

const type::Type* CTypes::type_of_typedef(CTypedef& t) {
  if (t.is_running || t.has_made) return t.made;
  t.is_running = true;
  t.made = type_of(*t.type);
  if (!t.made && t.type->kind == CType::nothing) t.made = types().none();
  t.is_running = false;
  t.has_made = true;
  return t.made;
}

const type::Type* CTypes::array_type(const CType& t) {
  const type::Type* element = type_of(*t.of);
  if (!element) return nullptr;
  uint64_t count = count_of(t);
  if (count * std::max(1u, element->size) > 1u << 30) return nullptr;
  if (element->is_char && count > 0) return types().string(static_cast<uint32_t>(count));
  return types().array(element, static_cast<uint32_t>(count));
}

// nullptr: void, a function, or a name that nobody knows.
const type::Type* CTypes::type_of(const CType& t) {
  Level level(depth_);
  if (level.is_too_deep()) return nullptr;
  switch (t.kind) {
  case CType::nothing:
  case CType::same_as: return nullptr;
  case CType::known: return t.number;
  case CType::tag: return tag_type(*t.of_tag);
  case CType::name: {
    if (auto at = typedefs_.find(t.text); at != typedefs_.end()) {
      const type::Type* made = type_of_typedef(*at->second);
      return made == types().none() ? nullptr : made;
    }
    if (const type::Type* number = number_type(types(), t.text)) return number;
    return kernel_type ? kernel_type({}, t.text) : nullptr;
  }
  case CType::pointer: {
    const type::Type* to = type_of(*t.of);
    return types().pointer(to == types().none() ? nullptr : to, t.space);
  }
  case CType::array: return array_type(t);
  }
  return nullptr;
}

std::vector<type::Field> CTypes::fields(type::Table&, uint32_t id) {
  std::vector<type::Field> out;
  CTag& t = *by_id_[id];
  if (!t.is_defined || t.keyword == "enum") return out;
  shape_of_tag(t);
  for (size_t i = 0; i < t.members.size() && i < t.places.size(); i++) {
    const CMember& m = t.members[i];
    if (m.name.empty() && m.bits) continue; // only room
    type::Field field = t.places[i];
    field.type = type_of(*m.type);
    if (field.type && (!field.bit_size || field.type->is_integer())) out.push_back(field);
  }
  return out;
}

std::vector<type::Enumerator> CTypes::enumerators(uint32_t id) {
  std::vector<type::Enumerator> out;
  CTag& t = *by_id_[id];
  value_enumerators(t);
  for (size_t i = 0; i < t.known_values; i++) out.push_back({t.enumerators[i].name, t.values[i]});
  return out;
}

CTypes::Enumerated CTypes::enumerator(std::string_view name) {
  auto at = enumerators_.find(name);
  if (at == enumerators_.end()) return std::nullopt;
  auto [tag, index] = at->second;
  const type::Type* t = tag_type(*tag);
  if (index >= tag->known_values) return std::nullopt;
  return std::pair{t, tag->values[index]};
}

// ---------------------------------------------------------------------------------------------- mistakes

// What pointers and arrays are of.
static const CType& innermost(const CType& t) {
  const CType* at = &t;
  while (at->kind == CType::pointer || at->kind == CType::array) at = at->of;
  return *at;
}

bool CTypes::is_known(const CType& whole) {
  const CType& t = innermost(whole);
  if (t.kind != CType::name || typedefs_.count(t.text) || number_type(types(), t.text)) return true;
  return kernel_type && kernel_type({}, t.text);
}

void CTypes::tell_unknown(const CType& t) {
  std::vector<std::string_view> known = names({});
  for (std::string_view name : type::number_names()) known.push_back(name);
  const CType& unknown = innermost(t);
  std::string_view near = base::nearest(unknown.text, known);
  mistake(tag::unknown_type, unknown.where, "unknown type " + base::quoted(unknown.text),
          near.empty() ? "" : "did you mean " + base::quoted(near) + "?");
}

void CTypes::check_members(const CTag& t) {
  constexpr int enough = 20; // of one kind of mistake in one structure
  int unknown = 0;
  std::unordered_set<std::string_view> names;
  for (const CMember& m : t.members) {
    if (unknown < enough && !is_known(*m.type)) {
      tell_unknown(*m.type);
      unknown++;
    }
    if (!m.name.empty() && !names.insert(m.name).second)
      return mistake(tag::redeclared, m.where, "member " + base::quoted(m.name) + " is declared twice");
  }
}

void CTypes::check_script() {
  for (size_t i = 0; i < by_id_.size(); i++) {
    CTag& t = *by_id_[i];
    if (!t.in_script) continue;
    telling_ = &t;
    check_members(t);
    tag_type(t);
    telling_ = nullptr;
  }
  CTag anywhere{.in_script = true};
  for (auto& [name, made] : typedefs_)
    if (made->in_script && !is_known(*made->type)) {
      telling_ = &anywhere;
      tell_unknown(*made->type);
      telling_ = nullptr;
    }
}

} // namespace lang
