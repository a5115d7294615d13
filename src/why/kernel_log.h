// The kernel's log (/dev/kmsg).
#pragma once

#include <string>
#include <vector>

namespace why {

// All lines in the kernel's buffer, without their times; none: it cannot be read.
std::vector<std::string> read_kernel_log();

} // namespace why
