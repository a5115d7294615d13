// `acu graph`: nested calls with their durations. The script of script.h runs like any other
// (session/life.h), and its records become trees (call_graph.h), as text or as JSON for Perfetto.
#pragma once

#include "flame/script.h"

#include <cstdint>
#include <string>
#include <vector>

namespace graph {

struct Options {
  session::TargetFilter filter;
  std::vector<std::string> command;   // words; empty: none
  std::vector<std::string> functions; // as they were written
  std::string output;                 // a file; empty: standard output. x.json: Chrome's format
  uint64_t depth = 0;                 // 0: all
  uint64_t min_duration_ns = 0;              // shorter calls are not reported
  uint64_t duration_ns = 0;           // 0: until the command or the process ends, or a signal
  bool all_returns = false;
  bool counts = false; // a table at the end instead of lines
  size_t top = 0;      // its rows; 0: all
  bool quiet = false, verbose = false;
};

// Returns the exit status: that of the command, as in a shell.
base::Result<int> graph_calls(const Options& options);

} // namespace graph
