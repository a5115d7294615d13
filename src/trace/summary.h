// The table of `acu trace -c`, in the layout of `strace -c`; times are those that calls took by the clock.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trace {

// `timed`: of how many the time was seen; `ns` of all is an estimate if they are more.
struct CallCount {
  uint64_t calls = 0, errors = 0, ns = 0, timed = 0;
};

// What the probes have counted of a call: `ns` is that of the timed ones.
struct Tally {
  uint64_t timed = 0, ns = 0, untimed = 0, errors = 0;
};

// Estimates what calls took whose time was not seen: on average as much as those beside them that were timed. Sums that are added up
// from short parts follow loads that change.
class CountedCalls {
public:
  // `now`: all that was counted since the begin, by call number; what is new is added.
  void add(const std::map<int, Tally>& now);
  const std::map<int, CallCount>& counts() const { return counts_; }

private:
  std::map<int, Tally> tallies_;
  std::map<int, CallCount> counts_;
  std::map<int, uint64_t> unknown_; // calls before the first that was timed
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
