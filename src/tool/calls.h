// Which system calls are meant (trace.cc).
#pragma once

#include "base/result.h"

#include <string_view>
#include <vector>

namespace tool {

// "openat,read", "%file", "!futex", "open*"; with `!` all but these. Empty: all. Numbers, sorted. Failure: there is no such call.
base::Result<std::vector<int>> read_calls(std::string_view text);

} // namespace tool
