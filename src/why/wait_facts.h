// Facts from a graph of waits (src/waits): wait, process-time, run-queue, lock, bottleneck, pool, interpreter. Shares are of the time of the process's threads that
// is not idle: a wait for work to come is idle, and so is a thread that only waits at its own pace, as for a timer. If the graph is of the calls of one function,
// shares are of the time in these calls.
#pragma once

#include "waits/findings.h"
#include "why/fact.h"

#include <string>
#include <vector>

namespace why {

// What a wait is for, as the slot `reason` of the fact `wait` has it.
std::string_view reason_of(const waits::Activity& activity);

std::vector<Fact> wait_facts(const waits::Graph& graph, const waits::Findings& findings, int pid);

} // namespace why
