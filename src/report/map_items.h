// The entries of a map as they are shown: merged over the CPUs, sorted, the largest of them.
#pragma once

#include "report/map.h"
#include "report/order.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace report {

// In the order of sort_items(). Values that had to be merged stand in `merged`.
struct Selection {
  std::vector<Item> items;
  std::vector<std::byte> merged;
  std::optional<std::vector<ir::Entry>> joined; // that items point to, if there are any
};

// Items refer to the entries of the request.
Selection select(Context& context, const MapRequest& request);

} // namespace report
