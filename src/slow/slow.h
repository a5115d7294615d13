// `acu slow`: slow calls with what happened during each. The script of script.h runs like any other
// (session/life.h); its records are kept (notes.h) and reported (story.h, text.h) when a call was slow.
//
// Functions are measured in one of two ways. Whole: every call is probed while the cost is within the budget. By waits: nothing
// is probed in the program; a thread that waited long with the function in its stack was in a call that took at least that long.
#pragma once

#include "flame/script.h"
#include "runtime/splice.h"
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
  uint64_t min_duration_ns = 10'000'000;
  uint64_t duration_ns = 0;   // 0: until the command or the process ends, or a signal
  uint64_t count = 0;         // slow ones until the end; 0: any number
  double max_cost = 2;        // percent of a CPU, of probing each call
  bool is_exact = false;      // each call is probed, whatever it costs
  runtime::Show languages = runtime::Show::folded;
  std::string output;         // a file; empty: standard output
  bool json = false;
  bool quiet = false;
};

// Returns the exit status: that of the command, as in a shell.
base::Result<int> find_slow(const Options& options);

} // namespace slow
