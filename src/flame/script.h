// The script of a recording, from the table of kinds (spec/profile_kinds.h) and the processes that are asked
// for.
#pragma once

#include "session/builtin_script.h"
#include "session/target_filter.h"
#include "spec/profile_kinds.h"

#include <cstdint>
#include <string>

namespace flame {

struct SamplingScript {
  session::BuiltinScript script;
  std::string what; // Condition::what
  bool lacks_end = false; // what had not ended at the end is not counted: the kernel cannot go through maps
};

// `rate`: samples a second, of cycles events between two samples. `is_exact`: every event has its stack. Failure: there is no such user or
// group.
base::Result<SamplingScript> make_sampling_script(const spec::ProfileKind& kind, const session::TargetFilter& filter, uint64_t rate, bool is_exact,
                                                  uint64_t duration_ns, bool only_ended = false);

} // namespace flame
