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

TEST(CallTextTest, AReturnWithoutEntryStandsInTheCallAroundIt) {
  Kept kept;
  CallText lines(kept);
  CallGraph graph({&lines});
  CalledFunction f{.name = "f"}, g{.name = "g"};
  auto at = [](uint64_t ns) { return CallGraph::Moment{.tid = 1, .pid = 1, .cpu = 0, .ns = ns, .off = {}, .thread = "t"}; };
  graph.enter(at(1000), f, 0, 900, "a=1");
  graph.leave(at(2000), g, 800, "7"); // the record of its entry was lost
  graph.leave(at(3000), f, 900, "8");
  EXPECT_EQ(kept.text, "  0)  t-1                    |               |               |  f(a=1) {\n"
                       "  0)  t-1                    |               |               |    } /* g = 7; began before, or its entry was lost */\n"
                       "  0)  t-1                    |      2.000 us |               |  } /* f = 8 */\n");
}

TEST(CallTextTest, NoNameEndsALineOrMovesTheCursor) {
  Kept kept;
  CallText lines(kept);
  CallGraph graph({&lines});
  CalledFunction f{.name = "f"};
  graph.enter({.tid = 1, .ns = 1, .off = {}, .thread = "a\n\033[2J"}, f, 0, 900, {});
  graph.finish(2);
  EXPECT_TRUE(kept.text.starts_with("  0)  a\\n\\x1b[2J-1 ")) << kept.text;
}

TEST(CallTextTest, MarksAreThoseOfFtrace) {
  // docs/graph.md: more than 10 us, 100 us, 1 ms, 10 ms, 100 ms, 1 s
  const std::pair<uint64_t, char> marks[] = {{10'000, ' '}, {10'001, '+'}, {100'001, '!'}, {1'000'001, '#'}, {10'000'001, '*'}, {100'000'001, '@'}, {1'000'000'001, '$'}};
  for (auto [ns, mark] : marks) {
    Kept kept;
    CallText lines(kept);
    CallGraph graph({&lines});
    CalledFunction f{.name = "f"};
    graph.enter({.tid = 1, .ns = 0, .off = {}, .thread = "t"}, f, 0, 900, {});
    graph.leave({.tid = 1, .ns = ns, .off = {}, .thread = "t"}, f, 900, {});
    EXPECT_EQ(kept.text.find("| " + std::string(1, mark) + " "), 29u) << ns << kept.text;
  }
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

// ---- the table

class CallTableTest : public testing::Test {
protected:
  CallGraph::Moment at(uint64_t ns, OffCpu off = {}) { return {.tid = 1, .pid = 1, .cpu = 0, .ns = ns, .off = off, .thread = "t"}; }
  // The rows alone: numbers and names.
  std::vector<std::string> rows(size_t top = 0) {
    std::vector<std::string> out;
    const std::string text = table.text(top);
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
      std::string line;
      for (char c : text.substr(begin, end - begin))
        if (c != ' ' || (!line.empty() && line.back() != ' ')) line += c;
      out.push_back(line);
    }
    out.erase(out.begin());
    return out;
  }
  CallTable table;
  CallGraph graph{{&table}};
  CalledFunction f{.name = "f"}, g{.name = "g"}, lone{.name = "lone", .has_return = false};
};
using Rows = std::vector<std::string>;

TEST_F(CallTableTest, TotalsAndTheirParts) {
  graph.enter(at(0), f, 0, 900, {});
  graph.enter(at(1'000'000), g, 1, 800, {});
  graph.leave(at(3'000'000, {.waited = 500'000, .preempted = 250'000}), g, 800, {});
  graph.leave(at(10'000'000, {.waited = 500'000, .preempted = 250'000}), f, 900, {});
  EXPECT_EQ(rows(), (Rows{"10.000 8.000 0.500 0.250 10.000 1 0 f", "2.000 2.000 0.500 0.250 2.000 1 0 g"}));
  EXPECT_EQ(rows(1).size(), 1u);
}

// Time within a call of the same function counts once in the total, and as own time of each.
TEST_F(CallTableTest, RecursionCountsOnce) {
  graph.enter(at(0), f, 0, 900, {});
  graph.enter(at(2'000'000), f, 1, 800, {});
  graph.leave(at(8'000'000), f, 800, {});
  graph.leave(at(10'000'000), f, 900, {});
  EXPECT_EQ(rows(), Rows{"10.000 10.000 0.000 0.000 10.000 2 0 f"});
}

TEST_F(CallTableTest, WhatHasNoDuration) {
  graph.enter(at(0), lone, 0, 900, {});
  graph.enter(at(1), f, 0, 950, {});
  graph.end_thread(at(2));
  EXPECT_EQ(rows(), (Rows{"- - - - - 1 1 f", "- - - - - 1 1 lone", "2 calls have no duration: the end was not seen"}));
}

TEST_F(CallTableTest, CallsThatWereLeft) {
  graph.enter(at(0), f, 0, 900, {});
  graph.land(at(2'000'000), 1000, Ended::by_exception);
  EXPECT_EQ(rows(), (Rows{"2.000 2.000 0.000 0.000 2.000 1 0 f", "1 call was left by an exception or longjmp"}));
  graph.enter(at(3'000'000), f, 0, 900, {});
  graph.land(at(4'000'000), 1000, Ended::by_jump);
  EXPECT_EQ(rows()[1], "2 calls were left by an exception or longjmp");
}

TEST_F(CallTableTest, TiesGoByCallsThenByName) {
  CalledFunction a{.name = "a"}, b{.name = "b"};
  for (const auto* one : {&b, &a, &g, &g}) graph.enter(at(0), *one, 0, 900, {}), graph.leave(at(0), *one, 900, {});
  EXPECT_EQ(rows(), (Rows{"0.000 0.000 0.000 0.000 0.000 2 0 g", "0.000 0.000 0.000 0.000 0.000 1 0 a", "0.000 0.000 0.000 0.000 0.000 1 0 b"}));
}

TEST_F(CallTableTest, ReturnsAloneAreNoCalls) {
  graph.leave(at(5), f, 900, {});
  EXPECT_TRUE(rows().empty());
  EXPECT_EQ(graph.unbegun(), 1u);
}

// ---- JSON

TEST(CallJsonTest, CallsAreEventsOfTheirThread) {
  Kept kept;
  CallJson json(kept);
  CallGraph graph({&json});
  CalledFunction f{.name = "op\"<\"\n"}, k{.name = "vfs_read", .is_kernel = true};
  auto at = [](uint64_t ns, OffCpu off = {}) { return CallGraph::Moment{.tid = 8, .pid = 7, .cpu = 0, .ns = ns, .off = off, .thread = "t\xff"}; };
  graph.enter(at(1'234'567), f, 0, 900, "a=\"x\"");
  graph.enter(at(1'234'600), k, 1, 0, {});
  graph.leave(at(1'234'700), k, 0, {});
  graph.leave(at(2'234'568, {.waited = 1'001, .preempted = 2}), f, 900, "3");
  json.finish(0);
  EXPECT_NE(kept.text.find(R"({"name": "process_name", "ph": "M", "pid": 7, "tid": 8, "args": {"name": "t\u00ff"}})"), std::string::npos) << kept.text;
  EXPECT_NE(kept.text.find(R"({"name": "vfs_read", "cat": "kernel", "ph": "X", "ts": 1234.600, "dur": 0.100, "pid": 7, "tid": 8, "args": {)"), std::string::npos);
  EXPECT_NE(kept.text.find(R"j({"name": "op\"<\"\n", "cat": "user", "ph": "X", "ts": 1234.567, "dur": 1000.001, "pid": 7, "tid": 8, )j"
                           R"j("args": {"arguments": "a=\"x\"", "result": "3", "self_us": 999.901, "waited_us": 1.001, "preempted_us": 0.002}})j"),
            std::string::npos);
  EXPECT_EQ(kept.text.find("process_name"), kept.text.rfind("process_name")) << "once";
}

TEST(CallJsonTest, HowACallEnded) {
  Kept kept;
  CallJson json(kept);
  CallGraph graph({&json});
  CalledFunction f{.name = "f"};
  auto at = [](uint64_t ns) { return CallGraph::Moment{.tid = 8, .pid = 7, .cpu = 0, .ns = ns, .off = {}, .thread = "t"}; };
  graph.enter(at(10), f, 0, 900, {}), graph.land(at(20), 1000, Ended::by_jump);
  graph.enter(at(30), f, 0, 900, {}), graph.end_thread(at(40));
  EXPECT_NE(kept.text.find(R"("ended": "left by longjmp"})"), std::string::npos);
  EXPECT_NE(kept.text.find(R"("args": {"ended": "its thread ended"}})"), std::string::npos) << "without a duration there are no times";
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
