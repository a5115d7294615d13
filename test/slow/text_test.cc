// Stories as text and as JSON: units and rounding, plural forms, what is left out, and names that could move a cursor.
#include "base/clock.h"
#include "slow/text.h"

#include <gtest/gtest.h>

namespace slow {
namespace {

constexpr uint64_t us = 1'000, ms = 1'000'000, second = 1'000'000'000;

// ---- times

TEST(SlowTimes, UnitsGoWithTheSize) {
  EXPECT_EQ(base::short_time(0), "0 ns");
  EXPECT_EQ(base::short_time(999), "999 ns");
  EXPECT_EQ(base::short_time(1'000), "1 us");
  EXPECT_EQ(base::short_time(812 * us), "812 us");
  EXPECT_EQ(base::short_time(50'170'000), "50.17 ms");
  EXPECT_EQ(base::short_time(1'234 * ms), "1.234 s");
}

// What rounds up to the next unit is shown in that.
TEST(SlowTimes, RoundingReachesTheNextUnit) {
  EXPECT_EQ(base::short_time(999'499), "999 us");
  EXPECT_EQ(base::short_time(999'500), "1.00 ms");
  EXPECT_EQ(base::short_time(ms - 1), "1.00 ms");
  EXPECT_EQ(base::short_time(999'994'999), "999.99 ms");
  EXPECT_EQ(base::short_time(999'995'000), "1.000 s");
  EXPECT_EQ(base::short_time(second - 1), "1.000 s");
}

TEST(SlowTimes, AnyNumberHasAText) {
  EXPECT_EQ(base::short_time(~uint64_t{0}), "18446744073.710 s");
}

// ---- text

Thread thread(uint32_t tid, std::string name, uint32_t pid = 70) { return {.task = tid, .pid = pid, .tid = tid, .name = std::move(name)}; }

Story story() { return {.what = "work()", .thread = thread(70, "app"), .ns = 20 * ms, .stack = {.kernel = {}, .user = {"work()", "main"}, .end = {}}, .marks = true}; }

NamedWait wait(std::string what, uint64_t ns, uint64_t queued_ns = 0) { return {.what = std::move(what), .ns = ns, .queued_ns = queued_ns}; }
NamedWaits once(NamedWait w) { return {.longest = w, .number = 1, .ns = w.ns, .queued_ns = w.queued_ns, .ran = w.ran}; }

// Without the time of day.
std::string text(const Story& s) {
  const std::string out = slow_text(s, 0);
  return out.substr(std::string_view("hh:mm:ss.uuuuuu ").size());
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST(SlowText, AStoryOnTheCpu) {
  Story s = story();
  s.hot = {{.name = "hash", .on_cpu_ns = 19 * ms, .stack = {.kernel = {}, .user = {"hash"}, .end = {}}}};
  s.callees = {{.name = "hash", .on_cpu_ns = 19 * ms}};
  EXPECT_EQ(text(s), "work(): 20.00 ms, in thread app (70)\n"
                     "  waiting 0 ns (0.0%), runnable 0 ns (0.0%), on the CPU 20.00 ms (100.0%)\n"
                     "  where its time went: hash about 19.00 ms on it\n"
                     "      > work()\n"
                     "        main\n"
                     "  about 19.00 ms on the CPU in hash\n"
                     "        hash\n"
                     "      > work()\n"
                     "\n");
}

TEST(SlowText, TheHeadSaysWhatIsUnusual) {
  Story s = story();
  s.thread = thread(71, "worker");
  EXPECT_TRUE(text(s).starts_with("work(): 20.00 ms, in thread worker (71) of process 70\n"));
  s.is_whole = false;
  EXPECT_TRUE(text(s).starts_with("work(): at least 20.00 ms, in thread worker"));
  s.has_ended = false;
  EXPECT_TRUE(text(s).starts_with("work(): at least 20.00 ms, not ended, in thread worker"));
  s = story(), s.left_by = LeftBy::exception;
  EXPECT_TRUE(text(s).starts_with("work(): 20.00 ms, left by an exception, in thread app"));
  s.left_by = LeftBy::jump;
  EXPECT_TRUE(text(s).starts_with("work(): 20.00 ms, left by longjmp, in thread app"));
  s.is_cut = true;
  EXPECT_TRUE(text(s).ends_with("  earlier waits are omitted\n\n"));
}

TEST(SlowText, TheTimeOfDayIsWhenItBegan) {
  ::setenv("TZ", "UTC", 1), ::tzset();
  Story s = story();
  s.start = 5 * second + 1'500;
  EXPECT_TRUE(slow_text(s, int64_t{3600} * 1'000'000'000).starts_with("01:00:05.000001 work()"));
  EXPECT_TRUE(has(slow_json(s, int64_t{3600} * 1'000'000'000), "\"time\": \"1970-01-01T01:00:05.000001\""));
}

// Where not all time off the CPU is known, the rest is not time on it.
TEST(SlowText, TimeOnTheCpuIsShownOnlyIfItIsKnown) {
  Story s = story();
  s.waiting_ns = 12 * ms, s.queued_ns = 2 * ms;
  EXPECT_TRUE(has(text(s), "  waiting 12.00 ms (60.0%), runnable 2.00 ms (10.0%), on the CPU 6.00 ms (30.0%)\n"));
  s.is_counted = false;
  EXPECT_TRUE(has(text(s), "  waiting 12.00 ms (60.0%), runnable 2.00 ms (10.0%)\n"));
  EXPECT_FALSE(has(slow_json(s, 0), "on_cpu_ns\": 6"));
}

TEST(SlowText, SharesOfNothingAreZero) {
  Story s = story();
  s.ns = 0;
  EXPECT_TRUE(has(text(s), "waiting 0 ns (0.0%), runnable 0 ns (0.0%), on the CPU 0 ns (0.0%)"));
}

// Waits may reach beyond the end of a call: there is no negative time on the CPU.
TEST(SlowText, TimeOnTheCpuIsNeverNegative) {
  Story s = story();
  s.waiting_ns = 15 * ms, s.queued_ns = 6 * ms;
  EXPECT_EQ(s.on_cpu_ns(), 0u);
}

TEST(SlowText, WaitsAtOnePlaceAreCounted) {
  Story s = story();
  NamedWaits waits = once(wait("the lock g", 4 * ms));
  s.waits = {waits};
  EXPECT_TRUE(has(text(s), "  4.00 ms waiting for the lock g\n"));
  waits.number = 3, waits.ns = 9 * ms;
  s.waits = {waits};
  EXPECT_TRUE(has(text(s), "  9.00 ms waiting for the lock g, 3 times; the longest, 4.00 ms:\n"));
}

TEST(SlowText, PreemptionIsNoWaiting) {
  Story s = story();
  NamedWait w = wait("a CPU", 0, 4 * ms);
  w.is_preempted = true, w.cpu = 3;
  s.waits = {once(w)};
  EXPECT_TRUE(has(text(s), "  4.00 ms preempted, waiting for a CPU\n      > work()\n    meanwhile CPU 3 was idle before\n"));
  s.waits[0].ran = {{thread(9, "hog"), 4 * ms}};
  EXPECT_TRUE(has(text(s), "    meanwhile hog (9) ran for 4.00 ms\n"));
}

TEST(SlowText, WhoEndedAWait) {
  Story s = story();
  NamedWait w = wait("the pipe", 4 * ms);
  w.waker = thread(9, "writer"), w.waker_stack = {.kernel = {"try_to_wake_up", "pipe_write"}, .user = {"write"}, .end = {}};
  s.waits = {once(w)};
  EXPECT_TRUE(has(text(s), "    woken by writer (9):\n        [kernel] try_to_wake_up < pipe_write\n        write\n"));
  w.waker.reset(), w.waker_stack = {}, w.interrupt = "hrtimer_wakeup";
  s.waits = {once(w)};
  EXPECT_TRUE(has(text(s), "    woken by an interrupt (hrtimer_wakeup)\n"));
}

TEST(SlowText, TheHolderOfALockAndWhoReleasedIt) {
  Story s = story();
  NamedWait w = wait("the lock g", 4 * ms);
  w.waker = w.holder = thread(9, "holder"), w.waker_stack.user = {"unlock"};
  s.waits = {once(w)};
  EXPECT_TRUE(has(text(s), "    held by holder (9), which released it here:\n        unlock\n"));
  w.waker = thread(10, "last");
  s.waits = {once(w)};
  EXPECT_TRUE(has(text(s), "    held by holder (9)\n    finally released by last (10):\n        unlock\n"));
  w.busy = w.holder, w.busy_with = "fsync(3)", w.busy_ns = 3 * ms, w.busy_stack.user = {"save"};
  s.waits = {once(w)};
  EXPECT_TRUE(has(text(s), "    holder (9) was itself waiting for 3.00 ms of that, for fsync(3):\n        save\n"));
}

// Waking a CPU takes up to 50 us: it is not worth a line.
TEST(SlowText, ShortTimesInTheRunQueueAreNotShown) {
  Story s = story();
  s.waits = {once(wait("x", 4 * ms, 49'999))};
  EXPECT_FALSE(has(text(s), "then runnable"));
  s.waits = {once(wait("x", 4 * ms, 50'000))};
  EXPECT_TRUE(has(text(s), "    then runnable for 50 us: CPU 0 was idle before\n"));
}

TEST(SlowText, FourOfThoseThatRanAreNamed) {
  Story s = story();
  s.waits = {once(wait("x", 4 * ms, 2 * ms))};
  for (uint32_t i = 1; i <= 4; i++) s.waits[0].ran.emplace_back(thread(i, "t"), i * us);
  EXPECT_TRUE(has(text(s), ": t (1) ran for 1 us, t (2) ran for 2 us, t (3) ran for 3 us, t (4) ran for 4 us\n"));
  s.waits[0].ran.emplace_back(thread(5, "t"), 5 * us);
  EXPECT_TRUE(has(text(s), "t (4) ran for 4 us, …\n"));
}

// docs/slow.md: "7.90 ms runnable, 4 times, at most 2.00 ms: hog (4711) ran for 7.90 ms"
TEST(SlowText, TurnsThatBelongToNoWait) {
  Story s = story();
  s.turns = {.number = 4, .queued_ns = 7'900 * us, .longest_ns = 2 * ms, .ran = {{thread(4711, "hog"), 7'900 * us}}};
  EXPECT_TRUE(has(text(s), "  7.90 ms runnable, 4 times, at most 2.00 ms: hog (4711) ran for 7.90 ms\n"));
  s.turns = {.number = 1, .queued_ns = 2 * ms, .longest_ns = 2 * ms, .ran = {}};
  EXPECT_TRUE(has(text(s), "  2.00 ms runnable, 1 time: the CPU was idle before\n"));
  s.turns = {};
  EXPECT_EQ(text(s).find("runnable,"), text(s).npos);
}

TEST(SlowText, CalleesHaveTheTimeOffTheCpuAndOnIt) {
  Story s = story();
  s.callees = {{.name = "load", .waiting_ns = 12 * ms, .on_cpu_ns = 3 * ms}, {.name = "", .on_cpu_ns = 2 * ms}, {.name = "log", .waiting_ns = ms}};
  EXPECT_TRUE(has(text(s), "  where its time went: load 12.00 ms off the CPU, about 3.00 ms on it; work() itself about 2.00 ms on it; log 1.00 ms off the CPU\n"));
}

TEST(SlowText, StacksThatEndEarlySayWhy) {
  Story s = story();
  s.stack.end = "[stack not readable]";
  EXPECT_TRUE(has(text(s), "        main\n        [stack not readable]\n"));
}

TEST(SlowText, DiskRequestsHaveAQueueAndADevice) {
  Story s = {.what = "write of 4096 bytes at sector 8 of vda", .thread = thread(70, "app"), .ns = 20 * ms, .waiting_ns = 5 * ms, .is_io = true, .device_ns = 15 * ms};
  EXPECT_EQ(text(s), "write of 4096 bytes at sector 8 of vda: 20.00 ms, issued by thread app (70)\n"
                     "  in the queue 5.00 ms (25.0%), in the device 15.00 ms (75.0%)\n\n");
  const std::string json = slow_json(s, 0);
  EXPECT_TRUE(has(json, "\"queue_ns\": 5000000, \"device_ns\": 15000000"));
  EXPECT_FALSE(has(json, "\"waits\"") || has(json, "on_cpu_ns"));
}

// ---- names that a program chose

TEST(SlowText, NoNameEndsALineOrMovesTheCursor) {
  Story s = story();
  s.thread = thread(71, "a\nb\033[2J");
  NamedWait w = wait("the pipe", 4 * ms, ms);
  w.waker = thread(9, "evil\r"), w.ran = {{thread(8, "\x7f\xff"), ms}};
  s.waits = {once(w)};
  const std::string out = text(s);
  EXPECT_TRUE(has(out, "in thread a\\nb\\x1b[2J (71)"));
  EXPECT_TRUE(has(out, "woken by evil\\r (9)"));
  EXPECT_TRUE(has(out, "\\x7f\\xff (8) ran for"));
  EXPECT_EQ(std::ranges::count_if(out, [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\n') || c == 0x7f; }), 0);
}

TEST(SlowText, NamesInOtherLanguagesStay) {
  Story s = story();
  s.thread = thread(71, "réseau");
  EXPECT_TRUE(has(text(s), "in thread réseau (71)"));
}

TEST(SlowJson, NamesAreEscaped) {
  Story s = story();
  s.what = "f(\"a\\b\")", s.thread = thread(71, "t\n\xff");
  const std::string json = slow_json(s, 0);
  EXPECT_TRUE(has(json, R"j("what": "f(\"a\\b\")")j"));
  EXPECT_TRUE(has(json, R"("thread": "t\n\u00ff")"));
  EXPECT_EQ(std::ranges::count(json, '\n'), 1) << "one line";
}

TEST(SlowJson, ListsMayBeEmpty) {
  const std::string json = slow_json(story(), 0);
  EXPECT_TRUE(has(json, R"("waits": [], "turns": {"number": 0, "runnable_ns": 0, "longest_runnable_ns": 0, "ran_before": []}, "hot": [], "callees": [])"));
  EXPECT_TRUE(has(json, R"j("stack": {"kernel": [], "user": ["work()", "main"]})j"));
  EXPECT_TRUE(json.ends_with("}\n"));
}

TEST(SlowJson, AWaitHasAllThatItsTextHas) {
  Story s = story();
  NamedWait w = wait("the lock g", 4 * ms, ms);
  w.waker = thread(9, "w"), w.holder = thread(10, "h"), w.busy = w.holder, w.busy_ns = 7, w.busy_with = "x", w.cpu = 2;
  NamedWaits waits = once(w);
  waits.number = 2, waits.ns = 6 * ms, waits.ran = {{thread(11, "r"), 5}};
  s.waits = {waits};
  const std::string json = slow_json(s, 0);
  EXPECT_TRUE(has(json, R"("for": "the lock g", "number": 2, "waiting_ns": 6000000, "runnable_ns": 1000000, "longest_waiting_ns": 4000000, "longest_runnable_ns": 1000000)"));
  EXPECT_TRUE(has(json, R"("woken_by": {"pid": 70, "tid": 9, "thread": "w"})"));
  EXPECT_TRUE(has(json, R"("held_by": {"pid": 70, "tid": 10, "thread": "h"})"));
  EXPECT_TRUE(has(json, R"("holder_waiting_ns": 7, "holder_waits_for": "x")"));
  EXPECT_TRUE(has(json, R"("cpu": 2, "ran_before": [{"pid": 70, "tid": 11, "thread": "r", "ns": 5}])"));
}

TEST(SlowJson, HowACallEnded) {
  Story s = story();
  EXPECT_FALSE(has(slow_json(s, 0), "left_by"));
  s.left_by = LeftBy::exception, s.is_whole = false, s.has_ended = false;
  EXPECT_TRUE(has(slow_json(s, 0), R"("is_whole": false, "has_ended": false, "left_by": "exception")"));
}

} // namespace
} // namespace slow
