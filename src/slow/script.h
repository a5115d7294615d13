// The script of `acu slow` (scripts/slow.bt) for what is asked for.
#pragma once

#include "graph/landings.h"
#include "session/builtin_script.h"
#include "spec/slow_kinds.h"

#include <string>
#include <vector>

namespace slow {

// Events as a list of probes in the language. `shown`: what messages call it.
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
  uint64_t least_ns = 0;
  uint64_t duration_ns = 0; // 0: until all is over
};

// The script compares with up to so many system calls. Of more it looks into @wanted, which is to be filled with their numbers.
constexpr size_t max_compared_calls = 4;

// The least wait within a call that is noted for itself: many shorter ones are told by what is left of the call's time.
constexpr uint64_t least_part(uint64_t least_ns) { return least_ns / 32; }

session::BuiltinScript slow_script(const Wanted& wanted);

} // namespace slow
