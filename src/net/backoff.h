// How long to wait before a request that failed is sent again: twice as long each time, up to a limit. Between half of that and all of it, by chance, so that
// clients which failed at the same time do not come back at the same time.
#pragma once

#include <algorithm>
#include <random>

namespace net {

class Backoff {
public:
  // Seconds. `seed`: for tests.
  explicit Backoff(double first = 1, double longest = 60, unsigned seed = std::random_device{}()) : first_(first), longest_(longest), random_(seed) {}
  double next() {
    const double now = delay_;
    delay_ = std::min(2 * delay_, longest_);
    return now * std::uniform_real_distribution<>(0.5, 1)(random_);
  }
  // It succeeded.
  void reset() { delay_ = first_; }
  // It fails until somebody changes something: the next ones are the longest.
  void slow_down() { delay_ = longest_; }

private:
  double first_, longest_, delay_ = first_;
  std::minstd_rand random_;
};

} // namespace net
