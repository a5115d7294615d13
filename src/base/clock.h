// Clocks, and times as people read them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

namespace base {

inline uint64_t clock_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec t;
  ::clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// What a clock lacks to the wall clock.
inline int64_t to_wall_ns(clockid_t clock) {
  return static_cast<int64_t>(clock_ns(CLOCK_REALTIME) - clock_ns(clock));
}
inline int64_t boot_to_wall_ns() { return to_wall_ns(CLOCK_BOOTTIME); }

inline std::string in_ms(uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms", static_cast<double>(ns) / 1e6);
  return text;
}

// "1.234 s", "12.34 ms", "56 us", "7 ns"
inline std::string short_time(uint64_t ns) {
  // What would be rounded up to 1000 of a unit is 1 of the next.
  const double n = static_cast<double>(ns);
  char text[32];
  if (ns >= 999'995'000)
    std::snprintf(text, sizeof text, "%.3f s", n / 1e9);
  else if (ns >= 999'500)
    std::snprintf(text, sizeof text, "%.2f ms", n / 1e6);
  else
    std::snprintf(text, sizeof text, ns >= 1'000 ? "%.0f us" : "%.0f ns", ns >= 1'000 ? n / 1e3 : n);
  return text;
}

// "12:40:18", now.
inline std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  tm parts = {};
  ::localtime_r(&now, &parts);
  char text[16];
  std::snprintf(text, sizeof text, "%02d:%02d:%02d", parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text;
}

} // namespace base
