#include "why/measurement.h"

#include "base/text.h"
#include "why/instruments.h"

#include <algorithm>

namespace why {

namespace {

constexpr InstrumentKind kinds[] = {
    {.measurements = "system", .is_first = true, .make = make_system_instrument},
    {.measurements = "processes", .is_first = true, .make = make_processes_instrument},
    {.measurements = "cgroups", .is_first = true, .make = make_cgroups_instrument},
    {.measurements = "syscalls", .is_first = true, .make = make_syscalls_instrument},
    {.measurements = "births", .is_first = true, .make = make_births_instrument},
    {.measurements = "interrupts", .make = make_interrupts_instrument},
    {.measurements = "block-io", .make = make_block_io_instrument},
    {.measurements = "kernel-log", .make = make_kernel_log_instrument},
    {.measurements = "cpu-profile", .needs_pid = true, .make = make_profile_instrument},
    {.measurements = "waits wait-graph locks run-queues interpreters", .needs_pid = true, .cost = 5, .make = make_wait_instrument},
    {.measurements = "files", .needs_pid = true, .make = make_files_instrument},
    {.measurements = "connections", .needs_pid = true, .make = make_connections_instrument},
    {.measurements = "page-faults", .needs_pid = true, .make = make_page_faults_instrument},
    {.measurements = "timers", .needs_pid = true, .make = make_timers_instrument},
    {.measurements = "signals", .needs_pid = true, .cost = 0, .make = make_signals_instrument},
    {.measurements = "packets", .needs_pid = true, .make = make_packets_instrument},
    {.measurements = "allocations", .needs_pid = true, .make = make_allocations_instrument},
    {.measurements = "heap", .needs_pid = true, .cost = 0, .make = make_heap_instrument},
    {.measurements = "exceptions", .needs_pid = true, .make = make_exceptions_instrument},
    {.measurements = "collectors", .needs_pid = true, .make = make_collectors_instrument},
    {.measurements = "crashes", .make = make_crashes_instrument},
    {.measurements = "snapshot", .needs_pid = true, .make = make_snapshot_instrument},
};

} // namespace

std::span<const InstrumentKind> instrument_kinds() { return kinds; }

const InstrumentKind* find_instrument(std::string_view measurement) {
  const auto* out = std::ranges::find_if(kinds, [&](const InstrumentKind& k) {
    return std::ranges::any_of(base::split(k.measurements, ' '), [&](std::string_view name) { return name == measurement; });
  });
  return out == std::end(kinds) ? nullptr : out;
}

std::string command_of(std::string_view measurement, int pid, const std::string& function) {
  return "acu why --measure " + std::string(measurement) + (pid < 0 ? "" : " -p " + std::to_string(pid)) + (function.empty() ? "" : " " + base::in_shell(function));
}

} // namespace why
