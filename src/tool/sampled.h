// The request of `acu flame`, `acu record` and `acu top`: a kind or a probe, the target, and the rate.
#pragma once

#include "flame/sampling.h"
#include "session/arguments.h"

#include <string>
#include <string_view>

namespace tool {

base::Result<flame::SamplingOptions> read_sampling(const session::Arguments& arguments);

} // namespace tool
