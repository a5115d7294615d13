// The order in which the entries of a map print: ascending by value for numbers, by average for avg and
// stats, by total count for histograms; other values, and equal ones, by key.
#pragma once

#include "report/context.h"

#include <vector>

namespace report {

struct Item {
  Bytes key;   // empty for scalar maps
  Bytes value; // merged over the CPUs
};

void sort_items(const ir::Map& map, std::vector<Item>& items);

} // namespace report
