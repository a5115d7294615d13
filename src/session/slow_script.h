// The script of `acu slow`, from the table of what it can wait for (spec/slow_kinds.h).
#pragma once

#include "session/landings.h"
#include "session/sampling_script.h"
#include "spec/slow_kinds.h"

#include <string>
#include <vector>

namespace session {

struct SlowWanted {
  const spec::SlowKind* kind = nullptr; // nullptr: nothing but waits
  std::string begin, end;               // probes, in the language
  Landings landings;                    // of a function
  bool has_ends = true;                 // false: only begin is probed
  Condition condition;
  std::vector<int> calls; // system calls; empty: all
  uint64_t least_ns = 0;
  uint64_t duration_ns = 0; // 0: until all is over
};

// The least wait within a call that is noted for itself: many shorter ones are told by what is left of the call's time.
constexpr uint64_t least_part(uint64_t least_ns) { return least_ns / 32; }

std::string slow_script(const SlowWanted& wanted);

} // namespace session
