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
