// Duty cycles: probes with frequent events are attached part of the time, to keep a recording within its overhead budget.
//
// In-kernel sampling cannot hold a budget: the trap of a user probe, or the slow path of every system call, costs the same
// whether its event becomes a sample or not. So each window in which the probes are attached begins with a measurement of
// their rate and cost, and the budget sets the length of the gap behind it. An event represents its window and the gap before it:
// the script multiplies weights by @each (fixed point) and ignores events while that is 0, which makes the ends of windows exact.
// The weight of a window is fixed before it begins, so sums are unbiased while the rate of events is steady; bursts shorter than a gap
// are a matter of chance.
//
// A program is slower while its calls are probed, so a window has fewer of them than a gap of the same length. What a process does
// is therefore measured by its CPU time less what probes took of it, and sums are corrected at the end.
#pragma once

#include "bpf/run_time_meter.h"
#include "session/backend.h"
#include "spec/duty_cycle.h"

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace budget {

class DutyCycle {
public:
  // `cycle`: which probes of the program, and their budget. `pid`: of the process that they are in; -1: the whole host.
  DutyCycle(session::Backend& backend, const ir::Program& program, const spec::DutyCycle& cycle, int pid);

  // Call when the probes are attached and @each is 1.
  void begin(uint64_t attached_ns); // CLOCK_MONOTONIC
  // Call when next_ns() has passed.
  base::Status tick();
  uint64_t next_ns() const { return next_ns_; }
  // Call before the probes are detached.
  void end();

  // Why there were no further windows; empty: there were, or the process has ended.
  const std::string& failure() const { return failure_; }
  // Share of the time between begin() and end() in which events counted.
  double attached_share() const;
  // Factor for sums of weights: for slowed programs, the last gap, and windows of unplanned length.
  double correction() const { return stood_for_ > 0 ? (in_gaps_ + in_windows_) / stood_for_ : 1; }
  // The same for what was counted from window to window: for the last gap alone.
  double correction_of_last_gap() const;
  // Relative standard error of a sum of weights, from the differences between windows; nothing: there were too few.
  std::optional<double> standard_error() const;
  // How many times as long the process takes for its work while probes are attached; 1: not known, or cycles of the host.
  double slowdown() const { return stood_for_ > 0 ? 1 + took_for_ / stood_for_ : 1; }
  // Relative error that a sum may have in addition: what probes take of the process is itself an estimate, and the slower the process the less is left of its CPU time.
  double doubt() const;
  // CPUs that the programs will use if events continue as in the last window; `duration_ns` 0: no limit.
  double expected_run_share(uint64_t duration_ns) const;
  // Run time of the programs in all windows, extrapolated from the measured pieces; ns.
  uint64_t run_ns() const { return static_cast<uint64_t>(run_ns_); }

private:
  enum class State { closed, settling, measuring, open };

  base::Status attach(uint64_t now);
  base::Status open();
  base::Status close();
  void measure();
  void stop_measuring();
  void account();
  double progress() const;
  base::Status set_each(uint64_t each);

  bool is_in_gap() const { return state_ == State::closed || state_ == State::settling; }

  session::Backend& backend_;
  const ir::Program& program_;
  const spec::DutyCycle& cycle_;
  std::vector<uint32_t> probes_;
  clockid_t clock_ = CLOCK_MONOTONIC; // of progress
  const bool is_of_process_;
  const double budget_; // CPUs
  const double hit_ns_;
  State state_ = State::open;
  std::string failure_;
  bpf::RunTimeMeter meter_;           // on until the end: switching it in each window would take more than it measures
  session::RunCosts costs_;           // as the measurement began
  uint64_t measured_from_ = 0;
  double cost_ = 0;          // CPUs that probes take while they are attached, …
  double run_share_ = 0;     // … and of them the programs
  uint64_t begun_ns_ = 0, ended_ns_ = 0, attached_at_ns_ = 0, opened_ns_ = 0, closed_ns_ = 0, window_ends_ns_ = 0, next_ns_ = 0;
  uint64_t each_ = one;
  uint64_t windows_ = 0;
  double progress_ = 0;      // as the window or gap began
  double in_gaps_ = 0, in_windows_ = 0, stood_for_ = 0; // progress in those that are over; the latter weighted as their events
  double took_for_ = 0; // what probes took of the process in windows, weighted as their events
  double open_ns_ = 0, run_ns_ = 0;
  // Of windows: x, what they stand for, and w, the weight of their events.
  uint64_t seen_ = 0;
  double sum_w_ = 0, sum_xx_ = 0, sum_xw_ = 0, sum_ww_ = 0;
  uint64_t counted_windows_ = 0;

  static constexpr uint64_t one = 1024; // @each of events that represent themselves
};

} // namespace budget
