#include "why/crash_log.h"

#include <gtest/gtest.h>

namespace {

TEST(CrashLog, ReadsSegfaults) {
  const auto crash = why::read_crash("worker 2[4711]: segfault at 8 ip 000055d0c0a011a9 sp 00007ffd5c3d2f60 error 4 in app[55d0c0a00000+1000]");
  ASSERT_TRUE(crash);
  EXPECT_EQ(crash->pid, 4711u);
  EXPECT_EQ(crash->name, "worker 2");
  EXPECT_EQ(crash->signal, "SIGSEGV");
  EXPECT_EQ(crash->reason, "segfault");
  EXPECT_EQ(crash->address, 8u);
  EXPECT_EQ(crash->code, "app+0x11a9");
}

TEST(CrashLog, TakesTheOffsetThatNewerKernelsGive) {
  const auto crash = why::read_crash("app[7]: segfault at 0 ip 00007f20c0a011a9 sp 00007ffd5c3d2f60 error 6 in libx.so.1[11a9,7f20c0a01000+1000] likely on CPU 1 (core 1, socket 0)");
  ASSERT_TRUE(crash);
  EXPECT_EQ(crash->code, "libx.so.1+0x11a9");
}

TEST(CrashLog, ReadsTraps) {
  const auto divided = why::read_crash("traps: app[12] trap divide error ip:401126 sp:7ffc1ff0 error:0 in app[401000+1000]");
  ASSERT_TRUE(divided);
  EXPECT_EQ(divided->signal, "SIGFPE");
  EXPECT_EQ(divided->reason, "divide error");
  EXPECT_EQ(divided->name, "app");
  const auto forbidden = why::read_crash("traps: a[b] c[13] general protection fault ip:401126 sp:7ffc1ff0 error:0");
  ASSERT_TRUE(forbidden);
  EXPECT_EQ(forbidden->signal, "SIGSEGV");
  EXPECT_EQ(forbidden->name, "a[b] c");
  EXPECT_EQ(forbidden->pid, 13u);
  EXPECT_EQ(forbidden->code, "");
}

TEST(CrashLog, PassesOverOtherLines) {
  for (const char* line : {"", "traps: ", "eth0: link up", "app[x]: segfault at 0 ip 0 sp 0 error 4", ": segfault at ", "traps: app[1] trap divide error", "app[-1]: segfault at 8"})
    EXPECT_FALSE(why::read_crash(line)) << line;
}

} // namespace
