// Times, counts and percentages of options: units, limits, and what is none.
#include "session/arguments.h"

#include <gtest/gtest.h>

namespace session {
namespace {

constexpr uint64_t us = 1'000, ms = 1'000'000, s = 1'000'000'000, day = 86'400 * s;

uint64_t time(const std::string& text, uint64_t min = 1) {
  auto out = read_time("--x", text, min);
  EXPECT_TRUE(out.ok()) << text << ": " << out.error().message;
  return out.ok() ? *out : 0;
}
std::string no_time(const std::string& text, uint64_t min = 1) {
  auto out = read_time("--x", text, min);
  return out.ok() ? std::to_string(*out) : out.error().message;
}

TEST(Times, HaveUnits) {
  EXPECT_EQ(time("10s"), 10 * s);
  EXPECT_EQ(time("10"), 10 * s) << "seconds";
  EXPECT_EQ(time("500ms"), 500 * ms);
  EXPECT_EQ(time("7us"), 7 * us);
  EXPECT_EQ(time("7ns"), 7u);
  EXPECT_EQ(time("2m"), 120 * s);
  EXPECT_EQ(time("1h"), 3600 * s);
  EXPECT_EQ(time("366d"), 366 * day);
}

TEST(Times, HaveFractions) {
  EXPECT_EQ(time("1.5s"), 1'500 * ms);
  EXPECT_EQ(time(".5"), 500 * ms);
  EXPECT_EQ(time("0.25ms"), 250 * us);
  EXPECT_EQ(time("5."), 5 * s);
  EXPECT_EQ(time("1.5m"), 90 * s);
}

// Products of binary fractions may be a little too small.
TEST(Times, AreRoundedToTheNanosecond) {
  EXPECT_EQ(time("2.01us"), 2'010u);
  EXPECT_EQ(time("64.1us"), 64'100u);
  for (uint64_t n = 1; n < 1000; n++)
    for (const char* unit : {"us", "ms", "s"}) {
      const uint64_t one = *unit == 'u' ? us : *unit == 'm' ? ms : s;
      const std::string digits = std::to_string(1000 + n).substr(1);
      EXPECT_EQ(time("8." + digits + unit), 8 * one + n * one / 1000) << digits << unit;
    }
}

TEST(Times, WhatIsNone) {
  for (const char* text : {"", "s", "-1s", "1x", "1.2.3s", ".", "1 s", " 1s", "1s ", "1e3s", "0x10", "ms1", "1msx", "1S", "nan", "inf"})
    EXPECT_EQ(no_time(text), "`--x` takes a time such as 10s, 500ms or 2m, not `" + std::string(text) + "`");
}

TEST(Times, HaveLimits) {
  EXPECT_EQ(time("1ms", ms), ms);
  EXPECT_NE(no_time("0.999ms", ms).find("takes a time"), std::string::npos);
  EXPECT_EQ(time("0s", 0), 0u);
  EXPECT_NE(no_time("0s", 1).find("takes a time"), std::string::npos);
  EXPECT_NE(no_time("367d").find("takes a time"), std::string::npos);
  EXPECT_NE(no_time("99999999999999999999999").find("takes a time"), std::string::npos);
}

// A long text does not fit into the string itself.
TEST(Times, OfManyDigits) {
  EXPECT_EQ(time("0000000000000000000000000000000000000001.50000000000000000000000000000000s"), 1'500 * ms);
  EXPECT_NE(no_time("1.000000000000000000000000000000000000000.1s").find("takes a time"), std::string::npos);
}

TEST(Counts, AreFromOneToTheirLimit) {
  EXPECT_EQ(*read_count("-n", "1"), 1u);
  EXPECT_EQ(*read_count("-n", "4294967295"), 4294967295u);
  for (const char* text : {"0", "-1", "", "x", "1.5", "4294967296", "99999999999999999999"}) {
    auto out = read_count("-n", text);
    ASSERT_FALSE(out.ok()) << text;
    EXPECT_EQ(out.error().message, "`-n` takes a number above 0, not `" + std::string(text) + "`");
  }
  EXPECT_EQ(*read_count("-F", "10000", 10000), 10000u);
  EXPECT_EQ(read_count("-F", "10001", 10000).error().message, "`-F` takes a number from 1 to 10000, not `10001`");
}

TEST(Pids, AreNumbersAboveZero) {
  EXPECT_EQ(*read_pid("-p", "1"), 1);
  EXPECT_EQ(*read_pid("-p", "2147483647"), 2147483647);
  for (const char* text : {"0", "-1", "", "self", "2147483648"}) EXPECT_EQ(read_pid("-p", text).error().message, "`-p` takes a process ID, not `" + std::string(text) + "`");
}

TEST(Percentages, OfACpu) {
  EXPECT_EQ(*read_percent("--max-cost", "30"), 30);
  EXPECT_EQ(*read_percent("--max-cost", "0.5"), 0.5);
  EXPECT_EQ(*read_percent("--max-cost", "0"), 0);
  EXPECT_EQ(*read_percent("--max-cost", "10000"), 10000);
  for (const char* text : {"", "x", "-1", "-0", "10001", "nan", "inf", "5%", "0x10", " 5", "1e2", "5 "})
    EXPECT_EQ(read_percent("--max-cost", text).ok() ? "" : read_percent("--max-cost", text).error().message,
              "`--max-cost` takes a percentage of a CPU, such as 5 or 0.5, not `" + std::string(text) + "`");
}

} // namespace
} // namespace session
