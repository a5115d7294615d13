// What `acu serve` and `acu store` have in common.
#pragma once

#include "session/arguments.h"
#include "store/store.h"

namespace tool {

// --keep and --max-size.
base::Result<store::Limits> read_limits(const session::Arguments& arguments);

} // namespace tool
