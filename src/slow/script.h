// Prepares the script of `acu slow` (scripts/slow.bt) for a request.
#pragma once

#include "graph/landings.h"
#include "session/builtin_script.h"
#include "spec/slow_kinds.h"

#include <string>
#include <vector>

namespace slow {

// Events as a list of probes in the language. `shown`: their name in messages.
struct Probe {
  std::string places, shown;
};

struct Wanted {
  const spec::SlowKind* kind = nullptr; // nullptr: nothing but waits
  Probe begin, end;                 // of a function, or the two between which is measured
  graph::Landings landings;                    // of a function
  bool has_ends = true;                 // false: only begin is probed
  session::Condition condition;
  session::TargetFilter filter;
  std::vector<int> calls; // system calls; empty: all
  uint64_t min_duration_ns = 0;
  uint64_t duration_ns = 0; // 0: until all is over
};

// The script compares with up to so many system calls. For more, the caller must fill @wanted with their numbers.
constexpr size_t max_compared_calls = 4;

// Waits shorter than this are not recorded individually; they show in the rest of the call's time.
constexpr uint64_t min_part(uint64_t min_duration_ns) { return min_duration_ns / 32; }

session::BuiltinScript slow_script(const Wanted& wanted);

} // namespace slow
