// Probes of which a part of the events is enough to know the numbers that they count.
#pragma once

#include "lang/ast.h"

#include <set>
#include <vector>

namespace lang {

struct Countable {
  // Probes of events that do nothing but add to maps (count, sum, avg, stats, hist, lhist, ++ and the like) which no other probe of events reads. If one of n of their
  // events adds n times as much, sums, averages and distributions are unbiased estimates.
  std::vector<const Probe*> probes;
  std::set<const Map*> maps; // to which they add
  bool are_all = false;      // there are no other probes of events
};
// The program is checked.
Countable countable_probes(const Program& program);

} // namespace lang
