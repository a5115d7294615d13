// The report of `acu waits`, for people and as JSON.
#pragma once

#include "waits/findings.h"
#include "waits/graph.h"

#include <string>

namespace waits {

struct Report {
  const Graph& graph;
  const Findings& findings;
  std::string what;        // is measured: "process 17 (nginx)"
  uint64_t min_ns = 0;     // shorter waits count as running
  uint64_t lost = 0;       // records
  size_t top = 5;
};

// Words: "worker runs parse (log.cc:88)"; "the lock g_lock in look_up"; "worker (4 threads)".
std::string activity_text(const Graph& graph, const Activity& activity);
std::string wait_text(const Activity& activity);
std::string group_text(const Graph& graph, uint32_t group);

std::string waits_text(const Report& report);
std::string waits_json(const Report& report);

} // namespace waits
