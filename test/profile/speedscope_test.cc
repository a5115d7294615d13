// speedscope's files: those of other tools by the schema at speedscope.app, and acu's own.
#include "profile/formats.h"
#include "profiles.h"

#include <gtest/gtest.h>

#include <rapidjson/document.h>

namespace profile {
namespace {

constexpr std::string_view head = R"({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "main"}, {"name": "work", "file": "a.js", "line": 3}]}, "profiles": [)";

std::string read(const std::string& profiles) {
  auto p = read_speedscope(std::string(head) + profiles + "]}");
  return p.ok() ? p->about.unit + "\n" + lines_of(*p, {.ids = false, .threads = false}) : "FAILED: " + p.error().message;
}
std::string thread(const std::string& unit, const std::string& samples, const std::string& weights, const std::string& name = "t") {
  return R"({"type": "sampled", "name": ")" + name + R"(", "unit": ")" + unit + R"(", "startValue": 0, "endValue": 1, "samples": )" + samples + R"(, "weights": )" + weights + "}";
}

TEST(Speedscope, TimesBecomeNanoseconds) {
  EXPECT_EQ(read(thread("seconds", "[[0]]", "[1.5]")), "ns\nt > main user in  = 1500000000 of 1\n");
  EXPECT_EQ(read(thread("milliseconds", "[[0]]", "[0.25]")), "ns\nt > main user in  = 250000 of 1\n");
  EXPECT_EQ(read(thread("microseconds", "[[0]]", "[3]")), "ns\nt > main user in  = 3000 of 1\n");
  EXPECT_EQ(read(thread("nanoseconds", "[[0]]", "[3]")), "ns\nt > main user in  = 3 of 1\n");
  EXPECT_EQ(read(thread("bytes", "[[0]]", "[3]")), "bytes\nt > main user in  = 3 of 1\n");
  EXPECT_EQ(read(thread("none", "[[0, 1]]", "[3]")), "samples\nt > main user in  > work user in a.js = 3 of 3\n");
}

// A sum of times and bytes is no number.
TEST(Speedscope, ThreadsOfOneUnit) {
  EXPECT_EQ(read(thread("seconds", "[[0]]", "[1]") + "," + thread("milliseconds", "[[0]]", "[1]", "u")), "ns\nt > main user in  = 1000000000 of 1\nu > main user in  = 1000000 of 1\n");
  EXPECT_EQ(read(thread("nanoseconds", "[[0]]", "[1]") + "," + thread("bytes", "[[0]]", "[1]", "u")),
            "FAILED: its profiles have different units: `ns` and `bytes`; acu reads files with one unit");
}

TEST(Speedscope, WeightsThatAreNoWeights) {
  EXPECT_EQ(read(thread("none", "[[0], [0], [0]]", R"([-1, "x", 1e300])")), "samples\nt > main user in  = 0 of 0\n");
  EXPECT_EQ(read(thread("none", "[[0]]", "[]")), "FAILED: it is damaged: the numbers of stacks and weights differ");
  EXPECT_EQ(read(thread("none", "[[2]]", "[1]")), "FAILED: it is damaged: a stack has an invalid reference to a frame");
  EXPECT_EQ(read(thread("none", "[[-1]]", "[1]")), "FAILED: it is damaged: a stack has an invalid reference to a frame");
  EXPECT_EQ(read(thread("none", "[[\"0\"]]", "[1]")), "FAILED: it is damaged: a stack has an invalid reference to a frame");
}

TEST(Speedscope, TheFilesNameIsItsTitle) {
  EXPECT_EQ(read_speedscope(std::string(head) + "], \"name\": \"profile of app.js\"}")->about.title, "profile of app.js");
  EXPECT_EQ(read_speedscope(std::string(head) + "]}")->about.title, "CPU");
}

TEST(Speedscope, PartsOfAnotherTypeAreEmpty) {
  EXPECT_EQ(read(""), "samples\n");
  EXPECT_EQ(read("1, null, []"), "FAILED: it has a profile of type ``; acu reads only `sampled` profiles");
  for (const char* text : {"[]", "{}", "7", "{\"shared\": 5, \"profiles\": {}}"}) {
    auto p = read_speedscope(text);
    ASSERT_TRUE(p.ok()) << text;
    EXPECT_TRUE(p->samples().empty());
  }
}

Profile sample() {
  Profile p;
  p.about.what = "process 17 (a \"b\" \\ </script>)";
  p.about.host = "web1";
  p.about.duration_ns = 123;
  add(p, {{"main"}, {"operator\"\"_x", "/lib/w.so"}, {"helper", "/lib/w.so", FrameKind::inlined}}, 5, 2);
  add(p, {{"[waiting]", "", FrameKind::note}, {"x+0x1", "/lib/w.so", FrameKind::user, false}}, 3, 3, {.thread = "größe", .tid = 18});
  add(p, {{"f", "[kernel]", FrameKind::kernel}, {"handler", "/srv/x", FrameKind::test}}, 1, 1, {.process = "q\"uote", .pid = 4194304, .tid = 4194304});
  add(p, {}, 4);
  return p;
}

TEST(Speedscope, WhatAcuWritesIsReadBack) {
  for (const char* unit : {"samples", "ns", "bytes", "faults"}) {
    Profile p = sample();
    p.about.unit = unit;
    auto again = read_speedscope(write_speedscope(p));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(lines_of(*again), lines_of(p)) << unit;
    EXPECT_EQ(again->about.unit, unit);
    EXPECT_EQ(again->about.what, p.about.what);
    EXPECT_EQ(again->about.host, "web1");
    EXPECT_EQ(again->about.duration_ns, 123u);
  }
}

// Beyond 2^53 a double has not each number.
TEST(Speedscope, LargeWeightsAreExact) {
  Profile p;
  p.about.unit = "bytes";
  add(p, {{"a"}}, (uint64_t{1} << 53) + 1, 1);
  add(p, {{"b"}}, uint64_t{1} << 62, (uint64_t{1} << 53) + 3);
  EXPECT_EQ(lines_of(*read_speedscope(write_speedscope(p))), lines_of(p));
  Profile sampled;
  sampled.about.period_ns = 10'101'010;
  add(sampled, {{"a"}}, 987'654'321'987);
  EXPECT_EQ(lines_of(*read_speedscope(write_speedscope(sampled))), lines_of(sampled));
}

// Other tools draw time, so samples of a known period are written as that.
TEST(Speedscope, OthersSeeTimes) {
  Profile p = sample();
  p.about.period_ns = 1000;
  rapidjson::Document file;
  file.Parse(write_speedscope(p).c_str());
  ASSERT_FALSE(file.HasParseError());
  EXPECT_STREQ(file["profiles"][0]["unit"].GetString(), "nanoseconds");
  EXPECT_EQ(file["profiles"][0]["weights"][0].GetUint64(), 5000u);
  EXPECT_EQ(file["profiles"][0]["endValue"].GetUint64(), 9000u); // 5 and 4 samples of one thread
  EXPECT_EQ(file["profiles"].Size(), 3u);
  EXPECT_STREQ(file["profiles"][1]["name"].GetString(), "app 17: größe 18");
}

TEST(Speedscope, ItIsKnownByItsSchema) {
  EXPECT_TRUE(is_speedscope(write_speedscope(sample())));
  EXPECT_FALSE(is_speedscope("{}"));
  EXPECT_FALSE(is_speedscope("[\"https://www.speedscope.app/file-format-schema.json\"]"));
  EXPECT_FALSE(is_speedscope(""));
}

} // namespace
} // namespace profile
