// What waits come to in the end: each is given to what its ender did meanwhile. A wait that something outside ended is its own cause; so is the
// time that a thread runs. What an ender waited for itself is given on in the same way (cascaded redistribution: Zhou et al., "wPerf: Generic Off-CPU
// Analysis to Identify Bottleneck Waiting Events", OSDI 2018).
#pragma once

#include "waits/graph.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace waits {

// By stretch: what it came to; the parts are 1 together. Of stretches that run: nothing.
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
