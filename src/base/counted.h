// Numbers with their unit for messages: "1 sample", "2 samples", "3 processes". All singulars and plurals are made here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace base {

// The unit alone, in the singular or the plural: for numbers that are formatted elsewhere.
inline std::string unit_of(uint64_t n, std::string_view unit) {
  std::string out(unit);
  if (n == 1) return out;
  auto ends = [&](std::string_view end) { return out.ends_with(end); };
  const bool is_vowel_before_y = ends("ay") || ends("ey") || ends("oy") || ends("uy");
  if (ends("s") || ends("x") || ends("ch") || ends("sh")) return out + "es";
  if (ends("y") && !is_vowel_before_y) return out.replace(out.size() - 1, 1, "ies");
  return out + "s";
}

inline std::string counted(uint64_t n, std::string_view unit) { return std::to_string(n) + " " + unit_of(n, unit); }

// The verb after a number of things.
inline std::string_view is_or_are(uint64_t n) { return n == 1 ? "is" : "are"; }
inline std::string_view was_or_were(uint64_t n) { return n == 1 ? "was" : "were"; }

} // namespace base
