// What the language becomes in SystemTap and D.
#include "emit/emitted.h"

#include <gtest/gtest.h>

namespace {

std::string stap(std::string script) {
  const test::Emitted e = test::emit("stap", std::move(script));
  return e.mistakes + e.text;
}

std::string d(std::string script) {
  const test::Emitted e = test::emit("d", std::move(script));
  return e.mistakes + e.text;
}

TEST(EmitStap, StatisticsAndGlobals) {
  EXPECT_EQ(stap("interval:s:1 { @n[pid, comm] = count(); } end { if (pid) { print(@n); } clear(@n); }").substr(0, 77),
            std::string("global n[4096];\nprobe timer.s(1) {\n  n[pid(), execname()] <<< 1;\n}\nprobe end {\n  if (pid()) {\n").substr(0, 77));
}

TEST(EmitStap, MapsArePrintedAtTheEnd) {
  EXPECT_EQ(stap("interval:s:1 { @n = pid; }"), "global n;\nprobe timer.s(1) {\n  n = pid();\n}\nprobe end {\n  printf(\"@n: %d\\n\", n);\n}\n");
}

TEST(EmitStap, PredicatesEndTheProbe) {
  EXPECT_EQ(stap("interval:s:1 /pid == 1/ { print(pid); }"), "probe timer.s(1) {\n  if (pid() != 1) next;\n  printf(\"%d\\n\", pid());\n}\n");
}

TEST(EmitStap, SystemCallsShareOneTracepoint) {
  const std::string text = stap("tracepoint:syscalls:sys_enter_openat { print(str(args.filename)); }");
  EXPECT_NE(text.find("probe kernel.trace(\"sys_enter\") {\n  if ($id != "), text.npos) << text;
  EXPECT_NE(text.find("user_string2($regs->si, \"\")"), text.npos) << text;
}

TEST(EmitStap, FieldsThatAreComputedAreRefused) {
  const std::string text = stap("tracepoint:block:block_rq_issue { @[args.sector] = count(); }");
  EXPECT_NE(text.find("HINT: use `rawtracepoint:block_rq_issue`"), text.npos) << text;
}

TEST(EmitStap, KeywordsAreNoNames) {
  EXPECT_EQ(stap("interval:s:1 { $probe = pid; @global = $probe; print(@global); } end { clear(@global); }"),
            "global global_2;\nprobe timer.s(1) {\n  probe_2 = pid();\n  global_2 = probe_2;\n  printf(\"@global: %d\\n\", global_2);\n}\nprobe end {\n  global_2 = 0;\n}\n");
}

TEST(EmitStap, NumbersHaveTheWidthOfTheirCasts) {
  EXPECT_EQ(stap("interval:s:1 { print((uint8)cpu); print((int16)cpu); print((uint64)cpu); }"),
            "probe timer.s(1) {\n  printf(\"%d\\n\", cpu() & 0xff);\n  printf(\"%d\\n\", (cpu() << 48) >> 48);\n  printf(\"%d\\n\", cpu());\n}\n");
}

TEST(EmitStap, FormatsHaveNoLengths) {
  EXPECT_EQ(stap("interval:s:1 { printf(\"%-5ld 100%% \\\"%s\\\" %lx\\n\", nsecs, comm, nsecs); }"),
            "probe timer.s(1) {\n  printf(\"%-5d 100%% \\\"%s\\\" %x\\n\", ktime_get_ns(), execname(), ktime_get_ns());\n}\n");
}

TEST(EmitD, KeywordsAreNoNames) {
  EXPECT_EQ(d("interval:s:1 { @string = pid; }"),
            "#pragma D option quiet\ntick-1s\n{\n  string_2 = pid;\n}\nEND\n{\n  printf(\"@string: %d\\n\", string_2);\n}\n");
}

TEST(EmitD, ConditionsAreClauses) {
  EXPECT_EQ(d("interval:s:1 { if (pid == 1) { print(pid); } }"), "#pragma D option quiet\ntick-1s\n/pid == 1/\n{\n  printf(\"%d\\n\", pid);\n}\n");
  EXPECT_EQ(d("interval:s:1 { if (pid == 1) { print(1); } else { print(2); } }"),
            "#pragma D option quiet\ntick-1s\n{\n  this->is_taken = pid == 1 ? 1 : 0;\n}\n"
            "tick-1s\n/this->is_taken/\n{\n  printf(\"%d\\n\", 1);\n}\n"
            "tick-1s\n/!this->is_taken/\n{\n  printf(\"%d\\n\", 2);\n}\n");
}

TEST(EmitD, MapsByThreadAreThreadLocal) {
  EXPECT_EQ(d("tracepoint:syscalls:sys_enter_read { @since[tid] = nsecs; }\n"
              "tracepoint:syscalls:sys_exit_read /@since[tid]/ { @us = hist((nsecs - @since[tid]) / 1000); delete(@since, tid); }\n"
              "end { clear(@since); }"),
            "#pragma D option quiet\nsyscall::read:entry\n{\n  self->since = timestamp;\n}\n"
            "syscall::read:return\n/self->since/\n{\n  @us = quantize((timestamp - self->since) / 1000);\n  self->since = 0;\n}\nEND\n{\n}\n");
}

TEST(EmitD, LoopsAreUnrolled) {
  EXPECT_EQ(d("interval:s:1 { for ($i : 0..2) { print($i); } }"),
            "#pragma D option quiet\ntick-1s\n{\n  this->i = 0;\n  printf(\"%d\\n\", this->i);\n  this->i = 1;\n  printf(\"%d\\n\", this->i);\n}\n");
  EXPECT_NE(d("interval:s:1 { while (1) { print(1); } }").find("it has no loops"), std::string::npos);
}

} // namespace
