// Maps with containers in their keys: programs count by control group, of which a container may have several. What is counted in
// them is one entry.
#pragma once

#include "report/context.h"

#include <optional>
#include <vector>

namespace report {

// Entries in which groups of one container have become one, where values can be added up; nothing: the map has no such keys.
std::optional<std::vector<ir::Entry>> join_containers(Context& context, const ir::Map& map, const std::vector<ir::Entry>& entries);

} // namespace report
