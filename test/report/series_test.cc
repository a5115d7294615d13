// Time series: slices of several CPUs put together, rows, the frame, JSON.
#include "fake.h"

#include <ctime>

namespace report {
namespace {

using type::Slice;

constexpr int64_t second = 1'000'000'000;

ir::Map map_of_series(const type::Type* value, const type::Type* key = nullptr) {
  ir::Map m;
  m.name = "s";
  m.kind = key ? ir::MapKind::percpu_hash : ir::MapKind::percpu_array;
  m.key = key;
  m.value = value;
  m.key_size = key ? key->size : 0;
  m.value_size = value->size;
  return m;
}

class SeriesTest : public ReportTest {
protected:
  SeriesTest() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

TEST_F(SeriesTest, ZigzagHasALineAtZero) {
  const type::Type* t = types.tseries(second / 10, 5, Slice::last, true);
  // 1970-01-01 00:01:00.2 and on.
  Buffer slices = words({601 + 5, 3, 0, 601 + 1, -5, 0, 601 + 2, -4, 0, 601 + 3, 0, 0, 601 + 4, 5, 0});
  // Interval i stands in slice i % 5: 605 is in the first, 602 (as 601 + 1, counted from 1) in the second.
  EXPECT_EQ(print_map(map_of_series(t), {{{}, slices}}),
            "@s:\n"
            "             -5                                                  5\n"
            "hh:mm:ss.ms  |___________________________________________________|\n"
            "00:01:00.100 *                         .                         | -5\n"
            "00:01:00.200 |    *                    .                         | -4\n"
            "00:01:00.300 |                         *                         | 0\n"
            "00:01:00.400 |                         .                         * 5\n"
            "00:01:00.500 |                         .              *          | 3\n"
            "             v___________________________________________________v\n"
            "             -5                                                  5\n"
            "\n");
}

TEST_F(SeriesTest, PositiveValuesHaveNoLineAndGapsNoMark) {
  const type::Type* t = types.tseries(second, 4, Slice::max, false);
  EXPECT_EQ(print_map(map_of_series(t), {{{}, words({1, 0, 0, 0, 0, 0, 3, 2, 0, 4, 1, 0})}}),
            "@s:\n"
            "         0                                                   2\n"
            "hh:mm:ss |___________________________________________________|\n"
            "00:00:00 *                                                   | 0\n"
            "00:00:01 |                                                   | -\n"
            "00:00:02 |                                                   * 2\n"
            "00:00:03 |                         *                         | 1\n"
            "         v___________________________________________________v\n"
            "         0                                                   2\n"
            "\n");
}

TEST_F(SeriesTest, SlicesOfOldRoundsAreLeftOut) {
  const type::Type* t = types.tseries(second, 3, Slice::last, true);
  // The latest interval is 9; of 7, 8 and 9 only 7 and 9 have values, 5 is from the round before.
  options.json = true;
  EXPECT_EQ(print_map(map_of_series(t), {{{}, words({10, 1, 0, 8, 2, 0, 6, 3, 0})}}),
            "{\"type\": \"tseries\", \"data\": {\"@s\": [{\"interval_start\": \"00:00:07\", \"value\": 2}, "
            "{\"interval_start\": \"00:00:08\", \"value\": null}, {\"interval_start\": \"00:00:09\", \"value\": 1}]}}\n");
}

TEST_F(SeriesTest, CpusArePutTogetherByInterval) {
  auto value = [&](Slice slice, std::initializer_list<int64_t> cpus) {
    const type::Type* t = types.tseries(second, 1, slice, true);
    options.json = true;
    std::string line = print_map(map_of_series(t), {{{}, words(cpus)}});
    size_t at = line.find("\"value\": ") + 9;
    return line.substr(at, line.find('}', at) - at);
  };
  EXPECT_EQ(value(Slice::last, {5, 10, 700, 5, 20, 600}), "10"); // by time
  EXPECT_EQ(value(Slice::avg, {5, 10, 1, 5, 20, 2}), "10");
  EXPECT_EQ(value(Slice::sum, {5, 10, 0, 5, -20, 0}), "-10");
  EXPECT_EQ(value(Slice::min, {5, 10, 0, 5, -20, 0}), "-20");
  EXPECT_EQ(value(Slice::max, {5, 10, 0, 5, -20, 0}), "10");
  EXPECT_EQ(value(Slice::sum, {5, 10, 0, 6, -20, 0}), "-20"); // the later interval
  EXPECT_EQ(value(Slice::sum, {5, 10, 0, 0, 0, 0}), "10");    // a CPU without values
}

TEST_F(SeriesTest, TimesAreAsFineAsTheInterval) {
  auto head = [&](int64_t interval) {
    std::string text = print_map(map_of_series(types.tseries(interval, 1, Slice::last, true)), {{{}, words({3, 1, 0})}});
    size_t second_line = text.find('\n', text.find('\n') + 1) + 1;
    size_t row = text.find('\n', second_line) + 1;
    return text.substr(second_line, text.find('|', second_line) - second_line) + "/" +
           text.substr(row, text.find('*', row) - row);
  };
  EXPECT_EQ(head(60 * second), "hh:mm:ss /00:02:00 ");
  EXPECT_EQ(head(second / 1000), "hh:mm:ss.ms  /00:00:00.002 ");
  EXPECT_EQ(head(2500), "hh:mm:ss.ns        /00:00:00.000005000 ");
  EXPECT_EQ(head(3000), "hh:mm:ss.us     /00:00:00.000006 ");
  EXPECT_EQ(head(7), "hh:mm:ss.ns        /00:00:00.000000014 ");
}

TEST_F(SeriesTest, WithoutValuesOnlyTheNameIsThere) {
  const type::Type* t = types.tseries(second, 2, Slice::last, true);
  EXPECT_EQ(print_map(map_of_series(t), {{{}, words({0, 0, 0, 0, 0, 0})}}), "@s:\n\n");
  options.json = true;
  EXPECT_EQ(print_map(map_of_series(t), {{{}, words({0, 0, 0, 0, 0, 0})}}),
            "{\"type\": \"tseries\", \"data\": {\"@s\": []}}\n");
}

TEST_F(SeriesTest, LargestRange) {
  const type::Type* t = types.tseries(second, 2, Slice::last, true);
  std::string text = print_map(map_of_series(t), {{{}, words({1, INT64_MIN, 0, 2, INT64_MAX, 0})}});
  EXPECT_NE(text.find("00:00:00 *                         .                         | -9223372036854775808\n"), text.npos);
  EXPECT_NE(text.find("00:00:01 |                         .                         * 9223372036854775807\n"), text.npos);
}

} // namespace
} // namespace report
