// What bpftrace's language becomes in old and new versions.
#include "emit/emitted.h"

#include <gtest/gtest.h>

namespace {

std::string old_text(std::string script) {
  const test::Emitted e = test::emit("bpftrace", std::move(script), 17);
  return e.mistakes + e.text;
}

std::string new_text(std::string script) {
  const test::Emitted e = test::emit("bpftrace", std::move(script), 26);
  return e.mistakes + e.text;
}

TEST(EmitBpftrace, NamesOfProbesFollowTheVersion) {
  EXPECT_EQ(old_text("begin { exit(); }"), "BEGIN {\n  exit();\n}\n");
  EXPECT_EQ(new_text("BEGIN { exit(); }"), "begin {\n  exit();\n}\n");
  EXPECT_EQ(old_text("interval:1500ms { exit(); }"), "interval:ms:1500 {\n  exit();\n}\n");
}

TEST(EmitBpftrace, ParametersAreConstantsAndDeadBranchesAreGone) {
  EXPECT_EQ(old_text("interval:s:1 /getopt(\"name\", \"\") == \"\" || comm == getopt(\"name\", \"\")/ { print(1); }"),
            "interval:s:1 {\n  print(1);\n}\n");
  EXPECT_EQ(old_text("interval:s:1 { if (getopt(\"n\", 3) > 2) { print(1); } else { print(2); } }"), "interval:s:1 {\n  print(1);\n}\n");
  EXPECT_EQ(old_text("interval:s:1 { print(getopt(\"n\", 3) * 1000); }"), "interval:s:1 {\n  print(3000);\n}\n");
  EXPECT_EQ(old_text("interval:s:1 { print(1024 * 1024); }"), "interval:s:1 {\n  print(1024 * 1024);\n}\n");
}

TEST(EmitBpftrace, CountersThatNothingReadsAreGone) {
  const std::string script = "interval:s:1 { @n++; if (getopt(\"seconds\", 0) > 0 && @n >= getopt(\"seconds\", 0)) { exit(); } }\n"
                             "interval:s:2 { print(1); } end { clear(@n); }";
  EXPECT_EQ(old_text(script), "interval:s:2 {\n  print(1);\n}\n");
}

TEST(EmitBpftrace, MacrosBecomeStatements) {
  EXPECT_EQ(old_text("macro twice(n) { n * 2 } begin { print(twice(pid)); }"), "BEGIN {\n  print(pid * 2);\n}\n");
  EXPECT_EQ(old_text("macro more(@m, n) { $x = n; @m[$x] = count(); } begin { $x = 1; more(@a, pid); print($x); }"),
            "BEGIN {\n  $x = 1;\n  $x_2 = pid;\n  @a[$x_2] = count();\n  print($x);\n}\n");
}

TEST(EmitBpftrace, BlocksAsValuesStandBeforeTheirStatement) {
  EXPECT_EQ(old_text("begin { print({ $a = pid; $a + 1 }); }"), "BEGIN {\n  $a = pid;\n  print($a + 1);\n}\n");
  EXPECT_EQ(old_text("begin { if (pid > 1 && { $a = tid; $a > 2 }) { print(1); } }"),
            "BEGIN {\n  $value = pid > 1;\n  if ($value) {\n    $a = tid;\n    $value = $a > 2;\n  }\n  if ($value) {\n    print(1);\n  }\n}\n");
}

TEST(EmitBpftrace, WhatIsEvaluatedBeforeABlockIsKept) {
  EXPECT_EQ(old_text("begin { @m = 1; print(@m + { @m = 5; 2 }); }"),
            "BEGIN {\n  @m = 1;\n  $value = @m;\n  @m = 5;\n  print($value + 2);\n}\n");
}

TEST(EmitBpftrace, KeysThatAreThere) {
  EXPECT_EQ(new_text("begin { @m[1] = 0; if (has_key(@m, 1)) { delete(@m, 1); } }"),
            "begin {\n  @m[1] = 0;\n  if (has_key(@m, 1)) {\n    delete(@m, 1);\n  }\n}\n");
  EXPECT_EQ(old_text("begin { @m[1] = nsecs; if (has_key(@m, 1)) { delete(@m, 1); } }"),
            "BEGIN {\n  @m[1] = nsecs;\n  if (@m[1] != 0) {\n    delete(@m[1]);\n  }\n}\n");
  EXPECT_EQ(old_text("begin { @m[1] = 0; if (has_key(@m, 1)) { delete(@m, 1); } }"),
            "BEGIN {\n  @m[1] = 0;\n  @m_known[1] = 1;\n  if (@m_known[1]) {\n    delete(@m[1]);\n    delete(@m_known[1]);\n  }\n}\n"
            "END {\n  clear(@m_known);\n}\n");
}

TEST(EmitBpftrace, LoopsOverRanges) {
  EXPECT_EQ(new_text("begin { for ($i : 0..3) { print($i); } }"), "begin {\n  for ($i : 0..3) {\n    print($i);\n  }\n}\n");
  EXPECT_EQ(old_text("begin { for ($i : 0..3) { if ($i == 1) { continue; } print($i); } }"),
            "BEGIN {\n  $i = 0;\n  while ($i < 3) {\n    if ($i == 1) {\n      $i++;\n      continue;\n    }\n    print($i);\n    $i++;\n  }\n}\n");
}

TEST(EmitBpftrace, ArgumentsOfTracepoints) {
  EXPECT_EQ(old_text("tracepoint:syscalls:sys_enter_openat { print(str(args.filename)); }"),
            "tracepoint:syscalls:sys_enter_openat {\n  print(str(args->filename));\n}\n");
  EXPECT_EQ(new_text("t:syscalls:sys_enter_openat { print(str(args.filename)); }"),
            "tracepoint:syscalls:sys_enter_openat {\n  print(str(args.filename));\n}\n");
}

TEST(EmitBpftrace, ParenthesesAreThoseThatAreNeeded) {
  EXPECT_EQ(old_text("begin { print((pid + 1) * 2); print(pid + (tid + 1)); print(-(-pid)); print(!(pid == 1)); }"),
            "BEGIN {\n  print((pid + 1) * 2);\n  print(pid + (tid + 1));\n  print(-(-pid));\n  print(!(pid == 1));\n}\n");
}

TEST(EmitBpftrace, TextsKeepTheirBytes) {
  EXPECT_EQ(old_text("begin { printf(\"a\\\"b\\\\ 100%% \\x01\\n\"); }"), "BEGIN {\n  printf(\"%s\", \"a\\\"b\\\\ 100% \\001\\n\");\n}\n");
  EXPECT_EQ(new_text("begin { printf(\"100%%\\n\"); }"), "begin {\n  printf(\"100%%\\n\");\n}\n");
}

TEST(EmitBpftrace, BytesThatAreNoTextAreRefused) {
  EXPECT_NE(old_text("begin { print(\"a\\xffb\"); }").find("its texts end at a NUL and are UTF-8"), std::string::npos);
}

TEST(EmitBpftrace, WhatAVersionLacksIsAMistakeWithItsPlace) {
  const std::string text = old_text("begin { @m[1] = 1; for ($kv : @m) { print($kv); } }");
  EXPECT_NE(text.find("script.bt:1:"), text.npos) << text;
  EXPECT_NE(text.find("loop over a map can't be carried over to bpftrace 0.17: version 0.21 is the first that has it"), text.npos) << text;
  EXPECT_NE(text.find("HINT: print the map: print(@m)"), text.npos) << text;
  EXPECT_NE(new_text("begin { speculate { print(1); } commit(); }").find("speculative output can't be carried over"), std::string::npos);
}

TEST(EmitBpftrace, EntryValuesAreProbesAtTheEntry) {
  const std::string text = old_text("tracepoint:syscalls:sys_exit_read { print(entry(args.count)); }");
  EXPECT_NE(text.find("tracepoint:syscalls:sys_enter_read {\n"), text.npos) << text;
  EXPECT_NE(text.find("tracepoint:syscalls:sys_exit_read"), text.npos) << text;
  EXPECT_NE(text.find("END {\n  clear(@"), text.npos) << text;
}

TEST(EmitTargets, EveryRowNamesSomethingThatIsThere) {
  for (const emit::Target* t : emit::targets()) {
    for (const emit::Support& s : t->builtins) {
      bool found = false;
      for (const spec::Builtin& b : spec::builtins) found |= b.name == s.name;
      EXPECT_TRUE(found) << t->name << ": " << s.name;
    }
    for (const emit::Support& s : t->constructs) EXPECT_FALSE(s.level == emit::Level::no && s.note.empty()) << t->name << ": " << emit::name_of(s.construct);
    EXPECT_EQ(t->constructs.size(), emit::constructs().size()) << t->name;
  }
}

} // namespace
