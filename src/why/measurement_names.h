// The table of measurements by name: what rules may ask for, and which facts each yields. How each is taken is a row of the same name
// (measurement.h). Measurements count as independent unless they rest on the same observation.
#pragma once

#include <string_view>

namespace why {

struct MeasurementName {
  std::string_view name;
  std::string_view facts; // kinds, separated by spaces; besides them "measured" of each process that it covered, last
  std::string_view observation = {}; // that it shares with others, by the name of one of them; empty: it has its own
  bool knows_calls = false; // of a function: what it yields can be of the time in them alone
};

inline constexpr MeasurementName measurement_names[] = {
    // The first round: counters that are there anyway.
    {"system", "host-cpu pressure memory disk network"},
    {"processes", "process"},
    {"cgroups", "cgroup pressure"},
    {"syscalls", "syscall"},
    {"births", "births"},
    // Those that rules ask for.
    {"cpu-profile", "hot-function", "", true},
    {"cpu-counters", "hot-function"}, // by cycles, independent of the clock
    {"run-queues", "run-queue process-time", "waits", true},
    {"waits", "wait process-time", "", true},
    {"wait-graph", "bottleneck pool", "waits", true},
    {"locks", "lock lock-cycle", "waits", true},
    {"block-io", "disk-latency disk-user"},
    {"files", "file-write file-read file-sync cache-growth"},
    {"connections", "peer ports listen-queue"},
    {"packets", "delayed-acks"},
    {"interrupts", "interrupt-load"},
    {"page-faults", "page-faults"},
    {"allocations", "allocation"},
    {"heap", "kept-blocks"},
    {"interpreters", "interpreter", "waits", true},
    {"collectors", "collector"},
    {"exceptions", "exceptions"},
    {"timers", "timers"},
    {"signals", "late-wakeup"},
    {"kernel-log", "oom-kill"},
    {"crashes", "crash-report"},
    {"snapshot", "stuck-thread lock-cycle"},
    // Of a core dump.
    {"core-notes", "process syscall crash-report"},
    {"core-memory", "crash-report lock-cycle"},
    // Of a recording.
    {"recording", "process hot-function"},
    {"comparison", "function-change"}, // with an earlier one
};

constexpr const MeasurementName* find_measurement_name(std::string_view name) {
  for (const MeasurementName& m : measurement_names)
    if (m.name == name) return &m;
  return nullptr;
}

// What a measurement rests on: measurements with the same are not independent.
constexpr std::string_view observation_of(std::string_view measurement) {
  const MeasurementName* m = find_measurement_name(measurement);
  return m && !m->observation.empty() ? m->observation : measurement;
}

} // namespace why
