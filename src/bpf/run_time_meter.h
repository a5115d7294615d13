// The kernel measures run times of programs while somebody asks it to. That costs some time for each run; and to begin and to end it, the kernel
// changes its own code in hundreds of places, which takes a millisecond, and tens of them under some hypervisors. So who measures weighs how
// often it switches.
#pragma once

#include "base/fd.h"

#include <cstdint>

namespace bpf {

class RunTimeMeter {
public:
  static constexpr double run_ns = 40; // of each run, while it is on

  // False: the kernel refuses (it wants CAP_SYS_ADMIN). One that measures goes on.
  bool begin();
  void end();
  bool is_on() const { return on_.valid(); }
  // How long to wait before the next begin(), so that switching takes no more than a two-hundredth of a CPU.
  uint64_t shortest_gap_ns() const { return switching_ns_ * 200; }

private:
  base::Fd on_;
  uint64_t switching_ns_ = 0; // of the last begin() and end()
};

} // namespace bpf
