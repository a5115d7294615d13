// The table of `acu trace -c`, in the layout of `strace -c`; times are those that calls took by the clock.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trace {

struct CallCount {
  uint64_t calls = 0, errors = 0, ns = 0;
};

enum class SortCounts : uint8_t { time, calls, errors, name };

SortCounts sort_of_counts(std::string_view word); // "time", "calls", …

struct CountRow {
  std::string name;
  CallCount count;
};

std::string name_of_row(int number);
// By call number. Sorted with the largest first, names alphabetically.
std::vector<CountRow> sorted_counts(const std::map<int, CallCount>& counts, SortCounts by);
// `top`: number of rows; 0: all.
std::string summary_text(const std::vector<CountRow>& rows, size_t top = 0);

} // namespace trace
