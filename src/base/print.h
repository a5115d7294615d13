// printf's formats as a string.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

namespace base {

// Of any length.
template<class... T> std::string print(const char* format, T... values) {
  const int size = std::snprintf(nullptr, 0, format, values...);
  std::string out(static_cast<size_t>(std::max(size, 0)), '\0');
  std::snprintf(out.data(), out.size() + 1, format, values...);
  return out;
}

} // namespace base
