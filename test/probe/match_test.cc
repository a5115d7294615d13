// From what a script names to events, and what is said when there are none.
#include "helpers.h"
#include "spec/probes.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <linux/perf_event.h>
#include <set>

using probe::Kind;
using probe::Mismatch;

namespace {

using Match = Fixture;

TEST_F(Match, begin_and_end_in_any_case) {
  for (const char* name : {"begin", "BEGIN", "Begin"}) {
    auto e = one(name);
    EXPECT_EQ(e.kind, Kind::begin);
    EXPECT_EQ(e.name, "begin");
    EXPECT_EQ(e.provider, "special");
  }
  EXPECT_EQ(one("END").kind, Kind::end);
  EXPECT_TRUE(match("begin:x").empty());
  EXPECT_EQ(mismatch.kind, Mismatch::malformed);
}

TEST_F(Match, signals) {
  auto e = one("self:signal:SIGUSR1");
  EXPECT_EQ(e.kind, Kind::signal);
  EXPECT_EQ(e.signal, SIGUSR1);
  EXPECT_EQ(e.event, "SIGUSR1");
  EXPECT_EQ(one("self:signal:SIGUSR2").signal, SIGUSR2);
  EXPECT_TRUE(match("self:signal:SIGUSR").empty());
  EXPECT_EQ(mismatch.hint, "did you mean `self:signal:SIGUSR1`?");
  EXPECT_TRUE(match("self:signal:SIGKILL").empty());
  EXPECT_TRUE(match("self").empty());
  EXPECT_EQ(mismatch.kind, Mismatch::malformed);
}

TEST_F(Match, intervals) {
  const std::pair<const char*, uint64_t> good[] = {
      {"interval:s:1", 1'000'000'000},  {"i:ms:100", 100'000'000},       {"interval:us:5", 5'000},
      {"interval:hz:100", 10'000'000},  {"interval:1s", 1'000'000'000},  {"interval:100ms", 100'000'000},
      {"interval:1000000", 1'000'000},  {"interval:1e9", 1'000'000'000}, {"interval:1_000us", 1'000'000},
      {"interval:2m", 120'000'000'000}, {"interval:0x10", 16},           {"interval:0x5ms", 5'000'000},
      {"INTERVAL:s:1", 1'000'000'000},
  };
  for (auto [text, period] : good) EXPECT_EQ(one(text).period_ns, period) << text;
  EXPECT_EQ(one("i:s:1").name, "interval:s:1");
  for (const char* text :
       {"interval", "interval:", "interval:s", "interval:s:", "interval:s:0", "interval:hz:0", "interval:s:x",
        "interval:s:-1", "interval:min:1", "interval:0", "interval:1x", "interval:s:1:2", "interval:ms:1ms",
        "interval:s:99999999999999", "interval:hz:2000000000", "interval:1e30", "interval:d:99999999"}) {
    EXPECT_TRUE(match(text).empty()) << text;
    EXPECT_EQ(mismatch.kind, Mismatch::malformed) << text;
    EXPECT_NE(mismatch.hint.find("interval:s:1"), std::string::npos) << text;
  }
}

TEST_F(Match, profiles) {
  auto e = one("profile:hz:99");
  EXPECT_EQ(e.kind, Kind::profile);
  EXPECT_EQ(e.frequency, 99u);
  EXPECT_EQ(e.period_ns, 0u);
  EXPECT_EQ(one("p:ms:10").period_ns, 10'000'000u);
  EXPECT_EQ(one("profile:10ms").period_ns, 10'000'000u);
  EXPECT_TRUE(match("profile:hz:0").empty());
  EXPECT_EQ(mismatch.kind, Mismatch::malformed);
}

TEST_F(Match, software_events) {
  auto e = one("software:faults:50");
  EXPECT_EQ(e.perf_config, PERF_COUNT_SW_PAGE_FAULTS);
  EXPECT_EQ(e.sample_period, 50u);
  EXPECT_EQ(e.name, "software:faults:50");
  EXPECT_EQ(one("s:cpu:").sample_period, 1'000'000u);
  EXPECT_EQ(one("software:context-switches").sample_period, 1000u);
  EXPECT_EQ(one("software:cs").perf_config, PERF_COUNT_SW_CONTEXT_SWITCHES);
  EXPECT_TRUE(match("software:page-fault:1").empty());
  EXPECT_EQ(mismatch.kind, Mismatch::missing);
  EXPECT_EQ(mismatch.hint, "did you mean `software:page-faults`?");
  for (const char* text : {"software", "software:", "software:cs:0", "software:cs:x", "software:cs:1:1"}) {
    EXPECT_TRUE(match(text).empty()) << text;
    EXPECT_EQ(mismatch.kind, Mismatch::malformed) << text;
  }
}

TEST_F(Match, unknown_kinds) {
  EXPECT_TRUE(match("tracepont:sched:sched_switch").empty());
  EXPECT_EQ(mismatch.kind, Mismatch::unknown_provider);
  EXPECT_EQ(mismatch.hint, "did you mean `tracepoint`?");
  EXPECT_TRUE(match("").empty());
  EXPECT_EQ(mismatch.kind, Mismatch::unknown_provider);
  for (const char* text : {"thread", "fault", "oneshot", "frame:f"}) { // there is no stopped program
    EXPECT_TRUE(match(text).empty()) << text;
    EXPECT_EQ(mismatch.kind, Mismatch::malformed) << text;
  }
  // As written first: `u` and `U` differ.
  EXPECT_EQ(one("U:libstdc++:throw").kind, Kind::usdt);
  EXPECT_EQ(one("u:libc:malloc").kind, Kind::uprobe);
}

TEST_F(Match, every_kind_matches_its_example) {
  NEEDS_TRACEFS;
  std::set<std::string_view> names;
  for (const spec::ProbeKind& row : spec::probe_kinds) {
    EXPECT_TRUE(names.insert(row.name).second);
    for (std::string_view alias : row.aliases)
      EXPECT_TRUE(alias.empty() || names.insert(alias).second) << alias;
    EXPECT_EQ(match(row.example).empty(), row.stopped) << row.name << ": " << mismatch.message;
  }
}

TEST_F(Match, tracepoints) {
  NEEDS_TRACEFS;
  auto e = one("t:sched:sched_switch");
  EXPECT_EQ(e.name, "tracepoint:sched:sched_switch");
  EXPECT_EQ(e.provider, "tracepoint");
  EXPECT_EQ(e.category, "sched");
  EXPECT_EQ(e.event, "sched_switch");
  EXPECT_EQ(e.syscall, -1);
  auto open = one("Tracepoint:syscalls:sys_exit_openat");
  EXPECT_EQ(open.syscall, 257);
  EXPECT_TRUE(open.syscall_exit);
  for (const char* text :
       {"tracepoint", "tracepoint:sched", "tracepoint:sched:", "tracepoint::x", "tracepoint:a:b:c"}) {
    EXPECT_TRUE(match(text).empty()) << text;
    EXPECT_EQ(mismatch.kind, Mismatch::malformed) << text;
  }
  EXPECT_EQ(one("tracepoint:sched_s?itch").name, "tracepoint:sched:sched_switch"); // a pattern: in all categories
  match("tracepoint:sched_switch");
  EXPECT_EQ(mismatch.hint, "did you mean `tracepoint:sched:sched_switch`?");
}

TEST_F(Match, misspelt_tracepoints_get_the_nearest) {
  NEEDS_TRACEFS;
  EXPECT_TRUE(match("tracepoint:sched:sched_swich").empty());
  EXPECT_EQ(mismatch.kind, Mismatch::missing);
  EXPECT_EQ(mismatch.hint, "did you mean `tracepoint:sched:sched_switch`?");
  EXPECT_TRUE(match("tracepoint:shed:sched_switch").empty());
  EXPECT_EQ(mismatch.hint, "did you mean `tracepoint:sched:sched_switch`?");
  EXPECT_TRUE(match("tracepoint:syscals:sys_enter_opennnnn").empty());
  EXPECT_EQ(mismatch.hint, "did you mean the category `syscalls`?");
  EXPECT_TRUE(match("tracepoint:sched:zz*").empty());
  EXPECT_NE(mismatch.message.find("no tracepoint matches"), std::string::npos);
  EXPECT_TRUE(match("tracepoint:../sched:sched_switch").empty());
  EXPECT_TRUE(match("tracepoint:ftrace:function").empty());
}

TEST_F(Match, wildcards) {
  NEEDS_TRACEFS;
  auto start = std::chrono::steady_clock::now();
  auto all = match("tracepoint:syscalls:sys_enter_*");
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  printf("%zu events in %.2f ms\n", all.size(), took.count());
  EXPECT_GT(all.size(), 300u);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](auto& a, auto& b) { return a.name < b.name; }));
  for (const auto& e : all) EXPECT_TRUE(e.event.starts_with("sys_enter_"));
  EXPECT_GE(match("tracepoint:sched:sched_w?king").size(), 1u);
  EXPECT_EQ(match("tracepoint:*:sched_switch").size(), 1u);
  for (const auto& e : match("tracepoint:*:*")) ASSERT_NE(e.category, "ftrace");
}

TEST_F(Match, raw_tracepoints) {
  NEEDS_BTF;
  auto e = one("rt:sched_switch");
  EXPECT_EQ(e.kind, Kind::rawtracepoint);
  EXPECT_EQ(e.name, "rawtracepoint:vmlinux:sched_switch");
  EXPECT_EQ(one("rawtracepoint:vmlinux:sched_switch").event, "sched_switch");
  EXPECT_GE(match("rawtracepoint:sched_wak*").size(), 2u);
  EXPECT_TRUE(match("rawtracepoint:sched_swich").empty());
  EXPECT_EQ(mismatch.hint, "did you mean `rawtracepoint:sched_switch`?");
  EXPECT_TRUE(match("rawtracepoint:nomodule:sched_switch").empty());
  for (const char* text : {"rawtracepoint", "rawtracepoint:", "rawtracepoint:a:b:c"}) {
    EXPECT_TRUE(match(text).empty()) << text;
    EXPECT_EQ(mismatch.kind, Mismatch::malformed) << text;
  }
}

TEST_F(Match, lists_events) {
  NEEDS_TRACEFS;
  auto start = std::chrono::steady_clock::now();
  auto all = probe::list(machine, "");
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  printf("%zu events in %.2f ms\n", all.size(), took.count());
  EXPECT_GT(all.size(), 500u);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](auto& a, auto& b) { return a.name < b.name; }));
  auto names = [&](std::string_view pattern) {
    std::vector<std::string> out;
    for (auto& e : probe::list(machine, pattern)) out.push_back(e.name);
    return out;
  };
  EXPECT_EQ(names("tracepoint:sched:sched_switch"),
            std::vector<std::string>{"tracepoint:sched:sched_switch"});
  EXPECT_EQ(names("t:sched:sched_switch").size(), 1u);
  EXPECT_EQ(names("software").size(), 14u);
  EXPECT_EQ(names("s:*").size(), 14u);
  EXPECT_EQ(names("interval:*").size(), 4u);
  EXPECT_EQ(names("begin"), std::vector<std::string>{"begin"});
  EXPECT_GE(names("*sched_switch*").size(), 1u);
  EXPECT_TRUE(names("nothing:like:this").empty());
  // What is listed can be matched.
  for (auto& name : names("*:sched*")) EXPECT_FALSE(match(name).empty()) << name;
  for (auto& name : names("software:*")) EXPECT_FALSE(match(name).empty()) << name;
}

} // namespace
