// The spool: numbers in order, limits, and what two processes do at once.
#include "fleet/batch.h"
#include "fleet/spool.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

class FleetSpool : public testing::Test {
protected:
  FleetSpool() {
    char name[] = "/tmp/acu-spool-XXXXXX";
    folder = ::mkdtemp(name);
  }
  ~FleetSpool() override { std::filesystem::remove_all(folder); }
  fleet::Spool spool() {
    auto out = fleet::Spool::open(folder + "/spool");
    EXPECT_TRUE(out.ok()) << out.error().message;
    return std::move(*out);
  }
  std::string folder;
};

std::string batch_of(uint64_t samples) {
  fleet::Content content;
  content.texts.emplace_back("cpu");
  content.source = 1;
  content.services.resize(1), content.threads.resize(1), content.stacks.resize(1);
  content.samples.push_back({.kind = 1, .weight = samples, .count = samples});
  return fleet::pack(content, 1000);
}

TEST_F(FleetSpool, NumbersAreInOrderAndUsedOnce) {
  fleet::Spool s = spool();
  for (int i = 0; i < 3; i++) ASSERT_TRUE(s.put(batch_of(5)).ok());
  auto entries = s.list();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].number, 1u);
  ASSERT_TRUE(s.remove_stored(entries).ok());
  const uint64_t id = s.state()->id;
  fleet::Spool again = spool();
  ASSERT_TRUE(again.put("x").ok());
  EXPECT_EQ(again.list()[0].number, 4u);
  EXPECT_EQ(again.state()->stored, 3u);
  EXPECT_EQ(again.state()->id, id);
}

TEST_F(FleetSpool, TheOldestAreDroppedAndCounted) {
  fleet::Spool s = spool();
  const std::string batch = batch_of(7);
  for (int i = 0; i < 10; i++) ASSERT_TRUE(s.put(batch).ok());
  ASSERT_TRUE(s.keep_within(4 * batch.size()).ok());
  auto entries = s.list();
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].number, 7u);
  EXPECT_EQ(s.state()->dropped, 6u);
  EXPECT_EQ(s.state()->dropped_samples, 42u);
}

TEST_F(FleetSpool, WhatAKilledWriterLeftIsDeleted) {
  fleet::Spool s = spool();
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
  const std::string batch = batch_of(7), left = s.folder() + "/" + std::to_string(gone) + ".part", own = s.folder() + "/" + std::to_string(::getpid()) + ".part";
  ASSERT_TRUE(s.put(batch).ok());
  for (const std::string& path : {left, own}) std::ofstream(path) << batch;
  ASSERT_TRUE(s.keep_within(2 * batch.size()).ok());
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(own));
  EXPECT_EQ(s.list().size(), 1u);
  ASSERT_TRUE(s.keep_within(2 * batch.size() - 1).ok()); // an unfinished one takes room
  EXPECT_TRUE(s.list().empty());
}

TEST_F(FleetSpool, SeveralProcessesWrite) {
  spool();
  constexpr int writers = 4, each = 50;
  for (int w = 0; w < writers; w++)
    if (const pid_t pid = ::fork(); pid == 0) {
      auto s = fleet::Spool::open(folder + "/spool");
      bool is_good = s.ok();
      for (int i = 0; i < each && is_good; i++) is_good = s->put("batch").ok();
      ::_exit(is_good ? 0 : 1);
    }
  for (int w = 0; w < writers; w++) {
    int status = 0;
    ASSERT_GT(::wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  fleet::Spool s = spool();
  const auto entries = s.list();
  ASSERT_EQ(entries.size(), size_t{writers * each});
  for (size_t i = 0; i < entries.size(); i++) EXPECT_EQ(entries[i].number, i + 1);
  EXPECT_EQ(s.state()->last, size_t{writers * each});
}

TEST_F(FleetSpool, ADamagedStateIsAnError) {
  spool();
  std::ofstream(folder + "/spool/state") << "what is this";
  auto s = fleet::Spool::open(folder + "/spool");
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.error().message.find("hint"), std::string::npos);
}

} // namespace
