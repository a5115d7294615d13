// How long everything would take without an activity. All stretches happen again in their order: code that runs takes as long as it did, but for the part
// that is left out; a wait ends when its ender comes to that point; one that something outside ended takes as long as it did, from when it begins.
#pragma once

#include "waits/graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace waits {

struct Replayed {
  // By thread: until its last stretch ended, as it was and as it would be. Threads without stretches: 0.
  std::vector<uint64_t> before_ns, after_ns;
};

// `left_out`: indexes of activities; none: the measured times come out.
Replayed replay(const Graph& graph, std::span<const uint32_t> left_out);

} // namespace waits
