#include "session/run_times.h"

#include "base/clock.h"
#include "bpf/syscall.h"

#include <chrono>

namespace session {

static constexpr uint64_t piece_ns = 10'000'000, period_ns = 100'000'000;

void RunTimes::start(bool in_pieces) {
  start_ns_ = base::clock_ns();
  in_pieces_ = in_pieces;
  if (in_pieces)
    pieces_ = std::thread(&RunTimes::measure_pieces, this);
  else
    all_the_time_ = bpf::measure_run_times();
}

void RunTimes::stop() {
  all_the_time_ = {};
  if (!stop_ns_) stop_ns_ = base::clock_ns();
  if (!pieces_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stops_ = true;
  }
  wake_.notify_one();
  pieces_.join();
}

bool RunTimes::sleeps(uint64_t ns) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, std::chrono::nanoseconds(ns), [&] { return stops_; });
}

void RunTimes::measure_pieces() {
  do {
    base::Fd measuring = bpf::measure_run_times();
    if (!measuring.valid()) return;
    begun_ns_ = base::clock_ns();
    sleeps(piece_ns);
    measuring = {};
    measured_ns_ += base::clock_ns() - begun_ns_.exchange(0);
  } while (sleeps(period_ns - piece_ns));
}

uint64_t RunTimes::of_all_time(uint64_t measured_ns) const {
  if (!in_pieces_) return measured_ns;
  const uint64_t now = stop_ns_ ? stop_ns_ : base::clock_ns(), begun = begun_ns_;
  const uint64_t measured = measured_ns_ + (begun ? now - begun : 0);
  if (!measured) return 0;
  return static_cast<uint64_t>(static_cast<double>(measured_ns) * static_cast<double>(now - start_ns_) / static_cast<double>(measured));
}

} // namespace session
