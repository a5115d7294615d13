#include "budget/duty_cycle.h"

#include "base/clock.h"
#include "budget/trap_cost.h"
#include "session/life.h"
#include "session/script_maps.h"

#include <algorithm>
#include <cmath>
#include <unistd.h>
#include <utility>

namespace budget {

namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t piece_ns = 5 * ms;      // measured at the start of each window; no window is shorter
constexpr uint64_t shortest_piece_ns = 2 * ms; // that the end of a recording may leave of it
constexpr uint64_t look_ns = 5 * ms;       // interval for checking whether the kernel has detached the probes
constexpr uint64_t period_ns = 100 * ms;   // of a window and its gap, where the window is not the shortest
constexpr uint64_t longest_gap_ns = 2000 * ms;
constexpr uint64_t shortest_gap = 4;       // in shortest windows: to attach and detach is not free either
constexpr double hit_error = 0.2;          // of the cost of a hit: more where caches are full of what the program itself uses
constexpr double unmeasured_cost = 0.5;    // CPUs, where the kernel does not measure run times (it wants CAP_SYS_ADMIN)

} // namespace

DutyCycle::DutyCycle(session::Backend& backend, const ir::Program& program, const spec::DutyCycle& cycle, int pid)
    : backend_(backend), program_(program), cycle_(cycle), is_of_process_(!cycle.is_of_host),
      budget_(cycle.budget * (cycle.is_of_host ? static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)) : 1)),
      hit_ns_(cycle.hit_ns ? static_cast<double>(cycle.hit_ns) : emulated_trap_ns()) {
  if (is_of_process_ && ::clock_getcpuclockid(pid, &clock_) != 0) clock_ = CLOCK_MONOTONIC;
  for (uint32_t i = 0; i < program.probes.size(); i++)
    if (program.probes[i].context != probe::Context::none && program.probes[i].name.starts_with(cycle.probes)) probes_.push_back(i);
}

void DutyCycle::begin(uint64_t attached_ns) {
  begun_ns_ = attached_at_ns_ = opened_ns_ = attached_ns;
  progress_ = progress();
  measure();
}

base::Status DutyCycle::tick() {
  const uint64_t now = base::clock_ns();
  if (state_ == State::closed) return attach(now);
  if (state_ == State::settling) return open();
  if (state_ == State::measuring) {
    stop_measuring();
    if (now < window_ends_ns_) {
      next_ns_ = window_ends_ns_;
      return {};
    }
  }
  if (cost_ > budget_ && now - begun_ns_ >= cycle_.attached_first_ns) return close();
  account();
  measure();
  return each_ == one ? base::Status() : set_each(one);
}

void DutyCycle::end() {
  stop_measuring();
  meter_.end();
  ended_ns_ = base::clock_ns();
  if (is_in_gap())
    in_gaps_ += progress() - progress_;
  else
    account();
}

double DutyCycle::attached_share() const { return ended_ns_ > begun_ns_ ? open_ns_ / static_cast<double>(ended_ns_ - begun_ns_) : 1; }

double DutyCycle::correction_of_last_gap() const {
  if (!is_in_gap() || closed_ns_ <= begun_ns_) return 1;
  return static_cast<double>(ended_ns_ - begun_ns_) / static_cast<double>(closed_ns_ - begun_ns_);
}

// CPU time of the process, or monotonic time, in ns. After the process has ended: the last value.
double DutyCycle::progress() const {
  timespec now = {};
  if (::clock_gettime(clock_, &now) != 0) return progress_;
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

base::Status DutyCycle::attach(uint64_t now) {
  next_ns_ = now + look_ns;
  if (backend_.is_detaching()) return {};
  std::optional<base::Error> refused;
  for (uint32_t p : probes_)
    ACU_CHECK(backend_.attach(p, [&](base::Error why) -> base::Status {
      refused = std::move(why);
      return {};
    }));
  if (refused) {
    // A process that has ended has no probes; its end is noticed elsewhere.
    timespec clock = {};
    if (!is_of_process_ || ::clock_gettime(clock_, &clock) == 0) failure_ = std::move(refused->message);
    backend_.detach_probes(probes_);
    next_ns_ = session::Regular::never;
    return {};
  }
  state_ = State::settling;
  attached_at_ns_ = now;
  next_ns_ = base::clock_ns() + cycle_.settle_ns;
  return cycle_.settle_ns ? base::Status() : open();
}

// The gap is over, and the length of the window is planned; this fixes the weight of its events.
base::Status DutyCycle::open() {
  ACU_CHECK(session::set_number(program_, backend_.engine(), "opened", ++windows_));
  measure();
  opened_ns_ = base::clock_ns();
  const double before = std::exchange(progress_, progress());
  in_gaps_ += progress_ - before;
  const uint64_t window = window_ends_ns_ - opened_ns_;
  return set_each((opened_ns_ - closed_ns_ + window) * one / window);
}

// Detaching takes the kernel a while, in which events do not count any more.
base::Status DutyCycle::close() {
  const uint64_t each = each_;
  ACU_CHECK(set_each(0));
  each_ = each;
  account();
  each_ = 0;
  closed_ns_ = opened_ns_;
  const auto gap = static_cast<uint64_t>(static_cast<double>(closed_ns_ - attached_at_ns_) * (cost_ / budget_ - 1));
  next_ns_ = closed_ns_ + std::clamp(gap, shortest_gap * cycle_.shortest_ns, longest_gap_ns);
  state_ = State::closed;
  backend_.detach_probes(probes_);
  return {};
}

// A window begins, or goes on: by what was measured last it is as long as the budget allows in a period.
void DutyCycle::measure() {
  meter_.begin();
  costs_ = backend_.run_costs();
  measured_from_ = base::clock_ns();
  const bool is_long = cost_ <= budget_ && (run_share_ > 0 || cycle_.attached_first_ns);
  const double share = cost_ > budget_ ? budget_ / cost_ : is_long ? 1 : 0;
  window_ends_ns_ = measured_from_ + std::max(cycle_.shortest_ns, static_cast<uint64_t>(share * period_ns));
  next_ns_ = measured_from_ + piece_ns;
  state_ = State::measuring;
}

void DutyCycle::stop_measuring() {
  if (state_ != State::measuring) return;
  state_ = State::open;
  const session::RunCosts costs = backend_.run_costs();
  const uint64_t passed = base::clock_ns() - measured_from_;
  if (!meter_.is_on()) cost_ = unmeasured_cost;
  if (!meter_.is_on() || passed < shortest_piece_ns) return;
  const auto ran = static_cast<double>(costs.ns - costs_.ns), runs = static_cast<double>(costs.runs - costs_.runs);
  run_share_ = ran / static_cast<double>(passed);
  cost_ = (ran + runs * hit_ns_) / static_cast<double>(passed);
}

// Writes down the window until now; another begins.
void DutyCycle::account() {
  const uint64_t begun = std::exchange(opened_ns_, base::clock_ns());
  const auto window = static_cast<double>(opened_ns_ - begun);
  const double before = std::exchange(progress_, progress()), passed = progress_ - before;
  constexpr double least = 0.02; // of the CPU time; what probes took is known to some percent
  const double own = is_of_process_ ? std::max(passed - cost_ * window, least * passed) : passed;
  const double stands_for = own * static_cast<double>(each_) / one;
  open_ns_ += window;
  in_windows_ += own;
  stood_for_ += stands_for;
  took_for_ += (passed - own) * static_cast<double>(each_) / one;
  run_ns_ += window * run_share_;
  if (!is_of_process_) return; // its sums are counted, so they have no standard error
  auto seen = session::read_sum(program_, backend_.engine(), "seen");
  if (!seen.ok()) return;
  const auto weight = static_cast<double>(seen->weight - std::exchange(seen_, seen->weight));
  counted_windows_++;
  sum_w_ += weight;
  sum_xx_ += stands_for * stands_for;
  sum_xw_ += stands_for * weight;
  sum_ww_ += weight * weight;
}

double DutyCycle::expected_run_share(uint64_t duration_ns) const {
  const double share = cost_ > budget_ ? budget_ / cost_ : 1;
  const double first = duration_ns ? std::min(1.0, static_cast<double>(cycle_.attached_first_ns) / static_cast<double>(duration_ns)) : 0;
  return run_share_ * (first + (1 - first) * share);
}

// Of a ratio estimator: W / X, whose windows differ from w = W / X * x.
std::optional<double> DutyCycle::standard_error() const {
  if (counted_windows_ < 3 || sum_w_ <= 0 || stood_for_ <= 0) return std::nullopt;
  const double ratio = sum_w_ / stood_for_;
  const double squares = sum_ww_ - 2 * ratio * sum_xw_ + ratio * ratio * sum_xx_;
  const auto n = static_cast<double>(counted_windows_);
  return std::sqrt(std::max(squares, 0.0) * n / (n - 1)) / sum_w_;
}

double DutyCycle::doubt() const { return hit_error * (slowdown() - 1); }

base::Status DutyCycle::set_each(uint64_t each) {
  each_ = each;
  return session::set_number(program_, backend_.engine(), "each", each);
}

} // namespace budget
