// The bottlenecks of a program: the activities without which it would be fastest, with the waits that they cause. A function is reported in place of its
// activities if leaving out all of them gains more.
#pragma once

#include "waits/blame.h"
#include "waits/graph.h"
#include "waits/replay.h"

#include <cstdint>
#include <string>
#include <vector>

namespace waits {

struct Speedup {
  uint32_t group = 0;
  uint32_t threads = 0; // of the group that would be faster
  double factor = 1;    // 2: twice as fast (median of the threads)
};

struct Bottleneck {
  uint32_t group = 0;
  std::string function;             // empty: one activity
  std::vector<Share> activities;    // that are left out, with their parts of `ns`; the largest first
  uint64_t ns = 0;                  // that they took, in all threads
  uint64_t saved_ns = 0;            // without them, in all threads: the order of bottlenecks
  std::vector<Speedup> speedups;    // largest first
  struct Waiting {
    uint32_t activity = 0;          // a wait that it causes
    uint64_t ns = 0;                // the part of the wait
  };
  std::vector<Waiting> waiting;     // largest first
};

struct Findings {
  std::vector<Bottleneck> bottlenecks;      // without which some threads would be faster
  std::vector<Blamed> waits;
  std::vector<std::vector<uint32_t>> knots; // see knots.h
};

Findings find_bottlenecks(const Graph& graph);

} // namespace waits
