// Time series (tseries) as rows: one for each interval from the first that has a value to the latest, at most as many
// as the series keeps.
#pragma once

#include "report/number.h"

#include <optional>
#include <vector>

namespace report {

struct Point {
  int64_t begin_ns = 0; // wall clock
  std::optional<Number> value;
};

struct Series {
  int64_t interval_ns = 1;
  std::vector<Point> points;
};

// `out` takes what another CPU's slices have for its intervals.
void merge_series(const type::Type& type, Bytes slices, std::span<std::byte> out);
// Values are divided by `div` (0: 1).
Series series_points(const type::Type& type, Bytes slices, uint64_t div);

//              -5                                                  5
// hh:mm:ss.ms  |___________________________________________________|
// 10:39:49.700 |                   *     .                         | -1
//              v___________________________________________________v
//              -5                                                  5
void append_series(std::string& out, const Series& series);
// [{"interval_start": time as above, "value": n}, …]; null where an interval has no value.
void append_series_json(std::string& out, const Series& series);

} // namespace report
