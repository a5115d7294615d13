// Rounding without libm: loading it costs every start (tool/ceil.cc).
#pragma once

#include <cstdint>
#include <limits>

namespace base {

// To the nearest whole number, halves away from zero. What does not fit becomes the nearest that does; not a number: 0.
constexpr int64_t rounded(double n) {
  constexpr double end = 0x1p63;
  if (n >= end) return std::numeric_limits<int64_t>::max();
  if (n < -end) return std::numeric_limits<int64_t>::min();
  if (n != n) return 0;
  const auto whole = static_cast<int64_t>(n);
  const double rest = n - static_cast<double>(whole); // exact
  return whole + (rest >= 0.5) - (rest <= -0.5);
}

} // namespace base
