// Command lines of the commands: what they mean, and what is refused with which reason.
#include "said.h"
#include "tool/calls.h"
#include "tool/sampled.h"
#include "tool/whose.h"

#include "spec/syscalls.h"

#include <gtest/gtest.h>

namespace tool {
namespace {

session::TargetFilter filter(std::vector<std::string> words, std::string_view subcommand = "trace") {
  auto arguments = parse(subcommand, std::move(words));
  EXPECT_TRUE(arguments.ok());
  auto out = read_target_filter(*arguments);
  EXPECT_TRUE(out.ok()) << out.error().message;
  return out.ok() ? std::move(*out) : session::TargetFilter();
}
std::string no_filter(std::vector<std::string> words, std::string_view subcommand = "trace") {
  auto arguments = parse(subcommand, std::move(words));
  if (!arguments.ok()) return arguments.error().message;
  auto out = read_target_filter(*arguments);
  return out.ok() ? "" : out.error().message;
}

// ---- whose

TEST(TargetFilter, ProcessesOfSeveralOptions) {
  const session::TargetFilter f = filter({"-p", "17, 18", "-p", "19,17"});
  EXPECT_EQ(f.pids, (std::vector<int>{17, 18, 19}));
  EXPECT_EQ(f.pid, -1) << "there are several";
  EXPECT_EQ(filter({"-p", "17", "-p", "17"}).pid, 17);
}

TEST(TargetFilter, NumbersOfProcessesAreAboveZero) {
  for (const char* wrong : {"0", "-1", "", "17,", ",17", "x", "17x", "2147483648", "99999999999999999999", "1 2"})
    EXPECT_NE(no_filter({"-p", wrong}).find("takes a number from 1 to 2147483647"), std::string::npos) << wrong;
  EXPECT_EQ(filter({"-p", "2147483647"}).pid, 2147483647);
  EXPECT_EQ(filter({"-p", "0x11"}).pid, 17);
}

TEST(TargetFilter, UpTo64Processes) {
  std::string list = "1";
  for (int i = 2; i <= 64; i++) list += "," + std::to_string(i);
  EXPECT_EQ(filter({"-p", list}).pids.size(), 64u);
  EXPECT_EQ(no_filter({"-p", list + ",65"}), "`-p` takes at most 64; use `--filter` for other conditions");
}

TEST(TargetFilter, OneTargetAtATime) {
  const std::vector<std::string> targets[] = {{"-p", "1"}, {"--tid", "1"}, {"-u", "root"}, {"--cgroup", "/a"}, {"-a"}};
  for (const auto& a : targets)
    for (const auto& b : targets) {
      if (a == b) continue;
      std::vector<std::string> both = a;
      both.insert(both.end(), b.begin(), b.end());
      EXPECT_NE(no_filter(both).find("cannot be combined"), std::string::npos) << a[0] << b[0];
    }
}

TEST(TargetFilter, ACommandIsTheTargetWhereNothingElseIs) {
  EXPECT_TRUE(filter({"--", "sleep", "1"}).command);
  EXPECT_FALSE(filter({"-p", "17", "--", "sleep", "1"}).command);
  EXPECT_FALSE(filter({"-a", "--", "sleep", "1"}).command);
}

TEST(TargetFilter, Cpus) {
  EXPECT_EQ(filter({"-C", "0-3,7"}, "flame").cpus, (std::vector<int>{0, 1, 2, 3, 7}));
  EXPECT_EQ(filter({"-C", "5-5"}, "flame").cpus, std::vector<int>{5});
  EXPECT_EQ(filter({"-C", "1,0-2,1"}, "flame").cpus, (std::vector<int>{1, 0, 2})) << "each once: `on 3 CPUs`";
  for (const char* wrong : {"", "3-1", "-3", "3-", "a", "0,,1", "0-99999999999", "65536", "1-2-3"})
    EXPECT_EQ(no_filter({"-C", wrong}, "flame"), "`-C` takes CPUs such as `0-3,7`, not `" + std::string(wrong) + "`") << wrong;
}

TEST(TargetFilter, AnEmptyFilterIsAMistake) {
  EXPECT_NE(no_filter({"--filter", "  "}).find("`--filter` takes an expression"), std::string::npos);
  EXPECT_EQ(filter({"--filter", " pid == 1 "}).expression, "pid == 1");
}

TEST(TargetFilter, WhetherSomeAreNamed) {
  EXPECT_FALSE(names_some({}));
  EXPECT_FALSE(names_some({.command = true}));
  EXPECT_TRUE(names_some({.pids = {1}}));
  EXPECT_TRUE(names_some({.threads = {1}}));
  EXPECT_TRUE(names_some({.user = "root"}));
  EXPECT_TRUE(names_some({.cgroup = "/a"}));
}

// ---- system calls by name

std::vector<std::string> calls(std::string_view text) {
  auto found = read_calls(text);
  EXPECT_TRUE(found.ok()) << found.error().message;
  std::vector<std::string> out;
  if (found.ok())
    for (int n : *found) out.emplace_back(spec::syscall_name(n));
  return out;
}
std::string no_calls(std::string_view text) {
  auto found = read_calls(text);
  return found.ok() ? "" : found.error().message;
}
using Names = std::vector<std::string>;
size_t all_of_them() {
  size_t out = 0;
  for (int n = 0; n <= spec::last_syscall; n++) out += !spec::syscall_name(n).empty();
  return out;
}

TEST(Calls, ByNameInTheOrderOfTheirNumbers) {
  EXPECT_EQ(calls("openat,read"), (Names{"read", "openat"}));
  EXPECT_EQ(calls("read,read"), Names{"read"});
  EXPECT_EQ(calls("trace=read"), Names{"read"});
  EXPECT_EQ(calls("t=read"), Names{"read"});
}

TEST(Calls, ByPatternGroupAndExpression) {
  EXPECT_EQ(calls("pipe*"), (Names{"pipe", "pipe2"}));
  EXPECT_EQ(calls("/^pipe2?$"), (Names{"pipe", "pipe2"}));
  EXPECT_EQ(calls("/^pipe2?$/"), (Names{"pipe", "pipe2"}));
  const Names clock = calls("%clock");
  EXPECT_NE(std::ranges::find(clock, "clock_gettime"), clock.end());
  EXPECT_EQ(std::ranges::find(clock, "clock_nanosleep"), clock.end()) << "strace(1): %clock reads or sets clocks";
}

TEST(Calls, AllAndAllBut) {
  EXPECT_EQ(calls("").size(), all_of_them());
  EXPECT_EQ(calls("all").size(), all_of_them());
  EXPECT_EQ(calls("!futex").size(), all_of_them() - 1);
  EXPECT_EQ(calls("trace=!futex,read").size(), all_of_them() - 2);
  EXPECT_TRUE(calls("!all").empty());
}

TEST(Calls, AQuestionMarkAllowsUnknownNames) {
  EXPECT_EQ(calls("?no_such_call,read"), Names{"read"});
  EXPECT_EQ(no_calls("raed"), "there is no system call `raed`; did you mean `read`?");
  EXPECT_NE(no_calls("no_such_call,read").find("there is no system call `no_such_call`"), std::string::npos);
}

TEST(Calls, WhatIsNoneIsNamed) {
  EXPECT_EQ(no_calls("/("), "`/(` is not a regular expression");
  EXPECT_NE(no_calls("%nogroup"), "");
  EXPECT_NE(no_calls("read,"), "") << "an empty name";
  EXPECT_NE(no_calls("!"), "calls");
}

TEST(Calls, OtherQualifiersOfStraceAreRefusedWithAReason) {
  for (const char* name : {"inject", "fault", "status", "signal", "quiet", "read", "write", "abbrev", "verbose", "raw", "decode-fds", "kvm"})
    EXPECT_NE(no_calls(std::string(name) + "=x").find("`-e " + std::string(name) + "=` is not supported: "), std::string::npos) << name;
  EXPECT_EQ(calls("read"), Names{"read"}) << "without `=` it is a call";
}

// ---- what is recorded

base::Result<flame::SamplingOptions> sampling(std::vector<std::string> words) {
  auto arguments = parse("flame", std::move(words));
  if (!arguments.ok()) return std::move(arguments.error());
  return read_sampling(*arguments);
}
std::string no_sampling(std::vector<std::string> words) {
  auto out = sampling(std::move(words));
  return out.ok() ? "" : out.error().message;
}

TEST(Sampling, KindsByNameAndByOption) {
  EXPECT_EQ(sampling({})->kind->name, "cpu");
  EXPECT_EQ(sampling({"offcpu"})->kind->name, "offcpu");
  EXPECT_EQ(sampling({"--kind", "lock"})->kind->name, "lock");
  EXPECT_EQ(sampling({"cpu,offcpu"})->kind->name, "wall");
  EXPECT_EQ(sampling({"offcpu,cpu"})->kind->name, "wall");
  EXPECT_EQ(sampling({"offcpu", "--waker"})->kind->name, "offwake");
  EXPECT_EQ(sampling({"alloc", "--leaks", "-p", "1"})->kind->name, "leaks");
  EXPECT_EQ(sampling({"-e", "cycles"})->kind->name, "cycles");
  EXPECT_EQ(sampling({"tracepoint:sched:sched_switch"})->probe, "tracepoint:sched:sched_switch");
}

TEST(Sampling, EachMistakeHasItsReason) {
  EXPECT_EQ(no_sampling({"ofcpu"}), "there is no kind `ofcpu`; did you mean `offcpu`?");
  EXPECT_NE(no_sampling({"cpu,lock"}).find("only `cpu,offcpu` can be recorded together"), std::string::npos);
  EXPECT_NE(no_sampling({"cpu", "offcpu"}).find("a command goes after `--`"), std::string::npos);
  EXPECT_NE(no_sampling({"cpu", "--kind", "cpu"}).find("given twice"), std::string::npos);
  EXPECT_NE(no_sampling({"cpu", "--leaks"}).find("`--leaks` requires `alloc`"), std::string::npos);
  EXPECT_NE(no_sampling({"cpu", "--waker"}).find("`--waker` requires `offcpu`"), std::string::npos);
  EXPECT_NE(no_sampling({"offcpu", "-C", "1"}).find("`-C` is not supported for `offcpu`"), std::string::npos);
  EXPECT_NE(no_sampling({"alloc", "--leaks"}).find("needs one process or a command"), std::string::npos);
  EXPECT_NE(no_sampling({"allocated", "-p", "1,2"}).find("needs one process or a command"), std::string::npos);
  EXPECT_NE(no_sampling({"cpu", "--weight", "1"}).find("`--weight` requires a probe"), std::string::npos);
  EXPECT_NE(no_sampling({"cpu", "--exact"}).find("`--exact` is only for kinds that sample events"), std::string::npos);
  EXPECT_NE(no_sampling({"--split", "5ms"}).find("at least 10ms"), std::string::npos);
  EXPECT_NE(no_sampling({"-F", "10001"}).find("from 1 to 10000"), std::string::npos);
  EXPECT_NE(no_sampling({"-F", "0"}).find("from 1 to 10000"), std::string::npos);
}

// The cycle counter takes a period: of 3 GHz, as many samples a second as were asked for.
TEST(Sampling, ARateOfCyclesIsAPeriod) {
  EXPECT_EQ(sampling({"-e", "cycles", "-F", "1000"})->rate, 3'000'000u);
  EXPECT_EQ(sampling({"-e", "cycles"})->rate, 3'000'000'000u / 99);
  EXPECT_EQ(sampling({"-F", "1000"})->rate, 1000u);
}

TEST(Sampling, NumbersAreRead) {
  const auto s = sampling({"offcpu", "--duration", "1.5s", "--split", "10ms", "--exact", "--max-cost", "0.5", "-q", "--", "sleep", "1"});
  ASSERT_TRUE(s.ok()) << s.error().message;
  EXPECT_EQ(s->duration_ns, 1'500'000'000u);
  EXPECT_EQ(s->split_ns, 10'000'000u);
  EXPECT_TRUE(s->is_exact && s->quiet && s->filter.command);
  EXPECT_EQ(s->max_cost, 0.5);
  EXPECT_EQ(s->command, (std::vector<std::string>{"sleep", "1"}));
}

// ---- whole command lines that are refused

TEST(Trace, RefusesWhatCannotBe) {
  const std::pair<std::vector<std::string>, std::string_view> cases[] = {
      {{}, "no target given"},
      {{"-a", "sleep"}, "a command goes after `--`"},
      {{"-t", "17"}, "select threads with --tid"},
      {{"-a", "-s", "4097"}, "up to 4096"},
      {{"-a", "-s", "x"}, "up to 4096"},
      {{"-a", "-I", "1s"}, "require `-c`"},
      {{"-a", "--top", "3"}, "require `-c`"},
      {{"-a", "-c", "-n", "5"}, "counts intervals and requires `-I`"},
      {{"-a", "-c", "-P", "/etc"}, "`-P` and `-c` cannot be combined"},
      {{"-a", "--histogram", "-I", "1s"}, "cannot be combined with `-I`"},
      {{"-a", "--histogram", "--json"}, "cannot be combined with `-I` or `--json`"},
      {{"-a", "-n", "0"}, "from 1 to"},
      {{"-a", "--min-duration", "1x"}, "a time such as"},
      {{"-a", "-e", "inject=all"}, "acu does not change calls"}};
  for (const auto& [words, why] : cases) EXPECT_NE(refusal("trace", words).find(why), std::string::npos) << why << ": " << complained;
}

TEST(Slow, RefusesWhatCannotBe) {
  const std::pair<std::vector<std::string>, std::string_view> cases[] = {
      {{"-a"}, "nothing to measure given"},
      {{"syscalls"}, "no target given"},
      {{"f", "-a"}, "no program given for `f`"},
      {{"a", "b", "c", "-a"}, "at most two probes"},
      {{"", "b", "-a"}, "a probe cannot be empty"},
      {{"uprobe:/bin/ls:main", "-a"}, "is a probe: add a second one"},
      {{"k:vfs_read:x", "-a"}, "is a probe: add a second one"},
      {{"syscall:raed", "-a"}, "did you mean `read`?"},
      {{"syscalls", "-a", "--min-duration", "10ns"}, "a time such as"},
      {{"syscalls", "-a", "-n", "0"}, "a number above 0"},
      {{"syscalls", "-a", "--max-cost", "-1"}, "a percentage of a CPU"}};
  for (const auto& [words, why] : cases) EXPECT_NE(refusal("slow", words).find(why), std::string::npos) << why << ": " << complained;
}

TEST(Graph, RefusesWhatCannotBe) {
  const std::pair<std::vector<std::string>, std::string_view> cases[] = {
      {{"-a"}, "no function given"},
      {{"main"}, "no program given for `main`"},
      {{"libc:malloc"}, "no target given for `libc:malloc`"},
      {{"main", "-p", "1", "--", "ls"}, "cannot be combined with"},
      {{"k:vfs_read", "-a", "--", "ls"}, "cannot be combined with"},
      {{"main", "-p", "1", "--top", "3"}, "`--top` requires `-c`"},
      {{"main", "-p", "1", "-c", "-o", "x.json"}, "`-c` cannot be combined with a .json file"},
      {{"main", "-p", "1", "--depth", "0"}, "a number above 0"}};
  for (const auto& [words, why] : cases) EXPECT_NE(refusal("graph", words).find(why), std::string::npos) << why << ": " << complained;
}

TEST(Stat, RefusesWhatCannotBe) {
  const std::pair<std::vector<std::string>, std::string_view> cases[] = {
      {{}, "no target given"},
      {{"ls"}, "a command goes after `--`"},
      {{"-p", "1", "-n", "3"}, "requires `-I`"},
      {{"-p", "1", "-r", "3"}, "requires a command"},
      {{"-I", "1s", "-r", "3", "--", "ls"}, "`-r` and `-I` cannot be combined"},
      {{"-p", "1", "-x", ""}, "takes the separator"},
      {{"-p", "1", "-x", ",", "--json"}, "cannot be combined with `-x`"}};
  for (const auto& [words, why] : cases) EXPECT_NE(refusal("stat", words).find(why), std::string::npos) << why << ": " << complained;
}

TEST(Flame, RefusesWhatCannotBe) {
  EXPECT_NE(refusal("flame", {"-o", "x.folded", "--split", "1s"}).find("`--split` requires an .html or .acu file"), std::string::npos) << complained;
  EXPECT_NE(refusal("flame", {"-o", "x.unknown"}).find("x.unknown"), std::string::npos) << complained;
  EXPECT_NE(refusal("top", {"--interval", "50ms"}).find("at least 100ms"), std::string::npos) << complained;
  EXPECT_NE(refusal("report", {}).find("no recording"), std::string::npos) << complained;
  EXPECT_NE(refusal("report", {"a", "b"}).find("only one recording"), std::string::npos) << complained;
  EXPECT_NE(refusal("report", {"a", "--from", "2s", "--until", "1s"}).find("`--until` must be later"), std::string::npos) << complained;
  EXPECT_NE(refusal("timeline", {}).find("no recording"), std::string::npos) << complained;
  EXPECT_NE(refusal("timeline", {"a", "-o", "x.txt"}).find("give FILE.html or FILE.svg"), std::string::npos) << complained;
  EXPECT_NE(refusal("timeline", {"a", "--from", "2s", "--until", "1s"}).find("`--until` must be later"), std::string::npos) << complained;
  EXPECT_NE(refusal("diff", {"a"}).find("takes two recordings"), std::string::npos) << complained;
  EXPECT_NE(refusal("diff", {"a", "b", "--from", "1s"}).find("take one recording"), std::string::npos) << complained;
  EXPECT_NE(refusal("diff", {"a", "b", "-o", "x.txt"}).find("a comparison is an .html page"), std::string::npos) << complained;
}

} // namespace
} // namespace tool
