// What `acu flame`, `acu record` and `acu top` are asked to look at: a kind or a probe, whose, and how often.
#pragma once

#include "session/arguments.h"
#include "flame/sampling.h"

#include <string>
#include <string_view>

namespace tool {

base::Result<flame::SamplingOptions> read_sampling(const session::Arguments& arguments);

// The number of an option, from 1 on.
base::Result<uint64_t> read_count(std::string_view option, const std::string& text, uint64_t most);

} // namespace tool
