// How often something happens, counted for a moment: what it would cost to follow each time is known before it is done.
#pragma once

#include "session/builtin_script.h"
#include "why/measurement.h"

#include <string_view>
#include <vector>

namespace why {

inline constexpr uint64_t moment_ns = 100'000'000;

// Runs a script that only counts, in the process that is measured; the numbers in these of its maps.
base::Result<std::vector<uint64_t>> count_for_a_moment(const Subject& subject, session::BuiltinScript counts, const session::Options& run, std::vector<std::string_view> maps);

// Nothing is wrong while following takes no more of a CPU than the subject allows. `what` the process does: "allocates".
base::Status check_cost(const Subject& subject, std::string_view what, double percent);

} // namespace why
