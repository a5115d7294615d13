// Duty cycles: probes whose events are many are attached for a part of the time, so that a recording stays within its budget.
//
// In-kernel sampling cannot hold a budget: the trap of a user probe, or the slow path of every system call, costs the same
// whether its event becomes a sample or not. So the rate and the cost of events are measured for a few milliseconds of each
// window in which the probes are attached; the next gap without them is as long as the budget asks for. An event stands for
// the time of its window and of the gap before it: the script multiplies weights by @each (fixed point) and ignores events while it
// is 0, which makes the ends of windows exact. The weight of a window is fixed before it begins, so estimates are unbiased.
//
// A program is slower while its calls are probed, so that a window has fewer of them than a gap as long. What a process does is
// therefore measured by its CPU time less what probes took of it, and corrected for at the end.
#pragma once

#include "base/fd.h"
#include "session/backend.h"
#include "spec/profile_kinds.h"

#include <cstdint>
#include <vector>

namespace session {

class DutyCycle {
public:
  // `cycle`: which probes of the program, and their budget. `pid`: of the process that they are in; -1: the host's.
  DutyCycle(Backend& backend, const ir::Program& program, const spec::DutyCycle& cycle, int pid);

  // The probes have been attached, and @each is 1.
  void begin(uint64_t attached_ns); // CLOCK_MONOTONIC
  // next_ns() is past.
  base::Status tick();
  uint64_t next_ns() const { return next_ns_; }
  // Everything was detached.
  void end(uint64_t detached_ns);

  // Of the time between begin and end, that with probes: 1 if the budget never asked for gaps.
  double attached_share() const;
  // By what sums of weights are to be multiplied: see above; and for the last gap, and windows of another length than planned.
  double correction() const;
  // The same for what was counted from window to window: by the last gap alone.
  double correction_of_last_gap() const;
  // Of a sum of weights, as a share of it, by how much windows differ.
  double standard_error() const;
  // What the programs of a recording take in the kernel, in CPUs, if events go on as in the last window. `duration_ns`: 0, for ever.
  double expected_run_share(uint64_t duration_ns) const;
  // What the programs took in the kernel in windows, as far as it was measured, told for all of them.
  uint64_t run_ns() const { return static_cast<uint64_t>(run_ns_); }

private:
  enum class State { closed, settling, measuring, open };

  base::Status attach(uint64_t now);
  base::Status open();
  base::Status close(uint64_t now);
  void measure(uint64_t now);
  void stop_measuring(uint64_t now);
  void account(uint64_t now);
  double progress() const;
  uint64_t weight_seen() const;
  base::Status set_each(uint64_t each);

  Backend& backend_;
  const ir::Program& program_;
  const spec::DutyCycle& cycle_;
  std::vector<uint32_t> probes_;
  const int pid_;
  const double budget_; // CPUs
  const double hit_ns_;
  State state_ = State::open;
  base::Fd measuring_;
  RunCosts costs_;           // as the measurement began
  uint64_t measured_from_ = 0;
  double cost_ = 0;          // CPUs that probes take while they are attached, …
  double run_share_ = 0;     // … and of them the programs
  uint64_t begun_ns_ = 0, ended_ns_ = 0, opened_ns_ = 0, closed_ns_ = 0, window_ends_ns_ = 0, next_ns_ = 0;
  uint64_t each_ = one;
  uint64_t windows_ = 0;
  double progress_ = 0;      // as the window or gap began
  double in_gaps_ = 0, in_windows_ = 0, stood_for_ = 0; // progress, of those that are over; the latter as @each has it
  double attached_ns_ = 0, run_ns_ = 0;
  uint64_t seen_ = 0;         // weights, as the window began
  std::vector<double> rates_; // of windows: weight by progress

  static constexpr uint64_t one = 1024; // @each of events that stand for themselves
};

} // namespace session
