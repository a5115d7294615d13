// Slots of facts that several measurements fill in the same way.
#pragma once

#include "why/fact.h"
#include "why/interval.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace why {

using Slots = std::vector<std::pair<std::string_view, Value>>;

// A function of a program, and where it is in its source.
struct ProgramLocation {
  std::string function, file; // empty: not known
  int64_t line = 0;
};
// `place`: "log.cc:88", as waits::Stacks has it; empty: not known.
ProgramLocation location_at(std::string function, std::string_view place);

// "parse (a.c:12)", "parse".
std::string in_words(const ProgramLocation& location);

// The slots function, file and line.
void put_location(Slots& slots, const ProgramLocation& location);
// The slots share, low and high.
void put_share(Slots& slots, const ShareInterval& share);
// A fact about a process, which gets the slot pid.
Fact fact_about(int pid, std::string_view kind, std::string_view measurement, Slots slots);

} // namespace why
