// Which of the calls that are counted have a time. To see a call begin costs twice what it costs to count it as it returns. So while calls are
// few, all are timed; of many only those that begin in short windows, which stand for the others (summary.h).
#pragma once

#include "session/backend.h"

#include <cstdint>
#include <vector>

namespace trace {

class TimedWindows {
public:
  // `program`: of scripts/trace_counts.bt with GAPS.
  TimedWindows(session::Backend& backend, const ir::Program& program);

  // Call when the probes are attached.
  void begin(uint64_t attached_ns); // CLOCK_MONOTONIC
  // Call when next_ns() has passed. `calls`: how many were counted until now. True: these are those of a whole period, which ends as its window has settled.
  base::Result<bool> tick(uint64_t calls);
  uint64_t next_ns() const { return next_ns_; }

private:
  enum class State { all, settling, gap, window };

  void close();
  base::Status open(uint64_t now);
  bool are_many(uint64_t calls, uint64_t now);

  session::Backend& backend_;
  const ir::Program& program_;
  std::vector<uint32_t> begins_; // the probes that see calls begin
  State state_ = State::all;
  uint64_t next_ns_ = 0, looked_ns_ = 0, calls_ = 0;
};

} // namespace trace
