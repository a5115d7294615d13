// Per-CPU hash maps of a script, kept in two maps of the kernel.
//
// A new entry of a per-CPU hash map takes the kernel 10 to 20 us: it refills its stock of per-CPU memory by an
// interrupt, two or three values at a time. An entry of a plain hash map takes 0.5 us, if it is small. So every key has
// an entry in a plain map, whose value holds parts of all CPUs side by side. CPUs that count there share cache lines:
// so each time a key has had `hits_until_hot` hits it is offered a place in a per-CPU map, where programs look first.
// What is in both maps adds up, as if there were twice as many CPUs.
//
// A part in the plain map is a value as the script has it; behind all parts is the number of hits. Of histograms, which
// are large, it is a few cells instead: bucket + 1 in the upper 16 bits, its count below, in the order in which buckets
// were first hit. A key that has hits in more buckets than there are cells becomes hot at once.
//
// Programs make an entry of the hot map only for keys that are in the plain map, and make sure afterwards that they
// still are; who removes a key removes it from the plain map first. So no key is hot alone, however removals and hits
// meet.
#pragma once

#include "bpf/map_io.h"

namespace bpf {

inline constexpr uint32_t hits_until_hot = 256; // a power of two
inline constexpr uint32_t cells_of_cpu = 4;
inline constexpr uint32_t cell_count_bits = 48; // of a cell; the rest is its bucket + 1

inline bool has_cells(const ir::Map& map) {
  return map.value && (map.value->is(type::Kind::hist) || map.value->is(type::Kind::lhist));
}
// Bytes that the value of the plain map has for a CPU, and in all.
inline uint32_t part_size(const ir::Map& map) { return has_cells(map) ? 8 * cells_of_cpu : map.value_size; }
inline uint64_t shared_value_size(const ir::Map& map, uint32_t cpus) {
  return uint64_t{part_size(map)} * cpus + (has_cells(map) ? 0 : 8);
}
// Most keys in the hot map, for a map of so many: creating it takes 12 us for each 1,000.
inline constexpr uint32_t most_hot_keys(uint32_t max_entries) {
  return max_entries <= 1024 ? max_entries : max_entries <= 4096 ? 1024 : max_entries <= 65536 ? max_entries / 4 : 16384;
}

// Both maps. The functions are as those on hash maps in map_io.h; entries have parts as large as the script's values, as many as
// there are CPUs or more.
struct HotMaps {
  MapShape shared; // as the kernel has it: one value
  MapShape hot;    // of all CPUs
  bool has_cells = false;
};
base::Result<std::vector<ir::Entry>> read_hot(const HotMaps& maps);
base::Result<std::optional<std::vector<ir::Entry>>> take_hot(const HotMaps& maps);
base::Status clear_hot(const HotMaps& maps);
base::Status zero_hot(const HotMaps& maps);

} // namespace bpf
