// The two maps of a script's map, from this side of the kernel. See hot_keys.h.
#include "bpf/hot_keys.h"

#include <cstring>
#include <map>

namespace bpf {

// The histogram of all cells.
static std::vector<std::byte> without_cells(const std::vector<std::byte>& cells, uint32_t value_size) {
  std::vector<std::byte> value(value_size);
  for (size_t at = 0; at + 8 <= cells.size(); at += 8) {
    uint64_t cell, count;
    std::memcpy(&cell, cells.data() + at, sizeof cell);
    const uint64_t bucket = (cell >> cell_count_bits) - 1; // very large where the cell is free
    if (bucket >= value_size / 8) continue;
    std::memcpy(&count, value.data() + 8 * bucket, sizeof count);
    count += cell & ((uint64_t{1} << cell_count_bits) - 1);
    std::memcpy(value.data() + 8 * bucket, &count, sizeof count);
  }
  return value;
}

// Puts the parts of hot keys behind those of the same keys. A key that was removed and hit at the same time may be hot alone.
static std::vector<ir::Entry> join(const HotMaps& maps, std::vector<ir::Entry> shared, std::vector<ir::Entry> hot) {
  std::map<std::vector<std::byte>, std::vector<std::byte>> parts;
  for (ir::Entry& e : hot) parts.emplace(std::move(e.key), std::move(e.values));
  for (ir::Entry& e : shared) {
    if (maps.has_cells)
      e.values = without_cells(e.values, maps.hot.value_size);
    else
      e.values.resize(maps.hot.value_bytes()); // the number of hits goes
    const auto found = parts.empty() ? parts.end() : parts.find(e.key);
    if (found == parts.end()) continue;
    e.values.insert(e.values.end(), found->second.begin(), found->second.end());
    parts.erase(found);
  }
  for (auto& [key, values] : parts) shared.push_back({key, std::move(values)});
  return shared;
}

base::Result<std::vector<ir::Entry>> read_hot(const HotMaps& maps) {
  ACU_TRY(std::vector<ir::Entry> shared, read_hash(maps.shared));
  ACU_TRY(std::vector<ir::Entry> hot, read_hash(maps.hot));
  return join(maps, std::move(shared), std::move(hot));
}

base::Result<std::optional<std::vector<ir::Entry>>> take_hot(const HotMaps& maps) {
  ACU_TRY(std::optional<std::vector<ir::Entry>> shared, take_hash(maps.shared));
  if (!shared) return shared;
  ACU_TRY(std::optional<std::vector<ir::Entry>> hot, take_hash(maps.hot));
  if (!hot) return hot;
  return std::optional(join(maps, std::move(*shared), std::move(*hot)));
}

base::Status clear_hot(const HotMaps& maps) {
  ACU_CHECK(clear_hash(maps.shared));
  return clear_hash(maps.hot);
}

base::Status zero_hot(const HotMaps& maps) {
  ACU_CHECK(zero_hash(maps.shared));
  return zero_hash(maps.hot);
}

} // namespace bpf
