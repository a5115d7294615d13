// Names with their namespaces, and the whole of types that are only declared. An entry does not say what it
// stands in, so a unit's namespaces and classes are noted, with where they end, when the first name of it is
// wanted.
#include "dwarf/types.h"

#include "dwarf/type_entry.h"

#include <algorithm>

namespace dwarf {

namespace {

constexpr int deepest_scope = 32;
constexpr int longest_chain = 8;
constexpr size_t longest_name = 8192; // with namespaces, as far as they fit

bool is_scope(uint16_t tag) { return is_structure(tag) || tag == DW_TAG_namespace || tag == DW_TAG_module; }

// The entry that declares this one in its class or namespace, for that is where its name belongs.
Die declaration_of(const Die& die) {
  Die at = die;
  for (int i = 0; i < longest_chain; i++) {
    Attribute origin = find_attribute(at, DW_AT_specification);
    if (!origin) origin = find_attribute(at, DW_AT_abstract_origin);
    std::optional<Die> next = origin ? reference_of(*at.unit, origin) : std::nullopt;
    if (!next) break;
    at = *next;
  }
  return at;
}

} // namespace

const std::vector<Types::Scope>& Types::scopes_of(const Unit& unit) {
  Place place{unit.info, unit.header->offset, unit.header->in_types};
  auto [at, is_new] = scopes_.try_emplace(place);
  std::vector<Scope>& scopes = at->second;
  if (!is_new || is_c(unit.language)) return scopes;
  std::vector<uint32_t> open;                      // by depth
  std::vector<std::pair<uint32_t, Die>> elsewhere; // those whose name belongs where they are declared
  uint64_t last = unit.header->end;
  auto close = [&](size_t depth, uint64_t end) {
    for (; open.size() > depth; open.pop_back()) scopes[open.back()].end = end;
  };
  DieCursor cursor(unit);
  for (bool more = cursor.next() && cursor.next(); more;) {
    const Die& die = cursor.die();
    close(cursor.depth() - 1, die.offset);
    bool enters = is_scope(die.tag()) && die.has_children() && open.size() < deepest_scope;
    if (enters) {
      auto parent = open.empty() ? static_cast<uint32_t>(scopes.size()) : open.back();
      Die named = declaration_of(die);
      std::string_view name = name_of(named);
      if (name.empty() && die.tag() == DW_TAG_namespace) name = "(anonymous namespace)";
      if (named.offset != die.offset && named.unit == &unit)
        elsewhere.push_back({static_cast<uint32_t>(scopes.size()), named});
      open.push_back(static_cast<uint32_t>(scopes.size()));
      scopes.push_back({die.offset, last, parent, name});
    }
    more = enters ? cursor.next() : cursor.next_sibling();
  }
  for (auto& [scope, named] : elsewhere) {
    scopes[scope].name = table_.keep(full_name(named));
    scopes[scope].parent = scope;
  }
  return scopes;
}

std::string Types::full_name(const Die& die) {
  const std::string_view name = name_of(die).substr(0, longest_name);
  return name.empty() ? std::string() : in_scope_of(die, std::string(name));
}

std::string Types::in_scope_of(const Die& given, std::string name) {
  Die die = declaration_of(given);
  const std::vector<Scope>& scopes = scopes_of(*die.unit);
  auto after = std::upper_bound(scopes.begin(), scopes.end(), die.offset,
                                [](uint64_t at, const Scope& s) { return at <= s.begin; });
  if (after == scopes.begin()) return name;
  auto at = static_cast<uint32_t>(after - scopes.begin() - 1);
  for (int depth = 0; depth < deepest_scope; depth++) {
    const Scope& s = scopes[at];
    bool is_inside = die.offset < s.end && !s.name.empty();
    if (is_inside && name.size() + s.name.size() < longest_name) name = std::string(s.name) + "::" + name;
    if (s.parent == at) break;
    at = s.parent;
  }
  return name;
}

Die Types::definition_of(const Die& die) {
  if (!find_ || !read_type_entry(die).is_declaration) return die;
  std::string name = full_name(die);
  if (name.empty()) return die;
  uint16_t tag = kind_of_tag(die.tag());
  auto [at, is_new] = definitions_.try_emplace(std::to_string(tag) + name);
  if (is_new) {
    std::optional<Die> found = find_(tag, "::" + name);
    bool is_whole = found && kind_of_tag(found->tag()) == tag && !read_type_entry(*found).is_declaration;
    at->second = place_of(is_whole ? *found : die);
  }
  return die_at(at->second).value_or(die);
}

} // namespace dwarf
