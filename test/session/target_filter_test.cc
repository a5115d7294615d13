// Whose events count: the condition of the script, in words, and what ends with the target.
#include "session/target_filter.h"

#include "base/confinement.h"
#include "session/child.h"
#include "symbol/containers.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace session {
namespace {

Condition condition(const TargetFilter& f) {
  auto out = condition_of(f);
  EXPECT_TRUE(out.ok()) << out.error().message;
  return out.ok() ? std::move(*out) : Condition();
}
std::string refusal(const TargetFilter& f) {
  auto out = condition_of(f);
  EXPECT_TRUE(out.ok() || out.error().kind == base::Failure::usage);
  return out.ok() ? "" : out.error().message;
}
const std::string self = std::to_string(::getpid()), not_self = " && pid != " + self + ")";

TEST(TargetFilter, NumbersAreCompared) {
  EXPECT_EQ(one_of("pid", {}), "");
  EXPECT_EQ(one_of("pid", {7}), "pid == 7");
  EXPECT_EQ(one_of("pid", {7, 8, 9}), "(pid == 7 || pid == 8 || pid == 9)");
}

TEST(TargetFilter, EverythingButAcu) {
  EXPECT_EQ(condition({}).text, "(curtask.pid" + not_self);
  EXPECT_EQ(condition({}).what, "all processes");
  EXPECT_EQ(condition({.include_idle = true}).text, "(1" + not_self);
  EXPECT_EQ(condition({.include_acu = true}).text, "curtask.pid");
}

TEST(TargetFilter, ProcessesAreNamed) {
  constexpr int none = 0x3ffffff; // above the kernel's limit
  EXPECT_EQ(condition({.pid = none}).text, "pid == 67108863");
  EXPECT_EQ(condition({.pid = none}).what, "process 67108863") << "one that is gone has no name";
  const Condition two = condition({.pids = {::getpid(), none}});
  EXPECT_EQ(two.text, "(pid == " + self + " || pid == 67108863)");
  EXPECT_TRUE(two.what.starts_with("processes " + self + " (test_session), 67108863")) << two.what;
}

// The session ends when the last of them has.
TEST(TargetFilter, ThreadsEndTheSession) {
  const Condition one = condition({.threads = {0x3ffffff}});
  EXPECT_EQ(one.text, "tid == 67108863");
  EXPECT_EQ(one.before, "tracepoint:sched:sched_process_exit /tid == 67108863/ { exit() }\n");
  EXPECT_EQ(one.what, "thread 67108863");
  EXPECT_NE(condition({.threads = {7, 8}}).before.find("if (@ended == 2) { exit() }"), std::string::npos);
}

TEST(TargetFilter, UsersByNameAndNumber) {
  EXPECT_EQ(condition({.user = "root"}).text, "(uid == 0" + not_self);
  EXPECT_EQ(condition({.user = "root"}).what, "user root");
  EXPECT_EQ(condition({.user = "1234"}).text, "(uid == 1234" + not_self);
  EXPECT_EQ(refusal({.user = "rot"}), "there is no user `rot`; did you mean `root`?");
  EXPECT_EQ(refusal({.user = "nobody_has_this_name"}), "there is no user `nobody_has_this_name`");
}

// (uid_t)-1 means that there is none: chown(2), setreuid(2).
TEST(TargetFilter, NumbersOfUsersHave32Bits) {
  EXPECT_EQ(condition({.user = "4294967294"}).text, "(uid == 4294967294" + not_self);
  for (const char* wrong : {"4294967295", "4294967296", "18446744073709551616"})
    EXPECT_EQ(refusal({.user = wrong}), "there is no user `" + std::string(wrong) + "`");
}

// By its path in the file system, or from the root of the hierarchy. Probes know groups of version 2 only.
TEST(TargetFilter, GroupsCountWithThoseInThem) {
  const std::string root = symbol::Containers().mounted_at();
  if (root.empty()) GTEST_SKIP() << "no control groups of version 2 are mounted";
  for (const std::string& path : {root, root + "/", std::string("/")}) {
    const Condition c = condition({.cgroup = path});
    EXPECT_EQ(c.text, "(in_cgroup(\"/\")" + not_self);
    EXPECT_EQ(c.before, "");
    EXPECT_EQ(c.what, "control group " + path);
  }
  EXPECT_NE(refusal({.cgroup = "/", .container = "no such"}).find("there is no container `no such`"), std::string::npos);
  for (const std::string folder : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup/cpu"})
    if (root != "/sys/fs/cgroup" && ::access((folder + "/cgroup.procs").c_str(), F_OK) == 0) {
      EXPECT_EQ(refusal({.cgroup = folder}),
                "control group `" + folder + "` is of version 1: probes know groups of version 2, which are below " + root);
    }
}

TEST(TargetFilter, WhatIsNoGroupIsRefused) {
  for (const char* path : {"/no/such/group", "/etc", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/../../../etc"})
    EXPECT_EQ(refusal({.cgroup = path}), "there is no control group `" + std::string(path) + "` (control groups are the directories below /sys/fs/cgroup)");
}

TEST(TargetFilter, CpusAndExpressionsInWords) {
  EXPECT_EQ(condition({.cpus = {3}}).what, "all processes on CPU 3");
  EXPECT_EQ(condition({.cpus = {0, 1}}).what, "all processes on 2 CPUs");
  EXPECT_EQ(condition({.pid = 0x3ffffff, .cpus = {3}, .expression = "cpu > 2"}).what, "process 67108863 on CPU 3 with cpu > 2");
}

TEST(TargetFilter, TheCommandIsFollowed) {
  const Condition c = condition({.command = true});
  EXPECT_EQ(c.text, "@watched[curtask.tgid]");
  for (const char* event : {"sched_process_exec", "sched_process_fork", "sched_process_free"}) EXPECT_NE(c.before.find(event), std::string::npos);
}

// Switches and wake-ups are also those of the thread that gets the CPU, or is woken.
TEST(TargetFilter, AnotherTaskIsComparedWhereItCanBe) {
  EXPECT_EQ(condition({}).of_task, "true");
  EXPECT_EQ(condition({.command = true}).of_task, "@watched[$task.tgid]");
  const bool is_elsewhere = base::confinement().has_pid_namespace; // where tasks have other numbers
  EXPECT_EQ(condition({.pids = {7, 8}}).of_task, is_elsewhere ? "" : "($task.tgid == 7 || $task.tgid == 8)");
  EXPECT_EQ(condition({.threads = {7}}).of_task, is_elsewhere ? "" : "$task.pid == 7");
  EXPECT_EQ(condition({.user = "root"}).of_task, "");
  for (const TargetFilter& f : {TargetFilter{.expression = "cpu > 2"}, TargetFilter{.pids = {7}, .expression = "1"}, TargetFilter{.expression = "1", .command = true}})
    EXPECT_EQ(condition(f).of_task, "") << "an expression is about the current thread";
}

// ---- the end of the target

TEST(WatchTargets, EndsAreReadable) {
  auto child = Child::start("true");
  ASSERT_TRUE(child.ok());
  auto ends = watch_targets({.pid = child->pid()});
  ASSERT_TRUE(ends.ok());
  ASSERT_EQ(ends->size(), 1u);
  pollfd fd = {ends->front().get(), POLLIN, 0};
  EXPECT_EQ(::poll(&fd, 1, 0), 0) << "it waits";
  EXPECT_TRUE(child->release().ok());
  EXPECT_EQ(::poll(&fd, 1, 10'000), 1);
}

TEST(WatchTargets, ThreadsStandForTheirProcess) {
  std::atomic<int> tid = 0, stop = 0;
  std::thread other([&] {
    tid = static_cast<int>(::syscall(SYS_gettid));
    tid.notify_one();
    stop.wait(0);
  });
  tid.wait(0);
  auto ends = watch_targets({.threads = {tid, ::getpid()}});
  ASSERT_TRUE(ends.ok());
  EXPECT_EQ(ends->size(), 1u) << "both are of one process";
  stop = 1, stop.notify_one();
  other.join();
}

TEST(WatchTargets, WhatIsNotThere) {
  auto thread = watch_targets({.threads = {0x3ffffff}});
  ASSERT_FALSE(thread.ok());
  EXPECT_EQ(thread.error().kind, base::Failure::nothing_matched);
  EXPECT_EQ(thread.error().message, "there is no thread 67108863");
  EXPECT_FALSE(watch_targets({.pids = {::getpid(), 0x3ffffff}}).ok());
  EXPECT_TRUE(watch_targets({})->empty());
}

} // namespace
} // namespace session
