// A set is known by the name of its map, which no map of a script can have: "group container web".
#include "ir/group_sets.h"

#include <iterator>

namespace ir {

namespace {
constexpr std::string_view begins[] = {"group container ", "group path ", "group subtree "}; // by spec::GroupSet::Kind
constexpr uint64_t most_groups = 16384;
} // namespace

uint32_t add_group_set(Program& program, type::Table& types, const spec::GroupSet& set) {
  const std::string name = std::string(begins[set.kind]) + set.text;
  for (uint32_t i = 0; i < program.maps.size(); i++)
    if (program.maps[i].is_own && program.maps[i].name == name) return i;
  program.maps.push_back({.name = name,
                          .kind = MapKind::hash,
                          .key = types.uint64(),
                          .value = types.uint64(),
                          .key_size = 8,
                          .value_size = 8,
                          .max_entries = most_groups,
                          .is_own = true});
  return static_cast<uint32_t>(program.maps.size() - 1);
}

std::vector<GroupSetMap> group_sets_of(const Program& program) {
  std::vector<GroupSetMap> out;
  for (uint32_t i = 0; i < program.maps.size(); i++)
    for (size_t kind = 0; kind < std::size(begins); kind++)
      if (const std::string_view name = program.maps[i].name; program.maps[i].is_own && name.starts_with(begins[kind]))
        out.push_back({i, {static_cast<spec::GroupSet::Kind>(kind), std::string(name.substr(begins[kind].size()))}});
  return out;
}

} // namespace ir
