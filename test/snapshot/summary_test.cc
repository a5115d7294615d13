// What is said of a stopped program without a script: threads in groups, what ended it, names with anything in them, JSON.
#include "snapshot/profile.h"
#include "snapshot/summary.h"

#include "target/fake_target.h"

#include <gtest/gtest.h>

#include <rapidjson/document.h>

namespace snapshot {
namespace {

class Summary : public testing::Test {
protected:
  // A thread in code of no file, at an offset of its page.
  void thread(uint32_t id, uint64_t offset, std::string name = "app") {
    t.add_thread(id, 0, std::move(name));
    t.threads_.back().registers[target::FakeTarget::register_ip] = t.code_ + offset;
  }
  std::string text(SummaryOptions options = {}) {
    target::Stacks stacks(t);
    probe::StoppedProgram stopped(t, stacks);
    return summarize(stopped, options);
  }
  rapidjson::Document json() {
    rapidjson::Document out;
    const std::string all = text({.json = true, .with_heap = true});
    out.Parse(all.c_str());
    EXPECT_FALSE(out.HasParseError()) << all;
    return out;
  }
  target::FakeTarget t;
};

TEST_F(Summary, ThreadsWithOneStackAreOneGroup) {
  thread(17, 0x10), thread(18, 0x20, "worker"), thread(19, 0x10, "");
  const std::string out = text();
  EXPECT_TRUE(out.starts_with("process 17 `app`, 3 threads\n\n2 threads: 17 (app), 19\n   0  0x10010\n")) << out;
  EXPECT_NE(out.find("\nthread 18 (worker)\n   0  0x10020\n"), out.npos) << out;
  const rapidjson::Document all = json();
  ASSERT_EQ(all["stacks"].Size(), 2u);
  EXPECT_EQ(all["stacks"][0]["threads"].Size(), 2u);
  EXPECT_STREQ(all["stacks"][1]["frames"][0]["address"].GetString(), "0x10020");
}

TEST_F(Summary, OneThread) {
  thread(17, 0x10);
  EXPECT_TRUE(text().starts_with("process 17 `app`, 1 thread\n\nthread 17 (app)\n"));
}

// The thread that a signal ended stands alone, though others are where it was.
TEST_F(Summary, WhatEndedIt) {
  thread(17, 0x10), thread(18, 0x10), thread(19, 0x10);
  t.fault_ = target::Fault{.signal = 11, .thread = 0, .signal_name = "SIGSEGV", .address = 0x8, .meaning = "nothing is mapped there"};
  std::string out = text();
  EXPECT_NE(out.find("\nsignal    SIGSEGV in thread 17, address 0x8: nothing is mapped there\n"), out.npos) << out;
  EXPECT_NE(out.find("\nthread 17 (app), terminated by the signal\n"), out.npos);
  EXPECT_NE(out.find("\n2 threads: 18 (app), 19 (app)\n"), out.npos);
  t.fault_ = target::Fault{.signal = 63, .thread = 2, .signal_name = "", .address = {}, .meaning = "sent by kill()", .sender = 4711};
  out = text();
  EXPECT_NE(out.find("\nsignal    63 in thread 19: sent by kill() by process 4711\n"), out.npos) << out;
  EXPECT_EQ(json()["thread"].GetUint(), 19u);
}

// Names of foreign programs: nothing in them moves the cursor or makes a line.
TEST_F(Summary, NamesWithControlCharacters) {
  thread(17, 0x10, "t\x1b[2J");
  t.name_ = "a\nb", t.arguments_ = "sh -c echo\n\x1b]0;x\x07";
  t.problems_ = {"a problem\r"};
  t.modules_.push_back({.path = "/tmp/\x1b[31mx", .begin = 0x400000, .end = 0x401000, .build_id = {}, .state = target::Module::missing, .problem = "/tmp/\tx: gone", .opened = {}, .root = {}, .file = {}});
  const std::string out = text();
  for (char c : out) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << static_cast<int>(c);
  EXPECT_TRUE(out.starts_with("process 17 `a\\nb`, 1 thread\ncommand   sh -c echo\\n\\x1b]0;x\\x07\nproblem   a problem\\r\n")) << out;
  EXPECT_NE(out.find("  0x000000400000  /tmp/\\x1b[31mx\n      missing: /tmp/\\tx: gone\n"), out.npos) << out;
  EXPECT_EQ(std::string(json()["command"].GetString()), t.arguments_); // programs get it as it is
}

TEST_F(Summary, WithoutAnything) {
  EXPECT_EQ(text(), "process 17 `app`, 0 threads\n");
  const rapidjson::Document all = json();
  EXPECT_EQ(all["stacks"].Size(), 0u);
  EXPECT_EQ(all["modules"].Size(), 0u);
  EXPECT_EQ(all["problems"].Size(), 0u);
}

TEST_F(Summary, TheStacksAsAProfile) {
  thread(17, 0x10), thread(18, 0x20, "worker"), thread(19, 0x20, "");
  target::Stacks stacks(t);
  probe::StoppedProgram stopped(t, stacks);
  const profile::Profile p = profile_of_stacks(stopped);
  EXPECT_EQ(p.about.unit, "threads");
  EXPECT_EQ(p.about.samples, 3u);
  EXPECT_EQ(p.total(), 3u);
  ASSERT_EQ(p.threads().size(), 3u);
  EXPECT_EQ(p.texts()[p.threads()[1].name], "worker");
  EXPECT_EQ(p.texts()[p.threads()[2].name], "app"); // without a name of its own
  EXPECT_FALSE(write_stacks(stopped, "/tmp/x.unknown").ok());
}

} // namespace
} // namespace snapshot
