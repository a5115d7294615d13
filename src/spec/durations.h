// Units of time, as they stand behind a number (`5ms`) and in the names of timers (`interval:ms:5`).
#pragma once

#include <cstdint>
#include <string_view>

namespace spec {

struct DurationUnit {
  std::string_view name;
  uint64_t nanoseconds;
};

inline constexpr DurationUnit duration_units[] = {
    {"ns", 1},
    {"us", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
    {"d", 86'400'000'000'000},
};

// The row of a name, or nullptr.
constexpr const DurationUnit* find_duration_unit(std::string_view name) {
  for (const DurationUnit& unit : duration_units)
    if (unit.name == name) return &unit;
  return nullptr;
}

} // namespace spec
