// The recent history of each thread, kept until a slow call needs it: the newest waits, their wakers,
// and samples on the CPU. Old entries are discarded.
#pragma once

#include "slow/records.h"

#include <deque>
#include <unordered_map>
#include <vector>

namespace slow {

// A slow call with what happened during it.
struct Outlier {
  Call call;
  bool is_whole = true;       // false: it took longer
  std::vector<Wait> waits;    // in their order
  bool is_cut = false;        // there were earlier ones, which are not known any more
  std::vector<OnCpu> samples; // of its thread on the CPU
  std::vector<Turn> turns;    // waits for a CPU that are not among the waits
};

class Notes {
public:
  // Adds the waker to the wait, if known, and what ran instead.
  void take(Wait& wait);
  void take(Wake wake);
  void take(const OnCpu& sample);
  void take(const Ran& ran);
  void take(const Turn& turn);

  // Earlier waits of its thread are not reported again.
  void all_told(uint32_t task);

  Outlier about(const Call& call) const;
  Outlier about(const Wait& wait) const;
  // The longest wait of a thread (its ID in acu's PID namespace) in that time; nullptr: none was long enough to report.
  const Wait* longest_wait(uint32_t tid, uint64_t from, uint64_t until) const;

private:
  struct OfThread {
    std::deque<Wait> waits;
    std::deque<OnCpu> samples;
    std::deque<Turn> turns;
    std::optional<Wake> wake; // of the wait that goes on, …
    std::vector<Ran> others;  // … as these
    uint64_t seen = 0;        // the last time
  };
  OfThread& of(uint32_t task, uint64_t at);

  static constexpr size_t min_room = 8192;
  std::unordered_map<uint32_t, OfThread> threads_; // by Thread::task
  size_t room_ = min_room; // threads that may be known before old ones go
  uint64_t newest_ = 0;    // of all times that were seen
};

} // namespace slow
