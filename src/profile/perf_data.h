// perf.data files, by perf itself: their format changes with each version of the kernel, and `perf script` prints what it means, with the names of functions.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace profile {

bool is_perf_data(std::string_view bytes);
// The file as text of `perf script`. Failure: perf is not installed, or cannot read it.
base::Result<std::string> perf_script_of(const std::string& path);

} // namespace profile
