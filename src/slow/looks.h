// When calls are too many to probe their entries: a thread that is in the function in sample after sample is in one long call, or
// in one of many short ones. Entries probed for a moment tell which: where none comes, it is one call. How often that is done is
// limited by what it costs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace slow {

class Looks {
public:
  Looks(uint64_t least_ns, double max_cost) : least_ns_(least_ns), max_cost_(max_cost) {}

  // `cost`: of probing entries all the time, like max_cost in percent of a CPU. What was spent so far is over.
  void allow(double cost) { excess_ = cost / max_cost_; }
  // Between two samples of a thread.
  uint64_t interval_ns() const { return least_ns_ / 4; }

  // A sample, in the function or not. Is it time to probe entries?
  bool is_due(uint32_t task, uint64_t at, bool is_within);
  // They are probed from now on; until when at least.
  void open(uint64_t now) { opened_ns_ = now; }
  bool is_open() const { return opened_ns_ != 0; }
  uint64_t opened_ns() const { return opened_ns_; }
  // Nothing more is to be expected of it: the last sample in a call that is followed was then.
  bool is_over(uint64_t now, uint64_t last_seen) const {
    return is_open() && now - opened_ns_ >= 2 * interval_ns() && now - std::min(now, last_seen) >= 3 * interval_ns();
  }
  void close(uint64_t now);

private:
  uint64_t least_ns_;
  double max_cost_;
  double excess_ = 1; // what entries would cost all the time by what they may
  uint64_t opened_ns_ = 0, next_ns_ = 0;
  std::unordered_map<uint32_t, uint64_t> since_; // by thread: the first of its samples in the function, one after the other
};

} // namespace slow
