// What is in a recording, as a table and as JSON, and its CPU samples as a profile.
#include "recording/report.h"
#include "recordings.h"

namespace recording {
namespace {

struct Reports : testing::Test {
  Scratch scratch;
  Written written;
  std::string path = scratch.path("r.acu");

  Reader sample() {
    EXPECT_TRUE(write_sample(path, written).ok());
    auto reader = Reader::open(path);
    EXPECT_TRUE(reader.ok());
    return std::move(*reader);
  }
};

TEST_F(Reports, TablesHaveCountsTriggersAndNotes) {
  const Reader reader = sample();
  auto text = report_text(reader, {}, {.top = 2});
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("all processes on host"), std::string::npos) << *text;
  EXPECT_NE(text->find("note: lost 3 events"), std::string::npos) << *text;
  EXPECT_NE(text->find("sched_switch            307          300            4        3"), std::string::npos) << *text;
  EXPECT_NE(text->find("trigger at "), std::string::npos) << *text;
  auto json = report_json(reader, {.kinds = {0}});
  ASSERT_TRUE(json.ok());
  EXPECT_NE(json->find(R"({"name": "sched_switch", "kept": 300, "sent": 307, "overwritten": 4, "lost": 3})"), std::string::npos) << *json;
  EXPECT_NE(json->find(R"({"name": "sched_wakeup", "kept": 0)"), std::string::npos) << "only what was asked for";
}

TEST_F(Reports, SamplesAreAProfile) {
  const Reader reader = sample();
  auto profile = profile_of(reader, {});
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->total(), 300u);
  EXPECT_EQ(profile->about.samples, 300u);
  EXPECT_EQ(profile->about.lost, 3u);
  EXPECT_EQ(profile->about.what, "all processes");
  bool has_lock = false;
  for (const profile::Frame& f : profile->frames()) has_lock |= profile->name(f) == "take_lock0" && profile->module(f) == "/bin/server0";
  EXPECT_TRUE(has_lock);
  auto same = read_profile(path);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->total(), 300u);
  auto half = profile_of(reader, {.until_ns = 1'003'074'999});
  ASSERT_TRUE(half.ok());
  EXPECT_EQ(half->total(), 150u) << "two each microsecond, from 1.003 s on";
  EXPECT_EQ(half->about.duration_ns, 3'074'999u) << "comparisons divide by it";
  EXPECT_EQ(half->about.start_ns, 77u);
  EXPECT_EQ(half->about.own_cpu_ns, 0u) << "known of the whole only";
  EXPECT_EQ(same->about.duration_ns, 1'000'000'000u);
  EXPECT_EQ(same->about.own_cpu_ns, 5u);
  auto later = profile_of(reader, {.from_ns = 1'003'100'000, .until_ns = 9'000'000'000});
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(later->about.duration_ns, 996'900'000u) << "until the end of the recording";
  EXPECT_EQ(later->about.start_ns, 3'100'077u);
  auto none = profile_of(reader, {.from_ns = 5'000'000'000});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->about.duration_ns, 0u);
}

TEST_F(Reports, LinesOfAScriptAreShown) {
  auto writer = Writer::create(path, {.begin_ns = 1'000'000'000, .end_ns = 3'000'000'000});
  ASSERT_TRUE(writer.ok());
  Names names;
  names.texts = {"", "server", "slow: 7 ms", "a\nb"};
  names.threads = {{}, {10, 11, 1, 1}};
  Batch batch = {.kind = writer->add_kind(kind_of(Kind::log)), .times = {2'500'000'000, 2'600'000'000}, .cpus = {1, 0}, .threads = {1, 1}, .columns = {{2, 3}}};
  ASSERT_TRUE(writer->add(batch, names).ok());
  ASSERT_TRUE(writer->finish({.begin_ns = 1'000'000'000, .end_ns = 3'000'000'000}, std::vector<Count>{{.sent = 2, .kept = 2}}).ok());
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader.ok());
  const std::string text = report_text(*reader, {}).value(), json = report_json(*reader, {}).value();
  EXPECT_NE(text.find("    1.500000 CPU 1         11  server: slow: 7 ms\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("a\nb"), std::string::npos) << "a line is one";
  EXPECT_NE(json.find("{\"ns\": 2500000000, \"cpu\": 1, \"pid\": 10, \"tid\": 11, \"thread\": \"server\", \"text\": \"slow: 7 ms\"}"), std::string::npos) << json;
}

TEST_F(Reports, WithoutSamplesThereIsNoProfile) {
  auto writer = Writer::create(path, {});
  ASSERT_TRUE(writer.ok());
  writer->add_kind(kind_of(Kind::log));
  ASSERT_TRUE(writer->finish({}, {}).ok());
  auto profile = read_profile(path);
  ASSERT_FALSE(profile.ok());
  EXPECT_NE(profile.error().message.find("no CPU samples"), std::string::npos);
}

} // namespace
} // namespace recording
