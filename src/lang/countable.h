// Probes of which a part of the events is enough to know the numbers that they count.
#pragma once

#include "lang/ast.h"

#include <vector>

namespace lang {

// Probes of events that do nothing but add to maps (count, sum, avg, stats, hist, lhist, ++ and the like) which no other probe of events reads. If one of n of their
// events adds n times as much, sums, averages and distributions are unbiased estimates. The program is checked.
std::vector<const Probe*> countable_probes(const Program& program);

} // namespace lang
