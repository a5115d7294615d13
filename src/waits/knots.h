// Groups of threads that wait for each other in a circle: the strongly connected components of who waits for whom (Tarjan 1972). Whoever waits for a
// member in the end waits for the knot, and only a change within it makes the program faster.
#pragma once

#include "waits/graph.h"

#include <cstdint>
#include <vector>

namespace waits {

// Groups of threads, each list a knot of two or more. Waits shorter than `min_ns` in sum do not count.
std::vector<std::vector<uint32_t>> find_knots(const Graph& graph, uint64_t min_ns);

} // namespace waits
