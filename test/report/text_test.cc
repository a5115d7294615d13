// The text of one value of every type.
#include "fake.h"

#include <cstdlib>
#include <ctime>

namespace report {
namespace {

using type::Field;

TEST_F(ReportTest, Integers) {
  EXPECT_EQ(text(types.int64(), raw<int64_t>(-5)), "-5");
  EXPECT_EQ(text(types.uint64(), raw<int64_t>(-1)), "18446744073709551615");
  EXPECT_EQ(text(types.integer(1, false), raw<uint8_t>(255)), "255");
  EXPECT_EQ(text(types.integer(1, true), raw<uint8_t>(255)), "-1");
  EXPECT_EQ(text(types.integer(2, true), raw<int16_t>(-300)), "-300");
  EXPECT_EQ(text(types.integer(4, true), raw<int32_t>(INT32_MIN)), "-2147483648");
  EXPECT_EQ(text(types.int64(), raw<int64_t>(INT64_MIN)), "-9223372036854775808");
}

TEST_F(ReportTest, BooleansAndPointers) {
  EXPECT_EQ(text(types.boolean(), raw<uint8_t>(1)), "true");
  EXPECT_EQ(text(types.boolean(), raw<uint8_t>(0)), "false");
  EXPECT_EQ(text(types.pointer(nullptr, type::Space::kernel), raw<uint64_t>(0xffffffff81000000)),
            "0xffffffff81000000");
  EXPECT_EQ(text(types.pointer(nullptr, type::Space::user), raw<uint64_t>(0)), "0x0");
}

class Colours : public type::Provider {
public:
  std::vector<Field> fields(type::Table&, uint32_t) override { return {}; }
  std::vector<type::Enumerator> enumerators(uint32_t) override { return {{"RED", 1}, {"DARK", -1}}; }
};

TEST_F(ReportTest, Enumerations) {
  Colours colours;
  const type::Type* colour = types.enumeration("colour", 4, true, &colours, 0);
  EXPECT_EQ(text(colour, raw<int32_t>(1)), "RED");
  EXPECT_EQ(text(colour, raw<int32_t>(-1)), "DARK");
  EXPECT_EQ(text(colour, raw<int32_t>(-2)), "-2");
  EXPECT_EQ(json_value(colour, raw<int32_t>(1)), "{\"type\": \"value\", \"data\": 1}\n");
}

TEST_F(ReportTest, Strings) {
  EXPECT_EQ(text(types.string(8), raw_text("abc", 8)), "abc");
  EXPECT_EQ(text(types.string(8), raw_text("", 8)), "");
  // Bytes behind the NUL may be anything but the last is NUL.
  EXPECT_EQ(text(types.string(8), raw_text(std::string("ab\0cdef\0", 8), 8)), "ab");
  EXPECT_EQ(text(types.string(6), raw_text("hello ", 6)), "hello..");
  options.cut_trailer = "~";
  EXPECT_EQ(text(types.string(6), raw_text("hello ", 6)), "hello~");
}

TEST_F(ReportTest, Buffers) {
  Buffer bytes = joined({raw<uint32_t>(5), raw_text(std::string("a \x01\x7f\xff...", 8), 8)});
  EXPECT_EQ(text(types.buffer(8), bytes), "a \\x01\\x7f\\xff");
  EXPECT_EQ(text(types.buffer(4), joined({raw<uint32_t>(99), raw_text("abcd", 4)})), "abcd");
}

TEST_F(ReportTest, Arrays) {
  EXPECT_EQ(text(types.array(types.integer(4, true), 3), joined({raw(1), raw(-2), raw(3)})), "[1,-2,3]");
  EXPECT_EQ(text(types.array(types.array(types.integer(1, false), 2), 2), raw<uint32_t>(0x04030201)),
            "[[1,2],[3,4]]");
  EXPECT_EQ(text(types.array(types.character(), 4), raw_text("abcd", 4)), "abcd");
}

TEST_F(ReportTest, Structures) {
  std::vector<Field> inner = {{.name = "x", .type = types.integer(2, false), .offset = 0},
                              {.name = "y", .type = types.integer(2, false), .offset = 2}};
  const type::Type* point = types.structure("point", false, 4, 2, inner);
  std::vector<Field> fields = {{.name = "a", .type = types.integer(4, true), .offset = 0},
                               {.name = "name", .type = types.string(4), .offset = 4},
                               {.name = "p", .type = point, .offset = 8},
                               {.name = "", .type = point, .offset = 12}};
  const type::Type* s = types.structure("s", false, 16, 4, fields);
  Buffer bytes = joined({raw(7), raw_text("full", 4), raw<uint32_t>(0x00020001), raw<uint32_t>(0x00040003)});
  EXPECT_EQ(text(s, bytes), "{ .a = 7, .name = full, .p = { .x = 1, .y = 2 }, .x = 3, .y = 4 }");
  EXPECT_EQ(json_value(s, bytes), "{\"type\": \"value\", \"data\": { \"a\": 7, \"name\": \"full\", \"p\": "
                                  "{ \"x\": 1, \"y\": 2 }, \"x\": 3, \"y\": 4 }}\n");
}

TEST_F(ReportTest, BitFields) {
  const type::Type* unit = types.integer(4, true);
  std::vector<Field> fields = {
      {.name = "a", .type = types.integer(4, false), .offset = 0, .bit_offset = 0, .bit_size = 3},
      {.name = "b", .type = unit, .offset = 0, .bit_offset = 3, .bit_size = 4},
      {.name = "c", .type = types.boolean(), .offset = 0, .bit_offset = 7, .bit_size = 1}};
  EXPECT_EQ(text(types.structure("bits", false, 4, 4, fields), raw<uint32_t>(0b1'1110'101)),
            "{ .a = 5, .b = -2, .c = true }");
}

TEST_F(ReportTest, TuplesAndRecords) {
  const type::Type* pair = tuple({types.int64(), types.int64()});
  Buffer two = words({2, 3});
  EXPECT_EQ(
      text(tuple({types.int64(), types.string(8), pair}), joined({words({1}), raw_text("abc", 8), two})),
      "(1, abc, (2, 3))");
  EXPECT_EQ(text(tuple({types.boolean(), types.int64()}), words({1, 2})), "(true, 2)");
  EXPECT_EQ(text(tuple({types.int64()}), words({1})), "(1)");
  EXPECT_EQ(
      text(record_of({types.int64(), types.string(8)}, {"a", "b"}), joined({words({1}), raw_text("x", 8)})),
      "{ .a = 1, .b = x }");
}

TEST_F(ReportTest, Symbols) {
  EXPECT_EQ(text(types.simple(Kind::ksym), words({0x1005})), "k_one");
  EXPECT_EQ(text(types.simple(Kind::ksym), words({0x99})), "0x99");
  EXPECT_EQ(text(types.simple(Kind::usym), words({0x2005, 42})), "u42_two");
}

TEST_F(ReportTest, Stacks) {
  using type::StackMode;
  auto kernel = [&](StackMode mode, uint32_t depth) { return types.stack(Kind::kstack, mode, depth); };
  EXPECT_EQ(text(kernel(StackMode::bpftrace, 127), words({7})),
            "\n        k_one+1\n        k_two+12\n        0xdead\n");
  EXPECT_EQ(text(kernel(StackMode::bpftrace, 2), words({7})), "\n        k_one+1\n        k_two+12\n");
  EXPECT_EQ(text(kernel(StackMode::perf, 2), words({7})), "\n\t1001 k_one+1\n\t200c k_two+12\n");
  EXPECT_EQ(text(kernel(StackMode::raw, 127), words({7})), "\n1001\n200c\ndead\n");
  EXPECT_EQ(text(kernel(StackMode::bpftrace, 127), words({0})), "");
  EXPECT_EQ(text(types.stack(Kind::ustack, StackMode::bpftrace, 127), words({8, 3})), "\n        u3_one+0\n");
  // Frames that are no addresses, and why a stack ends.
  const uint64_t tagged = spec::tagged_word(spec::FrameKind::test, 12);
  engine.stacks[9] = {0x1001, tagged, 0, tagged, 86, 0x200c, STACK_END + 2};
  EXPECT_EQ(text(types.stack(Kind::ustack, StackMode::bpftrace, 127), words({9, 3})),
            "\n        u3_one+1\n        function_0 (test) test.code:12\n        function_86 (test) test.code:12\n"
            "        u3_two+12\n        [stack not readable]\n");
  EXPECT_EQ(text(types.stack(Kind::ustack, StackMode::perf, 127), words({9, 3})),
            "\n\t1001 u3_one+1 ([unknown])\n\t0 function_0 (test) test.code:12 (test.code)\n"
            "\t56 function_86 (test) test.code:12 (test.code)\n\t200c u3_two+12 ([unknown])\n\t[stack not readable]\n");
  engine.stacks[10] = {0x1001, tagged, 86, 0x200c};
  EXPECT_EQ(text(types.stack(Kind::ustack, StackMode::bpftrace, 2), words({10, 3})),
            "\n        u3_one+1\n        function_86 (test) test.code:12\n");
}

TEST_F(ReportTest, Addresses) {
  Buffer v4 = joined({raw<uint8_t>(4), raw<uint32_t>(0x0100007f), Buffer(15)});
  EXPECT_EQ(text(types.simple(Kind::inet), v4), "127.0.0.1");
  Buffer v6(20);
  v6[0] = std::byte{16}, v6[1] = std::byte{0xfe}, v6[2] = std::byte{0x80}, v6[16] = std::byte{1};
  EXPECT_EQ(text(types.simple(Kind::inet), v6), "fe80::1");
  EXPECT_EQ(text(types.simple(Kind::mac), raw_text("\x18\xc0\x4d\x08\x2e\xbb", 6)), "18:C0:4D:08:2E:BB");
}

TEST_F(ReportTest, Timestamps) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  program.strings = {"%H:%M:%S", "%Y-%m-%d %f %% %%f"};
  options.boot_to_wall_ns = 1'700'000'000'000'000'000;
  auto stamp = [](uint32_t format, int64_t ns) { return joined({raw(format), raw<uint32_t>(0), raw(ns)}); };
  const type::Type* t = types.simple(Kind::timestamp);
  EXPECT_EQ(text(t, stamp(0, 5'000'000'000)), "22:13:25");
  EXPECT_EQ(text(t, stamp(1, 1'234'567)), "2023-11-14 001234 % %f");
  EXPECT_EQ(text(t, stamp(9, 0)), "");
}

TEST_F(ReportTest, NamesOfUsersAndProbes) {
  EXPECT_EQ(text(types.simple(Kind::username), words({0})), "root");
  EXPECT_EQ(text(types.simple(Kind::username), words({4'000'000'000})), "4000000000");
  program.probe_names = {"begin", "interval:s:1"};
  EXPECT_EQ(text(types.simple(Kind::probe_name), words({1})), "interval:s:1");
  EXPECT_EQ(text(types.simple(Kind::probe_name), words({2})), "");
}

TEST_F(ReportTest, SingleAggregations) {
  EXPECT_EQ(text(types.simple(Kind::count), words({3})), "3");
  EXPECT_EQ(text(types.simple(Kind::sum, true), words({-3})), "-3");
  EXPECT_EQ(text(types.simple(Kind::sum, false), words({-1})), "18446744073709551615");
  EXPECT_EQ(text(types.simple(Kind::min, true), words({-7, 1})), "-7");
  EXPECT_EQ(text(types.simple(Kind::avg, true), words({-6, 2})), "-3");
  EXPECT_EQ(text(types.simple(Kind::avg, true), words({0, 0})), "0");
  EXPECT_EQ(text(types.simple(Kind::stats, true), words({6, 3})), "{ .count = 3, .average = 2, .total = 6 }");
}

TEST_F(ReportTest, BytesThatAreMissingReadAsZero) {
  EXPECT_EQ(text(types.int64(), raw<uint8_t>(1)), "1");
  EXPECT_EQ(text(types.int64(), {}), "0");
  EXPECT_EQ(text(tuple({types.int64(), types.string(4), types.simple(Kind::inet)}), words({1})), "(1, , )");
}

} // namespace
} // namespace report
