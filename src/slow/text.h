// A story of `acu slow` as a block of lines, and as one line of JSON.
#pragma once

#include "slow/story.h"

namespace slow {

// `wall_ns`: added to the story's times to get wall-clock times.
std::string slow_text(const Story& story, int64_t wall_ns);
std::string slow_json(const Story& story, int64_t wall_ns);

} // namespace slow
