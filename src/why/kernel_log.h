// The kernel's log (/dev/kmsg).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace why {

struct LogLine {
  uint64_t age_ns = 0; // how long ago it was written
  std::string text;
};

// All lines in the kernel's buffer, oldest first; none: it cannot be read.
std::vector<LogLine> read_kernel_log();

} // namespace why
