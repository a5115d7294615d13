// The tables of acu stat: the layout of perf stat(1), its columns for programs, and JSON.
#include "counters/count_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <rapidjson/document.h>
#include <sstream>

namespace counters {
namespace {

CountRow row(std::string name, double value, bool is_time = false) {
  CountRow r{.name = std::move(name), .is_time = is_time, .value = {}, .running_ns = 1000, .cpu = {}};
  r.value.add(value);
  return r;
}
CountTable table(std::vector<CountRow> rows, double elapsed = 2) {
  CountTable t{.title = "'sort big.txt'", .rows = std::move(rows), .elapsed = {}, .user = {}, .system = {}};
  t.elapsed.add(elapsed);
  return t;
}
// The line of an event, without the blanks at its begin.
std::string line_of(const CountTable& t, const std::string& event) {
  std::istringstream lines(count_text(t));
  for (std::string line; std::getline(lines, line);)
    if (line.find(event) != line.npos) return line.substr(line.find_first_not_of(' '));
  return "no line";
}
// Behind the "#".
std::string meaning(const CountTable& t, const std::string& event) {
  const std::string line = line_of(t, event);
  const size_t at = line.find('#');
  return at == line.npos ? "" : line.substr(line.find_first_not_of(' ', at + 1));
}

TEST(Runs, MeanAndErrorOfTheMean) {
  Runs r;
  EXPECT_EQ(r.mean(), 0);
  EXPECT_EQ(r.error(), 0);
  EXPECT_EQ(r.relative_error(), 0);
  r.add(2);
  EXPECT_EQ(r.error(), 0); // of one run nothing is known
  r.add(4), r.add(4), r.add(4), r.add(5), r.add(5), r.add(7), r.add(9);
  EXPECT_DOUBLE_EQ(r.mean(), 5);
  EXPECT_DOUBLE_EQ(r.error(), std::sqrt(32.0 / 7 / 8)); // the sample's variance by the number of runs
  EXPECT_DOUBLE_EQ(r.relative_error(), r.error() / 5);
}

// The sum of squares of large counts that differ little loses all digits; this does not.
TEST(Runs, LargeCountsThatDifferLittle) {
  Runs r;
  for (double d : {1.0, 2.0, 3.0}) r.add(1e15 + d);
  EXPECT_DOUBLE_EQ(r.mean(), 1e15 + 2);
  EXPECT_NEAR(r.error(), std::sqrt(1.0 / 3), 1e-9);
  Runs same;
  for (int i = 0; i < 5; i++) same.add(123456789);
  EXPECT_EQ(same.error(), 0);
}

TEST(CountText, ALineForEachEvent) {
  EXPECT_EQ(count_text(table({row("page-faults", 1234567)})), "\n Performance counter stats for 'sort big.txt':\n\n"
                                                              "         1,234,567      page-faults\n"
                                                              "\n       2.000000000 seconds time elapsed\n\n");
}

TEST(CountText, TimesAreMilliseconds) {
  EXPECT_EQ(line_of(table({row("task-clock", 1.5e9, true)}), "task-clock"), "1500.00 msec task-clock                #    0.750 CPUs utilized");
  EXPECT_EQ(meaning(table({row("task-clock", 1.5e9, true)}, 0), "task-clock"), ""); // of no time there is no share
}

TEST(CountText, WhatNumbersMeanBesideOthers) {
  const CountTable t = table({row("task-clock", 1e9, true), row("cycles", 3e9), row("instructions", 6e9), row("branches", 1e9), row("branch-misses", 2.5e7), row("cache-references", 4e6), row("cache-misses", 1e6)});
  EXPECT_EQ(meaning(t, "cycles"), "3.000 GHz");
  EXPECT_EQ(meaning(t, "instructions"), "2.00 insn per cycle");
  EXPECT_EQ(meaning(t, "branches"), "1.000 G/sec");
  EXPECT_EQ(meaning(t, "branch-misses"), "2.50% of all branches");
  EXPECT_EQ(meaning(t, "cache-misses"), "25.00% of all cache refs");
  EXPECT_EQ(meaning(t, "cache-references"), "4.000 M/sec");
}

TEST(CountText, RatesHaveTheUnitThatFits) {
  for (auto [count, text] : {std::pair(1.0, "1.000 /sec"), std::pair(999.0, "999.000 /sec"), std::pair(999.9999, "1.000 K/sec"), std::pair(1000.0, "1.000 K/sec"), std::pair(999'999.9, "1.000 M/sec"),
                             std::pair(12'345'678.0, "12.346 M/sec"), std::pair(999'999'999.9, "1.000 G/sec"), std::pair(0.0, "0.000 /sec")})
    EXPECT_EQ(meaning(table({row("task-clock", 1e9, true), row("faults", count)}), "faults"), text);
}

TEST(CountText, WithoutTheOtherCounterThereIsNoMeaning) {
  EXPECT_EQ(meaning(table({row("instructions", 5)}), "instructions"), "");
  EXPECT_EQ(meaning(table({row("cycles", 0), row("instructions", 5)}), "instructions"), ""); // nothing is divided by zero
  CountTable t = table({row("cycles", 5), row("instructions", 5)});
  t.rows[0].is_supported = false;
  EXPECT_EQ(meaning(t, "instructions"), "");
  EXPECT_EQ(meaning(table({row("cpu-clock", 1e9, true), row("faults", 2000)}), "faults"), "2.000 K/sec");
}

// With counters of single CPUs each is seen beside those of its own.
TEST(CountText, CpusAreSeenAlone) {
  CountTable t = table({row("cycles", 1e9), row("cycles", 2e9), row("instructions", 4e9), row("instructions", 4e9)});
  for (int i = 0; i < 4; i++) t.rows[static_cast<size_t>(i)].cpu = i % 2 ? 11 : 0;
  const std::string text = count_text(t);
  EXPECT_NE(text.find("CPU0        4,000,000,000      instructions              #     4.00 insn per cycle\n"), text.npos) << text;
  EXPECT_NE(text.find("CPU11       4,000,000,000      instructions              #     2.00 insn per cycle\n"), text.npos) << text;
}

TEST(CountText, WhatIsNotCounted) {
  CountTable t = table({row("cycles", 0)});
  t.rows[0].is_supported = false;
  EXPECT_EQ(line_of(t, "cycles"), "<not supported>      cycles");
  EXPECT_EQ(count_columns(t, std::nullopt, ","), "<not supported>,,cycles,1000,100.00,,\n");
  EXPECT_EQ(count_json(t, std::nullopt), "{\"event\": \"cycles\", \"value\": null, \"running\": 1.0000}\n");
}

// A counter that shared the hardware was scaled up.
TEST(CountText, PartOfTheTime) {
  CountTable t = table({row("faults", 1000)});
  t.rows[0].running = 0.3333;
  EXPECT_TRUE(line_of(t, "faults").ends_with("(33.33%)")) << line_of(t, "faults");
  EXPECT_EQ(count_columns(t, std::nullopt, ";"), "1000;;faults;1000;33.33;;\n");
}

TEST(CountText, SeveralRuns) {
  CountTable t = table({row("faults", 90)}, 1);
  t.rows[0].value.add(110), t.elapsed.add(3);
  t.user.add(0.5), t.system.add(0.25);
  const std::string text = count_text(t);
  EXPECT_TRUE(text.starts_with("\n Performance counter stats for 'sort big.txt' (2 runs):\n\n               100      faults ")) << text;
  EXPECT_TRUE(text.ends_with(" ( +- 10.00% )\n\n          2.000000 +- 1.000000 seconds time elapsed  ( +- 50.00% )\n\n"
                             "       0.500000000 seconds user\n       0.250000000 seconds sys\n\n"))
      << text;
  EXPECT_EQ(count_columns(t, std::nullopt, ","), "100,,faults,10.00%,1000,100.00,,\n");
  // Under each other, whether or not a number has a meaning.
  t.rows.push_back(row("task-clock", 1e9, true));
  t.rows[1].value.add(1e9);
  EXPECT_EQ(line_of(t, "faults").find("( +-") - line_of(t, "faults").find("faults"), line_of(t, "task-clock").find("( +-") - line_of(t, "task-clock").find("task-clock"));
}

TEST(CountText, LargeCounts) {
  EXPECT_EQ(line_of(table({row("cycles", 9e18)}), "cycles"), "9,000,000,000,000,000,000      cycles");
  EXPECT_EQ(line_of(table({row("a_very_long_name_of_an_event_that_nobody_can_read", 1)}), "a_very"), "1      a_very_long_name_of_an_event_that_nobody_can_read");
}

// A longer name than any buffer is still whole: it ends with what it means.
TEST(CountText, NamesOfAnyLength) {
  const std::string name(300, 'x');
  CountTable t = table({row("task-clock", 1e9, true), row(name, 1000)});
  EXPECT_EQ(meaning(t, name), "1.000 K/sec");
  EXPECT_NE(count_columns(t, 1.5, ",").find(name), std::string::npos);
}

TEST(Intervals, EachLineHasItsTime) {
  EXPECT_EQ(interval_text(table({row("faults", 5)}), 1.000123456, true), "#           time             counts unit events\n     1.000123456                  5      faults\n");
  EXPECT_EQ(interval_text(table({row("faults", 5)}), 12345.5, false), " 12345.500000000                  5      faults\n");
  EXPECT_EQ(interval_text(table({}), 1, false), "");
  EXPECT_EQ(count_columns(table({row("task-clock", 1.5e6, true)}), 1.5, ","), "     1.500000000,1.50,msec,task-clock,1000,100.00,,\n");
}

TEST(CountJson, EachLineIsAnObject) {
  CountTable t = table({row("a \"b\"", 12345678901234567.0), row("task-clock", 1.5e6, true)});
  t.rows[0].cpu = 3;
  t.rows[1].value.add(2.5e6);
  std::istringstream lines(count_json(t, 2.5));
  std::string line;
  rapidjson::Document json;
  ASSERT_TRUE(std::getline(lines, line));
  json.Parse(line.c_str());
  ASSERT_FALSE(json.HasParseError()) << line;
  EXPECT_STREQ(json["event"].GetString(), "a \"b\"");
  EXPECT_EQ(json["value"].GetUint64(), 12345678901234568u); // to the unit, not in thousands
  EXPECT_EQ(json["cpu"].GetInt(), 3);
  EXPECT_EQ(json["time"].GetDouble(), 2.5);
  ASSERT_TRUE(std::getline(lines, line));
  json.Parse(line.c_str());
  ASSERT_FALSE(json.HasParseError()) << line;
  EXPECT_EQ(json["value"].GetDouble(), 2.0);
  EXPECT_STREQ(json["unit"].GetString(), "msec");
  EXPECT_EQ(json["runs"].GetUint(), 2u);
  EXPECT_DOUBLE_EQ(json["error"].GetDouble(), 0.25);
  EXPECT_FALSE(std::getline(lines, line));
}

// perf's own order of columns, which scripts count on.
TEST(Columns, AreThoseOfPerf) {
  CountTable t = table({row("instructions", 1234567)});
  t.rows[0].cpu = 7;
  t.rows[0].running_ns = 987654;
  EXPECT_EQ(count_columns(t, std::nullopt, ","), "CPU7,1234567,,instructions,987654,100.00,,\n");
  EXPECT_EQ(count_columns(t, std::nullopt, "\t"), "CPU7\t1234567\t\tinstructions\t987654\t100.00\t\t\n");
}

} // namespace
} // namespace counters
