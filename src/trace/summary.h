// The table of `acu trace -c`, in the layout of `strace -c`; times are those that calls took by the clock.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace trace {

struct CallCount {
  uint64_t calls = 0, errors = 0, ns = 0;
};

// By the number of the call; those that took most come first.
std::string summary_text(const std::map<int, CallCount>& counts);

} // namespace trace
