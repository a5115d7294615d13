// --test and --bench: the script's own tests and measurements, run one after the other.
#pragma once

#include "session/life.h"

namespace session {

// Runs the test probes in their order. Each passes that returns 0, calls no errorf(), fails no assertion and does not
// exit with a failure; what those that pass printed is dropped. Sets Life::failed.
base::Status run_tests(Life& life);

// Runs each bench probe for a while, and prints what one run of its block takes on average.
base::Status run_benches(Life& life);

} // namespace session
