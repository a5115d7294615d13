#include "session/run_times.h"

#include "base/clock.h"

#include <algorithm>

namespace session {

static constexpr uint64_t first_ns = 20'000'000, piece_ns = 10'000'000, period_ns = 100'000'000;

Regular* RunTimes::in_pieces(Backend& backend) {
  backend_ = &backend;
  regular_.begin = [this] {
    begun_ns_ = base::clock_ns();
    regular_.next_ns = begun_ns_ + first_ns;
  };
  regular_.tick = [this]() -> base::Result<bool> {
    if (meter_.is_on()) {
      take_piece();
      regular_.next_ns = base::clock_ns() + std::max(period_ns - piece_ns, meter_.shortest_gap_ns());
    } else if (meter_.begin()) {
      piece_from_ns_ = base::clock_ns();
      ran_before_ns_ = backend_->run_costs().ns;
      regular_.next_ns = piece_from_ns_ + piece_ns;
    } else {
      regular_.next_ns = Regular::never;
    }
    return true;
  };
  regular_.end = [this] {
    if (meter_.is_on()) take_piece();
    ended_ns_ = base::clock_ns();
  };
  return &regular_;
}

// While the kernel switches, it measures some of its programs, so that what it has counted is asked within.
void RunTimes::take_piece() {
  const uint64_t ran = backend_->run_costs().ns; // less where a program was loaded anew
  ran_ns_ += ran - std::min(ran, ran_before_ns_);
  measured_ns_ += base::clock_ns() - piece_from_ns_;
  meter_.end();
}

uint64_t RunTimes::of_all_time(uint64_t measured_ns) const {
  if (!backend_) return measured_ns;
  if (!measured_ns_) return 0;
  const uint64_t until = ended_ns_ ? ended_ns_ : base::clock_ns();
  return static_cast<uint64_t>(static_cast<double>(ran_ns_) * static_cast<double>(until - begun_ns_) / static_cast<double>(measured_ns_));
}

} // namespace session
