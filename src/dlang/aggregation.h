// Aggregations as they are read from the engine's maps, and as text.
#pragma once

#include "dlang/bars.h"
#include "dlang/plan.h"
#include "ir/engine.h"
#include "report/report.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dlang {

// A part of a key.
struct Cell {
  const type::Type* type = nullptr;
  std::vector<std::byte> bytes;
  std::string symbol = {}; // of an address with a name: how it is printed; keys with the same are one
  bool is_number = false;
  int64_t number = 0;
  unsigned size = 8; // of a number in D, in bytes
};

// What an aggregation has for one key. `numbers`:
//   count, sum, min, max  the value
//   avg, stddev           total, count; of stddev also the sums of squares by place: 0, 32, 33, 64 bits
//   quantize              buckets -2^62 … -1, 0, 1 … 2^62
//   lquantize, llquantize below, the buckets, above
struct Row {
  std::vector<Cell> key;
  std::vector<int64_t> numbers;
};
using Rows = std::map<std::string, Row>; // by the bytes of the key, the same for keys that look the same

// Reads the maps of an aggregation; empty where it was never used.
Rows read_rows(const Aggregation& a, const ir::Program& program, ir::Engine& engine, report::Names& names);
// The parts of a key of the aggregation, without a bucket; or, with one, all of them.
std::vector<Cell> cells_of(const Aggregation& a, const type::Type& key, std::span<const std::byte> bytes, report::Names& names, bool with_bucket = false);

// Whether values of two times can be subtracted: of all but the smallest and the largest.
bool is_additive(Function f);
bool is_distribution(Function f);
// The number that a value prints as, divided by `normal`.
int64_t number_of(const Aggregation& a, const Row& row, int64_t normal);
// What rows are sorted by.
long double rank_of(const Aggregation& a, const Row& row);
// The table of a distribution, with an empty line before it.
std::string distribution_of(const Aggregation& a, const Row& row, int64_t normal, const Display& display);

// Rows that are one line each: of a distribution one character for each bucket from `first` to `last`, of a count a bar.
enum class RowStyle : uint8_t { plain, bar, packed };
struct Packing {
  RowStyle style = RowStyle::plain;
  size_t first = 0, last = 0;
  Scale scale; // of bars, whose rows share it
};
Packing packing_of(const Aggregation& a, const Rows& rows, const Display& display);
// Before the first of these rows.
std::string packed_heading(const Aggregation& a, const Packing& packing, const std::vector<Cell>& key);
// A row behind its key, with the end of the line.
std::string packed_line(const Aggregation& a, const Packing& packing, const Row& row, int64_t normal, const Display& display);
// The columns of a part of a key in a table: a number has as many as its size needs.
int columns_of_number(unsigned size);
inline constexpr int packed_text_columns = 16;

} // namespace dlang
