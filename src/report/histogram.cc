// Both kinds of histogram become rows first: a range and a count. Text and JSON are written from rows alone.
// A row of text is
//
//   [2, 4)                 7 |@@@@@@@@@@                                          |
//
// with the range in 16 columns, the count in 8, and a bar relative to the largest count.
#include "report/histogram.h"

#include "report/json.h"
#include "report/number.h"

#include <algorithm>

namespace report {

namespace {

constexpr size_t label_columns = 16, count_columns = 8;
constexpr uint64_t bar_columns = 52;

Row hist_row(uint32_t bits, uint32_t index) {
  if (index == 0) return {.end = 0};
  uint32_t in_power = 1u << bits; // buckets of one power of two
  uint32_t at = index - 1;
  if (at < in_power) return {.low = at, .end = Wide{at} + 1, .single = true};
  at -= in_power;
  uint32_t shift = at / in_power;
  Wide low = Wide{in_power + at % in_power} << shift;
  return {.low = low, .end = low + (Wide{1} << shift), .single = shift == 0};
}

constexpr Wide kilo = 1024, mega = kilo * kilo;

// All numbers of a linear histogram have the same unit: the largest in which each is whole.
Row lhist_row(const type::Type& type, uint32_t index) {
  auto fits = [&](Wide unit) { return type.step % unit == 0 && type.low % unit == 0 && type.high % unit == 0; };
  Wide unit = fits(mega) ? mega : fits(kilo) ? kilo : Wide{1};
  if (index == 0) return {.end = type.low, .unit = unit};
  if (index + 1 == type.count) return {.low = type.high, .unit = unit};
  Wide low = type.low + Wide{index - 1} * type.step;
  return {.low = low, .end = std::min(low + type.step, Wide{type.high}), .unit = unit};
}

// 1024 and its powers get a letter where that is exact: 2048 is 2K, 1536 is 1536.
std::string short_number(Wide n) {
  constexpr std::string_view letters = "KMGTPE";
  size_t power = 0;
  while (n != 0 && n % 1024 == 0 && power < letters.size()) n /= 1024, power++;
  std::string text;
  append(text, {static_cast<uint64_t>(n), n < 0});
  if (power) text += letters[power - 1];
  return text;
}

std::string number_in(Wide unit, Wide n) {
  if (unit == 0) return short_number(n);
  std::string text;
  Wide count = n / unit;
  append(text, {static_cast<uint64_t>(count), count < 0});
  return text + (unit == mega ? "M" : unit == kilo ? "K" : "");
}

std::string label(const Row& row) {
  if (row.single) return "[" + short_number(*row.low) + "]";
  return (row.low ? "[" + number_in(row.unit, *row.low) : "(...") + ", " +
         (row.end ? number_in(row.unit, *row.end) : "...") + ")";
}

uint64_t bucket(Bytes buckets, uint32_t index) { return load(part(buckets, size_t{index} * 8, 8), 8); }

// floor(count / most * 52), without overflow.
size_t bar_length(uint64_t count, uint64_t most) {
  return most ? static_cast<size_t>(static_cast<Wide>(count) * bar_columns / most) : 0;
}

} // namespace

Row histogram_bucket(const type::Type& type, uint32_t index) {
  return type.is(type::Kind::hist) ? hist_row(static_cast<uint32_t>(type.step), index) : lhist_row(type, index);
}

std::vector<Row> histogram_rows(const type::Type& type, Bytes buckets, uint64_t div) {
  uint32_t first = 0, end = type.count;
  while (first < end && bucket(buckets, first) == 0) first++;
  while (end > first && bucket(buckets, end - 1) == 0) end--;
  std::vector<Row> rows;
  rows.reserve(end - first);
  for (uint32_t i = first; i < end; i++) {
    Row row = histogram_bucket(type, i);
    row.count = bucket(buckets, i) / std::max<uint64_t>(div, 1);
    rows.push_back(row);
  }
  return rows;
}

uint64_t histogram_total(const type::Type& type, Bytes buckets) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < type.count; i++) total += bucket(buckets, i);
  return total;
}

void append_histogram(std::string& out, const std::vector<Row>& rows) {
  uint64_t most = 0;
  for (const Row& row : rows) most = std::max(most, row.count);
  for (const Row& row : rows) {
    std::string range = label(row), count = std::to_string(row.count);
    size_t bar = bar_length(row.count, most);
    out += range;
    out.append(label_columns - std::min(label_columns, range.size()), ' ');
    out.append(count_columns - std::min(count_columns, count.size()), ' ');
    out += count;
    out += " |";
    out.append(bar, '@').append(bar_columns - bar, ' ');
    out += "|\n";
  }
}

void append_histogram_json(std::string& out, const std::vector<Row>& rows) {
  out += '[';
  for (const Row& row : rows) {
    out += &row == rows.data() ? "{" : ", {";
    auto field = [&](std::string_view name, Wide n) {
      out.append("\"").append(name).append("\": ");
      append_json(out, Number{static_cast<uint64_t>(n), n < 0});
      out += ", ";
    };
    if (row.low) field("min", *row.low);
    if (row.end) field("max", *row.end - 1);
    out += "\"count\": ";
    append_json(out, Number{row.count, false});
    out += '}';
  }
  out += ']';
}

} // namespace report
