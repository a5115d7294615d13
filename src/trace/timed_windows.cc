#include "trace/timed_windows.h"

#include "base/clock.h"
#include "session/life.h"
#include "session/script_maps.h"

#include <utility>

namespace trace {

namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t look_ns = 100 * ms;  // while all are timed
constexpr uint64_t gap_ns = 235 * ms, window_ns = 10 * ms;
constexpr uint64_t settle_ns = 5 * ms;  // before detaching, which holds up the calls that last then
constexpr uint64_t retry_ns = 5 * ms;   // while the kernel detaches
constexpr uint64_t many_a_second = 50'000; // to time them all takes 1% of a CPU
constexpr uint64_t some_timed = 1, none_timed = 2; // of @gaps

} // namespace

TimedWindows::TimedWindows(session::Backend& backend, const ir::Program& program) : backend_(backend), program_(program) {
  for (uint32_t i = 0; i < program.probes.size(); i++)
    if (program.probes[i].name.starts_with("rawtracepoint:vmlinux:sys_enter")) begins_.push_back(i);
}

void TimedWindows::begin(uint64_t attached_ns) {
  looked_ns_ = attached_ns;
  next_ns_ = attached_ns + look_ns;
}

base::Result<bool> TimedWindows::tick(uint64_t calls) {
  const uint64_t now = base::clock_ns();
  if (state_ == State::gap) {
    ACU_CHECK(open(now));
    return false;
  }
  if (state_ == State::settling) {
    close();
    return true;
  }
  if (are_many(calls, now)) {
    ACU_CHECK(session::set_number(program_, backend_.engine(), "gaps", none_timed));
    state_ = State::settling;
    next_ns_ = now + settle_ns;
    return false;
  }
  state_ = State::all;
  next_ns_ = now + look_ns;
  return true;
}

bool TimedWindows::are_many(uint64_t calls, uint64_t now) {
  const double passed = static_cast<double>(now - std::exchange(looked_ns_, now)) / 1e9;
  const auto gained = static_cast<double>(calls - std::exchange(calls_, calls));
  // Few again are much fewer, so that it does not change all the time.
  return gained > passed * (state_ == State::all ? many_a_second : many_a_second / 2);
}

void TimedWindows::close() {
  backend_.detach_probes(begins_);
  state_ = State::gap;
  next_ns_ = base::clock_ns() + gap_ns;
}

base::Status TimedWindows::open(uint64_t now) {
  next_ns_ = now + retry_ns;
  if (backend_.is_detaching()) return {};
  for (uint32_t probe : begins_) ACU_CHECK(backend_.attach(probe, [](base::Error why) -> base::Status { return why; }));
  ACU_CHECK(session::set_number(program_, backend_.engine(), "gaps", some_timed));
  state_ = State::window;
  next_ns_ = base::clock_ns() + window_ns;
  return {};
}

} // namespace trace
