// `acu record --flight`: events are kept in memory, newer ones in place of older ones, and written to a file when something triggers it.
#pragma once

#include "base/result.h"
#include "base/source.h"
#include "recorder/flight_watch.h"
#include "session/target_filter.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace recorder {

// What can be recorded: a parameter of scripts/flight.bt each.
struct Stream {
  std::string_view name, parameter, doc;
  std::string_view needs = {}, since = {}; // a tracepoint, and the first kernel that has it where not all do
};
inline constexpr Stream streams[] = {
    {"sched", "SCHED", "switches and wake-ups; stacks of who ends a wait of 1 ms or more"},
    {"syscalls", "SYSCALLS", "system calls with duration and result; stacks of those that take 1 ms or more"},
    {"cpu", "CPU", "CPU samples with stacks, 99 a second"},
    {"locks", "LOCKS", "waits for futexes, with the owner of a mutex"},
    {"faults", "FAULTS", "page faults, with stacks"},
    {"block", "BLOCK", "requests of block devices: device, sector, bytes, latency, and who asked, with stacks"},
    {"network", "NETWORK", "what is sent to and received from sockets: bytes, protocol, peer", "sock:sock_recv_length", "6.3"},
};
constexpr std::string_view usual_streams = "sched,syscalls,cpu";

struct Options {
  session::TargetFilter filter;
  std::vector<std::string> command;      // words; empty: none
  std::vector<std::string> streams;      // names
  std::optional<base::Source> script;    // of the user: its probes run beside the recorder's, and triggers see its maps
  std::vector<std::string> triggers;     // in the language: probes with conditions, or conditions alone, looked at once a second; SIGUSR2 always is one
  std::vector<PressureLimit> pressures;  // triggers, too
  uint64_t memory_limit = 0;             // bytes of the followed processes or the command; 0: none
  uint64_t memory = 64 << 20;            // bytes of all CPUs
  uint64_t before_ns = 30'000'000'000, after_ns = 1'000'000'000; // of the trigger
  uint64_t cool_down_ns = 10'000'000'000; // after a file, triggers are only counted
  uint64_t duration_ns = 0;              // 0: until a signal, or the end of command or process
  uint32_t files = 10;                   // that are kept
  uint64_t files_bytes = ~uint64_t{0};   // of them
  std::string output = "recording.acu";  // the first file; others are recording.2.acu, …
  bool quiet = false;
};

// Whether the language of the streams' names is right. Failure: which there are.
base::Result<std::vector<std::string>> read_streams(std::string_view list);

// Returns the exit status: that of the command, as in a shell.
base::Result<int> record_flight(const Options& options);

} // namespace recorder
