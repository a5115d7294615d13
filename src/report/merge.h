// One value of a map out of the values of its CPUs.
#pragma once

#include "report/context.h"

namespace report {

// `values` holds map.value_size bytes for each CPU (once for maps that are not per CPU). Writes the value, in
// the layout of map.value, to `out` (map.value->size bytes).
void merge_cpus(const ir::Map& map, Bytes values, std::span<std::byte> out);

} // namespace report
