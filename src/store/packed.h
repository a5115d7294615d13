// The rows of a slot in one value: samples by thread and stack, numbers by service and metric. A row takes a few bytes instead of the thirty that a
// row of a table takes, and a day is read in milliseconds.
//
// Numbers are LEB128, rows are sorted, and what they are sorted by is written as the difference to the row before:
//   samples: the greatest common divisor of all weights, then for each row: thread, stack (from 0 in each thread), weight / divisor, count
//   points:  for each row: service, metric, value as an IEEE 754 single, little-endian
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace store {

struct SampleRow {
  int64_t thread = 0, stack = 0;
  uint64_t weight = 0, count = 0;
};
struct PointRow {
  int64_t service = 0, metric = 0;
  double value = 0; // a mean
};

// In any order; rows of the same thread and stack become one.
std::string pack(std::vector<SampleRow> rows);
// Of the same service and metric: the last.
std::string pack(std::vector<PointRow> rows);
// Damaged bytes end them early.
std::vector<SampleRow> unpack_samples(std::string_view bytes);
std::vector<PointRow> unpack_points(std::string_view bytes);

// One row of each thread and stack, with the sums of the others.
void add_up(std::vector<SampleRow>& rows);

} // namespace store
