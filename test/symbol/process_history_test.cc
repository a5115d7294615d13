// What is known of the code of processes: by events, by looks, and by both in any order.
#include "symbol/process_history.h"

#include <gtest/gtest.h>

namespace symbol {
namespace {

CodeRange range(uint64_t begin, uint64_t end, uint32_t file, uint64_t since = 0) {
  return {.begin = begin, .end = end, .offset = 0, .file = file, .since = since};
}

uint32_t file_at(const ProcessHistory& h, uint32_t pid, uint64_t address,
                 uint64_t time = ProcessHistory::any_time) {
  const CodeRange* r = h.find(pid, address, time);
  return r ? r->file : 999;
}

constexpr uint32_t nothing = 999;

TEST(ProcessHistory, ExecBeginsAnew) {
  ProcessHistory h;
  h.exec(7, 10);
  h.map(7, range(100, 200, 1, 11));
  h.exec(7, 20);
  h.map(7, range(100, 200, 2, 21));
  EXPECT_EQ(file_at(h, 7, 150, 15), 1u);
  EXPECT_EQ(file_at(h, 7, 150, 25), 2u);
  EXPECT_EQ(file_at(h, 7, 150), 2u);
  EXPECT_EQ(file_at(h, 7, 150, 5), nothing); // nothing is known of before
  EXPECT_EQ(file_at(h, 7, 200, 25), nothing);
  EXPECT_TRUE(h.is_whole(7));
}

TEST(ProcessHistory, WithoutATimeOlderProgramsCountToo) {
  ProcessHistory h;
  h.exec(7, 10);
  h.map(7, range(100, 200, 1, 11));
  h.exec(7, 20);
  EXPECT_EQ(file_at(h, 7, 150), 1u);
  EXPECT_EQ(file_at(h, 7, 150, 25), nothing);
}

TEST(ProcessHistory, NewerMappingsLieOverOlder) {
  ProcessHistory h;
  h.exec(7, 10);
  h.map(7, range(100, 200, 1, 11));
  h.map(7, range(150, 300, 2, 12));
  h.map(7, range(100, 200, 1, 13)); // as before
  EXPECT_EQ(file_at(h, 7, 160, 11), 1u);
  EXPECT_EQ(file_at(h, 7, 160, 12), 2u);
  EXPECT_EQ(file_at(h, 7, 160, 13), 1u);
  EXPECT_EQ(file_at(h, 7, 250, 13), 2u);
}

TEST(ProcessHistory, ChildrenHaveTheCodeOfTheirParentAtTheFork) {
  ProcessHistory h;
  h.exec(7, 10);
  h.map(7, range(100, 200, 1, 11));
  h.fork(7, 8, 20);
  h.map(7, range(300, 400, 2, 21)); // not the child's
  h.map(8, range(500, 600, 3, 22));
  EXPECT_EQ(file_at(h, 8, 150), 1u);
  EXPECT_EQ(file_at(h, 8, 350), nothing);
  EXPECT_EQ(file_at(h, 8, 550), 3u);
  EXPECT_EQ(file_at(h, 7, 550), nothing);
  h.exec(8, 30);
  EXPECT_EQ(file_at(h, 8, 150, 31), nothing);
  EXPECT_EQ(file_at(h, 8, 150, 29), 1u);
  EXPECT_EQ(h.ranges(8).size(), 0u);
}

TEST(ProcessHistory, ManyGenerationsOfChildren) {
  ProcessHistory h;
  h.exec(1, 1);
  h.map(1, range(100, 200, 1, 1));
  for (uint32_t pid = 2; pid < 200; pid++) {
    h.fork(pid - 1, pid, pid);
    h.map(pid, range(1000 + pid * 10, 1000 + pid * 10 + 10, pid, pid));
    h.exit(pid - 1, pid);
  }
  EXPECT_EQ(file_at(h, 199, 150), 1u);
  EXPECT_EQ(file_at(h, 199, 1000 + 500), 50u);
  EXPECT_EQ(file_at(h, 199, 1000 + 1990), 199u);
}

TEST(ProcessHistory, ALookTellsOfTheTimeBeforeToo) {
  ProcessHistory h;
  h.map(7, range(300, 400, 2, 50)); // an event of a process that is not known
  EXPECT_FALSE(h.is_whole(7));
  const CodeRange looked[] = {range(100, 200, 1), range(300, 400, 2)};
  h.look(7, looked, 60);
  EXPECT_TRUE(h.is_whole(7));
  EXPECT_EQ(file_at(h, 7, 150, 40), 1u);
  EXPECT_EQ(file_at(h, 7, 350, 40), nothing); // the event knows when
  EXPECT_EQ(h.ranges(7).size(), 2u);
}

// The process had executed something else when it was looked at, which is learned afterwards.
TEST(ProcessHistory, ALookThatCameTooLateIsNotOfTheOldProgram) {
  ProcessHistory h;
  const CodeRange looked[] = {range(100, 200, 2)};
  h.map(7, range(500, 600, 1, 10));
  h.look(7, looked, 60);
  h.exec(7, 55);
  h.map(7, range(100, 200, 2, 56));
  EXPECT_EQ(file_at(h, 7, 150, 40), nothing);
  EXPECT_EQ(file_at(h, 7, 150, 57), 2u);
  EXPECT_EQ(file_at(h, 7, 550, 40), 1u);
}

TEST(ProcessHistory, AnIdThatIsUsedAgain) {
  ProcessHistory h;
  h.exec(7, 10);
  h.map(7, range(100, 200, 1, 11));
  h.exit(7, 20);
  EXPECT_TRUE(h.has_ended(7));
  h.exec(3, 1);
  h.map(3, range(100, 200, 3, 2));
  h.fork(3, 7, 30);
  EXPECT_FALSE(h.has_ended(7));
  EXPECT_EQ(file_at(h, 7, 150, 15), 1u);
  EXPECT_EQ(file_at(h, 7, 150, 35), 3u);
}

TEST(ProcessHistory, LostEventsMakeALookWorthwhile) {
  ProcessHistory h;
  h.exec(7, 10);
  EXPECT_TRUE(h.is_whole(7));
  h.events_lost();
  EXPECT_FALSE(h.is_whole(7));
  const CodeRange looked[] = {range(100, 200, 1)};
  h.look(7, looked, 60);
  EXPECT_TRUE(h.is_whole(7));
  EXPECT_EQ(file_at(h, 7, 150), 1u);
}

TEST(ProcessHistory, MemoryWithoutAFileGrowsTogether) {
  ProcessHistory h;
  h.exec(7, 10);
  for (uint64_t i = 0; i < 10000; i++)
    h.map(7, range(1000 + i * 10, 1010 + i * 10, CodeRange::no_file, 11 + i));
  EXPECT_EQ(h.ranges(7).size(), 1u);
  EXPECT_NE(h.find(7, 50000), nullptr);
}

TEST(ProcessHistory, WhatIsKeptHasAnEnd) {
  ProcessHistory h;
  for (uint64_t i = 0; i < 20000; i++) h.map(7, range(i * 10, i * 10 + 5, static_cast<uint32_t>(i % 7), i));
  EXPECT_LE(h.ranges(7).size(), 4096u);
  EXPECT_GT(h.forgotten(), 0u);
  EXPECT_EQ(file_at(h, 7, 199990), 19999u % 7); // the newest stay
  for (uint32_t pid = 10; pid < 100000; pid++) {
    h.fork(7, pid, 30000 + pid);
    if (pid % 10 == 0) h.want(pid);
    h.exit(pid, 30000 + pid);
  }
  EXPECT_LT(h.size(), 45000u);
  EXPECT_TRUE(h.is_known(99990));
  EXPECT_TRUE(h.is_known(80000)); // somebody asked for it
  EXPECT_FALSE(h.is_known(80001));
  for (uint64_t i = 0; i < 1000; i++) h.exec(8, 200000 + i);
  EXPECT_EQ(file_at(h, 8, 1), nothing);
}

} // namespace
} // namespace symbol
