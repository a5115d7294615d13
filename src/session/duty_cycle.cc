#include "session/duty_cycle.h"

#include "bpf/syscall.h"
#include "session/own_maps.h"
#include "session/stack_map.h"
#include "session/trap_cost.h"
#include "session/time.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>
#include <unistd.h>
#include <utility>

namespace session {

namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t piece_ns = 5 * ms;      // is measured of each window, which is no shorter
constexpr uint64_t look_ns = 5 * ms;       // between two looks whether the kernel has let go
constexpr uint64_t period_ns = 100 * ms;   // of a window and its gap, where the window is not the shortest
constexpr uint64_t longest_gap_ns = 2000 * ms;

} // namespace

DutyCycle::DutyCycle(Backend& backend, const ir::Program& program, const spec::DutyCycle& cycle, int pid)
    : backend_(backend), program_(program), cycle_(cycle), pid_(cycle.is_of_host ? -1 : pid),
      budget_(cycle.budget * (cycle.is_of_host ? static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)) : 1)),
      hit_ns_(cycle.hit_ns ? static_cast<double>(cycle.hit_ns) : trap_cost_ns()) {
  for (uint32_t i = 0; i < program.probes.size(); i++)
    if (program.probes[i].context != probe::Context::none && program.probes[i].name.starts_with(cycle.probes)) probes_.push_back(i);
}

void DutyCycle::begin(uint64_t attached_ns) {
  begun_ns_ = opened_ns_ = attached_ns;
  progress_ = progress();
  measure(clock_ns());
}

base::Status DutyCycle::tick() {
  const uint64_t now = clock_ns();
  if (state_ == State::closed) return attach(now);
  if (state_ == State::settling) return open();
  if (state_ == State::measuring) {
    stop_measuring(now);
    if (now < window_ends_ns_) {
      next_ns_ = window_ends_ns_;
      return {};
    }
  }
  if (cost_ > budget_ && now - begun_ns_ >= cycle_.attached_first_ns) return close(now);
  account(now);
  opened_ns_ = now;
  measure(now);
  return each_ == one ? base::Status() : set_each(one);
}

void DutyCycle::end(uint64_t detached_ns) {
  stop_measuring(clock_ns());
  ended_ns_ = detached_ns;
  if (state_ == State::closed || state_ == State::settling)
    in_gaps_ += progress() - progress_;
  else
    account(detached_ns);
}

double DutyCycle::attached_share() const { return ended_ns_ > begun_ns_ ? attached_ns_ / static_cast<double>(ended_ns_ - begun_ns_) : 1; }

double DutyCycle::correction() const { return stood_for_ > 0 ? (in_gaps_ + in_windows_) / stood_for_ : 1; }

double DutyCycle::correction_of_last_gap() const {
  if ((state_ != State::closed && state_ != State::settling) || closed_ns_ <= begun_ns_) return 1;
  return static_cast<double>(ended_ns_ - begun_ns_) / static_cast<double>(closed_ns_ - begun_ns_);
}

// CPU time of the process, or time; in ns. Of a process that has ended there is no more.
double DutyCycle::progress() const {
  const clockid_t clock = pid_ < 0 ? CLOCK_MONOTONIC : static_cast<clockid_t>(~static_cast<unsigned>(pid_) << 3 | 2); // clock_getcpuclockid(3)
  timespec now = {};
  if (::clock_gettime(clock, &now) != 0) return progress_;
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

base::Status DutyCycle::attach(uint64_t now) {
  if (backend_.is_detaching()) {
    next_ns_ = now + look_ns;
    return {};
  }
  bool is_gone = false;
  for (uint32_t p : probes_)
    ACU_CHECK(backend_.attach(p, [&](base::Error) -> base::Status {
      is_gone = true; // the process has ended
      return {};
    }));
  if (is_gone) {
    next_ns_ = now + longest_gap_ns;
    return {};
  }
  state_ = State::settling;
  next_ns_ = clock_ns() + cycle_.settle_ns;
  return cycle_.settle_ns ? base::Status() : open();
}

// The gap before the window is known, and its length is planned: so much does each of its events stand for.
base::Status DutyCycle::open() {
  const double before = std::exchange(progress_, progress());
  in_gaps_ += progress_ - before;
  opened_ns_ = clock_ns();
  measure(opened_ns_);
  ACU_CHECK(set_number(program_, backend_.engine(), "opened", ++windows_));
  const uint64_t window = window_ends_ns_ - opened_ns_;
  return set_each((opened_ns_ - closed_ns_ + window) * one / window);
}

// Detaching takes the kernel a while, in which events do not count any more.
base::Status DutyCycle::close(uint64_t now) {
  account(now);
  ACU_CHECK(set_each(0));
  closed_ns_ = now;
  const auto window = static_cast<double>(window_ends_ns_ - opened_ns_);
  next_ns_ = now + std::min(static_cast<uint64_t>(window * (cost_ / budget_ - 1)), longest_gap_ns);
  state_ = State::closed;
  for (uint32_t p : probes_) backend_.detach_probe(p);
  return {};
}

// A window begins, or goes on: by what was measured last it is as long as the budget allows in a period.
void DutyCycle::measure(uint64_t now) {
  measuring_ = bpf::measure_run_times();
  costs_ = backend_.run_costs();
  measured_from_ = now;
  const bool is_long = cost_ <= budget_ && (run_share_ > 0 || cycle_.attached_first_ns);
  const double share = cost_ > budget_ ? budget_ / cost_ : is_long ? 1 : 0;
  window_ends_ns_ = now + std::max(cycle_.shortest_ns, static_cast<uint64_t>(share * period_ns));
  next_ns_ = now + piece_ns;
  state_ = State::measuring;
}

void DutyCycle::stop_measuring(uint64_t now) {
  if (state_ != State::measuring || now <= measured_from_) return;
  state_ = State::open;
  const RunCosts costs = backend_.run_costs();
  measuring_ = {};
  const auto passed = static_cast<double>(now - measured_from_);
  const auto ran = static_cast<double>(costs.ns - costs_.ns);
  run_share_ = ran / passed;
  cost_ = (ran + static_cast<double>(costs.runs - costs_.runs) * hit_ns_) / passed;
}

void DutyCycle::account(uint64_t now) {
  const auto window = static_cast<double>(now - opened_ns_);
  const double before = std::exchange(progress_, progress()), passed = progress_ - before;
  const double own = pid_ < 0 ? passed : std::max(passed - cost_ * window, 0.02 * passed);
  attached_ns_ += window;
  in_windows_ += own;
  stood_for_ += own * static_cast<double>(each_) / one;
  run_ns_ += window * run_share_;
  const uint64_t seen = weight_seen();
  if (own > 0 && each_) rates_.push_back(static_cast<double>(seen - std::exchange(seen_, seen)) / static_cast<double>(each_) / own);
}

// @seen has it as stats(): sum and count, of each CPU.
uint64_t DutyCycle::weight_seen() const {
  const std::optional<uint32_t> index = find_map(program_, "seen");
  base::Result<std::vector<ir::Entry>> entries = index ? backend_.engine().read_map(*index) : std::vector<ir::Entry>();
  profile::RawSample sum;
  if (entries.ok())
    for (const ir::Entry& e : *entries) add_values(program_.maps[*index], e, sum);
  return sum.weight;
}

double DutyCycle::expected_run_share(uint64_t duration_ns) const {
  const double share = cost_ > budget_ ? budget_ / cost_ : 1;
  const double first = duration_ns ? std::min(1.0, static_cast<double>(cycle_.attached_first_ns) / static_cast<double>(duration_ns)) : 0;
  return run_share_ * (first + (1 - first) * share);
}

double DutyCycle::standard_error() const {
  const auto n = static_cast<double>(rates_.size());
  if (n < 2) return 1;
  const double mean = std::accumulate(rates_.begin(), rates_.end(), 0.0) / n;
  double squares = 0;
  for (double r : rates_) squares += (r - mean) * (r - mean);
  return mean > 0 ? std::sqrt(squares / (n - 1) / n) / mean : 1;
}

base::Status DutyCycle::set_each(uint64_t each) {
  each_ = each;
  return set_number(program_, backend_.engine(), "each", each);
}

} // namespace session
