// A call tree as text, from folded stacks: what an assistant reads instead of a flame graph.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace agent {

// `folded`: a line for each stack, frames from the outermost on between semicolons, then a blank and the weight. At most `rows`
// lines, the largest branches; those below `min_percent` of the total are left out, and the last line says how many were. `unit`: of the weights, for the heading.
std::string tree_text(std::string_view folded, std::string_view unit, uint64_t rows, double min_percent);

} // namespace agent
