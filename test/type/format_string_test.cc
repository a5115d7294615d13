// Format strings: how they are split, and what is said of arguments that do not fit.
#include "type/format_string.h"

#include <gtest/gtest.h>

namespace type {
namespace {

std::vector<Conversion> parse(std::string_view format) {
  std::string error;
  auto pieces = parse_format(format, error);
  EXPECT_EQ(error, "");
  return pieces;
}

std::string mistake(std::string_view format) {
  std::string error;
  parse_format(format, error);
  return error;
}

TEST(FormatString, SplitsTextAndConversions) {
  auto p = parse("a %-8.3lx b %s\n");
  ASSERT_EQ(p.size(), 3u);
  EXPECT_EQ(p[0].text, "a ");
  EXPECT_EQ(p[0].flags, "-");
  EXPECT_EQ(p[0].width, 8);
  EXPECT_EQ(p[0].precision, 3);
  EXPECT_EQ(p[0].length, "l");
  EXPECT_EQ(p[0].conversion, 'x');
  EXPECT_EQ(p[1].text, " b ");
  EXPECT_EQ(p[1].conversion, 's');
  EXPECT_EQ(p[1].width, -1);
  EXPECT_EQ(p[1].precision, -1);
  EXPECT_EQ(p[2].text, "\n");
  EXPECT_EQ(p[2].conversion, 0);
}

TEST(FormatString, PercentIsText) {
  auto p = parse("100%% of %d%%");
  ASSERT_EQ(p.size(), 2u);
  EXPECT_EQ(p[0].text, "100% of ");
  EXPECT_EQ(p[1].text, "%");
  EXPECT_TRUE(parse("").empty());
}

TEST(FormatString, Lengths) {
  for (std::string length : {"hh", "h", "l", "ll", "j", "z", "t", ""}) {
    auto p = parse("%" + length + "u");
    ASSERT_EQ(p.size(), 1u);
    EXPECT_EQ(p[0].length, length);
  }
}

TEST(FormatString, FlagsAndZeroWidths) {
  auto p = parse("%+#010x");
  EXPECT_EQ(p[0].flags, "+#0");
  EXPECT_EQ(p[0].width, 10);
  EXPECT_EQ(parse("%.s")[0].precision, 0);
}

TEST(FormatString, Buffers) {
  auto p = parse("%r%rx%rh.%8gr");
  ASSERT_EQ(p.size(), 4u);
  EXPECT_EQ(p[0].variant, 0);
  EXPECT_EQ(p[1].variant, 'x');
  EXPECT_EQ(p[2].variant, 'h');
  EXPECT_EQ(p[3].text, ".");
  EXPECT_EQ(p[3].variant, 'g');
  EXPECT_EQ(p[3].width, 8);
}

TEST(FormatString, Mistakes) {
  EXPECT_EQ(mistake("%-5l"), "the format string ends inside `%-5l`");
  EXPECT_EQ(mistake("%-5q!"), "unknown conversion `%-5q`");
  EXPECT_EQ(mistake("%*d"), "`*` as a width is not supported");
  EXPECT_EQ(mistake("%.2n"), "unknown conversion `%.2n`");
}

TEST(FormatString, FloatingPoint) {
  auto p = parse("%-8.3lf %e%La");
  ASSERT_EQ(p.size(), 3u);
  EXPECT_EQ(p[0].conversion, 'f');
  EXPECT_EQ(p[0].length, "l");
  EXPECT_EQ(p[0].precision, 3);
  EXPECT_EQ(p[1].conversion, 'e');
  EXPECT_EQ(p[2].length, "L");
}

struct Check : testing::Test {
  Table types;
  std::string check(std::string_view format, std::vector<const Type*> arguments) {
    return check_format(format, arguments);
  }
};

TEST_F(Check, FloatingPoint) {
  EXPECT_EQ(check("%f %g %s", {types.floating(4), types.floating(16), types.floating(8)}), "");
  EXPECT_EQ(check("%f", {types.int64()}), "%f expects type float (integer supplied)");
  EXPECT_EQ(check("%d", {types.floating(8)}), "%d expects type integer (double supplied)");
}

TEST_F(Check, NumberOfArguments) {
  EXPECT_EQ(check("plain", {}), "");
  EXPECT_EQ(check("%d", {}), "not enough arguments for the format string (1 expected, 0 supplied)");
  EXPECT_EQ(check("%d%%", {types.int64(), types.int64()}),
            "too many arguments for the format string (1 expected, 2 supplied)");
  EXPECT_EQ(check("%", {}), "");
}

TEST_F(Check, Numbers) {
  const Type* text = types.string(8);
  EXPECT_EQ(check("%d", {text}), "%d expects type integer (string supplied)");
  EXPECT_EQ(check("%5lx", {types.tuple(std::vector<const Type*>{text})}),
            "%x expects type integer (tuple supplied)");
  EXPECT_EQ(check("%c", {text}), "%c expects type integer (string supplied)");
  EXPECT_EQ(check("%d %u %x %c %o", {types.boolean(), types.pointer(nullptr, Space::kernel), types.uint64(),
                                     types.integer(1, false), types.integer(4, true)}),
            "");
  for (Kind k : {Kind::count, Kind::sum, Kind::min, Kind::max, Kind::avg})
    EXPECT_EQ(check("%d", {types.simple(k)}), "");
  EXPECT_EQ(check("%d", {types.simple(Kind::stats)}), "%d expects type integer (stats_t supplied)");
  EXPECT_EQ(check("%d", {types.simple(Kind::ksym)}), "%d expects type integer (ksym_t supplied)");
}

TEST_F(Check, TextPointersAndBuffers) {
  EXPECT_EQ(check("%s %s %s %s", {types.string(4), types.boolean(), types.simple(Kind::inet),
                                  types.stack(Kind::kstack, StackMode::bpftrace, 5)}),
            "");
  EXPECT_EQ(check("%s", {types.int64()}), "%s expects type string (integer supplied)");
  EXPECT_EQ(check("%gr %gr", {types.uint64(), types.string(4)}), "%gr expects type integer (string supplied)");
  EXPECT_EQ(check("%s", {types.none()}), "%s expects type string (none supplied)");
  EXPECT_EQ(check("%s", {types.hist(0)}), "%s expects type string (hist_t supplied)");
  EXPECT_EQ(check("%p", {types.uint64()}), "");
  EXPECT_EQ(check("%p", {types.string(4)}), "%p expects type pointer (string supplied)");
  EXPECT_EQ(check("%r %rx", {types.buffer(4), types.buffer(4)}), "");
  EXPECT_EQ(check("%rx", {types.string(4)}), "%rx expects type buffer (string supplied)");
  EXPECT_EQ(check("%s", {types.buffer(4)}), "");
}

} // namespace
} // namespace type
