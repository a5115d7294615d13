// What is kept of each thread until a call of it turns out to be slow, and which of it belongs to the call.
#include "slow/entries.h"
#include "slow/looks.h"
#include "slow/notes.h"

#include <gtest/gtest.h>

namespace slow {
namespace {

constexpr uint64_t ms = 1'000'000, second = 1'000 * ms;

Thread thread(uint32_t task) { return {.task = task, .pid = task, .tid = task, .name = "t"}; }
Wait wait(uint32_t task, uint64_t left, uint64_t back) { return {.thread = thread(task), .left = left, .back = back, .woken = back}; }
Wake wake(uint32_t task, uint64_t at, uint32_t by) { return {.task = task, .at = at, .by = thread(by)}; }
Call call(uint32_t task, uint64_t start, uint64_t end) { return {.thread = thread(task), .start = start, .end = end}; }

class NotesTest : public testing::Test {
protected:
  void take(Wait w) { notes.take(w); }
  Notes notes;
};

// ---- what ends a wait

TEST_F(NotesTest, TheLastWakeUpWithinAWaitEndedIt) {
  notes.take(wake(1, 150, 2)), notes.take(wake(1, 180, 3)), take(wait(1, 100, 200));
  const Outlier o = notes.about(call(1, 0, 1000));
  ASSERT_EQ(o.waits.size(), 1u);
  ASSERT_TRUE(o.waits[0].wake);
  EXPECT_EQ(o.waits[0].wake->by.tid, 3u);
}

TEST_F(NotesTest, AWakeUpAtEitherEndOfAWaitIsItsOwn) {
  notes.take(wake(1, 100, 2)), take(wait(1, 100, 200));
  notes.take(wake(1, 400, 3)), take(wait(1, 300, 400));
  const Outlier o = notes.about(call(1, 0, 1000));
  ASSERT_EQ(o.waits.size(), 2u);
  EXPECT_TRUE(o.waits[0].wake && o.waits[1].wake);
}

TEST_F(NotesTest, AWakeUpBeforeAWaitIsNotKeptForIt) {
  notes.take(wake(1, 50, 2)), take(wait(1, 100, 200)), take(wait(1, 300, 400));
  for (const Wait& w : notes.about(call(1, 0, 1000)).waits) EXPECT_FALSE(w.wake);
}

TEST_F(NotesTest, AWakeUpEndsOneWait) {
  notes.take(wake(1, 150, 2)), take(wait(1, 100, 200)), take(wait(1, 100, 200));
  const Outlier o = notes.about(call(1, 0, 1000));
  EXPECT_TRUE(o.waits[0].wake);
  EXPECT_FALSE(o.waits[1].wake);
}

TEST_F(NotesTest, WhoRanMeanwhileBelongsToTheNextWaitOfTheThread) {
  notes.take(Ran{.task = 1, .thread = thread(8), .until = 180, .ns = 50});
  notes.take(Ran{.task = 2, .thread = thread(9), .until = 190, .ns = 60});
  take(wait(1, 100, 200)), take(wait(1, 300, 400));
  const Outlier o = notes.about(call(1, 0, 1000));
  ASSERT_EQ(o.waits[0].others.size(), 1u);
  EXPECT_EQ(o.waits[0].others[0].thread.tid, 8u);
  EXPECT_TRUE(o.waits[1].others.empty());
}

// ---- what belongs to a call

TEST_F(NotesTest, ACallHasWhatBeganInIt) {
  for (uint64_t left : {90, 100, 150, 199, 200}) take(wait(1, left, left + 10));
  const Outlier o = notes.about(call(1, 100, 200));
  ASSERT_EQ(o.waits.size(), 3u);
  EXPECT_EQ(o.waits.front().left, 100u);
  EXPECT_EQ(o.waits.back().left, 199u);
  EXPECT_FALSE(o.is_cut);
}

TEST_F(NotesTest, ThreadsAreKeptApart) {
  take(wait(1, 110, 120)), take(wait(2, 130, 140));
  notes.take(OnCpu{.thread = thread(2), .at = 150, .user = {}});
  notes.take(Turn{.task = 2, .at = 160});
  const Outlier o = notes.about(call(1, 100, 200));
  EXPECT_EQ(o.waits.size(), 1u);
  EXPECT_TRUE(o.samples.empty() && o.turns.empty());
  EXPECT_TRUE(notes.about(call(3, 100, 200)).waits.empty()) << "a thread of which nothing is known";
}

// A turn is written down as the thread gets the CPU, which may be the moment in which the call ends; a sample is of what runs.
TEST_F(NotesTest, SamplesAndTurnsOfACall) {
  for (uint64_t at : {99, 100, 199, 200, 201}) {
    notes.take(OnCpu{.thread = thread(1), .at = at, .user = {}});
    notes.take(Turn{.task = 1, .at = at});
  }
  const Outlier o = notes.about(call(1, 100, 200));
  EXPECT_EQ(o.samples.size(), 2u);
  EXPECT_EQ(o.turns.size(), 3u);
}

TEST_F(NotesTest, AWaitAloneIsALowerBound) {
  const Outlier o = notes.about(wait(1, 100, 400));
  EXPECT_FALSE(o.is_whole);
  EXPECT_FALSE(o.call.is_counted);
  EXPECT_EQ(o.call.start, 100u);
  EXPECT_EQ(o.call.end, 400u);
  EXPECT_EQ(o.waits.size(), 1u);
}

// ---- limits

// docs/slow.md: "acu keeps the last 256 waits of each thread; the report says if a call had more."
TEST_F(NotesTest, TheLast256WaitsAreKept) {
  for (uint64_t i = 0; i < 256; i++) take(wait(1, 1000 + 10 * i, 1005 + 10 * i));
  EXPECT_EQ(notes.about(call(1, 1000, 10'000)).waits.size(), 256u);
  take(wait(1, 4000, 4005));
  const Outlier o = notes.about(call(1, 1000, 10'000));
  EXPECT_EQ(o.waits.size(), 256u);
  EXPECT_TRUE(o.is_cut);
  EXPECT_EQ(o.waits.front().left, 1010u);
}

TEST_F(NotesTest, ACallBehindTheOldestWaitIsNotCut) {
  for (uint64_t i = 0; i < 300; i++) take(wait(1, 1000 + 10 * i, 1005 + 10 * i));
  EXPECT_FALSE(notes.about(call(1, 3000, 10'000)).is_cut) << "all of its waits are there";
  EXPECT_TRUE(notes.about(call(1, 1000, 10'000)).is_cut);
}

// Threads come and go: what is known of those that ended long ago makes room.
TEST_F(NotesTest, ThreadsOfLongAgoMakeRoom) {
  for (uint32_t task = 1; task <= 8192; task++) take(wait(task, 100, 200));
  take(wait(10'000, 20 * second, 20 * second + 100));
  EXPECT_TRUE(notes.about(call(1, 0, 1000)).waits.empty());
  EXPECT_EQ(notes.about(call(10'000, 0, 30 * second)).waits.size(), 1u);
}

TEST_F(NotesTest, ManyThreadsThatWaitAllStay) {
  for (uint32_t task = 1; task <= 9000; task++) take(wait(task, second + task, second + task + 100));
  for (uint32_t task : {1u, 4000u, 9000u}) EXPECT_EQ(notes.about(call(task, 0, 2 * second)).waits.size(), 1u) << task;
}

// A call that is slow on the CPU has samples and turns, and may have no wait at all.
TEST_F(NotesTest, AThreadThatNeverWaitsStaysWhileItIsSeen) {
  for (uint32_t task = 1; task <= 9000; task++) {
    notes.take(OnCpu{.thread = thread(20'000), .at = 20 * second + task, .user = {}});
    notes.take(Turn{.task = 30'000, .at = 20 * second + task});
    take(wait(task, 20 * second + task, 20 * second + task + 100));
  }
  EXPECT_EQ(notes.about(call(20'000, 20 * second, 30 * second)).samples.size(), 4096u) << "the newest";
  EXPECT_EQ(notes.about(call(30'000, 20 * second, 30 * second)).turns.size(), 4096u);
}

TEST_F(NotesTest, AWakeUpStaysUntilItsWaitIsKnown) {
  for (uint32_t task = 1; task <= 8192; task++) take(wait(task, 20 * second, 20 * second + 100));
  notes.take(wake(10'000, 20 * second + 50, 2));
  take(wait(9000, 20 * second, 20 * second + 200));
  take(wait(10'000, 20 * second, 20 * second + 300));
  const Outlier o = notes.about(call(10'000, 0, 30 * second));
  ASSERT_EQ(o.waits.size(), 1u);
  EXPECT_TRUE(o.waits[0].wake);
}

// ---- what others did meanwhile

TEST_F(NotesTest, TheLongestWaitIsTheOneThatSharesMostOfTheTime) {
  take(wait(1, 0, 1000)), take(wait(1, 1100, 1400)), take(wait(1, 1500, 9000)), take(wait(2, 0, 9000));
  const Wait* w = notes.longest_wait(1, 900, 1600);
  ASSERT_TRUE(w);
  EXPECT_EQ(w->left, 1100u) << "of the others only 100 ns are within";
  EXPECT_EQ(notes.longest_wait(1, 1400, 1500), nullptr) << "it ran between them";
  EXPECT_EQ(notes.longest_wait(1, 9000, 9999), nullptr);
  EXPECT_EQ(notes.longest_wait(3, 0, 9999), nullptr);
}

// The numbers of a thread may differ: one is the kernel's, the other that of acu's pid namespace.
TEST_F(NotesTest, LongestWaitsAreAskedForByTheNumberInTheNamespace) {
  Wait w = wait(100, 0, 1000);
  w.thread.tid = 7;
  take(w);
  EXPECT_TRUE(notes.longest_wait(7, 0, 1000));
  EXPECT_FALSE(notes.longest_wait(100, 0, 1000));
}

TEST_F(NotesTest, WaitsAreReportedOnce) {
  take(wait(1, 100, 200)), take(wait(2, 100, 200));
  notes.all_told(1), notes.all_told(77);
  EXPECT_TRUE(notes.about(call(1, 0, 1000)).waits[0].is_told);
  EXPECT_FALSE(notes.about(call(2, 0, 1000)).waits[0].is_told);
}

// ---- calls of which only entries are probed

InCall since(uint64_t start) { return {.start = start}; }

TEST(SlowEntries, ACallLastsAsLongAsItsThreadIsSeenInIt) {
  Entries e;
  EXPECT_FALSE(e.seen_in(thread(1), 150, since(100)));
  EXPECT_FALSE(e.seen_in(thread(1), 190, since(100)));
  const auto ended = e.seen_in(thread(1), 250, since(220));
  ASSERT_TRUE(ended) << "the next call has begun";
  EXPECT_EQ(ended->start, 100u);
  EXPECT_EQ(ended->end, 190u) << "when it was seen last: a lower bound";
  EXPECT_EQ(e.last_seen(), 250u);
}

TEST(SlowEntries, ACallEndsWithASightBehindIt) {
  Entries e;
  e.seen_in(thread(1), 150, since(100));
  EXPECT_FALSE(e.seen_after(2, 100));
  EXPECT_FALSE(e.seen_after(1, 99)) << "of a call before it";
  const auto ended = e.seen_after(1, 100);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->end, 150u);
  EXPECT_FALSE(e.seen_after(1, 100)) << "once";
  EXPECT_EQ(e.last_seen(), 0u);
}

TEST(SlowEntries, AllEndAtTheEnd) {
  Entries e;
  e.seen_in(thread(1), 150, since(100)), e.seen_in(thread(2), 250, since(200));
  EXPECT_EQ(e.last_seen(), 250u);
  EXPECT_EQ(e.end_all().size(), 2u);
  EXPECT_TRUE(e.end_all().empty());
  EXPECT_FALSE(e.end(1));
}

// ---- short looks at entries that are too frequent to be probed

TEST(SlowLooks, AThreadIsLookedAtWhenItStaysForAQuarterOfTheThreshold) {
  Looks looks(40, 2);
  EXPECT_EQ(looks.interval_ns(), 10u);
  EXPECT_FALSE(looks.is_due(1, 1000, true));
  EXPECT_FALSE(looks.is_due(1, 1009, true));
  EXPECT_TRUE(looks.is_due(1, 1010, true));
  EXPECT_FALSE(looks.is_due(2, 1011, true)) << "another thread";
}

TEST(SlowLooks, ASampleElsewhereBeginsAnew) {
  Looks looks(40, 2);
  looks.is_due(1, 1000, true), looks.is_due(1, 1009, false);
  EXPECT_FALSE(looks.is_due(1, 1010, true));
  EXPECT_TRUE(looks.is_due(1, 1020, true));
}

TEST(SlowLooks, OneLookAtATime) {
  Looks looks(40, 2);
  looks.is_due(1, 1000, true);
  looks.open(1005);
  EXPECT_TRUE(looks.is_open());
  EXPECT_FALSE(looks.is_due(1, 1010, true));
}

TEST(SlowLooks, ALookIsOverWhenNothingIsSeenForAWhile) {
  Looks looks(40, 2);
  looks.open(1000);
  EXPECT_FALSE(looks.is_over(1019, 0)) << "too short to have a sample";
  EXPECT_TRUE(looks.is_over(1030, 0)) << "no call goes on";
  EXPECT_FALSE(looks.is_over(1030, 1015)) << "one was seen, 15 ns ago";
  EXPECT_TRUE(looks.is_over(1045, 1015));
  EXPECT_FALSE(looks.is_over(1045, 2000)) << "seen after this was asked";
}

// Entries that cost four times what they may are probed a quarter of the time.
TEST(SlowLooks, TheNextLookWaitsAsLongAsTheCostDemands) {
  Looks looks(40, 2);
  looks.allow(8);
  looks.open(1000), looks.close(1100);
  EXPECT_FALSE(looks.is_open());
  EXPECT_FALSE(looks.is_due(1, 1390, true));
  EXPECT_FALSE(looks.is_due(1, 1399, true)) << "three times as long as the look was";
  EXPECT_TRUE(looks.is_due(1, 1400, true));
}

TEST(SlowLooks, CheapEntriesMayBeLookedAtAtOnce) {
  Looks looks(40, 2);
  looks.allow(1);
  looks.open(1000), looks.close(1100);
  EXPECT_FALSE(looks.is_due(1, 1100, true));
  EXPECT_TRUE(looks.is_due(1, 1110, true));
}

} // namespace
} // namespace slow
