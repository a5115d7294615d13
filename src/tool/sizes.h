// Sizes in options: 64M, 1G.
#pragma once

#include "base/result.h"
#include "base/text.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tool {

inline base::Result<uint64_t> read_bytes(std::string_view option, const std::string& text) {
  constexpr uint64_t least = 1 << 20, most = uint64_t{64} << 30;
  uint64_t unit = 1;
  std::string_view digits = text;
  if (const size_t at = std::string_view("KMG").find(digits.empty() ? '\0' : digits.back()); at != std::string_view::npos) {
    unit = uint64_t{1} << (10 * (at + 1));
    digits.remove_suffix(1);
  }
  const auto number = base::parse_integer(digits);
  if (!number || *number > most / unit || *number * unit < least) return base::Error{base::Failure::usage, "`" + std::string(option) + "` takes a size from 1M to 64G, not `" + text + "`"};
  return *number * unit;
}

} // namespace tool
