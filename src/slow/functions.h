// The functions that `acu slow` measures: where a program has them, and whether every call can be probed.
#pragma once

#include "base/result.h"
#include "graph/landings.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slow {

struct Functions {
  std::string name;                // as it was asked for, without the file
  std::vector<std::string> places; // `"FILE":FUNCTION`, as probes have them
  graph::Landings landings;               // where calls are left without a return
  std::string no_calls;            // why calls cannot be followed by their threads, …
  bool is_risk = false;            // … or had better not be; empty: they can
  std::string no_returns;          // why their returns cannot be probed; empty: they can
  uint64_t call_ns = 0;            // what to probe a call takes
  bool is_at_returns = false;      // at return instructions, which is what takes most of that
};

// `text`: "[FILE:]FUNCTION"; without FILE, the program of the process or command, then its mapped libraries.
// `pid`: -1: none. `command`: empty: none. Failure: no such function; names the nearest one.
base::Result<Functions> find_slow_functions(std::string_view text, int pid, const std::string& command);

} // namespace slow
