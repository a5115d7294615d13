// How long programs run in the kernel. To measure each run costs as much as short programs take, and to begin and end it is not free either
// (bpf/run_time_meter.h): for frequent events it is done now and then, and extrapolated.
#pragma once

#include "bpf/run_time_meter.h"
#include "session/backend.h"
#include "session/life.h"

#include <cstdint>

namespace session {

class RunTimes {
public:
  RunTimes() = default;
  RunTimes(const RunTimes&) = delete;

  // From now on. Where the kernel does not measure (it wants CAP_SYS_ADMIN) nothing is.
  void start() { meter_.begin(); }
  // Now and then while the session lives that gets this.
  Regular* in_pieces(Backend& backend);
  void stop() { meter_.end(); }
  // What programs took of the whole session, in ns, of what was measured of them (ir::Counters::run_ns).
  uint64_t of_all_time(uint64_t measured_ns) const;

private:
  void take_piece();

  bpf::RunTimeMeter meter_;
  Backend* backend_ = nullptr; // of pieces
  Regular regular_;
  uint64_t begun_ns_ = 0, ended_ns_ = 0; // CLOCK_MONOTONIC: the session
  uint64_t piece_from_ns_ = 0, ran_before_ns_ = 0; // as the piece began that goes on
  uint64_t measured_ns_ = 0, ran_ns_ = 0;          // in pieces that are over
};

} // namespace session
