// --from and --until.
#pragma once

#include "profile/slices.h"
#include "session/arguments.h"

namespace tool {

// Failure: no times, or there is nothing between them.
base::Result<profile::TimeRange> read_range(const session::Arguments& arguments);

} // namespace tool
