// `acu slow`: calls that take long, each with what happened meanwhile. The script of script.h lives for a while like any other
// (session/life.h); its records are noted (notes.h), and told (story.h, text.h) when something was slow.
//
// Functions are seen in one of two ways. Whole: each call is probed, as long as that costs less than the budget. By waits: nothing
// is probed in the program; a thread that waited long, and has the function in its stack, was in a call that took at least so long.
#pragma once

#include "flame/script.h"
#include "spec/slow_kinds.h"

#include <cstdint>
#include <string>
#include <vector>

namespace slow {

struct Options {
  const spec::SlowKind* kind = &spec::slow_kinds[0];
  std::string function;    // "[FILE:]FUNCTION"
  std::string begin, end;  // probes, between which is measured
  std::vector<int> calls;  // system calls; empty: all
  session::TargetFilter filter;
  std::vector<std::string> command; // words; empty: none
  uint64_t least_ns = 10'000'000;
  uint64_t duration_ns = 0;   // 0: until the command or the process ends, or a signal
  uint64_t count = 0;         // slow ones until the end; 0: any number
  double max_cost = 2;        // percent of a CPU, of probing each call
  bool is_exact = false;      // each call is probed, whatever it costs
  std::string output;         // a file; empty: standard output
  bool json = false;
  bool quiet = false;
};

// Gives the exit status: of the command, as a shell tells it.
base::Result<int> find_slow(const Options& options);

} // namespace slow
