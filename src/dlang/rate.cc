#include "dlang/rate.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace dlang {

std::optional<Rate> rate_of(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits]))) digits++;
  const auto n = base::parse_integer(text.substr(0, digits));
  if (!n || *n == 0 || *n > UINT32_MAX) return std::nullopt;
  struct Unit {
    std::string_view name;
    uint64_t us;
  };
  constexpr Unit units[] = {{"us", 1},          {"usec", 1},           {"ms", 1000},           {"msec", 1000},           {"s", 1'000'000},          {"sec", 1'000'000},
                            {"m", 60'000'000},  {"min", 60'000'000},   {"h", 3'600'000'000},   {"hour", 3'600'000'000},  {"d", 86'400'000'000},     {"day", 86'400'000'000}};
  const std::string unit = base::lower(text.substr(digits));
  if (unit.empty() || unit == "hz") return Rate{*n, true};
  if (unit == "ns" || unit == "nsec") return Rate{std::max<uint64_t>(*n / 1000, 1), false};
  for (const Unit& u : units)
    if (unit == u.name) return Rate{*n * u.us, false};
  return std::nullopt;
}

} // namespace dlang
