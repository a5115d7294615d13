// Whole maps: merging of CPUs, order, keys, histograms.
#include "fake.h"

namespace report {
namespace {

constexpr std::string_view full_bar = "|@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n";
constexpr std::string_view half_bar = "|@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n";
constexpr std::string_view no_bar = "|                                                    |\n";

std::string row(std::string_view start, std::string_view bar) {
  return std::string(start) + std::string(bar);
}

TEST_F(ReportTest, ScalarMaps) {
  EXPECT_EQ(print_map(map_of("x", nullptr, types.int64(), ir::MapKind::array), {{{}, words({-4})}}),
            "@x: -4\n");
  EXPECT_EQ(print_map(map_of("", nullptr, types.string(8), ir::MapKind::array), {{{}, raw_text("abc", 8)}}),
            "@: abc\n");
  EXPECT_EQ(print_map(map_of("x", nullptr, types.int64(), ir::MapKind::array), {}), "");
}

TEST_F(ReportTest, NumbersAscendByValueThenByKey) {
  ir::Map m = map_of("m", types.int64(), types.int64());
  EXPECT_EQ(print_map(m, {{words({1}), words({30})},
                          {words({2}), words({-10})},
                          {words({5}), words({20})},
                          {words({3}), words({20})},
                          {words({-3}), words({20})}}),
            "@m[2]: -10\n@m[-3]: 20\n@m[3]: 20\n@m[5]: 20\n@m[1]: 30\n");
}

TEST_F(ReportTest, UnsignedValuesSortAsSuch) {
  ir::Map m = map_of("m", types.int64(), types.uint64());
  EXPECT_EQ(print_map(m, {{words({1}), words({-1})}, {words({2}), words({5})}}),
            "@m[2]: 5\n@m[1]: 18446744073709551615\n");
}

TEST_F(ReportTest, OtherValuesSortByKey) {
  ir::Map m = map_of("m", tuple({types.int64(), types.string(8)}), types.string(8));
  auto key = [](int64_t n, std::string_view s) { return joined({words({n}), raw_text(s, 8)}); };
  EXPECT_EQ(print_map(m, {{key(2, "a"), raw_text("z", 8)},
                          {key(1, "b"), raw_text("y", 8)},
                          {key(-1, "a"), raw_text("q", 8)},
                          {key(1, "a"), raw_text("x", 8)}}),
            "@m[-1, a]: q\n@m[1, a]: x\n@m[1, b]: y\n@m[2, a]: z\n");
}

TEST_F(ReportTest, KeysOfTuples) {
  const type::Type* inner = tuple({types.int64(), types.int64()});
  ir::Map m = map_of("m", tuple({types.int64(), inner}), types.int64());
  EXPECT_EQ(print_map(m, {{words({1, 2, 3}), words({4})}}), "@m[1, (2, 3)]: 4\n");
  EXPECT_EQ(print_map(map_of("b", types.boolean(), types.boolean()), {{raw<uint64_t>(1), raw<uint64_t>(0)}}),
            "@b[true]: false\n");
}

TEST_F(ReportTest, StackKeys) {
  const type::Type* stack = types.stack(Kind::kstack, type::StackMode::bpftrace, 127);
  EXPECT_EQ(print_map(map_of("", stack, types.simple(Kind::count), ir::MapKind::percpu_hash),
                      {{words({7}), words({5})}}),
            "@[\n        k_one+1\n        k_two+12\n        0xdead\n]: 5\n");
  EXPECT_EQ(
      print_map(map_of("", tuple({stack, types.int64()}), types.int64()), {{words({8, 1}), words({2})}}),
      "@[\n        k_one+0\n, 1]: 2\n");
}

TEST_F(ReportTest, CountsAndSumsAddUpOverCpus) {
  ir::Map m = map_of("c", types.int64(), types.simple(Kind::count), ir::MapKind::percpu_hash);
  EXPECT_EQ(print_map(m, {{words({1}), words({1, 2, 3})}, {words({2}), words({0, 1, 0})}}),
            "@c[2]: 1\n@c[1]: 6\n");
  ir::Map s = map_of("s", nullptr, types.simple(Kind::sum, true), ir::MapKind::percpu_array);
  EXPECT_EQ(print_map(s, {{{}, words({5, -8})}}), "@s: -3\n");
}

TEST_F(ReportTest, ValuesKeptAsAddends) {
  ir::Map m = map_of("n", nullptr, types.int64(), ir::MapKind::percpu_array);
  m.sums = true;
  m.value_size = 16; // with the flag behind the value
  m.present_offset = 8;
  EXPECT_EQ(print_map(m, {{{}, words({5, 1, -7, 1, 0, 0})}}), "@n: -2\n");
}

TEST_F(ReportTest, OtherPerCpuValuesAreThoseOfTheFirstCpuThatHasOne) {
  ir::Map m = map_of("n", types.int64(), types.int64(), ir::MapKind::percpu_hash);
  EXPECT_EQ(print_map(m, {{words({1}), words({0, 9, 4})}}), "@n[1]: 9\n");
}

TEST_F(ReportTest, MinAndMaxLookAtCpusThatHaveOne) {
  Buffer values = words({0, 0, -3, 1, -7, 1, 4, 1});
  auto scalar = [&](Kind kind, bool is_signed) {
    return print_map(map_of("m", nullptr, types.simple(kind, is_signed), ir::MapKind::percpu_array),
                     {{{}, values}});
  };
  EXPECT_EQ(scalar(Kind::min, true), "@m: -7\n");
  EXPECT_EQ(scalar(Kind::max, true), "@m: 4\n");
  EXPECT_EQ(scalar(Kind::min, false), "@m: 4\n");
  EXPECT_EQ(scalar(Kind::max, false), "@m: 18446744073709551613\n");
  values = words({9, 0, 8, 0});
  EXPECT_EQ(scalar(Kind::min, true), "@m: 0\n");
}

TEST_F(ReportTest, MinAndMaxSortAsUnsigned) {
  ir::Map m = map_of("m", types.int64(), types.simple(Kind::max, true), ir::MapKind::percpu_hash);
  EXPECT_EQ(print_map(m, {{words({1}), words({-1, 1})}, {words({2}), words({5, 1})}}),
            "@m[2]: 5\n@m[1]: -1\n");
}

TEST_F(ReportTest, AverageAndStats) {
  ir::Map a = map_of("a", types.int64(), types.simple(Kind::avg, true), ir::MapKind::percpu_hash);
  // Totals and counts: 3 + 9 in 1 + 2, -8 in 2.
  EXPECT_EQ(print_map(a, {{words({1}), words({3, 1, 9, 2})}, {words({2}), words({0, 0, -8, 2})}}),
            "@a[2]: -4\n@a[1]: 4\n");
  ir::Map s = map_of("s", types.int64(), types.simple(Kind::stats, false), ir::MapKind::percpu_hash);
  EXPECT_EQ(print_map(s, {{words({1}), words({10, 1, 20, 1})}, {words({2}), words({20, 4, 0, 0})}}),
            "@s[2]: { .count = 4, .average = 5, .total = 20 }\n@s[1]: { .count = 2, .average = 15, .total = "
            "30 }\n");
}

TEST_F(ReportTest, TopAndDiv) {
  ir::Map m = map_of("", types.int64(), types.int64());
  std::vector<ir::Entry> entries;
  for (int64_t i = 1; i <= 10; i++) entries.push_back({words({i}), words({i - 1})});
  EXPECT_EQ(print_map(m, entries, 2), "@[9]: 8\n@[10]: 9\n");
  EXPECT_EQ(print_map(m, entries, 5, 2), "@[6]: 2\n@[7]: 3\n@[8]: 3\n@[9]: 4\n@[10]: 4\n");
  entries.resize(2);
  EXPECT_EQ(print_map(m, entries, 99), "@[1]: 0\n@[2]: 1\n");
  EXPECT_EQ(print_map(m, {{words({1}), words({-7})}}, 0, 2), "@[1]: -3\n");
}

Buffer buckets(const type::Type* type, std::initializer_list<std::pair<uint32_t, uint64_t>> counts) {
  std::vector<uint64_t> all(type->count);
  for (auto [index, count] : counts) all[index] = count;
  Buffer out(type->size);
  std::memcpy(out.data(), all.data(), out.size());
  return out;
}

TEST_F(ReportTest, HistogramRows) {
  const type::Type* h = types.hist(0);
  ir::Map m = map_of("h", nullptr, h, ir::MapKind::percpu_array);
  Buffer cpus = joined({buckets(h, {{0, 1}, {1, 1}, {3, 1}}), buckets(h, {{2, 1}, {3, 1}, {5, 1}})});
  EXPECT_EQ(print_map(m, {{{}, cpus}}),
            "@h:\n" + row("(..., 0)               1 ", half_bar) +
                row("[0]                    1 ", half_bar) + row("[1]                    1 ", half_bar) +
                row("[2, 4)                 2 ", full_bar) + row("[4, 8)                 0 ", no_bar) +
                row("[8, 16)                1 ", half_bar) + "\n");
}

TEST_F(ReportTest, HistogramSuffixes) {
  const type::Type* h = types.hist(0);
  auto one = [&](uint32_t power) { return text(h, buckets(h, {{power + 2, 1}})); };
  EXPECT_EQ(one(9), row("[512, 1K)              1 ", full_bar));
  EXPECT_EQ(one(10), row("[1K, 2K)               1 ", full_bar));
  EXPECT_EQ(one(29), row("[512M, 1G)             1 ", full_bar));
  EXPECT_EQ(one(42), row("[4T, 8T)               1 ", full_bar));
  EXPECT_EQ(one(59), row("[512P, 1E)             1 ", full_bar));
  EXPECT_EQ(one(63), row("[8E, 16E)              1 ", full_bar));
}

// The rule that engines fill buckets by.
uint32_t bucket_of(uint64_t n, uint32_t bits) {
  uint64_t in_power = uint64_t{1} << bits;
  if (n < in_power) return static_cast<uint32_t>(1 + n);
  uint32_t log = 63 - static_cast<uint32_t>(__builtin_clzll(n));
  return static_cast<uint32_t>(1 + in_power + (log - bits) * in_power +
                               ((n >> (log - bits)) & (in_power - 1)));
}

TEST_F(ReportTest, HistogramsWithBits) {
  auto one = [&](uint64_t n, uint32_t bits) {
    const type::Type* h = types.hist(bits);
    std::string line = text(h, buckets(h, {{bucket_of(n, bits), 1}}));
    return line.substr(0, line.find(')') + 1);
  };
  EXPECT_EQ(one(6, 1), "[6, 8)");
  EXPECT_EQ(one(100, 2), "[96, 112)");
  EXPECT_EQ(one(1023, 1), "[768, 1K)");
  EXPECT_EQ(one(1024, 2), "[1K, 1280)");
  EXPECT_EQ(one(1 << 20, 5), "[1M, 1056K)");
  EXPECT_EQ(one(UINT64_MAX, 5), "[16128P, 16E)");
  const type::Type* h = types.hist(3);
  EXPECT_EQ(text(h, buckets(h, {{bucket_of(9, 3), 1}})), row("[9]                    1 ", full_bar));
}

TEST_F(ReportTest, BarsAreRoundedDown) {
  const type::Type* h = types.hist(0);
  EXPECT_EQ(text(h, buckets(h, {{2, 3}, {3, 7}, {4, 1}})),
            row("[1]                    3 ", "|@@@@@@@@@@@@@@@@@@@@@@                              |\n") +
                row("[2, 4)                 7 ", full_bar) +
                row("[4, 8)                 1 ", "|@@@@@@@                                             |\n"));
  EXPECT_EQ(text(h, buckets(h, {{2, UINT64_MAX}})), row("[1]             18446744073709551615 ", full_bar));
}

TEST_F(ReportTest, LinearHistograms) {
  const type::Type* l = types.lhist(0, 10, 2);
  EXPECT_EQ(text(l, buckets(l, {{0, 1}, {1, 2}, {6, 1}})),
            row("(..., 0)               1 ", half_bar) + row("[0, 2)                 2 ", full_bar) +
                row("[2, 4)                 0 ", no_bar) + row("[4, 6)                 0 ", no_bar) +
                row("[6, 8)                 0 ", no_bar) + row("[8, 10)                0 ", no_bar) +
                row("[10, ...)              1 ", half_bar));
  const type::Type* odd = types.lhist(-10, 1024, 1000);
  EXPECT_EQ(text(odd, buckets(odd, {{1, 1}, {2, 1}})),
            row("[-10, 990)             1 ", full_bar) + row("[990, 1024)            1 ", full_bar));
  const type::Type* kilo = types.lhist(0, 4096, 2048);
  EXPECT_EQ(text(kilo, buckets(kilo, {{1, 1}, {2, 1}})),
            row("[0K, 2K)               1 ", full_bar) + row("[2K, 4K)               1 ", full_bar));
}

TEST_F(ReportTest, KeyedHistogramsAscendByTotal) {
  const type::Type* h = types.hist(0);
  ir::Map m = map_of("h", types.string(8), h, ir::MapKind::percpu_hash);
  EXPECT_EQ(
      print_map(m, {{raw_text("two", 8), buckets(h, {{3, 2}})}, {raw_text("one", 8), buckets(h, {{2, 1}})}}),
      "@h[one]:\n" + row("[1]                    1 ", full_bar) + "\n@h[two]:\n" +
          row("[2, 4)                 2 ", full_bar) + "\n");
  EXPECT_EQ(
      print_map(m, {{raw_text("two", 8), buckets(h, {{3, 9}})}, {raw_text("one", 8), buckets(h, {{2, 1}})}},
                1, 2),
      "@h[two]:\n" + row("[2, 4)                 4 ", full_bar) + "\n");
  EXPECT_EQ(print_map(m, {{raw_text("none", 8), buckets(h, {})}}), "@h[none]:\n\n");
}

TEST_F(ReportTest, ManyEntriesComeInPieces) {
  ir::Map m = map_of("m", types.int64(), types.int64());
  std::vector<ir::Entry> entries;
  std::string expected;
  for (int64_t i = 0; i < 20000; i++) {
    int64_t n = i * 7919 % 20000;
    entries.push_back({words({n}), words({n})});
    expected += "@m[" + std::to_string(i) + "]: " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(print_map(m, entries), expected);
}

} // namespace
} // namespace report
