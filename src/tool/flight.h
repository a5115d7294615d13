// `acu record --flight`: its options, which `acu record` without it refuses.
#pragma once

#include "session/arguments.h"

namespace tool {

// Returns the exit status.
int record_flight(const session::Arguments& arguments);
// The first option that only --flight has; nullptr: none was given.
const session::Given* flight_option(const session::Arguments& arguments);

} // namespace tool
