// The names of counters that perf knows, for `acu stat`: what perf_event_open(2) is asked for, and which of them are counted
// when nothing is named. Other events are named as probes are.
#pragma once

#include <array>
#include <cstdint>
#include <linux/perf_event.h>
#include <string_view>

namespace spec {

struct CounterRow {
  std::string_view name, alias;
  uint32_t type;
  uint64_t config;
  std::string_view systemtap = {}; // in SystemTap's tapset, behind perf.sw. or perf.hw.; empty: it has none
  bool is_time = false; // ns, told in milliseconds
};

// A counter of a cache: which one, what is done there, and what comes of it.
constexpr uint64_t in_cache(uint64_t cache, uint64_t operation, uint64_t result) { return cache | operation << 8 | result << 16; }

// clang-format off
inline constexpr std::array counter_rows{
    CounterRow{"task-clock", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task_clock", true},
    CounterRow{"cpu-clock", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu_clock", true},
    CounterRow{"context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "context_switches"},
    CounterRow{"cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, "cpu_migrations"},
    CounterRow{"page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page_faults"},
    CounterRow{"minor-faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, "page_faults_min"},
    CounterRow{"major-faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "page_faults_maj"},
    CounterRow{"alignment-faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, "alignment_faults"},
    CounterRow{"emulation-faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, "emulation_faults"},
    CounterRow{"cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cpu_cycles"},
    CounterRow{"instructions", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions"},
    CounterRow{"branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branch_instructions"},
    CounterRow{"branch-misses", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "branch_misses"},
    CounterRow{"cache-references", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, "cache_references"},
    CounterRow{"cache-misses", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "cache_misses"},
    CounterRow{"bus-cycles", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, "bus_cycles"},
    CounterRow{"ref-cycles", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, "ref_cpu_cycles"},
    CounterRow{"stalled-cycles-frontend", "frontend-stalls", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "stalled_cycles_frontend"},
    CounterRow{"stalled-cycles-backend", "backend-stalls", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "stalled_cycles_backend"},
    CounterRow{"L1-dcache-loads", "", PERF_TYPE_HW_CACHE, in_cache(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    CounterRow{"L1-dcache-load-misses", "", PERF_TYPE_HW_CACHE, in_cache(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    CounterRow{"L1-icache-load-misses", "", PERF_TYPE_HW_CACHE, in_cache(PERF_COUNT_HW_CACHE_L1I, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    CounterRow{"LLC-loads", "", PERF_TYPE_HW_CACHE, in_cache(PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    CounterRow{"LLC-load-misses", "", PERF_TYPE_HW_CACHE, in_cache(PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    CounterRow{"dTLB-loads", "", PERF_TYPE_HW_CACHE, in_cache(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    CounterRow{"dTLB-load-misses", "", PERF_TYPE_HW_CACHE, in_cache(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    CounterRow{"iTLB-load-misses", "", PERF_TYPE_HW_CACHE, in_cache(PERF_COUNT_HW_CACHE_ITLB, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)},
};
// clang-format on

// What is counted of commands and processes, and of CPUs.
inline constexpr std::string_view counted_of_tasks = "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";
inline constexpr std::string_view counted_of_cpus = "cpu-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";

constexpr const CounterRow* find_counter(std::string_view name) {
  for (const CounterRow& row : counter_rows)
    if (row.name == name || (!row.alias.empty() && row.alias == name)) return &row;
  return nullptr;
}

// By its name in SystemTap's tapset.
constexpr const CounterRow* find_systemtap_counter(uint32_t type, std::string_view name) {
  for (const CounterRow& row : counter_rows)
    if (row.type == type && !row.systemtap.empty() && row.systemtap == name) return &row;
  return nullptr;
}

// By its number in perf_event_open(2).
constexpr const CounterRow* find_counter(uint32_t type, uint64_t config) {
  for (const CounterRow& row : counter_rows)
    if (row.type == type && row.config == config) return &row;
  return nullptr;
}

} // namespace spec
