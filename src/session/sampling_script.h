// The script of a recording, from the table of kinds (spec/profile_kinds.h) and the processes that are asked
// for.
#pragma once

#include "session/filter.h"
#include "session/own_script.h"
#include "spec/profile_kinds.h"

#include <cstdint>
#include <string>

namespace session {

struct SamplingScript {
  OwnScript script;
  std::string what; // Condition::what
  bool lacks_end = false; // what had not ended at the end is not counted: the kernel cannot go through maps
};

// `rate`: samples a second, of cycles events between two samples. `is_exact`: every event has its stack. Failure: there is no such user or
// group.
base::Result<SamplingScript> make_sampling_script(const spec::ProfileKind& kind, const Filter& filter, uint64_t rate, bool is_exact,
                                                  uint64_t duration_ns);

} // namespace session
