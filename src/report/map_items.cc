#include "report/map_items.h"

#include "report/container_keys.h"
#include "report/merge.h"

#include <algorithm>

namespace report {

Selection select(Context& context, const MapRequest& r) {
  Selection s;
  s.joined = join_containers(context, r.map, r.entries);
  const std::vector<ir::Entry>& entries = s.joined ? *s.joined : r.entries;
  size_t size = r.map.value->size;
  s.merged.resize(size * entries.size());
  s.items.reserve(entries.size());
  std::span<std::byte> room = s.merged;
  for (const ir::Entry& e : entries) {
    std::span<std::byte> value = room.first(size);
    room = room.subspan(size);
    merge_cpus(r.map, e.values, value);
    size_t key = r.map.key ? r.map.key->size : 0; // what fills up the kernel's key is not part of it
    s.items.push_back({Bytes(e.key).first(std::min(key, e.key.size())), value});
  }
  sort_items(r.map, s.items);
  if (r.top && r.top < s.items.size())
    s.items.erase(s.items.begin(), s.items.end() - static_cast<std::ptrdiff_t>(r.top));
  return s;
}

} // namespace report
