// Histograms as rows. Buckets of hist: index 0 for negative numbers; then with b bits one bucket for each
// number below 2^b, and 2^b buckets for each power of two from there on. Buckets of lhist: below, steps,
// above.
#pragma once

#include "report/context.h"

#include <optional>
#include <vector>

namespace report {

__extension__ typedef __int128 Wide; // holds both ends of the last bucket, 2^64, and negative numbers

struct Row {
  std::optional<Wide> low; // nothing: from minus infinity
  std::optional<Wide> end; // exclusive; nothing: to infinity
  bool single = false;     // shown as one number
  Wide unit = 0;           // lhist: numbers are shown in 1, K or M; 0: each as its size allows
  uint64_t count = 0;
};

// The range of a bucket, without a count.
Row histogram_bucket(const type::Type& type, uint32_t index);
// From the first bucket that is not empty to the last; counts are divided by `div` (0: 1).
std::vector<Row> histogram_rows(const type::Type& type, Bytes buckets, uint64_t div);
// All buckets together.
uint64_t histogram_total(const type::Type& type, Bytes buckets);

// One line a row.
void append_histogram(std::string& out, const std::vector<Row>& rows);
void append_histogram_json(std::string& out, const std::vector<Row>& rows);

} // namespace report
