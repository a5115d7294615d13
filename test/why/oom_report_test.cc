// Reports of the kernel on processes killed for lack of memory, of kernels of different ages.
#include "why/oom_report.h"

#include <gtest/gtest.h>

using namespace why;

namespace {

std::vector<OomKill> read(std::initializer_list<std::string_view> lines) {
  OomReports reports(4096);
  for (std::string_view line : lines) reports.add(line);
  return reports.kills();
}

} // namespace

TEST(OomReport, OfAGroup) {
  const auto kills = read({"python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
                           "memory: usage 29296kB, limit 29296kB, failcnt 40",
                           "Tasks state (memory values in pages):",
                           "[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name",
                           "[  25201]     0 25201    52970     8866     7232     1634         0   118784        0             0 python3",
                           "[  25199]     0 25199    52970     9000     7232     1634         0   118784        0             0 my own server",
                           "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/shop,task_memcg=/shop/web,task=python3,pid=25201,uid=0",
                           "Memory cgroup out of memory: Killed process 25201 (python3) total-vm:211880kB, anon-rss:28928kB, file-rss:6536kB, shmem-rss:4kB, UID:0 pgtables:116kB"});
  ASSERT_EQ(kills.size(), 1u);
  EXPECT_EQ(kills[0].victim, 25201u);
  EXPECT_EQ(kills[0].name, "python3");
  EXPECT_EQ(kills[0].cgroup, "/shop");
  EXPECT_EQ(kills[0].limit, 29296u * 1024);
  EXPECT_EQ(kills[0].rss, (28928u + 6536 + 4) * 1024);
  EXPECT_EQ(kills[0].largest, "my own server");
  EXPECT_EQ(kills[0].largest_pid, 25199u);
  EXPECT_EQ(kills[0].largest_rss, 9000u * 4096);
}

TEST(OomReport, OfTheHost) {
  const auto kills = read({"a invoked oom-killer: gfp_mask=0xcc0, order=0",
                           "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/b,task=a (b),pid=7,uid=0",
                           "Out of memory: Killed process 7 (a (b)) total-vm:10kB, anon-rss:8kB, file-rss:0kB, shmem-rss:0kB"});
  ASSERT_EQ(kills.size(), 1u);
  EXPECT_EQ(kills[0].cgroup, "/");
  EXPECT_EQ(kills[0].name, "a (b)");
  EXPECT_EQ(kills[0].rss, 8192u);
  EXPECT_TRUE(kills[0].largest.empty());
}

TEST(OomReport, BeforeLinux5) {
  const auto kills = read({"java invoked oom-killer: gfp_mask=0x14280ca, order=0",
                           "[ pid ]   uid  tgid total_vm      rss nr_ptes nr_pmds swapents oom_score_adj name",
                           "[  310]     0   310     1000      500       9       3        0             0 java",
                           "Out of memory: Kill process 310 (java) score 900 or sacrifice child",
                           "Killed process 310 (java) total-vm:4000kB, anon-rss:1900kB, file-rss:100kB, shmem-rss:0kB"});
  ASSERT_EQ(kills.size(), 1u);
  EXPECT_EQ(kills[0].victim, 310u);
  EXPECT_EQ(kills[0].cgroup, "/");
  EXPECT_EQ(kills[0].largest_rss, 500u * 4096);
}

TEST(OomReport, ASecondOneBeginsAnew) {
  const auto kills = read({"a invoked oom-killer: x", "memory: usage 1kB, limit 64kB, failcnt 1", "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,pid=1",
                           "Memory cgroup out of memory: Killed process 1 (a) total-vm:1kB, anon-rss:1kB", "b invoked oom-killer: x",
                           "Out of memory: Killed process 2 (b) total-vm:1kB, anon-rss:1kB"});
  ASSERT_EQ(kills.size(), 2u);
  EXPECT_EQ(kills[0].limit, 65536u);
  EXPECT_EQ(kills[1].limit, 0u);
  EXPECT_EQ(kills[1].cgroup, "/");
}

TEST(OomReport, DamagedLines) {
  EXPECT_TRUE(read({"", "[", "[ ", "Killed process", "Killed process x (y)", "Killed process  (", "oom-kill:", "memory: usage "}).empty());
  const auto kills = read({"[  pid  ]   uid  tgid total_vm      rss name", "[  12", "[]", "[ 12 ] 1 2", "Killed process 5 (a"});
  ASSERT_EQ(kills.size(), 1u);
  EXPECT_EQ(kills[0].victim, 5u);
  EXPECT_TRUE(kills[0].name.empty());
}
