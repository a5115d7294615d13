// Graphs made by hand: the causes of waits, replays, bottlenecks.
#include "waits/colors.h"
#include "waits/findings.h"
#include "waits/knots.h"
#include "waits/picture.h"

#include <gtest/gtest.h>

#include <numeric>

namespace waits {
namespace {

// Threads each of a group of its own, unless told otherwise.
struct Builder {
  Graph graph;

  uint32_t thread(std::string name) {
    uint32_t group = 0;
    while (group < graph.groups.size() && graph.groups[group].name != name) group++;
    if (group == graph.groups.size()) graph.groups.push_back({.name = name});
    graph.groups[group].threads++;
    const auto tid = static_cast<uint32_t>(graph.threads.size());
    graph.threads.push_back({.pid = 1, .tid = tid, .group = group, .name = std::move(name)});
    return tid;
  }
  uint32_t activity(Activity::Kind kind, uint32_t thread, std::string what, std::vector<std::string> where = {}) {
    Activity a = {.kind = kind, .group = graph.threads[thread].group, .what = std::move(what), .where = std::move(where), .stack = {}};
    a.is_lock = a.what.find("lock") != a.what.npos;
    for (uint32_t i = 0; i < graph.activities.size(); i++) {
      const Activity& old = graph.activities[i];
      if (old.kind == a.kind && old.group == a.group && old.what == a.what && old.where == a.where) return i;
    }
    graph.activities.push_back(std::move(a));
    return static_cast<uint32_t>(graph.activities.size() - 1);
  }
  void runs(uint32_t thread, uint64_t begin, uint64_t end, std::string function) {
    const uint32_t a = activity(Activity::runs, thread, {}, {std::move(function)});
    graph.mixes.push_back({{a, 1}});
    graph.segments.push_back({.begin = begin, .end = end, .thread = thread, .mix = static_cast<uint32_t>(graph.mixes.size() - 1)});
  }
  void waits(uint32_t thread, uint64_t begin, uint64_t end, std::string what, uint32_t ender = nobody, std::vector<std::string> where = {}) {
    const uint32_t a = activity(Activity::waits, thread, std::move(what), std::move(where));
    graph.segments.push_back({.begin = begin, .end = end, .thread = thread, .kind = Activity::waits, .activity = a, .ender = ender});
    graph.end = std::max(graph.end, end);
  }
  void runnable(uint32_t thread, uint64_t begin, uint64_t end, uint32_t ender = nobody) {
    const uint32_t a = activity(Activity::runnable, thread, "a CPU");
    graph.segments.push_back({.begin = begin, .end = end, .thread = thread, .kind = Activity::runnable, .activity = a, .ender = ender});
  }
  const Graph& settled() {
    graph.settle();
    return graph;
  }
  std::string text(uint32_t activity) const {
    const Activity& a = graph.activities[activity];
    return graph.groups[a.group].name + ":" + a.what + (a.where.empty() ? "" : "@" + a.where[0]);
  }
  // "a:lock <- b:@run 0.80, …": of the wait that took longest.
  std::string causes() const {
    const std::vector<Blamed> all = sum_up(graph, find_causes(graph));
    std::string out = text(all[0].activity) + " <-";
    for (const Share& s : all[0].causes) {
      char part[16];
      std::snprintf(part, sizeof part, " %.2f", s.part);
      out += " " + text(s.activity) + part;
    }
    return out;
  }
};

// ---- the order

TEST(Graph, CutsWhatRunsWhereItEndsAWait) {
  Builder b;
  const uint32_t x = b.thread("x"), y = b.thread("y");
  b.waits(x, 0, 40, "lock", y);
  b.runs(y, 0, 100, "work");
  const Graph& g = b.settled();
  ASSERT_EQ(g.threads[y].segments.size(), 2u);
  const Segment& first = g.segments[g.threads[y].segments[0]];
  EXPECT_EQ(first.end, 40u);
  EXPECT_EQ(g.segments[g.threads[x].segments[0]].after, g.threads[y].segments[0]);
}

TEST(Graph, AWaitWhoseEnderIsNotKnownThenComesAfterNothing) {
  Builder b;
  const uint32_t x = b.thread("x"), y = b.thread("y");
  b.waits(x, 0, 40, "lock", y);
  b.runs(y, 50, 100, "work");
  const Graph& g = b.settled();
  EXPECT_EQ(g.segments[g.threads[x].segments[0]].after, nobody);
}

TEST(Graph, TwoThatEndEachOthersWaitsAtOnceDoNotDependOnEachOther) {
  Builder b;
  const uint32_t x = b.thread("x"), y = b.thread("y");
  b.waits(x, 0, 40, "lock", y);
  b.waits(y, 0, 40, "lock", x);
  const Graph& g = b.settled();
  const Replayed r = Replay(g, find_causes(g)).without({});
  EXPECT_EQ(r.after_ns, r.before_ns);
}

// ---- blame

TEST(Blame, AWaitComesToWhatItsEnderDid) {
  Builder b;
  const uint32_t x = b.thread("x"), y = b.thread("y");
  b.waits(x, 0, 100, "lock", y);
  b.runs(y, 0, 20, "parse");
  b.waits(y, 20, 100, "disk");
  b.runs(y, 100, 110, "parse");
  b.settled();
  EXPECT_EQ(b.causes(), "x:lock <- y:disk 0.80 y:@parse 0.20");
}

TEST(Blame, GoesOnAlongAChain) {
  Builder b;
  const uint32_t x = b.thread("x"), y = b.thread("y"), z = b.thread("z");
  b.waits(x, 0, 100, "answer", y);
  b.waits(y, 10, 90, "answer of z", z);
  b.runs(y, 0, 10, "ask");
  b.runs(y, 90, 100, "reply");
  b.runs(z, 0, 90, "look_up");
  b.runs(z, 90, 200, "tidy");
  b.settled();
  EXPECT_EQ(b.causes(), "x:answer <- z:@look_up 0.80 y:@reply 0.10 y:@ask 0.10");
}

TEST(Blame, PartOfALongerWaitCountsInProportion) {
  Builder b;
  const uint32_t x = b.thread("x"), y = b.thread("y"), z = b.thread("z");
  b.waits(y, 0, 100, "answer of z", z);
  b.runs(z, 0, 50, "first");
  b.runs(z, 50, 100, "second");
  b.waits(x, 80, 120, "lock", y); // of the wait of y, its last fifth
  b.runs(y, 100, 120, "reply");
  b.settled();
  const std::vector<Blamed> all = sum_up(b.graph, find_causes(b.graph));
  ASSERT_EQ(all.size(), 2u);
  double sum = 0;
  for (const Share& s : all[1].causes) sum += s.part;
  EXPECT_DOUBLE_EQ(sum, 1);
  EXPECT_EQ(b.text(all[1].causes[0].activity), "y:@reply");
  EXPECT_DOUBLE_EQ(all[1].causes[0].part, 0.5);
}

TEST(Blame, WhatIsNotKnownOfTheEnderStaysWithTheWait) {
  Builder b;
  const uint32_t x = b.thread("x"), y = b.thread("y");
  b.waits(x, 0, 100, "lock", y);
  b.runs(y, 75, 120, "work");
  b.settled();
  EXPECT_EQ(b.causes(), "x:lock <- x:lock 0.75 y:@work 0.25");
}

TEST(Blame, PartsAreOneTogetherWithManyCauses) {
  Builder b;
  const uint32_t x = b.thread("x"), y = b.thread("y");
  b.waits(x, 0, 1000, "lock", y);
  for (uint64_t i = 0; i < 100; i++) b.runs(y, i * 10, i * 10 + 10, "f" + std::to_string(i));
  b.settled();
  const Causes causes = find_causes(b.graph);
  const std::vector<Share>& its = causes[b.graph.threads[x].segments[0]];
  EXPECT_LE(its.size(), 12u);
  EXPECT_NEAR(std::accumulate(its.begin(), its.end(), 0.0, [](double n, const Share& s) { return n + s.part; }), 1, 1e-9);
}

// ---- replay

Replayed without(const Builder& b, std::string_view activity) {
  std::vector<uint32_t> out;
  for (uint32_t a = 0; a < b.graph.activities.size(); a++)
    if (b.text(a) == activity) out.push_back(a);
  EXPECT_EQ(out.size(), activity.empty() ? 0u : 1u) << activity;
  return Replay(b.graph, find_causes(b.graph)).without(out);
}

// Two take turns at a lock, in which one waits for a disk.
Builder lock_turns() {
  Builder b;
  const uint32_t x = b.thread("x"), y = b.thread("y");
  for (uint64_t i = 0; i < 10; i++) {
    const uint64_t t = i * 100;
    b.waits(x, t, t + 50, "lock", y);
    b.waits(y, t, t + 40, "disk");
    b.runs(y, t + 40, t + 50, "write");
    b.waits(y, t + 50, t + 100, "lock", x);
    b.runs(x, t + 50, t + 100, "read");
  }
  b.settled();
  return b;
}

TEST(Replay, WithoutNothingAllTakesAsLongAsItDid) {
  const Replayed r = without(lock_turns(), "");
  EXPECT_EQ(r.before_ns, (std::vector<uint64_t>{1000, 1000}));
  EXPECT_EQ(r.after_ns, r.before_ns);
}

TEST(Replay, TurnsTakeLessWithoutAPartOfOne) {
  const Builder b = lock_turns();
  EXPECT_EQ(without(b, "y:disk").after_ns, (std::vector<uint64_t>{600, 600}));
  EXPECT_EQ(without(b, "x:@read").after_ns, (std::vector<uint64_t>{500, 500}));
  EXPECT_EQ(without(b, "y:disk").left_out_ns, (std::vector<uint64_t>{0, 400}));
}

// Whoever comes to a lock sooner waits longer.
TEST(Replay, NothingIsGainedBeforeALockThatIsAlwaysTaken) {
  Builder b;
  const uint32_t x = b.thread("x"), y = b.thread("y");
  for (uint64_t i = 0; i < 10; i++) {
    const uint64_t t = i * 100;
    b.runs(x, t, t + 30, "prepare");
    b.waits(x, t + 30, t + 90, "lock", y);
    b.runs(x, t + 90, t + 100, "short");
    b.runs(y, t, t + 100, "hold");
  }
  b.settled();
  const Replayed r = without(b, "x:@prepare");
  EXPECT_EQ(r.after_ns[x], 1000u);
}

// A timer of its own pace must not hold up whoever met it once.
TEST(Replay, AShortWaitForAnotherPaceDoesNotBind) {
  Builder b;
  const uint32_t x = b.thread("x"), timer = b.thread("timer");
  b.runs(x, 0, 980, "work");
  b.waits(x, 980, 990, "lock", timer);
  b.runs(x, 990, 1000, "work");
  b.waits(timer, 0, 985, "sleep");
  b.runs(timer, 985, 995, "tick");
  b.settled();
  EXPECT_LE(without(b, "x:@work").after_ns[x], 10u);
}

TEST(Replay, AWaitForACpuGetsShorterAsWhatHadItDoes) {
  Builder b;
  const uint32_t x = b.thread("x"), y = b.thread("y");
  b.runs(x, 0, 10, "a");
  b.runnable(x, 10, 110, y);
  b.runs(x, 110, 120, "a");
  b.runs(y, 10, 60, "hog");
  b.runs(y, 60, 110, "other");
  b.waits(y, 110, 120, "sleep");
  b.settled();
  EXPECT_EQ(without(b, "y:@hog").after_ns[x], 70u);
}

TEST(Replay, WhoDoesNotWaitIsNotWokenLate) {
  Builder b;
  const uint32_t x = b.thread("x");
  b.runs(x, 0, 100, "a");
  b.waits(x, 100, 200, "sleep");
  b.runnable(x, 200, 230);
  b.runs(x, 230, 300, "b");
  b.runnable(x, 300, 340); // it lost the CPU
  b.runs(x, 340, 400, "b");
  b.settled();
  EXPECT_EQ(without(b, "x:sleep").after_ns[x], 270u);
  EXPECT_EQ(without(b, "x:@b").after_ns[x], 230u);
}

// ---- knots

TEST(Knots, ThreadsThatWaitForEachOther) {
  Builder b;
  const uint32_t x = b.thread("x"), y = b.thread("y"), z = b.thread("z"), caller = b.thread("caller");
  b.waits(x, 0, 100, "lock 1", y);
  b.waits(y, 0, 110, "lock 2", z);
  b.waits(z, 0, 120, "lock 3", x);
  b.waits(caller, 0, 130, "answer", x);
  b.settled();
  EXPECT_EQ(find_knots(b.graph, 1), (std::vector<std::vector<uint32_t>>{{0, 1, 2}}));
  EXPECT_TRUE(find_knots(b.graph, 115).empty()) << "one of the waits is too short to count";
}

// ---- findings

// The longest wait is a timer's; what bottlenecks the workers is a sleep under their lock.
TEST(Findings, TheLongestWaitIsNotWhatLimits) {
  Builder b;
  const uint32_t x = b.thread("worker"), y = b.thread("worker"), timer = b.thread("timer");
  for (uint64_t i = 0; i < 10; i++) {
    const uint64_t t = i * 200;
    const auto turn = [&](uint32_t has, uint32_t waits, uint64_t at) {
      b.waits(waits, at, at + 100, "lock", has);
      b.waits(has, at, at + 90, "sleep", nobody, {"flush"});
      b.runs(has, at + 90, at + 100, "answer");
    };
    turn(x, y, t);
    turn(y, x, t + 100);
  }
  b.runs(timer, 0, 1, "tick");
  b.waits(timer, 1, 20000, "sleep", nobody, {"tick"});
  const Findings f = find_bottlenecks(b.settled());
  ASSERT_FALSE(f.bottlenecks.empty());
  EXPECT_EQ(b.text(f.waits[0].activity), "timer:sleep@tick");
  EXPECT_EQ(b.text(f.bottlenecks[0].activities[0].activity), "worker:sleep@flush");
  ASSERT_EQ(f.bottlenecks[0].speedups.size(), 1u);
  EXPECT_EQ(f.bottlenecks[0].speedups[0].threads, 2u);
  EXPECT_NEAR(f.bottlenecks[0].speedups[0].factor, 10, 0.6);
  for (const Bottleneck& l : f.bottlenecks) EXPECT_NE(b.graph.groups[l.group].name, "timer") << "it only waits at its own pace";
}

TEST(Findings, AFunctionStandsForWhatItDoesIfItGainsMore) {
  Builder b;
  const uint32_t x = b.thread("x");
  for (uint64_t i = 0; i < 10; i++) {
    const uint64_t t = i * 100;
    b.waits(x, t, t + 40, "sleep", nobody, {"pause", "merge"});
    b.graph.mixes.push_back({{b.activity(Activity::runs, x, {}, {"sort", "merge"}), 1}});
    b.graph.segments.push_back({.begin = t + 40, .end = t + 80, .thread = x, .mix = static_cast<uint32_t>(b.graph.mixes.size() - 1)});
    b.runs(x, t + 80, t + 100, "rest");
  }
  const Findings f = find_bottlenecks(b.settled());
  ASSERT_FALSE(f.bottlenecks.empty());
  EXPECT_EQ(f.bottlenecks[0].function, "merge");
  EXPECT_EQ(f.bottlenecks[0].activities.size(), 2u);
  EXPECT_NEAR(f.bottlenecks[0].speedups[0].factor, 5, 0.01);
}

TEST(Findings, NothingIsFasterThanTheCpusCanRunIt) {
  Builder b;
  for (uint32_t i = 0; i < 4; i++) {
    const uint32_t x = b.thread("x");
    b.waits(x, 0, 900, "sleep", nobody, {"pause"});
    b.runs(x, 900, 1000, "work");
  }
  b.graph.cpus = 2;
  const Findings f = find_bottlenecks(b.settled());
  ASSERT_FALSE(f.bottlenecks.empty());
  EXPECT_NEAR(f.bottlenecks[0].speedups[0].factor, 5, 0.01) << "400 ns of work on two CPUs";
}

// What hands work on is as fast as the slowest.
TEST(Findings, AStageCannotBeFasterThanTheOneBeforeIt) {
  Builder b;
  const uint32_t parser = b.thread("parser"), packer = b.thread("packer");
  for (uint64_t i = 0; i < 10; i++) {
    const uint64_t t = i * 100;
    b.runs(parser, t, t + 25, "parse");
    b.waits(parser, t + 25, t + 100, "the condition has_room", packer);
    b.runs(packer, t, t + 100, "pack");
  }
  const Findings f = find_bottlenecks(b.settled());
  ASSERT_FALSE(f.bottlenecks.empty());
  EXPECT_EQ(b.text(f.bottlenecks[0].activities[0].activity), "packer:@pack");
  for (const Speedup& g : f.bottlenecks[0].speedups) EXPECT_NEAR(g.factor, 4, 0.1);
}

TEST(Findings, OfNothingThereIsNothing) {
  Graph empty;
  empty.settle();
  const Findings f = find_bottlenecks(empty);
  EXPECT_TRUE(f.bottlenecks.empty() && f.waits.empty() && f.knots.empty());
}

// ---- pictures

std::string flow_of(const Graph& graph) {
  const Findings findings = find_bottlenecks(graph);
  return flow_svg({.graph = graph, .findings = findings, .what = "a test"});
}

TEST(Flow, AWaitLeadsToWhatItsEnderDid) {
  Builder b;
  const uint32_t waiter = b.thread("<waiter>"), holder = b.thread("holder");
  b.runs(holder, 0, 1'000'000, "compute");
  b.waits(waiter, 0, 1'000'000, "the lock g_lock", holder, {"look_up"});
  const std::string svg = flow_of(b.settled());
  for (std::string_view text : {"&lt;waiter&gt;", "the lock g_lock in look_up", "holder runs compute", "1.00 ms, 100%"}) EXPECT_NE(svg.find(text), svg.npos) << text << " in " << svg;
  EXPECT_EQ(svg.find("no thread of the target"), svg.npos);
}

TEST(Flow, AWaitThatNobodyEnds) {
  Builder b;
  const uint32_t t = b.thread("t");
  b.waits(t, 0, 1'000'000, "nanosleep");
  EXPECT_NE(flow_of(b.settled()).find("no thread of the target"), std::string::npos);
}

TEST(Flow, OfNothing) {
  Builder b;
  EXPECT_EQ(flow_of(b.settled()), "<p class=\"soft\">No thread waited, but for work.</p>\n");
}

TEST(ThreadPicture, WhatEachDoesMost) {
  Builder b;
  const uint32_t t = b.thread("t"), u = b.thread("u");
  b.runs(t, 0, 500'000, "f");
  b.waits(t, 500'000, 1'000'000, "the lock g_lock", u);
  b.runs(u, 0, 1'000'000, "g");
  const std::string svg = timeline_svg(b.settled());
  const auto rects = [&](Doing doing) {
    size_t out = 0;
    const std::string fill = "height=\"14\" fill=\"" + std::string(color_of(doing)) + "\"";
    for (size_t at = 0; (at = svg.find(fill, at)) != svg.npos; at++) out++;
    return out;
  };
  EXPECT_EQ(rects(Doing::runs), 2u);
  EXPECT_EQ(rects(Doing::lock), 1u);
  EXPECT_EQ(rects(Doing::nothing), 0u);
}

} // namespace
} // namespace waits
