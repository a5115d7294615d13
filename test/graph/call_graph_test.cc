// Calls within calls: what becomes of returns that are lost, of calls that are left another way, and of those
// that are told as a whole.
#include "graph/call_graph.h"
#include "graph/call_json.h"
#include "graph/call_text.h"

#include <gtest/gtest.h>

namespace graph {
namespace {

// "main(f()! g(h()))": ! was left, ^ by an exception or longjmp, > ended by exec, x with its thread, ~ still runs, ? its return is not
// probed.
struct Trees : CallListener {
  void begin(const CallThread&, const Call& call, size_t level) override {
    EXPECT_EQ(level, depth++);
    text += call.function->name + "(";
  }
  void end(const CallThread&, const Call& call, size_t level) override {
    if (!call.is_begun) {
      text += "[" + call.function->name + "]";
      return;
    }
    EXPECT_EQ(level, --depth);
    static constexpr char marks[] = {'E', 0, '?', '^', '^', '!', '>', 'x', '~'};
    text += ")";
    if (call.ended != Ended::returned) text += marks[static_cast<int>(call.ended)];
    if (call.has_duration())
      durations[call.function->name] += call.duration(), self[call.function->name] += call.self_ns();
    off[call.function->name] = call.off;
  }
  std::string text;
  size_t depth = 0;
  std::map<std::string, uint64_t> durations, self;
  std::map<std::string, OffCpu> off;
};

class CallGraphTest : public testing::Test {
protected:
  CallGraph::Moment at(uint32_t tid = 1) {
    return {.tid = tid, .pid = 1, .cpu = 0, .ns = now += 10, .off = gone, .thread = "t"};
  }
  void in(const CalledFunction& f, uint64_t depth, uint64_t stack) {
    graph.enter(at(), f, depth, f.is_kernel ? 0 : stack, {});
  }
  void out(const CalledFunction& f, uint64_t stack) { graph.leave(at(), f, f.is_kernel ? 0 : stack, {}); }

  CalledFunction main{.name = "main"}, f{.name = "f"}, g{.name = "g"},
      lone{.name = "lone", .has_return = false}, read{.name = "read", .is_kernel = true},
      open{.name = "open", .is_kernel = true};
  Trees trees;
  CallGraph graph{{&trees}};
  uint64_t now = 0;
  OffCpu gone;
};

TEST_F(CallGraphTest, ExceptionsEndWhatIsBelowTheirLanding) {
  in(main, 0, 1000), in(f, 1, 900), in(g, 2, 800), in(f, 3, 700);
  graph.land(at(), 850, Ended::by_exception); // within f
  EXPECT_EQ(trees.text, "main(f(g(f()^)^");
  EXPECT_EQ(trees.durations["g"], 20u);
  EXPECT_EQ(trees.self["g"], 10u);
  in(g, 4, 600); // further down than what was left
  out(g, 600), out(f, 900), out(main, 1000);
  EXPECT_EQ(trees.text, "main(f(g(f()^)^g()))");
}

TEST_F(CallGraphTest, LandingElsewhereEndsNothing) {
  in(main, 0, 1000), in(f, 1, 900);
  graph.land(at(), 1 << 30, Ended::by_jump); // of another stack
  out(f, 900), out(main, 1000);
  EXPECT_EQ(trees.text, "main(f())");
}

// It is the time of the landing that counts, not that of the next call.
TEST_F(CallGraphTest, LandingAtAnUnknownPlace) {
  in(main, 0, 1000), in(f, 1, 900), in(g, 2, 800);
  graph.land(at(), 0, Ended::by_jump);
  now += 100;
  out(main, 1000);
  EXPECT_EQ(trees.text, "main(f(g()^)^)");
  EXPECT_EQ(trees.durations["f"], 20u);
}

TEST_F(CallGraphTest, ForkedProcessIsInTheCallsOfItsParent) {
  in(main, 0, 1000), in(f, 1, 900);
  graph.fork(at(), 2), graph.fork(at(), 3);
  out(f, 900), out(main, 1000);
  EXPECT_EQ(trees.text, "main(f())");
  graph.exec(at(3)), graph.end_thread(at(3)); // of it nothing was seen
  trees = {};
  graph.enter(at(2), g, 2, 800, {}), graph.leave(at(2), g, 800, {}), graph.leave(at(2), f, 900, {});
  graph.end_thread(at(2));
  EXPECT_EQ(trees.text, "main(f(g()))x");
  EXPECT_EQ(trees.durations["f"], 80u); // since the fork
  EXPECT_EQ(graph.calls(), 3u);
  EXPECT_EQ(graph.threads(), 2u);
}

TEST_F(CallGraphTest, NestsAndMeasures) {
  in(main, 0, 1000), in(f, 1, 900);
  gone.waited = 5;
  out(f, 900);
  in(g, 1, 900);
  gone.preempted = 2;
  out(g, 900), out(main, 1000);
  EXPECT_EQ(trees.text, "main(f()g())");
  EXPECT_EQ(trees.durations["main"], 50u);
  EXPECT_EQ(trees.self["main"], 30u);
  EXPECT_EQ(trees.off["f"].waited, 5u);
  EXPECT_EQ(trees.off["g"].waited, 0u);
  EXPECT_EQ(trees.off["main"].sum(), 7u);
  EXPECT_EQ(graph.calls(), 3u);
}

TEST_F(CallGraphTest, RecursionGoesByThePlaceOnTheStack) {
  in(f, 0, 1000), in(f, 1, 900), in(f, 2, 800);
  out(f, 800), out(f, 900), in(f, 1, 900), out(f, 900), out(f, 1000);
  EXPECT_EQ(trees.text, "f(f(f())f())");
}

TEST_F(CallGraphTest, LostReturnIsSeenByTheDepth) {
  in(main, 0, 1000), in(f, 1, 900), in(f, 1, 900), out(f, 900), out(main, 1000);
  EXPECT_EQ(trees.text, "main(f()!f())");
}

TEST_F(CallGraphTest, LostEntryIsToldAndTakesNothingAlong) {
  in(main, 0, 1000), out(f, 900), in(g, 1, 900), out(g, 900), out(main, 1000);
  EXPECT_EQ(trees.text, "main([f]g())");
  EXPECT_EQ(graph.unbegun(), 1u);
}

TEST_F(CallGraphTest, LostReturnOfTheInnerIsSeenByThatOfTheOuter) {
  in(main, 0, 1000), in(f, 1, 900), in(g, 2, 800), out(main, 1000);
  EXPECT_EQ(trees.text, "main(f(g()!)!)");
}

TEST_F(CallGraphTest, LongjmpIsSeenByTheStack) {
  in(main, 0, 1000), in(f, 1, 900), in(f, 2, 800), in(g, 3, 950), out(g, 950), out(main, 1000);
  EXPECT_EQ(trees.text, "main(f(f()!)!g())");
}

TEST_F(CallGraphTest, LongjmpToACallAtTheSamePlace) {
  in(main, 0, 1000), in(f, 1, 900), in(f, 2, 800), in(g, 3, 900), out(g, 900), out(main, 1000);
  EXPECT_EQ(trees.text, "main(f(f()!)!g())");
}

TEST_F(CallGraphTest, TailCallStandsInItsCaller) {
  in(main, 0, 1000), in(f, 1, 900), in(g, 2, 900), out(g, 900), out(f, 900), out(main, 1000);
  EXPECT_EQ(trees.text, "main(f(g()))");
}

TEST_F(CallGraphTest, AnotherStackLeavesNothing) {
  in(main, 0, 0x7fff'0000'0000), in(f, 1, 0x7fff'f000'0000), out(f, 0x7fff'f000'0000),
      out(main, 0x7fff'0000'0000);
  EXPECT_EQ(trees.text, "main(f())");
}

TEST_F(CallGraphTest, FunctionsWithoutReturnEndWithWhatComesNext) {
  in(main, 0, 1000), in(lone, 1, 900), in(f, 1, 800), out(f, 800), in(lone, 1, 900), out(main, 1000);
  EXPECT_EQ(trees.text, "main(lone(f())?lone()?)");
}

TEST_F(CallGraphTest, KernelStandsInTheProgram) {
  in(main, 0, 1000), in(read, 1, 0), in(open, 2, 0), out(open, 0), out(read, 0), in(f, 1, 900), out(f, 900),
      out(main, 1000);
  EXPECT_EQ(trees.text, "main(read(open())f())");
}

TEST_F(CallGraphTest, UserCodeRunsOnlyWhenTheKernelHasReturned) {
  in(main, 0, 1000), in(read, 1, 0), in(f, 1, 900), out(f, 900), out(main, 1000);
  EXPECT_EQ(trees.text, "main(read()!f())");
}

TEST_F(CallGraphTest, ExecEndsThePastButNotTheKernel) {
  in(main, 0, 1000), in(f, 1, 900), in(read, 2, 0);
  graph.exec(at());
  out(read, 0);
  in(main, 0, 2000), out(main, 2000);
  EXPECT_EQ(trees.text, "main(f(read())>)>main()");
}

TEST_F(CallGraphTest, EndOfThreadAndOfTheSession) {
  in(main, 0, 1000), in(f, 1, 900);
  graph.end_thread(at());
  in(main, 0, 1000);
  graph.finish(now + 5);
  EXPECT_EQ(trees.text, "main(f()x)xmain()~");
}

TEST_F(CallGraphTest, WholeCallsComeTogether) {
  auto whole = [&](const CalledFunction& f_, uint64_t start, uint64_t end, uint64_t depth) {
    Call call;
    call.function = &f_;
    call.start_ns = start, call.end_ns = end;
    now = end - 10;
    graph.take_whole(at(), std::move(call), depth);
  };
  whole(g, 120, 130, 2), whole(f, 110, 140, 1), whole(f, 150, 160, 1), whole(main, 100, 200, 0);
  EXPECT_EQ(trees.text, "main(f(g())f())");
  EXPECT_EQ(trees.self["main"], 60u);
  trees.text.clear();
  whole(f, 310, 320, 1);
  Call call;
  call.function = &main;
  call.start_ns = 300, call.end_ns = 400, call.ended = Ended::by_end;
  graph.take_unended(at(), std::move(call));
  graph.finish(400);
  EXPECT_EQ(trees.text, "main(f())~");
}

struct Kept : report::Sink {
  void out(std::string_view more) override { text += more; }
  void message(std::string_view) override {}
  std::string text;
};

TEST(CallTextTest, LinesOfAThreadComeTogether) {
  Kept kept;
  CallText lines(kept);
  CallGraph graph({&lines});
  CalledFunction f{.name = "f"}, g{.name = "g"};
  auto at = [](uint32_t tid, uint64_t ns) {
    return CallGraph::Moment{.tid = tid, .pid = 1, .cpu = 2, .ns = ns, .off = {}, .thread = "t"};
  };
  graph.enter(at(1, 1000), f, 0, 900, "a=1");
  graph.enter(at(2, 2000), g, 0, 900, {});
  graph.enter(at(1, 3000), g, 1, 800, {});
  graph.leave(at(2, 4000), g, 900, {});
  graph.leave(at(1, 5000), g, 800, "7");
  graph.leave(at(1, 21'000), f, 900, "NULL");
  EXPECT_EQ(kept.text, "  2)  t-2                    |      2.000 us |               |  g();\n"
                       "  2)  t-1                    |               |               |  f(a=1) {\n"
                       "  2)  t-1                    |      2.000 us |               |    g(); /* = 7 */\n"
                       "  2)  t-1                    | +   20.000 us |               |  } /* f = NULL */\n");
}

TEST(CallTextTest, WhatLastsIsToldAsItGoes) {
  Kept kept;
  CallText lines(kept);
  CallGraph graph({&lines});
  CalledFunction f{.name = "f"};
  graph.enter({.tid = 1, .ns = 0, .off = {}, .thread = "t"}, f, 0, 900, {});
  lines.report_old(500'000'000);
  EXPECT_EQ(kept.text, "");
  lines.report_old(1'500'000'000);
  EXPECT_NE(kept.text.find("f() {"), std::string::npos);
}

TEST(CallJsonTest, NothingIsADocumentToo) {
  Kept kept;
  CallJson json(kept);
  json.finish(3);
  EXPECT_EQ(kept.text,
            "{\"traceEvents\": [\n], \"displayTimeUnit\": \"ns\", \"otherData\": {\"lost\": 3}}\n");
}

} // namespace
} // namespace graph
