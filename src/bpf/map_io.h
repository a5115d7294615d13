// Whole maps, from this side of the kernel: read, clear, zero. Hash maps go in batches (200 to 350 ns a key
// instead of 1,700 key by key); maps without keys are one entry of an array; task storage is in
// task_storage.h. Per-CPU values come as Map::value_size bytes for each possible CPU, which is how the kernel
// has them, since sizes are multiples of 8.
#pragma once

#include "base/result.h"
#include "ir/engine.h"

#include <optional>
#include <vector>

namespace bpf {

// How a map looks to bpf(2).
struct MapShape {
  int fd = -1;
  uint32_t key_size = 0;
  uint32_t value_size = 0;       // of one CPU
  uint32_t cpus = 1;             // values an entry has
  uint32_t present_offset = ~0u; // of the flag behind the value; ~0: none
  size_t value_bytes() const { return size_t{value_size} * cpus; }
};

base::Result<std::vector<ir::Entry>> read_hash(const MapShape& map);
// The same, and nothing is left: what is added meanwhile is in the entry, or comes again. Nothing: this kernel cannot.
base::Result<std::optional<std::vector<ir::Entry>>> take_hash(const MapShape& map);
base::Status clear_hash(const MapShape& map);
// Values become 0, keys stay.
base::Status zero_hash(const MapShape& map);

// One entry without key, or none if no CPU's flag is set.
base::Result<std::vector<ir::Entry>> read_scalar(const MapShape& map);
base::Status clear_scalar(const MapShape& map);
// The value becomes 0, the flags stay.
base::Status zero_scalar(const MapShape& map);

} // namespace bpf
