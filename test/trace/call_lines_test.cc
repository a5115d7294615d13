// Lines of `acu trace`: whose they are, when, how long, and what becomes of records of all shapes. Expected is strace(1)'s notation, as
// docs/trace.md has the differences.
#include "records_of_test.h"

#include <gtest/gtest.h>

namespace trace {
namespace {

constexpr uint64_t here = 0x7f0000001000;
constexpr uint32_t pid = 0x3ffffff;

std::string only(TracingOptions options, const GivenCall& c) { return Lines(std::move(options)).line(c); }
GivenCall getpid() { return {.number = call_number("getpid"), .result = 7}; }

// ---- whose

TEST(CallLines, ThreadsOtherThanTheFirstAreNamed) {
  TracingOptions one = all_calls();
  EXPECT_TRUE(only(one, getpid()).starts_with("getpid()"));
  GivenCall other = getpid();
  other.tid = 18;
  EXPECT_TRUE(only(one, other).starts_with("[pid 18] getpid()"));
  one.filter = {.pids = {17, 18}};
  other.thread = "nginx";
  EXPECT_TRUE(only(one, other).starts_with("[nginx 18] getpid()")) << "several processes have no first";
  one.filter = {.threads = {18}};
  EXPECT_TRUE(only(one, other).starts_with("getpid()"));
}

TEST(CallLines, TheCommandItselfHasNoNumber) {
  TracingOptions options;
  options.all_calls = true, options.filter.command = true;
  Lines l(options);
  l.lines.started(pid);
  EXPECT_TRUE(l.line(getpid()).starts_with("getpid()"));
  GivenCall child = getpid();
  child.pid = child.tid = 99;
  EXPECT_TRUE(l.line(child).starts_with("[pid 99] getpid()"));
}

// A name is what a thread calls itself: prctl(PR_SET_NAME).
TEST(CallLines, NoNameEndsALineOrMovesTheCursor) {
  TracingOptions options;
  options.all_calls = true;
  GivenCall c = getpid();
  c.tid = 18, c.thread = "a\n\033[2J";
  EXPECT_TRUE(only(options, c).starts_with("[a\\n\\x1b[2J 18] getpid()"));
  options.json = true;
  EXPECT_TRUE(only(options, c).starts_with(R"({"thread":"a\n\u001b[2J","pid":67108863,"tid":18)"));
}

// ---- when, and how long

TEST(CallLines, DurationsFollowTheResult) {
  TracingOptions options = all_calls();
  options.durations = true;
  GivenCall c = getpid();
  c.duration = 1'234'567;
  EXPECT_TRUE(only(options, c).ends_with("= 7 <0.001235>\n"));
  c.duration = Call::no_time;
  EXPECT_TRUE(only(options, c).ends_with("= 7\n")) << "it had begun before";
}

TEST(CallLines, RelativeTimesAreFromBeginToBegin) {
  TracingOptions options = all_calls();
  options.relative_times = true;
  Lines l(options);
  GivenCall c = getpid();
  c.time = 5'000'000'000, c.duration = 1'000'000'000;
  EXPECT_TRUE(l.line(c).starts_with("     0.000000 getpid()"));
  c.time = 5'500'000'000;
  EXPECT_TRUE(l.line(c).starts_with("     0.500000 getpid()"));
  c.time = 5'400'000'000; // of another thread: docs/trace.md: "they may step back"
  EXPECT_TRUE(l.line(c).starts_with("    -0.100000 getpid()"));
}

TEST(CallLines, ClockTimesComeFirst) {
  ::setenv("TZ", "UTC", 1), ::tzset();
  TracingOptions options = all_calls();
  options.clock_times = ClockTimes::since_epoch;
  GivenCall c = getpid();
  c.time = 0;
  const std::string line = only(options, c);
  EXPECT_EQ(line.find('.'), 10u) << line << ": ten digits of seconds";
  EXPECT_EQ(line.find(" getpid()"), 17u) << line;
  options.relative_times = true;
  EXPECT_EQ(only(options, c).substr(17, 17), " (+     0.000000)");
}

TEST(CallLines, WhichFieldsRecordsNeed) {
  EXPECT_FALSE(CallLines(all_calls()).needs_times());
  for (auto set : {+[](TracingOptions& o) { o.durations = true; }, +[](TracingOptions& o) { o.min_duration_ns = 1; }, +[](TracingOptions& o) { o.relative_times = true; },
                   +[](TracingOptions& o) { o.clock_times = ClockTimes::seconds; }, +[](TracingOptions& o) { o.json = true; },
                   +[](TracingOptions& o) { o.filter.expression = "duration > 5"; }}) {
    TracingOptions o = all_calls();
    set(o);
    EXPECT_TRUE(CallLines(o).needs_times());
  }
  TracingOptions all;
  EXPECT_TRUE(CallLines(all).needs_threads());
  all.filter.command = true;
  EXPECT_FALSE(CallLines(all).needs_threads());
}

// ---- what is no call

TEST(CallLines, SignalsAndEnds) {
  Lines l(all_calls());
  EXPECT_EQ(l.line({.number = signal_record, .result = unknown_code, .duration = 15}), "--- SIGTERM {si_signo=SIGTERM} ---\n");
  EXPECT_EQ(l.line({.number = end_record, .result = 3 << 8}), "+++ exited with 3 +++\n");
  EXPECT_EQ(l.line({.number = end_record, .result = 9}), "+++ killed by SIGKILL +++\n");
  EXPECT_EQ(l.line({.number = end_record, .result = 11 | 128}), "+++ killed by SIGSEGV (core dumped) +++\n");
  EXPECT_EQ(l.lines.told(), 0u) << "calls are counted";
}

TEST(CallLines, SignalsAndEndsInJson) {
  TracingOptions options = all_calls();
  options.json = true;
  Lines l(options);
  const std::string who = R"({"thread":"","pid":67108863,"tid":67108863,)";
  EXPECT_EQ(l.line({.number = signal_record, .result = 1, .duration = 17}), who + R"("signal":"SIGCHLD","code":1})" "\n");
  EXPECT_EQ(l.line({.number = signal_record, .result = unknown_code, .duration = 34}), who + R"("signal":"SIGRT_2"})" "\n");
  EXPECT_EQ(l.line({.number = end_record, .result = 3 << 8}), who + R"("exited":3})" "\n");
  EXPECT_EQ(l.line({.number = end_record, .result = 9}), who + R"("killed":"SIGKILL"})" "\n");
}

TEST(CallLines, DetailsOfSocketsAreNoLines) { EXPECT_EQ(only(all_calls(), {.number = detail_record}), ""); }

TEST(CallLines, OtherRecordsAreNoLines) {
  Lines l(all_calls());
  EXPECT_EQ(l.line(RecordBuilder(l.types).number("hello", 1)), "");
}

// ---- which calls

TEST(CallLines, CallsThatWereNotAskedForAreNotShown) {
  TracingOptions options = all_calls();
  options.all_calls = false, options.calls = {call_number("read"), call_number("getpid")};
  Lines l(options);
  EXPECT_NE(l.line(getpid()), "");
  EXPECT_EQ(l.line({.number = call_number("close")}), "");
  EXPECT_NE(l.line({.number = Call::first_of_32 + 20}), "") << "getpid of i386";
  EXPECT_EQ(l.lines.told(), 2u);
}

TEST(CallLines, ThreadsOfPrintedCallsAreKnownUntilTheyEnd) {
  Lines l(all_calls());
  l.line(getpid());
  ASSERT_TRUE(l.lines.threads().contains(pid));
  EXPECT_FALSE(l.lines.threads().at(pid));
  l.line({.number = Call::first_of_32 + 20});
  EXPECT_TRUE(l.lines.threads().at(pid)) << "its last call was of a 32-bit program";
  l.line({.number = end_record});
  EXPECT_TRUE(l.lines.threads().empty());
}

TEST(CallLines, CallsOf32BitProgramsAreMarked) {
  EXPECT_TRUE(only(all_calls(), {.number = Call::first_of_32 + 20, .result = 7}).starts_with("[32 bit] getpid()"));
  TracingOptions options = all_calls();
  options.json = true;
  EXPECT_NE(only(options, {.number = Call::first_of_32 + 20, .result = 7}).find(R"("call":"getpid","bits":32,)"), std::string::npos);
}

// ---- JSON

TEST(CallLines, CallsInJson) {
  TracingOptions options = all_calls();
  options.json = true;
  Lines l(options);
  const std::string who = R"({"thread":"","pid":67108863,"tid":67108863,)";
  EXPECT_EQ(l.line({.number = call_number("close"), .result = -9, .duration = 1500, .arguments = {3}}),
            who + R"("call":"close","arguments":["3"],"result":-1,"error":"EBADF","seconds":0.000002})" "\n");
  EXPECT_EQ(l.line({.number = call_number("exit_group"), .duration = Call::no_time, .arguments = {3}}), who + R"("call":"exit_group","arguments":["3"]})" "\n")
      << "it has no result and takes no time";
  const std::string line = l.line(l.record({.number = call_number("open"), .result = 3, .arguments = {here}}).text("c1", "/\"x\"\n", 256));
  EXPECT_NE(line.find(R"("arguments":["\"/\\\"x\\\"\\n\"","O_RDONLY"])"), std::string::npos) << line;
}

// Readers that hold numbers as doubles would change them.
TEST(CallLines, LargeResultsInJsonAreTexts) {
  TracingOptions options = all_calls();
  options.json = true;
  EXPECT_NE(only(options, {.number = call_number("lseek"), .result = INT64_MAX}).find(R"("result":"9223372036854775807")"), std::string::npos);
}

// ---- what was copied

TEST(CallLines, TextsEndAtTheirZeroOrAreCut) {
  Lines l(all_calls());
  const GivenCall open = {.number = call_number("open"), .result = 3, .arguments = {here}};
  EXPECT_TRUE(l.line(l.record(open).text("c1", "/etc", 256)).starts_with("open(\"/etc\", O_RDONLY)"));
  EXPECT_TRUE(l.line(l.record(open).text("c1", std::string(256, 'x'), 256)).starts_with("open(\"" + std::string(256, 'x') + "\"..., O_RDONLY)"));
}

TEST(CallLines, BuffersAreNeverReadBeyondTheirRoom) {
  Lines l(all_calls());
  GivenCall write = {.number = call_number("write"), .result = 4, .arguments = {1, here, 4}};
  EXPECT_TRUE(l.line(l.record(write).bytes("c1", "abcd")).starts_with("write(1, \"abcd\", 4)"));
  EXPECT_TRUE(l.line(l.record(write).bytes("c1", "abcd", 4, 1000)).starts_with("write(1, \"abcd\", 4)")) << "a length that is damaged";
}

TEST(CallLines, TwoTexts) {
  Lines l(all_calls());
  const GivenCall rename = {.number = call_number("rename"), .arguments = {here, here}};
  EXPECT_TRUE(l.line(l.record(rename).text("c1", "/a", 256).text("c2", "/b", 256)).starts_with("rename(\"/a\", \"/b\")"));
}

TEST(CallLines, PartsOfAnIovec) {
  Lines l(all_calls());
  const uint64_t parts[] = {here, 3, here, 5};
  const std::string_view memory(reinterpret_cast<const char*>(parts), sizeof parts);
  const GivenCall writev = {.number = call_number("writev"), .result = 8, .arguments = {1, here, 2}};
  EXPECT_TRUE(l.line(l.record(writev).bytes("parts", memory).bytes("c1", "abc").bytes("c2", "defgh").bytes("c3", "").bytes("c4", ""))
                  .starts_with("writev(1, [{iov_base=\"abc\", iov_len=3}, {iov_base=\"defgh\", iov_len=5}], 2)"));
}

TEST(CallLines, TheTimeoutIsThatOfTheEntry) {
  Lines l(all_calls());
  const uint64_t packed = uint64_t{1} << 63 | uint64_t{2} << 30 | 500, left[] = {1, 7};
  const GivenCall sleep = {.number = call_number("nanosleep"), .result = -4, .arguments = {here, here}};
  EXPECT_FALSE(plan_of("nanosleep").timeout) << "it writes what is left elsewhere";
  const GivenCall ppoll = {.number = call_number("ppoll"), .result = 1, .arguments = {here, 1, packed, 0, 8}};
  const std::string poll("\3\0\0\0\1\0\1\0", 8);
  const std::string line = l.line(l.record(ppoll).bytes("c1", poll).bytes("c2", {reinterpret_cast<const char*>(left), sizeof left}));
  EXPECT_EQ(line, "ppoll([{fd=3, events=POLLIN}], 1, {tv_sec=2, tv_nsec=500}, NULL, 8) = 1 ([{fd=3, revents=POLLIN}], left {tv_sec=1, tv_nsec=7})\n");
  EXPECT_NE(l.line(sleep), "");
}

TEST(CallLines, SelectHasItsSetsBeforeAndAfter) {
  Lines l(all_calls());
  const GivenCall select = {.number = call_number("select"), .result = 1, .arguments = {4, here, 0, 0, 0}};
  const std::string before("\x9\0\0\0\0\0\0\0", 8), after("\x8\0\0\0\0\0\0\0", 8);
  RecordBuilder r = l.record(select);
  r.bytes("left", "").bytes("mask", "").bytes("before1", before).bytes("before2", "").bytes("before3", "").bytes("after1", after).bytes("after2", "").bytes("after3", "");
  EXPECT_EQ(l.line(r), "select(4, [0 3], NULL, NULL, NULL)      = 1 (in [3])\n");
}

// ---- execve

RecordBuilder execve(Lines& l, int64_t result, std::string_view path, std::string_view at_end, std::string_view words, std::string_view first) {
  return l.record({.number = call_number("execve"), .result = result, .duration = 5, .arguments = {here, here, here, 0, 0, 0}})
      .text("path", path, 64)
      .text("path_at_end", at_end, 64)
      .bytes("words", words, 128)
      .text("first", first, 64);
}

TEST(CallLines, ExecveHasItsWordsFromTheNewProgram) {
  Lines l(all_calls());
  EXPECT_TRUE(l.line(execve(l, 0, "/bin/ls", "", std::string_view("ls\0-l\0", 6), "ls")).starts_with("execve(\"/bin/ls\", [\"ls\", \"-l\"], 0x7f0000001000 /* 0 vars */) = 0"));
}

TEST(CallLines, APathThatWasNotInMemoryIsThatOfTheEnd) {
  Lines l(all_calls());
  EXPECT_TRUE(l.line(execve(l, 0, "", "/bin/ls", std::string_view("ls\0", 3), "ls")).starts_with("execve(\"/bin/ls\", [\"ls\"]"));
}

// The kernel puts the interpreter of a script, one argument and the path in place of the first word.
TEST(CallLines, AScriptHasTheWordsThatItWasGiven) {
  Lines l(all_calls());
  EXPECT_TRUE(l.line(execve(l, 0, "/x.sh", "", std::string_view("/bin/sh\0-e\0/x.sh\0one\0", 21), "x.sh")).starts_with("execve(\"/x.sh\", [\"x.sh\", \"one\"]"));
}

TEST(CallLines, WordsThatNoRuleExplainsStay) {
  Lines l(all_calls());
  EXPECT_TRUE(l.line(execve(l, 0, "/x.sh", "", std::string_view("a\0b\0", 4), "x.sh")).starts_with("execve(\"/x.sh\", [\"a\", \"b\"]"));
}

TEST(CallLines, AnExecveThatFailedHasUpToEightWords) {
  Lines l(all_calls());
  const auto failed = [&](uint64_t number) {
    RecordBuilder r = l.record({.number = call_number("execve"), .result = -2, .duration = 5, .arguments = {here, here, here, 0, 0, number << 32}});
    r.text("path", "/no", 64).text("path_at_end", "", 64);
    constexpr std::string_view names[] = {"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"};
    for (size_t i = 0; i < 8; i++) r.text(names[i], i < number ? names[i] : "", 64);
    return l.line(r);
  };
  EXPECT_TRUE(failed(2).starts_with("execve(\"/no\", [\"w0\", \"w1\"], 0x7f0000001000 /* 0 vars */) = -1 ENOENT (No such file or directory)"));
  EXPECT_NE(failed(8).find("\"w7\"], "), std::string::npos);
  EXPECT_NE(failed(9).find("\"w7\", ...], "), std::string::npos) << "docs/trace.md: an ellipsis marks more";
  EXPECT_NE(failed(0).find("execve(\"/no\", [], "), std::string::npos);
}

// ---- memory that is read later

TEST(CallLines, MemoryThatIsNotThereIsShownByItsAddressAndCounted) {
  Lines l(all_calls());
  const GivenCall write = {.number = call_number("write"), .result = 4, .arguments = {1, 8, 4}};
  EXPECT_TRUE(l.line(l.record(write).bytes("c1", "")).starts_with("write(1, 0x8, 4)"));
  EXPECT_EQ(l.lines.missing(), 1u);
  EXPECT_EQ(l.lines.late(), 0u);
}

TEST(CallLines, MemoryOfALivingProcessIsReadLater) {
  Lines l(all_calls());
  const std::string data = "later";
  GivenCall write = {.number = call_number("write"), .result = 5, .pid = static_cast<uint32_t>(::getpid()), .arguments = {1, reinterpret_cast<uint64_t>(data.data()), 5}};
  EXPECT_NE(l.line(l.record(write).bytes("c1", "")).find("write(1, \"later\" /* read later */, 5)"), std::string::npos);
  EXPECT_EQ(l.lines.late(), 1u);
}

// What the kernel itself could not read is no loss of the trace.
TEST(CallLines, WhatTheKernelCouldNotReadIsNotCounted) {
  Lines l(all_calls());
  const GivenCall write = {.number = call_number("write"), .result = -14, .arguments = {1, 8, 4}};
  EXPECT_TRUE(l.line(l.record(write).bytes("c1", "")).starts_with("write(1, 0x8, 4)"));
  EXPECT_EQ(l.lines.missing(), 0u);
}

// ---- calls that have not returned

TEST(CallLines, CallsInProgressAtTheEnd) {
  const CallLines lines(all_calls());
  EXPECT_EQ(lines.line({.tid = 7, .call = call_number("read"), .ns = 1'500'000'000}), "[pid 7] read(... <unfinished after 1.500000>\n");
  EXPECT_EQ(lines.line({.tid = 7, .call = call_number("read"), .began_before = true}), "[pid 7] read(... <unfinished, begun before>\n");
  EXPECT_EQ(lines.line({.tid = 7, .call = call_number("read")}), "[pid 7] read(... <unfinished>\n");
  EXPECT_EQ(lines.line({.tid = 7, .call = 500}), "[pid 7] syscall_0x1f4(... <unfinished>\n");
  const std::array<uint64_t, 6> arguments = {3, 0x1000, 64};
  EXPECT_EQ(lines.line({.tid = 7, .call = call_number("read"), .began_before = true, .arguments = arguments}), "[pid 7] read(3, 0x1000, 64 <unfinished, begun before>\n");
  EXPECT_EQ(lines.line({.tid = 7, .call = call_number("pause"), .arguments = arguments}), "[pid 7] pause( <unfinished>\n");
  TracingOptions options = all_calls();
  options.json = true;
  const CallLines json(options);
  EXPECT_EQ(json.line({.tid = 7, .call = call_number("read"), .ns = 1'500'000'000}), "{\"tid\":7,\"call\":\"read\",\"unfinished\":true,\"seconds\":1.500000}\n");
  EXPECT_EQ(json.line({.tid = 7, .call = call_number("read"), .arguments = arguments}),
            "{\"tid\":7,\"call\":\"read\",\"arguments\":[\"3\",\"0x1000\",\"64\"],\"unfinished\":true}\n");
}

// ---- only calls on a path

class CallsOnPath : public testing::Test {
protected:
  static TracingOptions on(std::string path) {
    TracingOptions o = all_calls();
    o.path = std::move(path);
    return o;
  }
  std::string open(std::string_view path, int fd, uint64_t folder = static_cast<uint32_t>(-100)) {
    return l.line(l.record({.number = call_number("openat"), .result = fd, .arguments = {folder, here}}).text("c1", path, 256));
  }
  Lines l{on("/srv/data")};
};

TEST_F(CallsOnPath, ByThePathAndByItsDescriptors) {
  EXPECT_EQ(open("/srv/other", 3), "");
  EXPECT_NE(open("/srv/data", 4), "");
  EXPECT_NE(open("/srv/data/", 5), "") << "a slash at the end is the same";
  EXPECT_EQ(l.line({.number = call_number("fsync"), .arguments = {3}}), "");
  EXPECT_NE(l.line({.number = call_number("fsync"), .arguments = {4}}), "");
  EXPECT_NE(l.line({.number = call_number("close"), .arguments = {4}}), "") << "its own line still has it";
  EXPECT_EQ(l.line({.number = call_number("fsync"), .arguments = {4}}), "") << "it is closed";
  EXPECT_EQ(l.line(getpid()), "");
}

TEST_F(CallsOnPath, RelativeToADescriptor) {
  open("/srv", 3);
  EXPECT_NE(open("data", 4, 3), "");
  EXPECT_NE(open("x/../data", 5, 3), "");
  EXPECT_EQ(open("data2", 6, 3), "");
}

TEST_F(CallsOnPath, SignalsAreNotOnAPath) { EXPECT_EQ(l.line({.number = end_record}), ""); }

} // namespace
} // namespace trace
