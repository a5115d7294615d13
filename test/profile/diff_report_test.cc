// Comparisons as text, JSON and page; scaling, and what is no difference.
#include "profile/diff.h"
#include "profile/formats.h"
#include "profile/matching.h"
#include "profiles.h"

#include <gtest/gtest.h>

#include <rapidjson/document.h>

namespace profile {
namespace {

Profile of_ns(std::initializer_list<std::pair<std::vector<Step>, uint64_t>> stacks) {
  Profile p;
  p.about.unit = "ns";
  for (auto& [steps, weight] : stacks) add(p, steps, weight, 1);
  return p;
}
std::string rows(const Difference& d) {
  std::string out;
  for (const Change& c : changes_of(d)) {
    out += c.name + " " + std::to_string(c.before) + " to " + std::to_string(c.after) + ": " + std::to_string(c.self) + ", " + std::to_string(c.total);
    out += c.is_only_in_a() ? " A\n" : c.is_only_in_b() ? " B\n" : "\n";
  }
  return out;
}

TEST(Difference, OfARecordingWithItself) {
  Profile p = of_ns({{{{"main"}, {"work"}}, 5}, {{{"main"}}, 3}});
  auto d = compare(p, p);
  EXPECT_EQ(rows(*d), "");
  EXPECT_EQ(d->before, 8u);
  EXPECT_EQ(d->after, 8u);
  EXPECT_NE(difference_text(*d, 5).find("before 8 ns, after 8 ns: 0 ns"), std::string::npos) << difference_text(*d, 5);
}

TEST(Difference, ThereAndBackAreOpposite) {
  Profile a = of_ns({{{{"main"}, {"work"}}, 5}, {{{"main"}, {"old"}}, 3}}), b = of_ns({{{{"main"}, {"work"}}, 9}, {{{"main"}, {"new"}}, 1}});
  const std::vector<Change> there = changes_of(*compare(a, b)), back = changes_of(*compare(b, a));
  ASSERT_EQ(there.size(), back.size());
  for (const Change& c : there) {
    auto other = std::ranges::find(back, c.name, &Change::name);
    ASSERT_NE(other, back.end());
    EXPECT_EQ(other->self, -c.self) << c.name;
    EXPECT_EQ(other->total, -c.total) << c.name;
    EXPECT_EQ(other->is_only_in_a(), c.is_only_in_b()) << c.name;
  }
}

TEST(Difference, TheLargestChangeFirstThenByName) {
  Profile a = of_ns({{{{"d"}}, 10}, {{{"c"}}, 1}, {{{"b"}}, 1}, {{{"a"}}, 1}}), b = of_ns({{{{"c"}}, 3}, {{{"b"}}, 3}, {{{"a"}}, 2}});
  EXPECT_EQ(rows(*compare(a, b)), "d 10 to 0: -10, -10 A\nb 1 to 3: 2, 2\nc 1 to 3: 2, 2\na 1 to 2: 1, 1\n");
}

// A function that moved within the tree took as long as before: it is no row.
TEST(Difference, OnlyTheCallerChanged) {
  Profile a = of_ns({{{{"main"}, {"f"}, {"work"}}, 5}}), b = of_ns({{{{"main"}, {"g"}, {"work"}}, 5}});
  EXPECT_EQ(rows(*compare(a, b)), "f 0 to 0: 0, -5 A\ng 0 to 0: 0, 5 B\n");
}

TEST(Difference, RecursionsCountOnce) {
  Profile a = of_ns({{{{"f"}, {"g"}, {"f"}, {"g"}}, 5}}), b = of_ns({{{{"f"}, {"g"}, {"f"}, {"g"}}, 9}});
  EXPECT_EQ(rows(*compare(a, b)), "g 5 to 9: 4, 4\nf 0 to 0: 0, 4\n");
}

TEST(Difference, ScaledByTimeAndSampling) {
  auto recording = [](uint64_t duration, uint64_t period, uint64_t samples) {
    Profile p;
    p.about.duration_ns = duration, p.about.period_ns = period;
    add(p, {{"main"}}, samples);
    return p;
  };
  EXPECT_EQ(compare(recording(10, 5, 100), recording(10, 5, 100))->scale, 1);
  EXPECT_EQ(compare(recording(10, 5, 100), recording(30, 5, 100))->scale, 3);
  EXPECT_EQ(compare(recording(10, 5, 100), recording(10, 10, 50))->scale, 0.5);
  EXPECT_EQ(compare(recording(0, 5, 100), recording(30, 5, 100))->scale, 1); // the time of A is not known
  EXPECT_EQ(compare(recording(10, 5, 101), recording(5, 5, 7))->before, 51u); // 50.5
}

TEST(Difference, ThreadsMeetByTheirNames) {
  Profile a, b;
  add(a, {{"f"}}, 5, 5, {.thread = "worker", .pid = 1, .tid = 2});
  add(b, {{"f"}}, 2, 2, {.thread = "worker", .pid = 7, .tid = 8});
  add(b, {{"f"}}, 3, 3, {.thread = "worker", .pid = 7, .tid = 9});
  EXPECT_EQ(rows(*compare(a, b)), "");
  EXPECT_EQ(compare(a, b)->changes, std::vector<int64_t>{0});
}

TEST(Matching, WordsThatOnlyLookLikeMarksOfCopies) {
  for (const char* name : {"main.coldStart", "cache.partition", "app.partial", "x.israel", "net/http.constproperties", "pkg.llvmish"}) EXPECT_EQ(function_of_copy(name), name);
  for (auto [name, function] : {std::pair("f.cold", "f"), std::pair("f.cold.7", "f"), std::pair("f.isra.0.cold", "f"), std::pair("f.llvm.1234567", "f"), std::pair("f.lto_priv.0", "f"),
                                std::pair("f(int) [clone .part.0] [clone .cold]", "f(int)")})
    EXPECT_EQ(function_of_copy(name), function) << name;
}

TEST(Matching, Names) {
  for (auto [name, bare] : {std::pair("", ""), std::pair(".so", ".so"), std::pair("libfoo.so.", "libfoo.so"), std::pair("foo.socket", "foo.socket"), std::pair("node-v18.2.0", "node"),
                            std::pair("libfoo-1.2.so.3.4 (deleted)", "libfoo.so"), std::pair("x-1.", "x-1."), std::pair("perf-x.txt", "perf-x.txt")})
    EXPECT_EQ(without_version(name), bare) << name;
}

TEST(DifferenceText, LongListsAreCut) {
  Profile a, b;
  for (int i = 0; i < 12; i++) {
    add(a, {{"old" + std::to_string(i), "/a/lib" + std::to_string(i) + ".so"}}, static_cast<uint64_t>(i + 1));
    add(b, {{"new" + std::to_string(i), "/b/lib" + std::to_string(i) + ".so"}}, static_cast<uint64_t>(i + 1));
  }
  const std::string text = difference_text(*compare(a, b), 5);
  EXPECT_NE(text.find("and 2 more files with different paths\n"), text.npos) << text;
  EXPECT_NE(text.find("2 more functions\n"), text.npos);
  // The largest of those that only one has come first.
  EXPECT_LT(text.find("old11", text.find("only in A (inc")), text.find("old10", text.find("only in A (inc")));
  add(a, {{"f", "/a/lib12.so"}}, 1), add(b, {{"f", "/b/lib12.so"}}, 1);
}

// In columns of one width, whatever units are in them.
TEST(DifferenceText, ColumnsAreAligned) {
  Profile a = of_ns({{{{"long"}}, 5'000'000'000}, {{{"short"}}, 5'000}}), b = of_ns({{{{"long"}}, 6'000'000'000}, {{{"short"}}, 7'000}});
  const std::string text = difference_text(*compare(a, b), 5);
  auto column = [&](std::string_view word) {
    const size_t at = text.find(word), line = text.rfind('\n', at) + 1;
    return std::ranges::count_if(text.substr(line, at - line), [](char c) { return (c & 0xc0) != 0x80; });
  };
  EXPECT_EQ(column("long  app"), column("function\n")) << text;
  EXPECT_EQ(column("short  app"), column("function\n")) << text;
}

TEST(DifferenceJson, IsJson) {
  Profile a = of_ns({{{{"f\"1"}}, 5}}), b = of_ns({{{{"größe"}}, 7}});
  a.about.what = "x\ny";
  rapidjson::Document json;
  json.Parse(difference_json(*compare(a, b, "a \"1\".acu", "b.acu"), 9).c_str());
  ASSERT_FALSE(json.HasParseError());
  EXPECT_STREQ(json["a"]["file"].GetString(), "a \"1\".acu");
  EXPECT_STREQ(json["a"]["what"].GetString(), "x\ny");
  EXPECT_EQ(json["before"].GetUint64(), 5u);
  EXPECT_EQ(json["functions"].Size(), 2u);
  EXPECT_STREQ(json["functions"][0]["in"].GetString(), "B");
  EXPECT_EQ(json["functions"][1]["self"].GetInt64(), -5);
}

// The page counts what only A has, as wide as there; nothing else changes the sums.
TEST(DifferencePage, NodesOfBothAndOfOne) {
  Profile a = of_ns({{{{"main"}, {"both"}}, 5}, {{{"main"}, {"old"}, {"deep"}}, 3}}), b = of_ns({{{{"main"}, {"both"}}, 9}});
  const std::string page = difference_page(*compare(a, b, "a", "b"));
  EXPECT_NE(page.find("\"changes\":[4,-3]"), page.npos);
  EXPECT_FALSE(read_embedded(page).ok()); // a comparison is no recording
}

} // namespace
} // namespace profile
