// The text of perf script, in the forms that perf(1) prints: other fields, deleted files, names of threads with anything in them.
#include "profile/formats.h"
#include "profiles.h"
#include "scratch.h"

#include <gtest/gtest.h>

namespace profile {
namespace {

constexpr Kept perf = {.counts = false, .named = false};

std::string read(std::string_view text, const Kept& kept = {.ids = false, .threads = false, .counts = false, .named = false}) {
  auto p = read_perf_script(text);
  return p.ok() ? lines_of(*p, kept) : "FAILED: " + p.error().message;
}
std::string thread_of(std::string_view header) {
  auto p = read_perf_script(std::string(header) + "\n\t1 f (/a)\n\n");
  if (!p.ok()) return "FAILED: " + p.error().message;
  if (p->threads().size() != 1) return std::to_string(p->threads().size()) + " threads";
  const Thread& t = p->threads()[0];
  return std::string(p->texts()[t.name]) + " " + std::to_string(t.pid) + "/" + std::to_string(t.tid);
}
// The function and file of a line.
std::string frame_of(std::string_view line) {
  auto p = read_perf_script("app 1/1 [000] 1.0: 1 cycles:\n" + std::string(line) + "\n\n");
  if (!p.ok()) return "FAILED: " + p.error().message;
  if (p->nodes().size() != 2) return std::to_string(p->nodes().size() - 1) + " frames";
  const Frame& f = p->frame_of(1);
  return std::string(p->name(f)) + " " + std::string(spec::row_of(f.kind).name) + " in " + std::string(p->module(f));
}

TEST(PerfScript, HeadersOfThreads) {
  EXPECT_EQ(thread_of("sort  4711 [002]  10.5:   1 cycles:"), "sort 4711/4711");
  EXPECT_EQ(thread_of("sort  4711/4712 [002]  10.5:   1 cycles:u:"), "sort 4711/4712");
  EXPECT_EQ(thread_of("sort  4711/4712  10.5:   1 cycles:"), "sort 4711/4712"); // without the CPU
  EXPECT_EQ(thread_of("sort  4711 [002]  10.5: cpu-clock:pppH:"), "sort 4711/4711"); // without the period
  EXPECT_EQ(thread_of(":-1  -1/-1 [002]  10.5:   1 cycles:"), ":-1 0/0"); // perf's name of a thread that it does not know
  EXPECT_EQ(thread_of("kworker/u16:3-events_unbound  77/77 [002]  10.5:   1 cycles:"), "kworker/u16:3-events_unbound 77/77");
}

TEST(PerfScript, NamesOfThreadsMayHoldAnything) {
  EXPECT_EQ(thread_of("Web Content  12/13 [000] 1.5: 1 cycles:"), "Web Content 12/13");
  EXPECT_EQ(thread_of("worker 3: idle  12/13 [000] 1.5: 1 cycles:"), "worker 3: idle 12/13");
  EXPECT_EQ(thread_of("#1  12/13 [000] 1.5: 1 cycles:"), "#1 12/13");
  EXPECT_EQ(thread_of("7  12/13 [000] 1.5: 1 cycles:"), "7 12/13");
  EXPECT_EQ(thread_of("a [b] 9/9  12/13 [000] 1.5: 1 cycles:"), "a [b] 9/9 12/13");
}

TEST(PerfScript, Frames) {
  EXPECT_EQ(frame_of("\t    55d0a4b0c2d1 hot+0x1b (/usr/bin/sort)"), "hot user in /usr/bin/sort");
  EXPECT_EQ(frame_of("\tffffffff81a1b2c3 vfs_read+0x83 ([kernel.kallsyms])"), "vfs_read kernel in [kernel]");
  EXPECT_EQ(frame_of("\tffffffffc0a1b2c3 nft_do_chain+0x83 ([nf_tables])"), "nft_do_chain kernel in [nf_tables]");
  EXPECT_EQ(frame_of("\tffffffffc0a1b2c3 f+0x83 (/lib/modules/6.1/x.ko)"), "f kernel in /lib/modules/6.1/x.ko");
  EXPECT_EQ(frame_of("\t    7ffc0a1b2c3 __vdso_gettimeofday+0x3 ([vdso])"), "__vdso_gettimeofday user in [vdso]");
  EXPECT_EQ(frame_of("\t    7f0000001234 [unknown] (/usr/lib/libx.so.1)"), "libx.so.1+? user in /usr/lib/libx.so.1");
  EXPECT_EQ(frame_of("\t    7f0000001234 [unknown] ([unknown])"), "[unknown] user in ");
  EXPECT_EQ(frame_of("\t    7f0000001234 f"), "f user in "); // without the file
}

// Names have brackets and blanks of their own, files the mark of the kernel that they are deleted.
TEST(PerfScript, BracketsInNamesAndFiles) {
  EXPECT_EQ(frame_of("\t 1 std::map<int, char>::find(int const&) const+0x4 (/bin/a)"), "std::map<int, char>::find(int const&) const user in /bin/a");
  EXPECT_EQ(frame_of("\t 1 (anonymous namespace)::f() (/bin/a)"), "(anonymous namespace)::f() user in /bin/a");
  EXPECT_EQ(frame_of("\t 1 f+0x4 (/usr/bin/app (deleted))"), "f user in /usr/bin/app (deleted)");
  EXPECT_EQ(frame_of("\t 1 [unknown] (/memfd:jit (deleted))"), "memfd:jit (deleted)+? user in /memfd:jit (deleted)");
  EXPECT_EQ(frame_of("\t 1 f(int) (.cold)+0x4 (/opt/my app (v2)/bin/a)"), "f(int) (.cold) user in /opt/my app (v2)/bin/a");
}

// Some names have half a pair of them.
TEST(PerfScript, HalfAPairOfBrackets) {
  EXPECT_EQ(frame_of("\t 1 f+0x4 (/tmp/a)b)"), "f user in /tmp/a)b");
  EXPECT_EQ(frame_of("\t 1 f+0x4 (/tmp/a(b)"), "f user in /tmp/a(b");
}

TEST(PerfScript, NamesOfHexadecimalDigits) {
  EXPECT_EQ(frame_of("\t 1 add+0x4 (/bin/a)"), "add user in /bin/a");
  EXPECT_EQ(frame_of("\t 1 add (inlined)"), "add inlined in ");
  EXPECT_EQ(frame_of("\t   add (inlined)"), "add inlined in "); // some versions print no address
}

// Inlined functions have the file of the function that they are in: the next line that has one.
TEST(PerfScript, InlinedFunctions) {
  EXPECT_EQ(read("app 1/1 [000] 1.0: 1 cycles:\n\t 1 inner (inlined)\n\t 1 middle (inlined)\n\t 1 outer+0x3 (/bin/a)\n\n"),
            "app > outer user in /bin/a > middle inlined in /bin/a > inner inlined in /bin/a = 1\n");
}

TEST(PerfScript, SamplesWithoutStacks) {
  EXPECT_EQ(read("app 1/1 [000] 1.0: 1 cycles:\napp 1/1 [000] 1.1: 1 cycles:\n\t 1 f (/a)\n\n"), "app = 1\napp > f user in /a = 1\n");
}

// perf record without -g: a line each, padded.
TEST(PerfScript, SamplesOfOneLine) {
  EXPECT_EQ(read("              sh  17  1.0:    5000 cpu-clock:      7f27811350ce f+0xbe (/a b)\n"
                 "              sh  17  1.1:    5000 cpu-clock:      556ee29c1ec4 g (/c)\n"
                 "a name of 16 cha  18  1.2:    5000 cpu-clock:      556ee29c1ec4 g (/c)\n"
                 "              sh  17  1.3:   sched:sched_switch: prev_comm=sh prev_pid=17 (x)\n"),
            "a name of 16 cha > g user in /c = 1\nsh = 1\nsh > f user in /a b = 1\nsh > g user in /c = 1\n");
}

TEST(PerfScript, OthersCountOneEach) {
  EXPECT_EQ(read("app 1/1 [000] 1.0:     250000 cpu-clock:\n\t 1 f (/a)\n\napp 1/1 [000] 1.2:     250000 cpu-clock:\n\t 1 f (/a)\n\n"), "app > f user in /a = 2\n");
}

TEST(PerfScript, CommentsAndMistakes) {
  EXPECT_EQ(read("# ========\n# captured on    : Thu Nov 26 05:09:13 2026\n# hostname : web1\n#\napp 1/1 [000] 1.0: 1 cycles:\n\t 1 f (/a)\n\n"), "app > f user in /a = 1\n");
  EXPECT_EQ(read("app 1/1 [000] 1.0: 1 cycles:\n\t 1 f (/a)\n\nwhat is this\n"), "FAILED: line 4 is not perf script output: `what is this`");
  EXPECT_EQ(read("app 1/1 [000] 1.0: 1 cycles:\n\t 1 f (/a)"), "FAILED: it is text of perf script, and cut: its end is missing");
}

TEST(PerfScript, WhatAcuWritesIsReadBack) {
  Profile p;
  p.about.unit = "bytes";
  add(p, {{"main"}, {"operator()(int) const", "/opt/my app (v2)/a.so"}, {"add", "/opt/my app (v2)/a.so", FrameKind::inlined}}, 4096);
  add(p, {{"main"}, {"vfs_read", "[kernel]", FrameKind::kernel}, {"nft", "[nf_tables]", FrameKind::kernel}}, 5);
  add(p, {{"[stack ends early: a reason]", "", FrameKind::note}, {"gone", "/usr/bin/app (deleted)"}}, 6);
  add(p, {{"__vdso_time", "[vdso]"}, {"handler", "/srv/app.test", FrameKind::test}}, 7);
  add(p, {{"main"}}, 18446744073709551615u, 1, {.process = "worker 3: x", .thread = "worker 3: x", .pid = 4194304, .tid = 4194304});
  add(p, {{"main"}}, 9, 9, {.process = "#1", .thread = "#1"});
  auto again = read_perf_script(write_perf_script(p));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(lines_of(*again, perf), lines_of(p, perf));
}

std::string about_of(std::string_view text) {
  auto p = read_perf_script(text);
  if (!p.ok()) return "FAILED: " + p.error().message;
  const About& a = p->about;
  return a.title + " of " + a.what + ": " + std::to_string(a.samples) + " samples, " + std::to_string(p->total()) + " " + a.unit;
}

TEST(PerfScript, WhatWasRecordedIsKept) {
  Profile p;
  p.about.title = "Waiting", p.about.unit = "ns", p.about.what = "command sh -c echo\n12 1.5: 1 x:";
  add(p, {{"main"}, {"wait"}}, 3'000'000'000, 7);
  add(p, {{"main"}, {"read"}}, 5, 2);
  EXPECT_EQ(about_of(write_perf_script(p)), "Waiting of command sh -c echo\\n12 1.5: 1 x:: 2 samples, 3000000005 ns");
  p.about.unit = "kinds of reads";
  EXPECT_EQ(about_of(write_perf_script(p)), "Waiting of command sh -c echo\\n12 1.5: 1 x:: 2 samples, 3000000005 kinds of reads");
  Profile cpu;
  cpu.about.what = "all processes";
  add(cpu, {{"main"}}, 5);
  EXPECT_EQ(about_of(write_perf_script(cpu)), "CPU of all processes: 5 samples, 5 samples");
  EXPECT_EQ(about_of(write_perf_script(Profile())), "CPU of : 0 samples, 0 samples");
}

// Those of older versions have no heading, and the oldest no end.
TEST(PerfScript, OlderFilesOfAcuHaveOnlyAUnit) {
  EXPECT_EQ(about_of("# acu: one sample for each stack, with its weight; the last line ends it\napp 1/1 [000] 0.000000: 4096 bytes:\n\t 0 f (/a)\n\n# end\n"), "bytes of : 1 samples, 4096 bytes");
  EXPECT_EQ(about_of("# acu: one sample for each stack, with its weight\napp 1/1 [000] 0.000000: 12 samples:\n\t 0 f (/a)\n\n"), "CPU of : 12 samples, 12 samples");
}

TEST(PerfScript, EventsOfPerfAreNoUnits) {
  EXPECT_EQ(about_of("app 1/1 [000] 1.0: 4096 bytes:\n\t 1 f (/a)\n\n"), "CPU of : 1 samples, 1 samples");
}

TEST(PerfScript, ItIsKnownByItsFirstLines) {
  EXPECT_TRUE(is_perf_script("app 1/1 [000] 1.0: 1 cycles:\n\t 1 f (/a)\n"));
  EXPECT_TRUE(is_perf_script("# comment\n\napp 1 1.0: cycles:\n"));
  EXPECT_FALSE(is_perf_script("app;main 5\n"));
  EXPECT_FALSE(is_perf_script("app 1/1 [000] 1.0: 1 cycles:\nbut then something else\n"));
  EXPECT_FALSE(is_perf_script(""));
}

// With or without perf: the message names it.
TEST(PerfData, ADamagedFileIsRefused) {
  Scratch scratch;
  scratch.write("perf.data", "PERFILE2 and nothing else");
  auto p = read_profile(scratch.path("perf.data"));
  ASSERT_FALSE(p.ok());
  EXPECT_NE(p.error().message.find("perf.data: "), std::string::npos) << p.error().message;
  EXPECT_NE(p.error().message.find("hint: perf script"), std::string::npos) << p.error().message;
}

} // namespace
} // namespace profile
