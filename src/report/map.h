// Whole maps: merged over the CPUs, sorted, as text or JSON. `take` is handed the output piece by piece.
#pragma once

#include "report/context.h"

#include <functional>
#include <vector>

namespace report {

using TakeText = std::function<void(std::string_view)>;

struct MapRequest {
  const ir::Map& map;
  const std::vector<ir::Entry>& entries;
  uint64_t top = 0; // only so many of the largest; 0: all
  uint64_t div = 0; // values are divided by it; 0: 1
};

//   @name: value
//   @name[key]: value
// Histograms stand under a line of their own and are followed by a blank one.
void print_map_text(Context& context, const MapRequest& request, const TakeText& take);
// {"type": "map", "data": {"@name": {"key": value}}}, or {"@name": value} for scalar maps. The type is "hist"
// for histograms, "stats" for avg and stats.
void print_map_json(Context& context, const MapRequest& request, const TakeText& take);

// The value of the only entry, without name and key.
std::string entry_text(Context& context, const MapRequest& request);
std::string entry_json(Context& context, const MapRequest& request);

} // namespace report
