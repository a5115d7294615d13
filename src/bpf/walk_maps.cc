#include "bpf/walk_maps.h"

#include "bpf/lib/walk.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <iterator>

namespace bpf {

namespace {

// Stacks that are new, and those copied out, between two looks at the ring.
constexpr uint32_t ring_bytes = 4 << 20, ring_bytes_of_cpu = 128 << 10, most_ring_bytes = 64 << 20;

uint32_t bytes_of_ring(const EmitOptions& options) {
  return std::bit_ceil(std::clamp(options.possible_cpus * ring_bytes_of_cpu, ring_bytes, most_ring_bytes));
}

constexpr uint32_t mapped = BPF_F_MMAPABLE;

} // namespace

MapSpec walk_map_spec(std::string_view name, const ir::Program& program, const EmitOptions& options) {
  const MapSpec specs[] = {
      {.name = "acu_rows", .value_size = 8, .max_entries = WALK_ROOM_ROWS / 2, .flags = mapped},
      {.name = "acu_starts", .value_size = sizeof(walk_page) * WALK_ROOM_STARTS, .flags = mapped},
      {.name = "acu_rules", .value_size = sizeof(unwind_rule) * UNWIND_MOST_RULES, .flags = mapped},
      {.name = "acu_mappings", .value_size = sizeof(walk_mapping) * WALK_ROOM_MAPPINGS, .flags = mapped},
      {.name = "acu_processes",
       .type = BPF_MAP_TYPE_HASH,
       .value_size = sizeof(walk_process),
       .max_entries = WALK_ROOM_PROCESSES},
      {.name = "acu_walked", .type = BPF_MAP_TYPE_RINGBUF, .key_size = 0, .value_size = 0, .max_entries = bytes_of_ring(options)},
      // Room from the start: walks happen where the kernel has no memory at hand.
      {.name = "acu_walk_ids",
       .type = BPF_MAP_TYPE_HASH,
       .key_size = 8,
       .value_size = 8,
       .max_entries = std::max(1u, program.max_stacks)},
      {.name = "acu_walk_known", .value_size = 8 * WALK_KNOWN},
      {.name = "acu_walk_rules", .value_size = sizeof(walk_rule) * WALK_RULES},
      {.name = "acu_walk_repeats",
       .type = BPF_MAP_TYPE_PERCPU_ARRAY,
       .value_size = sizeof(walk_repeats),
       .max_entries = scratch_slots},
      {.name = "acu_walk_counts", .type = BPF_MAP_TYPE_PERCPU_ARRAY, .value_size = 8, .max_entries = WALK_COUNTS},
      {.name = "acu_walk_set", .value_size = 8 * WALK_SETTINGS, .flags = mapped},
      {.name = "acu_languages", .value_size = sizeof(language_table) * LANGUAGE_MAX_TABLES, .flags = mapped},
      {.name = "acu_language_threads", .value_size = sizeof(walk_thread) * LANGUAGE_KEPT_THREADS},
      {.name = "acu_language_sent", .value_size = 8 * LANGUAGE_SENT},
      {.name = "acu_walks",
       .type = BPF_MAP_TYPE_PERCPU_ARRAY,
       .value_size = sizeof(walk),
       .max_entries = scratch_slots},
  };
  auto found = std::find_if(std::begin(specs), std::end(specs), [&](const MapSpec& s) { return s.name == name; });
  assert(found != std::end(specs));
  return *found;
}

base::Status add_walk_watchers(Pool& pool) {
  constexpr std::pair<const char*, const char*> watchers[] = {{"acu_fork", "sched_process_fork"},
                                                              {"acu_exec", "sched_process_exec"}};
  for (auto& [function, tracepoint] : watchers) {
    Assembler out;
    out.library_function(
        0, library()[library_index(function)], [&](const std::string& map) { return pool.walk_reference(map); },
        [](const std::string&) { return 0u; });
    Code code;
    code.name = tracepoint;
    ACU_CHECK(out.finish(code));
    pool.object.watchers.push_back(std::move(code));
  }
  return {};
}

} // namespace bpf
