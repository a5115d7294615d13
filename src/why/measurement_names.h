// The table of measurements by name: what rules may ask for, and which facts each yields. How they are taken is a table of the same names
// (measurement.h).
#pragma once

#include <string_view>

namespace why {

struct MeasurementName {
  std::string_view name;
  std::string_view facts; // kinds, separated by spaces
  bool is_first = false;  // part of the first round
};

inline constexpr MeasurementName measurement_names[] = {
    {"system", "host-cpu pressure memory disk network", true},
    {"processes", "process", true},
    {"cgroups", "cgroup pressure", true},
    {"syscalls", "syscall", true},
    {"births", "births", true},
    {"cpu-profile", "hot-function"},
    {"cpu-counters", "hot-function"}, // by cycles, independent of the clock
    {"run-queues", "run-queue process-time"},
    {"waits", "wait process-time"},
    {"wait-graph", "limit pool late-wakeup"},
    {"locks", "lock lock-cycle"},
    {"block-io", "disk-latency disk-user"},
    {"files", "file-write file-read file-sync cache-growth"},
    {"connections", "peer ports listen-queue"},
    {"packets", "delayed-acks"},
    {"interrupts", "interrupt-load"},
    {"page-faults", "page-faults"},
    {"allocations", "allocation"},
    {"heap", "unreachable"},
    {"interpreters", "interpreter"},
    {"collectors", "collector"},
    {"exceptions", "exceptions"},
    {"timers", "timers"},
    {"kernel-log", "oom-kill"},
    {"crashes", "crash-report"},
    {"snapshot", "stuck-thread lock-cycle"},
};

constexpr const MeasurementName* find_measurement_name(std::string_view name) {
  for (const MeasurementName& m : measurement_names)
    if (m.name == name) return &m;
  return nullptr;
}

} // namespace why
