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

std::string waits_text(const Report& report);
std::string waits_json(const Report& report);

} // namespace waits
