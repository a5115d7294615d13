// The causes of waits: each wait is charged to what its ender did meanwhile. A wait that something outside ended is its own cause. What an ender
// waited for itself is charged in the same way (cascaded redistribution: Zhou et al., "wPerf: Generic Off-CPU
// Analysis to Identify Bottleneck Waiting Events", OSDI 2018).
#pragma once

#include "waits/graph.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace waits {

// By segment: its causes; their parts add up to 1. Of segments that run: nothing.
using Causes = std::vector<std::vector<Share>>;
Causes find_causes(const Graph& graph);

// Waits for the same thing by threads of one name.
struct Blamed {
  uint32_t activity = 0;            // the wait
  uint64_t number = 0, ns = 0, longest_ns = 0;
  std::vector<Share> causes;        // the largest first
  std::vector<std::pair<uint32_t, double>> enders; // groups; the part of its time that their threads ended
};

// The largest first.
std::vector<Blamed> sum_up(const Graph& graph, const Causes& causes);

} // namespace waits
