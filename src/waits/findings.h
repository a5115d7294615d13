// What limits a program: what it would gain most without, with the waits that come to that. Left out is one activity, or all that a function does if
// that gains more than any of its activities.
#pragma once

#include "waits/blame.h"
#include "waits/graph.h"
#include "waits/replay.h"

#include <cstdint>
#include <string>
#include <vector>

namespace waits {

struct Gain {
  uint32_t group = 0;
  uint32_t threads = 0; // of it that would gain
  double factor = 1;    // how much sooner they would be done: 2 is twice as fast (median over them)
};

struct Limit {
  uint32_t group = 0;
  std::string function;             // empty: one activity
  std::vector<Share> activities;    // that are left out, with their parts of `ns`; the largest first
  uint64_t ns = 0;                  // that they took, in all threads
  uint64_t saved_ns = 0;            // without them, in all threads: the order of limits
  std::vector<Gain> gains;          // largest first
  struct Waiting {
    uint32_t activity = 0;          // a wait that comes to it
    uint64_t ns = 0;                // that much of it
  };
  std::vector<Waiting> waiting;     // largest first
};

struct Findings {
  std::vector<Limit> limits;        // that would gain something
  std::vector<Blamed> waits;
  std::vector<std::vector<uint32_t>> knots; // see knots.h
};

Findings find_limits(const Graph& graph);

} // namespace waits
