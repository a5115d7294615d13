// The command of -c: its words, its waiting, its end.
#include "session/child.h"

#include <csignal>
#include <gtest/gtest.h>
#include <poll.h>

namespace {

using session::Child;

TEST(Child, SplitsLikeAShell) {
  auto words = session::split_command("a 'b c'  \"d \\\"e\" f\\ g ''");
  ASSERT_TRUE(words.ok());
  EXPECT_EQ(*words, (std::vector<std::string>{"a", "b c", "d \"e", "f g", ""}));
  EXPECT_FALSE(session::split_command("a 'b").ok());
  EXPECT_FALSE(session::split_command("  ").ok());
}

bool ends(int fd, int timeout_ms) {
  pollfd p = {fd, POLLIN, 0};
  return ::poll(&p, 1, timeout_ms) == 1;
}

TEST(Child, WaitsUntilReleased) {
  auto child = Child::start("true");
  ASSERT_TRUE(child.ok()) << child.error().message;
  EXPECT_GT(child->pid(), 0);
  EXPECT_FALSE(ends(child->fd(), 30));
  EXPECT_TRUE(child->release().ok());
  EXPECT_TRUE(ends(child->fd(), 5000));
}

TEST(Child, IsLookedAtBeforeItsProgramRuns) {
  auto child = Child::start("true");
  ASSERT_TRUE(child.ok());
  std::string program;
  auto status = child->release([&] {
    char buffer[256];
    ssize_t n = ::readlink(("/proc/" + std::to_string(child->pid()) + "/exe").c_str(), buffer, sizeof buffer);
    program.assign(buffer, n > 0 ? static_cast<size_t>(n) : 0);
  });
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(program.ends_with("true") || program.ends_with("coreutils") || program.ends_with("busybox")) << program;
  pollfd ended = {child->fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 5000), 1); // it goes on
}

TEST(Child, UnreleasedGoesAwayByItself) {
  base::Fd watch;
  {
    auto child = Child::start("sleep 100");
    ASSERT_TRUE(child.ok());
    auto fd = session::watch_process(child->pid());
    ASSERT_TRUE(fd.ok());
    watch = std::move(*fd);
  }
  EXPECT_TRUE(ends(watch.get(), 5000));
}

TEST(Child, RunningIsToldToEnd) {
  base::Fd watch;
  {
    auto child = Child::start("sleep 100");
    ASSERT_TRUE(child.ok() && child->release().ok());
    watch = std::move(*session::watch_process(child->pid()));
  }
  EXPECT_TRUE(ends(watch.get(), 5000));
}

TEST(Child, UnknownCommandIsRefusedAtOnce) {
  auto child = Child::start("no-such-command-anywhere 1");
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().message, "`-c`: there is no command `no-such-command-anywhere`");
}

TEST(Child, UnknownProcess) {
  auto fd = session::watch_process(0x3ffffff);
  ASSERT_FALSE(fd.ok());
  EXPECT_EQ(fd.error().kind, base::Failure::nothing_matched);
}

} // namespace
