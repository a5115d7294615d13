// The one function of libm that the program would need: libstdc++'s hash tables round their sizes up with it. With our own, no start
// loads libm.
#include <cmath>

extern "C" double ceil(double n) noexcept {
  if (!(std::fabs(n) < 0x1p52)) return n; // whole already, or not a number
  const auto whole = static_cast<double>(static_cast<long long>(n));
  return std::copysign(whole < n ? whole + 1 : whole, n);
}
