// Samples of stacks as rows: of a recording, and of the tables that record for a while.
#pragma once

#include "profile/profile.h"

#include <optional>
#include <string>
#include <vector>

namespace sql {

struct SampleRow {
  int64_t pid = 0, tid = 0, weight = 0, count = 0;
  std::string process, thread, function, stack;
  std::optional<std::string> module, kind;
  double seconds = 0; // what the weight stands for, where that is known
};

// `pid`: of this process only; `seconds_each`: what a unit of weight is in seconds.
std::vector<SampleRow> sample_rows(const profile::Profile& profile, std::optional<int64_t> pid, double seconds_each);

} // namespace sql
