// `acu run --max-cost`: what the probes of a script may take of the host. Those that only count let fewer of their events count; other scripts end.
//
// The cost of a probe is the run time of its program, and for user probes the trap. The kernel measures all the time where that costs little of the limit, else for a few
// milliseconds at a time. Above the limit:
//
// 1. Of probes that only count, one of n events runs the block and adds n times as much (ir::Program::one_of). n grows with the first measurement above the limit, and
//    shrinks when there is room.
// 2. Otherwise, because traps or the choice itself take too much, or the probes do more, the script ends when two measurements in a row are above the limit. Its probes
//    are not taken off and attached again: it may measure from one probe to another, and would take the time between two different calls for that of one. Nor are those
//    that only count: how much slower a program is while its functions are probed depends on their instructions (the kernel steps over some of them one by one, which
//    takes ten times as long), so nobody knows how many calls a time without probes would have had.
#pragma once

#include "bpf/run_time_meter.h"
#include "ir/ir.h"
#include "session/life.h"
#include "session/run.h"

#include <cstdint>
#include <optional>

namespace budget {

class CostLimit : public session::Beside {
public:
  // `percent`: of all CPUs of the host.
  explicit CostLimit(double percent);

  base::Result<session::Regular*> begin(const session::Running& running) override;
  bool has_failed() const override { return above_ == enough; }

  uint64_t one_of() const { return one_of_; }

private:
  base::Status measure();
  base::Result<bool> is_kept(); // by the measurement that was begun
  base::Status let_count(uint64_t one_of);
  void report();

  static constexpr int enough = 2; // measurements

  const double percent_, cpus_;
  std::optional<session::Running> running_;
  double trap_ns_ = 0;
  session::Regular regular_;
  bpf::RunTimeMeter meter_;
  session::RunCosts before_;
  uint64_t begun_ns_ = 0, measured_from_ = 0;
  int above_ = 0;
  double cost_ = 0; // percent
  uint64_t one_of_ = 1, most_ = 1;             // events of which one counts: now, and at most so far
  uint64_t sampled_ns_ = 0, sampled_from_ = 0; // how long that was above 1; 0: it is not
};

} // namespace budget
