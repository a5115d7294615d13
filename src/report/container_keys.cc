// The group of a container that comes first stands for all of them. The values of entries that are alike then are put one behind
// the other, like those of further CPUs.
#include "report/container_keys.h"

#include "report/number.h"
#include "symbol/cgroups.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace report {

using type::Kind;

namespace {

// Where groups are in a key; only whole elements of it are looked at.
std::vector<size_t> places_of_groups(const type::Type& key) {
  if (key.is(Kind::cgroup_path)) return {0};
  std::vector<size_t> out;
  if (key.is(Kind::tuple))
    for (const type::Field& f : key.fields())
      for (size_t inner : places_of_groups(*f.type)) out.push_back(f.offset + inner);
  return out;
}

} // namespace

std::optional<std::vector<ir::Entry>> join_containers(Context& context, const ir::Map& map, const std::vector<ir::Entry>& entries) {
  if (!map.key || !(map.value->is_aggregation() || map.sums) || map.value->is(Kind::tseries)) return std::nullopt;
  const auto shows_containers = std::ranges::find(context.program.strings, symbol::container_filter);
  const std::vector<size_t> places = places_of_groups(*map.key);
  if (places.empty() || shows_containers == context.program.strings.end()) return std::nullopt;
  const auto filter = static_cast<uint64_t>(shows_containers - context.program.strings.begin());
  std::map<std::string, uint64_t> first;          // group of each container
  std::map<std::vector<std::byte>, size_t> known; // places in `out`
  std::vector<ir::Entry> out;
  for (const ir::Entry& e : entries) {
    std::vector<std::byte> key = e.key;
    for (size_t place : places) {
      if (load(part(key, place + 8, 8), 8) != filter) continue;
      const uint64_t id = load(part(key, place, 8), 8);
      const uint64_t group = first.try_emplace(context.names.cgroup(id, std::string(symbol::container_filter)), id).first->second;
      std::memcpy(key.data() + place, &group, sizeof group);
    }
    const auto [at, is_new] = known.try_emplace(key, out.size());
    if (is_new)
      out.push_back({std::move(key), e.values});
    else
      out[at->second].values.insert(out[at->second].values.end(), e.values.begin(), e.values.end());
  }
  return out;
}

} // namespace report
