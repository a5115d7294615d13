// Aggregations of D: values, order and layout of what is printed, the same on both engines.
#include "dlang/run_d.h"

#include <gtest/gtest.h>

namespace {

std::string key_line(const std::string& key, long value) {
  char text[160];
  std::snprintf(text, sizeof text, "  %-50s %16ld\n", key.c_str(), value);
  return text;
}
std::string head() { return "\n           value  ------------- Distribution ------------- count    \n"; }
std::string row(const std::string& value, int bar, long count) {
  char text[160];
  std::snprintf(text, sizeof text, "%16s |%-40s %-9ld\n", value.c_str(), std::string(static_cast<size_t>(bar), '@').c_str(), count);
  return text;
}
std::string alone(long value) {
  char text[40];
  std::snprintf(text, sizeof text, " %16ld\n", value);
  return text;
}

struct Case {
  std::string body, expected;
};

std::vector<Case> cases() {
  return {
      {"@ = count(); @ = count();", "\n" + alone(2)},
      {"@a = sum(5); @a = sum(-2);", "\n" + alone(3)},
      {"@a = min(5); @a = min(-2); @a = min(9);", "\n" + alone(-2)},
      {"@a = max(-5); @a = max(-2);", "\n" + alone(-2)},
      {"@a = avg(5); @a = avg(6); @a = avg(7);", "\n" + alone(6)},
      {"@a = avg(-5); @a = avg(-6);", "\n" + alone(-5)},
      {"@a = stddev(2); @a = stddev(4); @a = stddev(4); @a = stddev(4); @a = stddev(5); @a = stddev(5); @a = stddev(7); @a = stddev(9);", "\n" + alone(2)},
      {"@a = stddev(10000000000); @a = stddev(30000000000);", "\n" + alone(10000000000)},
      {"@a = stddev(-10); @a = stddev(10);", "\n" + alone(10)},
      {"@a[\"x\"] = count(); @a[\"y\"] = count(); @a[\"y\"] = count();", "\n" + key_line("x", 1) + key_line("y", 2)},
      {"@a[\"y\"] = count(); @a[\"x\"] = count();", "\n" + key_line("x", 1) + key_line("y", 1)},
      {"@a[1] = count();", "\n        1                1\n"},
      {"@a[1L] = count();", "\n                1                1\n"},
      {"@a[(char)1, (short)2] = count();", "\n   1     2                1\n"},
      {"@a[\"x\", 7] = sum(3);", "\n  x                                                         7                3\n"},
      {"@a[10] = count(); @a[9] = count(); @a[-1] = count();", "\n       -1                1\n        9                1\n       10                1\n"},
      {"@b = count(); @a = sum(3);", "\n" + alone(1) + alone(3)},
      {"@q = quantize(0); @q = quantize(1); @q = quantize(3); @q = quantize(3);",
       "\n" + head() + row("-1", 0, 0) + row("0", 10, 1) + row("1", 10, 1) + row("2", 20, 2) + row("4", 0, 0) + "\n"},
      {"@q = quantize(-1); @q = quantize(-3);", "\n" + head() + row("-4", 0, 0) + row("-2", 20, 1) + row("-1", 20, 1) + row("0", 0, 0) + "\n"},
      {"@q = quantize(1000000);", "\n" + head() + row("262144", 0, 0) + row("524288", 40, 1) + row("1048576", 0, 0) + "\n"},
      {"@q = quantize(4, 3); @q = quantize(1, 1);", "\n" + head() + row("0", 0, 0) + row("1", 10, 1) + row("2", 0, 0) + row("4", 30, 3) + row("8", 0, 0) + "\n"},
      {"@q = quantize(-5, 2);", "\n" + head() + row("-8", 0, 0) + row("-4", 40, 2) + row("-2", 0, 0) + "\n"},
      {"@q[\"k\"] = quantize(2);", "\n  k                                                 " + head() + row("1", 0, 0) + row("2", 40, 1) + row("4", 0, 0) + "\n"},
      {"@l = lquantize(5, 0, 100, 10); @l = lquantize(15, 0, 100, 10);", "\n" + head() + row("< 0", 0, 0) + row("0", 20, 1) + row("10", 20, 1) + row("20", 0, 0) + "\n"},
      {"@l = lquantize(-5, 0, 100, 10); @l = lquantize(100, 0, 100, 10);",
       "\n" + head() + row("< 0", 20, 1) + row("0", 0, 0) + row("10", 0, 0) + row("20", 0, 0) + row("30", 0, 0) + row("40", 0, 0) + row("50", 0, 0) + row("60", 0, 0) + row("70", 0, 0) +
           row("80", 0, 0) + row("90", 0, 0) + row(">= 100", 20, 1) + "\n"},
      {"@l = lquantize(-5, -10, 0, 5);", "\n" + head() + row("-10", 0, 0) + row("-5", 40, 1) + row(">= 0", 0, 0) + "\n"},
      {"@l = lquantize(3, 0, 5);", "\n" + head() + row("2", 0, 0) + row("3", 40, 1) + row("4", 0, 0) + "\n"},
      {"@l = lquantize(3, 0, 5, 1, 7);", "\n" + head() + row("2", 0, 0) + row("3", 40, 7) + row("4", 0, 0) + "\n"},
      {"@l = llquantize(5, 10, 0, 2, 10);", "\n" + head() + row("4", 0, 0) + row("5", 40, 1) + row("6", 0, 0) + "\n"},
      {"@l = llquantize(55, 10, 0, 2, 10); @l = llquantize(0, 10, 0, 2, 10);",
       "\n" + head() + row("< 1", 20, 1) + row("1", 0, 0) + row("2", 0, 0) + row("3", 0, 0) + row("4", 0, 0) + row("5", 0, 0) + row("6", 0, 0) + row("7", 0, 0) + row("8", 0, 0) + row("9", 0, 0) +
           row("10", 0, 0) + row("20", 0, 0) + row("30", 0, 0) + row("40", 0, 0) + row("50", 20, 1) + row("60", 0, 0) + "\n"},
      {"@l = llquantize(5000, 10, 0, 2, 10);", "\n" + head() + row("900", 0, 0) + row(">= 1000", 40, 1) + "\n"},
      {"@a[\"x\"] = count(); printa(\"%s=%@d\\n\", @a);", "x=1\n"},
      {"@a[\"x\"] = count(); @a[\"y\"] = sum(1);", ""},
      {"@a[\"x\", 3] = sum(7); printa(\"[%-4s] %3d %@5d|\\n\", @a);", "[x   ]   3     7|\n"},
      {"@a[1] = count(); @b[1] = sum(10); @b[2] = sum(20); printa(\"%d: %@d %@d\\n\", @a, @b);", "1: 1 10\n2: 0 20\n"},
      {"@a = sum(10); printa(@a);", alone(10)},
      {"@a = sum(255); printa(\"%@x %@d\\n\", @a);", "ff 255\n"},
      {"@a[\"k\"] = quantize(1); printa(\"%s %@d\", @a);", "k " + head() + row("0", 0, 0) + row("1", 40, 1) + row("2", 0, 0)},
      {"@a = sum(1000); normalize(@a, 10);", "\n" + alone(100)},
      {"@a = sum(1000); normalize(@a, 10); printa(@a); denormalize(@a); printa(@a);", alone(100) + alone(1000)},
      {"@a = avg(1000); normalize(@a, 10);", "\n" + alone(100)},
      {"@a = quantize(1); @a = quantize(1); normalize(@a, 2);", "\n" + head() + row("0", 0, 0) + row("1", 40, 1) + row("2", 0, 0) + "\n"},
      {"@a[1] = sum(1); @a[2] = sum(2); @a[3] = sum(3); trunc(@a, 2);", "\n        2                2\n        3                3\n"},
      {"@a[1] = sum(1); @a[2] = sum(2); @a[3] = sum(3); trunc(@a, -1);", "\n        1                1\n"},
      {"@a[1] = sum(1); trunc(@a);", ""},
      {"@a[1] = sum(1); clear(@a);", "\n        1                0\n"},
      {"@a[1] = sum(5); clear(@a); printa(\"%d %@d\\n\", @a);", "1 0\n"},
      {"@a[1] = sum(1); @a[2] = sum(5); printa(\"%d %@d \", @a); trunc(@a, 1); printa(\"%d %@d\", @a);", "1 1 2 5 2 5"},
      {"@never = count(); trunc(@never); printa(@never); printf(\"end\");", "end"},
      {"x = 3; @a[x] = count(); x = 4; @a[x] = count();", "\n        3                1\n        4                1\n"},
      {"@a[strjoin(\"a\", \"b\")] = count();", "\n" + key_line("ab", 1)},
      {"@a[\"s\"] = sum(1); @a[\"longer key\"] = sum(2);", "\n" + key_line("s", 1) + key_line("longer key", 2)},
      {"this->v = 5; @a = sum(this->v * 2);", "\n" + alone(10)},
      {"@a = sum((uint8_t)300);", "\n" + alone(44)},
      {"@a[\"x\"] = count(); @b[\"x\"] = sum(5); @b[\"y\"] = sum(2); printa(@a, @b);", "  x                                                                 1                5\n  y                                                                 0                2\n"},
      {"@a = max(4294967296); @a = max(1);", "\n" + alone(4294967296)},
  };
}

TEST(Aggregations, PrintTheSameOnBothEngines) {
  for (const Case& c : cases()) {
    const std::string script = "#pragma D option quiet\nBEGIN { " + c.body + " }";
    const d_test::Run r = d_test::run(script);
    if (c.body.find("@a[\"y\"] = sum(1)") != std::string::npos) { // another function
      EXPECT_NE(r.evaluator.find("@a has another function elsewhere"), std::string::npos) << r.evaluator;
      continue;
    }
    EXPECT_EQ(r.evaluator, c.expected) << script;
    if (r.refused.empty()) { EXPECT_EQ(r.kernel, r.evaluator) << script; }
  }
}

TEST(Aggregations, OptionsGiveTheOrder) {
  const std::string body = "BEGIN { @a[3] = sum(1); @a[2] = sum(2); @a[9] = sum(0); printa(\"%d \", @a); }";
  const std::pair<const char*, const char*> orders[] = {
      {"", "9 3 2 "}, {"#pragma D option aggsortrev\n", "2 3 9 "}, {"#pragma D option aggsortkey\n", "2 3 9 "}, {"#pragma D option aggsortkey,aggsortrev\n", "9 3 2 "}};
  for (const auto& [options, expected] : orders) EXPECT_EQ(d_test::run("#pragma D option quiet\n" + std::string(options) + body, {}, false).evaluator, expected) << options;
  const std::string two = "BEGIN { @a[1] = sum(1); @a[2] = sum(2); @b[1] = sum(9); @b[2] = sum(3); printa(\"%d \", @a, @b); }";
  EXPECT_EQ(d_test::run("#pragma D option quiet\n#pragma D option aggsortpos=1\n" + two, {}, false).evaluator, "2 1 ");
  const std::string keys = "BEGIN { @a[1, 9] = sum(1); @a[2, 3] = sum(2); printa(\"%d \", @a); }";
  EXPECT_EQ(d_test::run("#pragma D option quiet\n#pragma D option aggsortkey\n#pragma D option aggsortkeypos=1\n" + keys, {}, false).evaluator, "2 1 ");
}

TEST(Aggregations, ZoomMakesTheLargestBarTheLongest) {
  const d_test::Run r = d_test::run("#pragma D option quiet\n#pragma D option aggzoom\nBEGIN { @ = quantize(1); @ = quantize(1); @ = quantize(2); }", {}, false);
  EXPECT_EQ(r.evaluator, "\n" + head() + row("0", 0, 0) + row("1", 38, 2) + row("2", 19, 1) + row("4", 0, 0) + "\n");
}

std::string bars_head(const std::string& title, int columns) {
  char text[160];
  std::snprintf(text, sizeof text, "\n%*s  ------------- Distribution ------------- count    \n", columns, title.c_str());
  return text;
}
std::string at_right(const std::string& text, int columns) { return std::string(static_cast<size_t>(columns) - text.size(), ' ') + text; }
std::string bar_row(const std::string& left, const std::string& right, long value) {
  char text[160];
  std::snprintf(text, sizeof text, " %s|%s %-9ld\n", left.c_str(), right.c_str(), value);
  return text;
}

std::string ats(int n, int columns) { return std::string(static_cast<size_t>(n), '@') + std::string(static_cast<size_t>(columns - n), ' '); }

TEST(Aggregations, CountsHaveBars) {
  const Case all[] = {
      {"@a[\"x\"] = sum(1); @a[\"y\"] = sum(3);", "\n" + bars_head("key", 17) + at_right("x", 17) + bar_row("", ats(10, 40), 1) + at_right("y", 17) + bar_row("", ats(30, 40), 3)},
      {"@a[1, \"x\"] = count();", "\n" + bars_head("key", 26) + at_right("1", 9) + at_right("x", 17) + bar_row("", ats(40, 40), 1)},
      {"@a[1] = sum(-1); @a[2] = sum(-3);", "\n" + bars_head("key", 9) + at_right("2", 9) + bar_row(at_right(ats(30, 30), 40), "", -3) + at_right("1", 9) + bar_row(at_right(ats(10, 10), 40), "", -1)},
      {"@a[1] = sum(-1); @a[2] = sum(3);", "\n" + bars_head("key", 9) + at_right("1", 9) + bar_row(at_right(ats(5, 5), 20), ats(0, 20), -1) + at_right("2", 9) + bar_row(ats(0, 20), ats(15, 20), 3)},
      {"@a[1] = sum(10); normalize(@a, 5); printa(@a);", bars_head("key", 9) + at_right("1", 9) + bar_row("", ats(40, 40), 2)},
      {"@a = count();", "\n" + bars_head("value", 16) + bar_row("", ats(40, 40), 1)},
      {"@a[1] = max(3); printa(@a);", "        1                3\n"},
      {"@a[1] = sum(3); @b[1] = sum(4); printa(@a, @b);", "        1                3                4\n"},
      {"@a[1] = sum(3); printa(\"%d %@d\", @a);", "1 3"},
  };
  for (const Case& c : all) {
    const d_test::Run r = d_test::run("#pragma D option quiet\n#pragma D option agghist\nBEGIN { " + c.body + " }");
    EXPECT_EQ(r.evaluator, c.expected) << c.body;
    if (r.refused.empty()) { EXPECT_EQ(r.kernel, r.evaluator) << c.body; }
  }
}

TEST(Aggregations, DistributionsInOneLine) {
  const std::string ascii = "#pragma D option encoding=ascii\n", blocks = "#pragma D option encoding=utf8\n", zoom = "#pragma D option aggzoom\n";
  const std::string two = "@[\"k\"] = quantize(1); @[\"k\"] = quantize(1); @[\"k\"] = quantize(4);";
  const std::string two_head = "\n\n" + at_right("key", 17) + "  min .-----. max  | count\n";
  const std::pair<std::string, Case> all[] = {
      {ascii, {two, two_head + at_right("k", 17) + "    0 : x x : 8    | 3\n"}},
      {blocks, {two, two_head + at_right("k", 17) + "    0 : \u2586 \u2583 : 8    | 3\n"}},
      {ascii + zoom, {two, two_head + at_right("k", 17) + "    0 : X x : 8    | 3\n"}},
      // All keys have the buckets of any.
      {ascii, {"@[1] = quantize(1); @[2] = quantize(1024);", "\n\n      key  min .-------------. max  | count\n" + at_right("1", 9) + "    0 : X           : 2048 | 1\n" + at_right("2", 9) + "    0 :           X : 2048 | 1\n"}},
      {ascii, {"@ = quantize(-1); @ = quantize(-2);", "\n\n  min .----. max  | count\n   -4 : xx : 0    | 2\n"}},
      {ascii, {"@ = quantize(5, -2);", "\n\n  min .---. max  | count\n    2 : V : 8    | -2\n"}},
      {ascii, {"@ = lquantize(5, 0, 20, 10);", "\n\n     min .----. max      | count\n     < 0 : X  : >= 20    | 1\n"}},
      {ascii, {"@[1] = llquantize(5, 10, 0, 2, 10); printa(@);", "        1" + head() + row("4", 0, 0) + row("5", 40, 1) + row("6", 0, 0) + "\n"}},
  };
  for (const auto& [options, c] : all) {
    const d_test::Run r = d_test::run("#pragma D option quiet\n#pragma D option aggpack\n" + options + "BEGIN { " + c.body + " }");
    EXPECT_EQ(r.evaluator, c.expected) << options << c.body;
    if (r.refused.empty()) { EXPECT_EQ(r.kernel, r.evaluator) << c.body; }
  }
}

TEST(Aggregations, BarsOfBlocks) {
  const d_test::Run r = d_test::run("#pragma D option quiet\n#pragma D option encoding=utf8\nBEGIN { @ = quantize(1); @ = quantize(2); @ = quantize(2); }", {}, false);
  auto blocks = [](int n, const std::string& last) {
    std::string out;
    for (int i = 0; i < n; i++) out += "\u2588";
    return out + last + std::string(static_cast<size_t>(39 - n), ' ');
  };
  EXPECT_EQ(r.evaluator, "\n" + head() + row("0", 0, 0) + "               1 |" + blocks(13, "\u258e") + " 1        \n               2 |" + blocks(26, "\u258b") + " 2        \n" + row("4", 0, 0) + "\n");
}

TEST(Aggregations, NegativeCountsGrowToTheLeft) {
  const d_test::Run r = d_test::run("#pragma D option quiet\nBEGIN { @ = quantize(1, -3); @ = quantize(2, 1); }", {}, false);
  auto line = [](const std::string& value, const std::string& bar, const std::string& count) { return at_right(value, 16) + " " + bar + " " + count + std::string(9 - count.size(), ' ') + "\n"; };
  EXPECT_EQ(r.evaluator, "\n" + head() + line("0", ats(0, 20) + "|" + ats(0, 20), "0") + line("1", at_right(ats(15, 15), 20) + "|" + ats(0, 20), "-3") +
                             line("2", ats(0, 20) + "|" + ats(5, 20), "1") + line("4", ats(0, 20) + "|" + ats(0, 20), "0") + "\n");
}

TEST(Aggregations, OptionsChangeWhileTheScriptRuns) {
  const std::pair<const char*, const char*> all[] = {
      {"setopt(\"aggsortrev\"); printa(\"%d \", @a); setopt(\"aggsortrev\", \"unset\"); printa(\"%d \", @a);", "2 1 1 2 "},
      {"setopt(\"aggsortkey\", \"\"); @a[0] = sum(9); printa(\"%d \", @a);", "0 1 2 "},
      {"x = \"1\"; setopt(\"aggsortpos\", x); @b[1] = sum(9); @b[2] = sum(3); printa(\"%d \", @a, @b);", "2 1 "},
      {"setopt(\"bufsize\", \"4m\"); printa(\"%d \", @a);", "1 2 "},
      {"x = \"no\"; setopt(\"aggsortpos\", x); printa(\"%d \", @a);", "1 2 stderr: ERROR: setopt: option aggsortpos cannot be `no`\n"},
      {"print(@a);", "        1                1\n        2                2\n"},
  };
  for (const auto& [body, expected] : all) {
    const d_test::Run r = d_test::run("#pragma D option quiet\nBEGIN { @a[1] = sum(1); @a[2] = sum(2); " + std::string(body) + " }");
    EXPECT_EQ(r.evaluator, expected) << body;
    if (r.refused.empty()) { EXPECT_EQ(r.kernel, r.evaluator) << body; }
  }
}

TEST(Aggregations, TruncatedKeysComeBackWithWhatFollows) {
  const std::string script = "#pragma D option quiet\n"
                             "BEGIN { @a[1] = sum(1); @a[2] = sum(5); }\n"
                             "BEGIN { trunc(@a, 1); }\n"
                             "END { @a[1] = sum(100); }\n"
                             "END { printa(\"%d %@d;\", @a); }";
  const d_test::Run r = d_test::run(script);
  EXPECT_EQ(r.evaluator, "2 5;1 100;");
  if (r.refused.empty()) { EXPECT_EQ(r.kernel, r.evaluator); }
}

} // namespace
