// What limits a program: the activities without which it would gain most, with the waits that come to them.
#pragma once

#include "waits/blame.h"
#include "waits/graph.h"
#include "waits/replay.h"

#include <cstdint>
#include <vector>

namespace waits {

struct Gain {
  uint32_t group = 0;
  uint32_t threads = 0; // of it that would gain
  double factor = 1;    // how much sooner they would be done: 2 is twice as fast (median over them)
};

struct Limit {
  uint32_t activity = 0;
  uint64_t ns = 0;               // that it took, in all threads
  uint64_t saved_ns = 0;         // without it, in all threads: the order of limits
  std::vector<Gain> gains;       // largest first
  struct Waiting {
    uint32_t activity = 0;       // a wait that comes to it
    uint64_t ns = 0;             // that much of it
  };
  std::vector<Waiting> waiting;  // largest first
};

struct Findings {
  std::vector<Limit> limits;                 // that would gain something
  std::vector<Blamed> waits;
  std::vector<std::vector<uint32_t>> knots;
};

Findings find_limits(const Graph& graph);

} // namespace waits
