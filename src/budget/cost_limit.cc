#include "budget/cost_limit.h"

#include "base/clock.h"
#include "base/print.h"
#include "budget/trap_cost.h"

#include <algorithm>
#include <span>
#include <unistd.h>
#include <utility>

namespace budget {

namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t piece_ns = 5 * ms, period_ns = 100 * ms;
constexpr uint64_t most_events = 1024; // of which one counts: the cost of not counting is then all that is left
constexpr double room = 0.4;           // below this part of the limit twice as many events may count
constexpr double for_measuring = 0.1;  // of the limit: what it may take to measure all the time

} // namespace

CostLimit::CostLimit(double percent) : percent_(percent), cpus_(static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN))) {}

base::Result<session::Regular*> CostLimit::begin(const session::Running& running) {
  running_.emplace(running);
  trap_ns_ = trap_cost_ns(running.program);
  regular_.begin = [this] { begun_ns_ = base::clock_ns(); };
  regular_.tick = [this]() -> base::Result<bool> {
    if (meter_.is_on()) return is_kept();
    ACU_CHECK(measure());
    return true;
  };
  regular_.end = [this] { report(); };
  return &regular_;
}

base::Status CostLimit::measure() {
  if (!meter_.begin()) return base::Error{base::Failure::permission, "`--max-cost` cannot be kept: the kernel does not measure run times of programs for this user (CAP_SYS_ADMIN)"};
  before_ = running_->backend.run_costs();
  measured_from_ = base::clock_ns();
  regular_.next_ns = measured_from_ + piece_ns;
  return {};
}

base::Status CostLimit::let_count(uint64_t one_of) {
  ACU_CHECK(running_->backend.engine().put(running_->program.one_of, {}, std::as_bytes(std::span(&one_of, 1))));
  const uint64_t now = base::clock_ns();
  if (one_of_ == 1) sampled_from_ = now;
  if (one_of == 1) sampled_ns_ += now - std::exchange(sampled_from_, 0);
  one_of_ = one_of;
  most_ = std::max(most_, one_of);
  return {};
}

base::Result<bool> CostLimit::is_kept() {
  const session::RunCosts now = running_->backend.run_costs();
  const uint64_t until = base::clock_ns();
  const double whole = static_cast<double>(until - measured_from_) * cpus_;
  const double traps = 100 * static_cast<double>(now.runs - before_.runs) * trap_ns_ / whole; // for each event, whether it counts or not
  cost_ = traps + 100 * static_cast<double>(now.ns - before_.ns) / whole;
  const bool is_above = cost_ > percent_;
  if (is_above && running_->program.one_of != ~0u && one_of_ < most_events && traps < percent_) {
    uint64_t one_of = one_of_ * 2;
    while (one_of < most_events && static_cast<double>(one_of) * percent_ < static_cast<double>(one_of_) * cost_) one_of *= 2;
    ACU_CHECK(let_count(one_of));
  } else {
    above_ = is_above ? above_ + 1 : 0;
    if (one_of_ > 1 && cost_ < room * percent_) ACU_CHECK(let_count(one_of_ / 2));
  }
  const bool goes_on = is_above || 100 * static_cast<double>(now.runs - before_.runs) * bpf::RunTimeMeter::run_ns / whole < for_measuring * percent_;
  if (goes_on) {
    before_ = now;
    measured_from_ = until;
    regular_.next_ns = until + (is_above ? piece_ns : period_ns);
  } else {
    meter_.end();
    regular_.next_ns = until + std::max(period_ns - piece_ns, meter_.shortest_gap_ns());
  }
  return !has_failed();
}

void CostLimit::report() {
  meter_.end();
  const uint64_t now = base::clock_ns();
  const double seconds = static_cast<double>(now - begun_ns_) / 1e9;
  if (sampled_from_) sampled_ns_ += now - std::exchange(sampled_from_, 0);
  if (sampled_ns_)
    running_->output.message(base::print("WARNING: to keep --max-cost %.3g, for %.1f of %.1f s only one of up to %s events counted, that many times: counts, sums, averages and histograms are estimates\n", percent_,
                                         static_cast<double>(sampled_ns_) / 1e9, seconds, std::to_string(most_).c_str()));
  if (!has_failed()) return;
  running_->output.message(base::print("WARNING: ended after %.1f s: its probes took %.2g%% of the host's CPUs, more than --max-cost %.3g; results are of that time\n", seconds, cost_, percent_) +
                           "HINT: probe rarer events, filter with a predicate, or only one process (-p)\n");
}

} // namespace budget
