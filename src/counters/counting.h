// `acu stat`: counters of events over a command, a process, a control group or CPUs.
#pragma once

#include "base/result.h"
#include "flame/script.h"

#include <string>
#include <vector>

namespace counters {

struct Options {
  session::TargetFilter filter; // no users: the kernel's counters do not know them
  std::vector<std::string> command;
  bool while_command = false; // everything is counted until the command ends
  std::vector<std::string> events; // empty: those of spec/counters.h
  uint64_t interval_ns = 0, duration_ns = 0, rounds = 0; // 0: none; rounds: of intervals
  uint64_t repeats = 1;
  bool by_cpu = false, json = false, quiet = false;
  std::string separator; // columns of perf stat -x; empty: no columns
  std::string output; // a file; empty: standard error
};

// The exit status of the command, or 0. Failure: no such event or process, or no right to count.
base::Result<int> count_events(const Options& options);

} // namespace counters
