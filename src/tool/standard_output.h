// Standard output, to which say() (tool.h) writes.
#pragma once

#include "base/result.h"

#include <string>

namespace tool {

// From here on, say() and scripts without an output file of their own write to `file`.
base::Status say_to(const std::string& file);
// Not all that was said could be written; acu's exit status will say so.
bool has_lost_output();

} // namespace tool
