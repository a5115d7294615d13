// Names of counters in SystemTap's tapset (perf.sw.NAME, perf.hw.NAME), by their numbers in perf_event_open(2).
#pragma once

#include <string_view>

namespace spec {

inline constexpr std::string_view systemtap_software[] = {"cpu_clock", "task_clock", "page_faults", "context_switches", "cpu_migrations", "page_faults_min", "page_faults_maj", "alignment_faults", "emulation_faults"};
inline constexpr std::string_view systemtap_hardware[] = {"cpu_cycles", "instructions", "cache_references", "cache_misses", "branch_instructions",
                                                          "branch_misses", "bus_cycles", "stalled_cycles_frontend", "stalled_cycles_backend", "ref_cpu_cycles"};

} // namespace spec
