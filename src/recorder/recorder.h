// `acu record --flight`: events are kept in memory, newer ones in place of older ones, and written to a file when something triggers it.
#pragma once

#include "base/result.h"
#include "session/target_filter.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace recorder {

// What can be recorded: a parameter of scripts/flight.bt each.
struct Stream {
  std::string_view name, parameter, doc;
};
inline constexpr Stream streams[] = {
    {"sched", "SCHED", "switches and wake-ups; stacks of who ends a wait of 1 ms or more"},
    {"syscalls", "SYSCALLS", "system calls with duration and result; stacks of those that take 1 ms or more"},
    {"cpu", "CPU", "CPU samples with stacks, 99 a second"},
    {"locks", "LOCKS", "waits for futexes, with the owner of a mutex"},
    {"faults", "FAULTS", "page faults, with stacks"},
};
constexpr std::string_view usual_streams = "sched,syscalls,cpu";

struct Options {
  session::TargetFilter filter;
  std::vector<std::string> command;      // words; empty: none
  std::vector<std::string> streams;      // names
  std::vector<std::string> triggers;     // probes with conditions, in the language; SIGUSR2 always is one
  uint64_t memory = 64 << 20;            // bytes of all CPUs
  uint64_t before_ns = 30'000'000'000, after_ns = 1'000'000'000; // of the trigger
  uint64_t cool_down_ns = 10'000'000'000; // after a file, triggers are only counted
  uint64_t duration_ns = 0;              // 0: until a signal, or the end of command or process
  uint32_t files = 10;                   // that are kept
  std::string output = "recording.acu";  // the first file; others are recording.2.acu, …
  bool quiet = false;
};

// Whether the language of the streams' names is right. Failure: which there are.
base::Result<std::vector<std::string>> read_streams(std::string_view list);

// Returns the exit status: that of the command, as in a shell.
base::Result<int> record_flight(const Options& options);

} // namespace recorder
