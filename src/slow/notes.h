// What `acu slow` knows of the last moments of each thread, until something slow needs it: the newest waits, who ended them,
// and where the thread was on the CPU. What nobody asks for is pushed out.
#pragma once

#include "slow/records.h"

#include <deque>
#include <unordered_map>
#include <vector>

namespace slow {

// Something slow, with what happened meanwhile.
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
  // The wait gets who ended it, if that is known, and who ran instead.
  void take(Wait& wait);
  void take(Wake wake);
  void take(const OnCpu& sample);
  void take(const Ran& ran);
  void take(const Turn& turn);

  // What its thread waited for until now is not told again.
  void all_told(uint32_t task);

  Outlier about(const Call& call) const;
  Outlier about(const Wait& wait) const;
  // The longest wait of a thread (its number in acu's pid namespace) in that time; nullptr: none was long enough to be told.
  const Wait* longest_wait(uint32_t tid, uint64_t from, uint64_t until) const;

private:
  struct OfThread {
    std::deque<Wait> waits;
    std::deque<OnCpu> samples;
    std::deque<Turn> turns;
    std::optional<Wake> wake; // of the wait that goes on, …
    std::vector<Ran> others;  // … as these
  };
  void make_room();

  std::unordered_map<uint32_t, OfThread> threads_; // by Thread::task
};

} // namespace slow
