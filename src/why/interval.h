// A share with its 95% interval, from the same share in each of several slices of the time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace why {

// Sums over slices of an interval.
class Sliced {
public:
  static constexpr size_t slices = 10;
  void add(uint64_t at, uint64_t begin, uint64_t end, double weight) {
    if (end <= begin) return;
    add_to(at <= begin ? 0 : (at - begin) * slices / (end - begin), weight);
  }
  // By the number of the slice; what comes after the last one is part of that.
  void add_to(uint64_t slice, double weight) { sums_[std::min<uint64_t>(slice, slices - 1)] += weight; }
  // A span of time, as its part in each slice of so many ns from 0 on.
  void add_span(uint64_t from, uint64_t until, uint64_t slice_ns) {
    for (size_t i = 0; i < slices; i++) {
      const uint64_t first = std::max<uint64_t>(from, i * slice_ns), last = std::min<uint64_t>(until, (i + 1) * slice_ns);
      if (last > first) sums_[i] += static_cast<double>(last - first);
    }
  }
  double sum() const {
    double out = 0;
    for (double s : sums_) out += s;
    return out;
  }
  double of(size_t slice) const { return sums_[slice]; }

private:
  std::array<double, slices> sums_ = {};
};

struct ShareInterval {
  double share = 0, low = 0, high = 0;
};

// Measurements that run together slow the program, and each other: repeated alone, shares differ by so much, whatever the slices say (test/why/planted.py --once).
inline constexpr double by_measuring = 0.02;

// Of `part` in `whole`. Slices without any of the whole say nothing.
inline ShareInterval share_of(const Sliced& part, const Sliced& whole) {
  ShareInterval out;
  if (whole.sum() <= 0) return out;
  out.share = std::min(part.sum() / whole.sum(), 1.0); // clocks are read one after the other
  double squares = 0, weights = 0;
  size_t n = 0;
  for (size_t i = 0; i < Sliced::slices; i++) {
    if (whole.of(i) <= 0) continue;
    const double off = part.of(i) / whole.of(i) - out.share;
    squares += off * off * whole.of(i);
    weights += whole.of(i);
    n++;
  }
  constexpr double of_t = 2.26; // Student's t, 95%, 9 degrees of freedom
  const double half = n > 1 ? of_t * std::sqrt(squares / weights / static_cast<double>(n - 1)) + by_measuring : 1;
  out.low = std::clamp(out.share - half, 0.0, 1.0);
  out.high = std::clamp(out.share + half, 0.0, 1.0);
  return out;
}

// A share of so many independent samples: that of a binomial distribution.
inline ShareInterval sampled_share(double share, uint64_t samples) {
  const auto n = static_cast<double>(samples);
  const double half = samples ? 1.96 * std::sqrt(share * (1 - share) / n) + 0.5 / n : 1;
  return {share, std::max(0.0, share - half), std::min(1.0, share + half)};
}

} // namespace why
