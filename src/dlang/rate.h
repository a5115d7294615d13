// Rates of timers and of options.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dlang {

// N, Nms, Nhz …: the period in microseconds, or the frequency in hz.
struct Rate {
  uint64_t number = 0;
  bool is_frequency = false;
};
std::optional<Rate> rate_of(std::string_view text);

} // namespace dlang
