// `acu trace`: prints or counts system calls. The script src/scripts/trace.bt runs like any other
// (session/life.h), and its records become lines.
#pragma once

#include "flame/script.h"
#include "runtime/splice.h"
#include "trace/summary.h"
#include "trace/text.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trace {

struct TracingOptions {
  session::TargetFilter filter;
  std::vector<std::string> command; // words; empty: none
  std::vector<int> calls;           // numbers, sorted
  bool all_calls = false;           // these are all
  std::string output;               // a file; empty: standard error, as strace(1) does
  bool fails_only = false;
  uint64_t min_duration_ns = 0;    // shorter calls are not reported
  uint64_t duration_ns = 0; // 0: until the command or the process ends, or a signal
  uint32_t data = 32;       // bytes of data that are shown
  bool descriptors = false; // with the paths of descriptors
  bool descriptor_details = false; // also the ends of sockets, and the numbers of devices
  ClockTimes clock_times = ClockTimes::none; // when each call began
  bool relative_times = false;                             // how long after the one before
  bool durations = false;
  bool stacks = false;
  runtime::Show languages = runtime::Show::folded; // in stacks
  bool counts = false;     // a table at the end instead of lines
  bool histograms = false; // of durations, with the table
  bool is_exact = false;   // every call is timed that is counted
  SortCounts sort = SortCounts::time;
  size_t top = 0;           // rows of the table; 0: all
  uint64_t interval_ns = 0; // a table for each; 0: one at the end
  uint64_t most = 0;        // calls, or intervals, after which it ends; 0: no matter how many
  std::string path;         // only calls that have to do with it
  bool json = false;
  bool verbose = false;
  bool quiet = false;
};

// Returns the exit status: that of the command, as in a shell.
base::Result<int> trace_calls(const TracingOptions& options);

} // namespace trace
