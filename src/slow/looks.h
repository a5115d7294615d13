// For functions with too many calls to probe their entries: a thread seen in the function in successive samples is in one long call or
// in many short ones. Probing entries briefly distinguishes the two: without an entry, it is one call. The cost limits how often
// this is done.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace slow {

class Looks {
public:
  Looks(uint64_t min_duration_ns, double max_cost) : min_duration_ns_(min_duration_ns), max_cost_(max_cost) {}

  // `cost`: of probing entries all the time, in percent of a CPU like max_cost. Resets what was spent.
  void allow(double cost) { excess_ = cost / max_cost_; }
  // Between two samples of a thread.
  uint64_t interval_ns() const { return min_duration_ns_ / 4; }

  // A sample, in the function or not. Is it time to probe entries?
  bool is_due(uint32_t task, uint64_t at, bool is_within);
  // Entries are probed from now on; returns the earliest end.
  void open(uint64_t now) { opened_ns_ = now; }
  bool is_open() const { return opened_ns_ != 0; }
  uint64_t opened_ns() const { return opened_ns_; }
  // The time of the last sample in a followed call; no more are expected.
  bool is_over(uint64_t now, uint64_t last_seen) const {
    return is_open() && now - opened_ns_ >= 2 * interval_ns() && now - std::min(now, last_seen) >= 3 * interval_ns();
  }
  void close(uint64_t now);

private:
  uint64_t min_duration_ns_;
  double max_cost_;
  double excess_ = 1; // what entries would cost all the time by what they may
  uint64_t opened_ns_ = 0, next_ns_ = 0;
  std::unordered_map<uint32_t, uint64_t> since_; // by thread: the first of its samples in the function, one after the other
};

} // namespace slow
