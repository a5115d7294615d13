// Names that a program gives the code it makes while it runs: /tmp/perf-PID.map, as perf reads it. A line is
// `START SIZE NAME`, both numbers hexadecimal without 0x; the name may hold blanks.
#pragma once

#include "symbol/function_table.h"

#include <optional>
#include <string>
#include <sys/types.h>

namespace symbol {

FunctionTable parse_perf_map(std::string_view text);

// Where the file of a process is, seen from here: inside the process's root, under the id it has there.
// Empty if it has none.
std::string perf_map_path(pid_t pid);

// The table of the file, unless its size is still `size`, which becomes what it is now. What lies there is the
// program's choice: only regular files of a size that can be held are read.
std::optional<FunctionTable> read_perf_map(const std::string& path, int64_t& size);

} // namespace symbol
