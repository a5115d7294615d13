// What cat() and system() bring in from outside, and what debugf() takes there.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace report {

using TakeOutput = std::function<void(std::string_view)>;

// At most `limit` bytes of a file, piece by piece.
base::Status read_pieces(const std::string& path, uint64_t limit, const TakeOutput& take);
// What a shell command writes to its standard output; returns when it has ended, or was ended because `patience_ms` (see
// report::Options; may be empty) ran out.
base::Status run_command(const std::string& command, const TakeOutput& take, const std::function<int()>& patience_ms);

// A message in the kernel's trace.
base::Status write_trace_marker(std::string_view text);

} // namespace report
