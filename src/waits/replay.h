// How long everything would take without some activities. All segments happen again in their order: code that runs takes as long as it did, but for
// the part that is left out; a wait ends when its ender comes to that point; one that something outside ended takes as long as it did, from when it
// begins.
//
// Two things that happen at their own pace would be bound to each other for good by a single short wait, as for a lock that a timer takes now and then. So only
// threads that wait for each other for a part of their time (least_bound) are bound; other waits get shorter as what their ender did meanwhile
// does. So do all waits for a CPU, as other threads would have had it in another order.
#pragma once

#include "waits/blame.h"
#include "waits/graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace waits {

inline constexpr double least_bound = 0.02;

struct Replayed {
  // By thread: until its last segment ended, as it was and as it would be. Threads without segments: 0.
  std::vector<uint64_t> before_ns, after_ns;
  std::vector<uint64_t> left_out_ns; // of its own waits
  uint64_t runs_ns = 0; // all that would still run
};

class Replay {
public:
  // All outlive this.
  Replay(const Graph& graph, const Causes& causes);

  // `left_out`: indexes of activities; none: the measured times come out.
  Replayed without(std::span<const uint32_t> left_out) const;
  // Threads that hand work to each other, also by way of others, have the same number: none of them can be faster than the others for long. A lock does
  // not couple those who take it.
  const std::vector<uint32_t>& coupled() const { return coupled_; }

private:
  const Graph& graph_;
  const Causes& causes_;
  std::vector<bool> is_bound_; // by segment: its wait ends when its ender's segment does
  std::vector<uint32_t> coupled_;
};

} // namespace waits
