// How long programs run in the kernel. To measure each run costs some 40 ns (kernel-wide), which is as much as short programs
// take: for frequent events it is done a tenth of the time, and extrapolated.
#pragma once

#include "base/fd.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace session {

class RunTimes {
public:
  RunTimes() = default;
  RunTimes(const RunTimes&) = delete;
  ~RunTimes() { stop(); }

  // `in_pieces`: a tenth of the time. Where the kernel does not measure (it wants CAP_SYS_ADMIN) nothing is.
  void start(bool in_pieces);
  void stop();
  // What programs took between start() and now, in ns, of what was measured of them (ir::Counters::run_ns).
  uint64_t of_all_time(uint64_t measured_ns) const;

private:
  void measure_pieces();
  bool sleeps(uint64_t ns); // false: it is to stop

  base::Fd all_the_time_;
  uint64_t start_ns_ = 0, stop_ns_ = 0; // CLOCK_MONOTONIC; 0: it has not stopped
  std::atomic<uint64_t> begun_ns_{0};   // of a piece that goes on
  std::atomic<uint64_t> measured_ns_{0}; // of pieces that are over
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stops_ = false, in_pieces_ = false;
  std::thread pieces_;
};

} // namespace session
