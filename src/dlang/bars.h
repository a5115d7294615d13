// Bars of distributions and of counts, as dtrace draws them.
#pragma once

#include "dlang/plan.h"

#include <string>
#include <string_view>

namespace dlang {

// What the bars of one table are relative to: the sum of their values or, zoomed, a little more than the largest one.
struct Scale {
  bool zoom = false;
  long double total = 0;
  bool has_positive = false, has_negative = false;
  void add(int64_t n);
};

// "value  ------------- Distribution ------------- count": the title ends at that column.
std::string bar_heading(std::string_view title, size_t columns);
// "|@@@@ … 3        ": 40 columns for the bar; negative values grow to the left. The number is divided by `normal`.
std::string bar_line(int64_t n, int64_t normal, const Scale& scale, Encoding encoding);
// One character that is higher, the larger the value is.
std::string bar_cell(int64_t n, const Scale& scale, Encoding encoding);

} // namespace dlang
