// What a slow call's waits, samples and wakers become in words.
#include "slow/stacks_of_test.h"
#include "spec/syscalls.h"

#include <gtest/gtest.h>

namespace slow {
namespace {

constexpr uint64_t ms = 1'000'000;
using Words = std::vector<std::string>;

class StoryTest : public testing::Test {
protected:
  static int number(std::string_view call) { return spec::syscall_named(call); }
  Wait wait(uint64_t left, uint64_t back, StackId user, StackId kernel = {}) {
    return {.thread = worker, .left = left, .back = back, .woken = back, .kernel = kernel, .user = user};
  }
  Wait futex(uint64_t left, uint64_t back, StackId user) {
    Wait out = wait(left, back, user);
    out.call = number("futex"), out.arguments = {0x10000, 128, 2};
    return out;
  }
  Outlier call(uint64_t end, std::vector<Wait> waits = {}) {
    return {.call = {.thread = worker, .start = 0, .end = end, .user = teller.user({"main"})}, .waits = std::move(waits), .samples = {}, .turns = {}};
  }
  // A sample in a call of `work`.
  OnCpu sample(uint64_t at, std::initializer_list<std::string_view> stack) { return {.thread = worker, .at = at, .user = teller.user(stack)}; }

  Teller teller{"work"};
  Thread worker = thread(7, "worker");
};

// ---- what a wait is for

TEST_F(StoryTest, AWaitForAFutexIsCalledByWhoCalledFutex) {
  const std::pair<std::string_view, std::string_view> uses[] = {
      {"__GI___lll_lock_wait", "the lock 0x10000"},  {"pthread_mutex_lock", "the lock 0x10000"},
      {"pthread_rwlock_rdlock", "the read-write lock 0x10000"}, {"pthread_cond_wait", "the condition 0x10000"},
      {"sem_wait", "the semaphore 0x10000"},         {"pthread_join", "the end of a thread"},
      {"pthread_barrier_wait", "the barrier 0x10000"}, {"something_else", "the futex 0x10000"}};
  for (auto [function, what] : uses) {
    const Story s = teller.writer.tell(call(20 * ms, {futex(0, 10 * ms, teller.user({"syscall", function, "work", "main"}))}));
    ASSERT_EQ(s.waits.size(), 1u);
    EXPECT_EQ(s.waits[0].longest.what, what);
  }
}

// pthread_cond_wait takes its mutex again before it returns; what is called inside of what is the innermost.
TEST_F(StoryTest, TheInnermostUseOfAFutexCounts) {
  const Story s = teller.writer.tell(call(20 * ms, {futex(0, 10 * ms, teller.user({"__lll_lock_wait", "pthread_mutex_lock", "pthread_cond_wait", "work"}))}));
  EXPECT_EQ(s.waits[0].longest.what, "the lock 0x10000");
}

TEST_F(StoryTest, OtherCallsAreShownAsStraceShowsThem) {
  Wait w = wait(0, 10 * ms, teller.user({"fsync", "work"}));
  w.call = number("fsync"), w.arguments = {3};
  EXPECT_EQ(teller.writer.tell(call(20 * ms, {w})).waits[0].longest.what, "fsync(3)") << "its result is not known yet";
}

TEST_F(StoryTest, WaitsInNoCall) {
  const StackId user = teller.user({"work"});
  auto what = [&](StackId kernel) { return teller.writer.tell(call(20 * ms, {wait(0, 10 * ms, user, kernel)})).waits[0].longest.what; };
  EXPECT_EQ(what(teller.kernel({"io_schedule", "filemap_fault", "do_fault", "asm_exc_page_fault"})), "a page of memory (page fault)");
  EXPECT_EQ(what(teller.kernel({"schedule", "do_exit", "do_syscall_64"})), "do_exit") << "the outermost that tells something";
  EXPECT_EQ(what({}), "something");
  Wait preempted = wait(0, 10 * ms, user);
  preempted.is_preempted = true, preempted.woken = 0;
  EXPECT_EQ(teller.writer.tell(call(20 * ms, {preempted})).waits[0].longest.what, "a CPU");
}

TEST_F(StoryTest, KernelStacksEndWhereTheKernelIsEntered) {
  const Wait w = wait(0, 10 * ms, teller.user({"read", "work"}), teller.kernel({"pipe_read", "vfs_read", "__x64_sys_read", "do_syscall_64", "entry_SYSCALL_64"}));
  EXPECT_EQ(teller.writer.tell(call(20 * ms, {w})).waits[0].longest.stack.kernel, (Words{"pipe_read", "vfs_read"}));
}

// ---- who ended it

TEST_F(StoryTest, TheWakerIsNamedWithItsStack) {
  Wait w = wait(0, 10 * ms, teller.user({"read", "work"}));
  w.wake = Wake{.task = 7, .at = 9 * ms, .by = thread(8, "writer"), .kernel = teller.kernel({"try_to_wake_up", "pipe_write", "do_syscall_64"}), .user = teller.user({"write", "main"})};
  const NamedWait told = teller.writer.tell(call(20 * ms, {w})).waits[0].longest;
  ASSERT_TRUE(told.waker);
  EXPECT_EQ(told.waker->name, "writer");
  EXPECT_EQ(told.waker_stack.kernel, (Words{"try_to_wake_up", "pipe_write"}));
  EXPECT_EQ(told.waker_stack.user, (Words{"write", "main"}));
  EXPECT_EQ(told.interrupt, "");
  EXPECT_FALSE(told.holder) << "a pipe is no lock";
}

// An interrupt runs in the stack of whom it interrupts, who has no part in that.
TEST_F(StoryTest, AnInterruptIsNamedByWhatWokeInIt) {
  const std::pair<StackId, std::string_view> wakes[] = {
      {teller.kernel({"try_to_wake_up", "hrtimer_wakeup", "__hrtimer_run_queues", "asm_sysvec_apic_timer_interrupt"}), "hrtimer_wakeup"},
      {teller.kernel({"ttwu_do_activate", "try_to_wake_up", "blk_mq_end_request", "common_interrupt"}), "blk_mq_end_request"},
      {teller.kernel({"try_to_wake_up", "asm_common_interrupt"}), "asm_common_interrupt"}};
  for (const auto& [stack, by] : wakes) {
    Wait w = wait(0, 10 * ms, teller.user({"read", "work"}));
    w.wake = Wake{.task = 7, .at = 9 * ms, .by = thread(8, "innocent"), .kernel = stack, .user = teller.user({"main"})};
    const NamedWait told = teller.writer.tell(call(20 * ms, {w})).waits[0].longest;
    EXPECT_FALSE(told.waker);
    EXPECT_EQ(told.interrupt, by);
  }
}

TEST_F(StoryTest, TheIdleTaskIsWokenIn) {
  Wait w = wait(0, 10 * ms, teller.user({"read", "work"}));
  w.wake = Wake{.task = 7, .at = 9 * ms, .by = {.name = "swapper/0"}, .kernel = teller.kernel({"try_to_wake_up", "wake_up_process"}), .user = {}};
  const NamedWait told = teller.writer.tell(call(20 * ms, {w})).waits[0].longest;
  EXPECT_FALSE(told.waker);
  EXPECT_EQ(told.interrupt, "an interrupt") << "nothing else is known of it";
}

TEST_F(StoryTest, WhoReleasesALockHadIt) {
  Wait w = futex(0, 10 * ms, teller.user({"pthread_mutex_lock", "work"}));
  w.wake = Wake{.task = 7, .at = 10 * ms, .by = thread(8, "holder"), .kernel = {}, .user = teller.user({"pthread_mutex_unlock", "main"})};
  const NamedWait told = teller.writer.tell(call(20 * ms, {w})).waits[0].longest;
  ASSERT_TRUE(told.holder);
  EXPECT_EQ(told.holder->tid, 8u);
  EXPECT_FALSE(told.busy) << "it did not wait itself";
}

// A wait for the lock of an interpreter is interrupted every few milliseconds, so that the thread can ask for it.
TEST_F(StoryTest, WaitsForAnInterpretersLockAreOne) {
  language_table table = {.kind = LANGUAGE_PYTHON, .root_bytes = 0x100};
  table.root = 0xff80;
  ASSERT_TRUE(teller.locks.add(Teller::pid, table));
  const StackId user = teller.user({"take_gil", "work"});
  const auto ended = [&](uint64_t left, uint64_t back, StackId kernel) {
    Wait out = futex(left, back, user);
    out.wake = Wake{.task = 7, .at = back, .by = thread(8, "holder"), .kernel = kernel, .user = teller.user({"drop_gil", "main"})};
    return out;
  };
  const StackId timer = teller.kernel({"try_to_wake_up", "hrtimer_wakeup", "asm_sysvec_apic_timer_interrupt"}), given = teller.kernel({"try_to_wake_up"});
  Wait other = futex(10 * ms, 11 * ms, user);
  other.arguments[0] = 0x20000;
  const Story s = teller.writer.tell(call(20 * ms, {ended(0, 5 * ms, timer), ended(5 * ms + 1000, 6 * ms, given), ended(6 * ms + 1000, 7 * ms, timer), other}));
  ASSERT_EQ(s.waits.size(), 2u);
  EXPECT_EQ(s.waits[0].longest.what, "the GIL");
  EXPECT_EQ(s.waits[0].longest.ns, 6 * ms);
  ASSERT_TRUE(s.waits[0].longest.holder);
  EXPECT_EQ(s.waits[0].longest.holder->name, "holder");
  EXPECT_EQ(s.waits[0].longest.waker_stack.user, (Words{"drop_gil", "main"}));
  EXPECT_EQ(s.waits[0].number, 2u) << "it was given the lock before it waited again";
  EXPECT_EQ(s.waits[0].ns, 7 * ms - 1000);
  EXPECT_EQ(s.waits[1].longest.what, "the futex 0x20000");
  table.kind = LANGUAGE_PERL;
  EXPECT_FALSE(teller.locks.add(Teller::pid + 1, table)) << "it has none";
}

TEST_F(StoryTest, WhatTheHolderWaitedForMeanwhile) {
  Wait of_holder = wait(2 * ms, 6 * ms, teller.user({"fsync", "save"}));
  of_holder.thread = thread(8, "holder"), of_holder.call = number("fsync"), of_holder.arguments = {3};
  teller.notes.take(of_holder);
  Wait w = futex(4 * ms, 10 * ms, teller.user({"pthread_mutex_lock", "work"}));
  w.wake = Wake{.task = 7, .at = 10 * ms, .by = thread(8, "holder"), .kernel = {}, .user = {}};
  const NamedWait told = teller.writer.tell(call(20 * ms, {w})).waits[0].longest;
  ASSERT_TRUE(told.busy);
  EXPECT_EQ(told.busy->name, "holder");
  EXPECT_EQ(told.busy_with, "fsync(3)");
  EXPECT_EQ(told.busy_ns, 2 * ms) << "from 4 ms, when the wait for the lock began, until 6 ms";
  EXPECT_EQ(told.busy_stack.user, (Words{"fsync", "save"}));
}

// The mutex itself says who has it; but a number that no thread of the process has is garbage.
TEST_F(StoryTest, AnOwnerThatIsNoThreadIsIgnored) {
  Wait w = futex(0, 10 * ms, teller.user({"pthread_mutex_lock", "work"}));
  w.owner = 0x7fffffff;
  EXPECT_FALSE(teller.writer.tell(call(20 * ms, {w})).waits[0].longest.holder);
}

// ---- where the time went

TEST_F(StoryTest, TimeOffTheCpuIsWaitingAndRunnable) {
  Wait w = wait(0, 10 * ms, teller.user({"read", "work"}));
  w.woken = 7 * ms;
  Outlier o = call(20 * ms, {w});
  o.call.is_counted = false;
  const Story s = teller.writer.tell(o);
  EXPECT_EQ(s.waiting_ns, 7 * ms);
  EXPECT_EQ(s.queued_ns, 3 * ms);
  EXPECT_EQ(s.on_cpu_ns(), 10 * ms);
}

// docs/slow.md: "The sums include all waits, however short."
TEST_F(StoryTest, CountedTimesIncludeWaitsThatWereNotReported) {
  Outlier o = call(20 * ms, {wait(0, 5 * ms, teller.user({"read", "work"}))});
  o.call.away_ns = 12 * ms, o.call.queued_ns = 2 * ms;
  const Story s = teller.writer.tell(o);
  EXPECT_EQ(s.waiting_ns, 10 * ms);
  EXPECT_EQ(s.queued_ns, 2 * ms);
  EXPECT_EQ(s.on_cpu_ns(), 8 * ms);
}

TEST_F(StoryTest, MoreTimeInTheQueueThanOffTheCpuIsNoNegativeWait) {
  Outlier o = call(20 * ms);
  o.call.away_ns = 3 * ms, o.call.queued_ns = 4 * ms;
  EXPECT_EQ(teller.writer.tell(o).waiting_ns, 0u);
}

TEST_F(StoryTest, AWaitCountsUntilTheEndOfItsCall) {
  Wait w = wait(5 * ms, 30 * ms, teller.user({"read", "work"}));
  w.woken = 25 * ms;
  Outlier o = call(20 * ms, {w});
  o.call.is_counted = false;
  const Story s = teller.writer.tell(o);
  EXPECT_EQ(s.waiting_ns, 15 * ms);
  EXPECT_EQ(s.queued_ns, 0u);
  ASSERT_EQ(s.callees.size(), 1u);
  EXPECT_EQ(s.callees[0].waiting_ns, 15 * ms);
}

TEST_F(StoryTest, WaitsOfOneKindAtOnePlaceAreOne) {
  const StackId here = teller.user({"read", "load", "work"}), there = teller.user({"read", "save", "work"});
  Wait a = wait(0, 3 * ms, here), b = wait(4 * ms, 9 * ms, here), c = wait(10 * ms, 11 * ms, there);
  a.call = b.call = c.call = number("read"), b.woken = 8 * ms;
  const Story s = teller.writer.tell(call(20 * ms, {a, b, c}));
  ASSERT_EQ(s.waits.size(), 2u);
  EXPECT_EQ(s.waits[0].number, 2u);
  EXPECT_EQ(s.waits[0].ns, 7 * ms);
  EXPECT_EQ(s.waits[0].queued_ns, ms);
  EXPECT_EQ(s.waits[0].longest.ns, 4 * ms);
  EXPECT_EQ(s.waits[1].longest.stack.user, (Words{"read", "save"})) << "up to the function, which has a line of its own";
}

TEST_F(StoryTest, ThoseThatRanMeanwhileAreAddedUp) {
  Wait a = wait(0, 5 * ms, teller.user({"read", "work"})), b = a;
  a.woken = b.woken = 1 * ms;
  a.others = {{.task = 7, .thread = thread(8, "a"), .until = 2 * ms, .ns = 10 * ms}, {.task = 7, .thread = thread(9, "b"), .until = 5 * ms, .ns = 2 * ms}};
  b.others = {{.task = 7, .thread = thread(8, "a"), .until = 3 * ms, .ns = 2 * ms}, {.task = 7, .thread = thread(9, "b"), .until = 6 * ms, .ns = 2 * ms}};
  const Story s = teller.writer.tell(call(20 * ms, {a, b}));
  ASSERT_EQ(s.waits.size(), 1u);
  ASSERT_EQ(s.waits[0].ran.size(), 2u);
  EXPECT_EQ(s.waits[0].ran[0].first.name, "a");
  EXPECT_EQ(s.waits[0].ran[0].second, 3 * ms) << "1 ms of the 10, which began before, and 2 ms";
  EXPECT_EQ(s.waits[0].ran[1].second, 2 * ms) << "what ended after the wait does not count";
}

TEST_F(StoryTest, WhoHadTheCpuLastIsShownWhereNothingElseIsKnown) {
  Wait w = wait(0, 5 * ms, teller.user({"read", "work"}));
  w.woken = 4 * ms, w.ran = thread(8, "a"), w.ran_ns = 9 * ms, w.cpu = 2;
  Story s = teller.writer.tell(call(20 * ms, {w}));
  ASSERT_EQ(s.waits[0].ran.size(), 1u);
  EXPECT_EQ(s.waits[0].ran[0].second, ms) << "while it was runnable";
  w.ran = {};
  s = teller.writer.tell(call(20 * ms, {w}));
  EXPECT_TRUE(s.waits[0].ran.empty()) << "the CPU was idle";
  EXPECT_EQ(s.waits[0].longest.cpu, 2u);
}

TEST_F(StoryTest, TurnsAreAddedUp) {
  Outlier o = call(20 * ms);
  o.turns = {{.task = 7, .at = ms, .queued_ns = 100'000, .ran = thread(8, "a"), .ran_ns = 60'000},
             {.task = 7, .at = 2 * ms, .queued_ns = 300'000, .ran = thread(8, "a"), .ran_ns = 900'000},
             {.task = 7, .at = 3 * ms, .queued_ns = 200'000, .ran = {}, .ran_ns = 5}};
  const NamedTurns turns = teller.writer.tell(o).turns;
  EXPECT_EQ(turns.number, 3u);
  EXPECT_EQ(turns.queued_ns, 600'000u);
  EXPECT_EQ(turns.longest_ns, 300'000u);
  ASSERT_EQ(turns.ran.size(), 1u) << "pid 0: the CPU was idle";
  EXPECT_EQ(turns.ran[0].second, 360'000u);
}

// ---- the function

TEST_F(StoryTest, StacksAreSplitAtTheOutermostCallOfTheFunction) {
  const Story s = teller.writer.tell(call(20 * ms, {wait(0, 5 * ms, teller.user({"read", "work", "again", "work", "main"}))}));
  EXPECT_EQ(s.waits[0].longest.stack.user, (Words{"read", "work", "again"}));
  EXPECT_EQ(s.stack.user, (Words{"work", "main"}));
  ASSERT_EQ(s.callees.size(), 1u);
  EXPECT_EQ(s.callees[0].name, "again") << "what it called";
}

TEST_F(StoryTest, CalleesThatTookMostComeFirst) {
  const Story s = teller.writer.tell(call(20 * ms, {wait(0, ms, teller.user({"read", "load", "work"})), wait(ms, 5 * ms, teller.user({"write", "save", "work"})),
                                                    wait(6 * ms, 7 * ms, teller.user({"work"}))}));
  ASSERT_EQ(s.callees.size(), 3u);
  EXPECT_EQ(s.callees[0].name, "save");
  EXPECT_EQ(s.callees[1].name + s.callees[2].name, "load") << "the function itself has no name here";
}

TEST_F(StoryTest, AFunctionIsNamedByItsPatternUntilAStackShowsIt) {
  Teller pattern("wor*");
  EXPECT_EQ(pattern.writer.tell(call(20 * ms)).what, "wor*");
  Outlier o = call(20 * ms);
  o.samples = {{.thread = worker, .at = ms, .user = pattern.user({"hash", "work(int)", "main"})}};
  const Story s = pattern.writer.tell(o);
  EXPECT_EQ(s.what, "work(int)");
  EXPECT_EQ(s.stack.user, (Words{"work(int)", "main"}));
}

TEST_F(StoryTest, NamesOfTheSourceMatchWithTheirNamespace) {
  Teller named("shop::order");
  EXPECT_TRUE(named.writer.is_within(named.user({"x", "shop::order(int, char**)", "main"})));
  EXPECT_FALSE(named.writer.is_within(named.user({"x", "shop::order_all(int)", "main"})));
  EXPECT_FALSE(named.writer.is_within({}));
}

TEST_F(StoryTest, AnIncompleteStackSaysNothingOfTheFunction) {
  using Within = StoryWriter::Within;
  EXPECT_EQ(teller.writer.where_is(teller.user({"hash", "work", "main"})), Within::yes);
  EXPECT_EQ(teller.writer.where_is(teller.user({"hash", "main"})), Within::no);
  EXPECT_EQ(teller.writer.where_is(teller.user({"hash"}, 2)), Within::unknown) << "[stack not readable]";
  EXPECT_EQ(teller.writer.where_is(teller.user({"hash", "work"}, 2)), Within::yes);
  EXPECT_EQ(teller.writer.where_is({}), Within::unknown);
}

TEST_F(StoryTest, WhyAStackEndsIsKept) {
  const Story s = teller.writer.tell(call(20 * ms, {wait(0, 5 * ms, teller.user({"read", "load"}, 2))}));
  EXPECT_EQ(s.waits[0].longest.stack.user, (Words{"read", "load"}));
  EXPECT_EQ(s.waits[0].longest.stack.end, "[stack not readable]");
}

// ---- samples

// docs/slow.md: "functions that took a tenth or more of its time on the CPU"
TEST_F(StoryTest, FunctionsWithATenthOfTheTimeAreHot) {
  Outlier o = call(20 * ms);
  o.call.is_counted = false; // each of the 20 samples stands for a 20th of the time on the CPU: 1 ms
  for (uint64_t i = 0; i < 17; i++) o.samples.push_back(sample(i, {"hash", "work"}));
  for (uint64_t i = 17; i < 19; i++) o.samples.push_back(sample(i, {"log", "work"}));
  o.samples.push_back(sample(19, {"rare", "work"}));
  const Story s = teller.writer.tell(o);
  ASSERT_EQ(s.hot.size(), 2u);
  EXPECT_EQ(s.hot[0].name, "hash");
  EXPECT_EQ(s.hot[0].on_cpu_ns, 17 * ms);
  EXPECT_EQ(s.hot[1].name, "log");
  EXPECT_EQ(s.hot[1].on_cpu_ns, 2 * ms);
}

TEST_F(StoryTest, AHotFunctionHasItsMostFrequentStack) {
  Outlier o = call(20 * ms);
  o.call.is_counted = false;
  o.samples = {sample(0, {"hash", "a", "work"}), sample(1, {"hash", "b", "work"}), sample(2, {"hash", "b", "work"})};
  const Story s = teller.writer.tell(o);
  ASSERT_EQ(s.hot.size(), 1u);
  EXPECT_EQ(s.hot[0].stack.user, (Words{"hash", "b"}));
}

TEST_F(StoryTest, SamplesInTheFunctionItselfHaveNoName) {
  Outlier o = call(20 * ms);
  o.call.is_counted = false;
  o.samples = {sample(0, {"work", "main"})};
  const Story s = teller.writer.tell(o);
  ASSERT_EQ(s.hot.size(), 1u);
  EXPECT_EQ(s.hot[0].name, "");
  EXPECT_EQ(s.hot[0].on_cpu_ns, 20 * ms);
  ASSERT_EQ(s.callees.size(), 1u);
  EXPECT_EQ(s.callees[0].name, "");
}

// 999 samples a second: each is about a millisecond, where all the time of the thread is counted.
TEST_F(StoryTest, SamplesOfACountedCallAreThoseOfTheClock) {
  Outlier o = call(20 * ms);
  o.samples = {sample(0, {"hash", "work"}), sample(1, {"hash", "work"})};
  EXPECT_EQ(teller.writer.tell(o).hot[0].on_cpu_ns, 2 * (1'000'000'000 / 999));
}

// ---- system calls and probes

TEST_F(StoryTest, SystemCallsHaveTheirResult) {
  Teller calls;
  Outlier o = call(20 * ms, {wait(0, 10 * ms, calls.user({"read", "main"}))});
  o.call.user = calls.user({"read", "main"});
  o.waits[0].call = o.call.call = number("read"), o.call.arguments = {3, 0x1000, 10}, o.call.result = -9;
  Story s = calls.writer.tell(o);
  EXPECT_EQ(s.what, "read(3, 0x1000, 10) = -1 EBADF (Bad file descriptor)");
  EXPECT_FALSE(s.marks);
  EXPECT_TRUE(s.waits[0].longest.stack.user.empty()) << "it is the stack of the call, which is there already";
  EXPECT_TRUE(s.callees.empty());
  o.call.has_ended = false;
  s = calls.writer.tell(o);
  EXPECT_EQ(s.what, "read(3, 0x1000, 10)");
}

TEST_F(StoryTest, WhatLiesBetweenTwoProbes) {
  Teller between({}, "a … b");
  const Story s = between.writer.tell(call(20 * ms));
  EXPECT_EQ(s.what, "a … b");
  EXPECT_FALSE(s.marks);
}

// ---- disk requests

TEST_F(StoryTest, DiskRequests) {
  Io io = {.thread = worker, .asked = 0, .issued = 5 * ms, .done = 20 * ms, .operation = 1, .device = 0, .sector = 8, .bytes = 4096, .kernel = teller.kernel({"submit_bio"}), .user = {}};
  Story s = teller.writer.tell(io);
  EXPECT_TRUE(s.is_io);
  EXPECT_EQ(s.what, "write of 4096 bytes at sector 8 of a disk");
  EXPECT_EQ(s.waiting_ns, 5 * ms);
  EXPECT_EQ(s.device_ns, 15 * ms);
  EXPECT_EQ(s.stack.kernel, Words{"submit_bio"});
  io.issued = 0; // not known: devices without a queue of requests
  s = teller.writer.tell(io);
  EXPECT_EQ(s.waiting_ns, 0u);
  EXPECT_EQ(s.device_ns, 20 * ms);
}

TEST_F(StoryTest, KindsOfDiskRequests) {
  const auto what = [&](uint32_t operation, uint32_t device = 0) { return teller.writer.tell(Io{.thread = worker, .done = ms, .operation = operation, .device = device, .kernel = {}, .user = {}}).what; };
  // enum req_op of linux/blk_types.h
  EXPECT_EQ(what(0), "read of a disk");
  EXPECT_EQ(what(2), "flush of a disk") << "no sectors";
  EXPECT_EQ(what(3), "discard of a disk");
  EXPECT_EQ(what(9), "operation 9 of a disk");
  // MKDEV of linux/kdev_t.h: 12 bits and 20
  EXPECT_EQ(what(0, 4095u << 20 | 1048575), "read of 4095:1048575") << "no such device";
}

} // namespace
} // namespace slow
