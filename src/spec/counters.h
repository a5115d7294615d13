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
  bool is_time = false; // ns, told in milliseconds
};

// A counter of a cache: which one, what is done there, and what comes of it.
constexpr uint64_t in_cache(uint64_t cache, uint64_t operation, uint64_t result) { return cache | operation << 8 | result << 16; }

// clang-format off
inline constexpr std::array counter_rows{
    CounterRow{"task-clock", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true},
    CounterRow{"cpu-clock", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true},
    CounterRow{"context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    CounterRow{"cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    CounterRow{"page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    CounterRow{"minor-faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    CounterRow{"major-faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    CounterRow{"alignment-faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
    CounterRow{"emulation-faults", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
    CounterRow{"cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    CounterRow{"instructions", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    CounterRow{"branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    CounterRow{"branch-misses", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    CounterRow{"cache-references", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    CounterRow{"cache-misses", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    CounterRow{"bus-cycles", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
    CounterRow{"ref-cycles", "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    CounterRow{"stalled-cycles-frontend", "frontend-stalls", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    CounterRow{"stalled-cycles-backend", "backend-stalls", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
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

constexpr const CounterRow* find_counter(uint32_t type, uint64_t config) {
  for (const CounterRow& row : counter_rows)
    if (row.type == type && row.config == config) return &row;
  return nullptr;
}

} // namespace spec
