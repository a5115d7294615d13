// Signals are noted, each once, until they are taken. Those that end a process do so in processes of their own here.
#include "session/signals.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <unistd.h>

namespace session {
namespace {

bool is_readable() {
  pollfd fd = {signals::fd(), POLLIN, 0};
  return ::poll(&fd, 1, 0) == 1;
}

class Signals : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(signals::install({}).ok());
    signals::take();
  }
};

TEST_F(Signals, AreTakenInTheOrderOfTheirNumbers) {
  EXPECT_TRUE(signals::take().empty());
  EXPECT_FALSE(is_readable());
  ::raise(SIGTERM), ::raise(SIGUSR1), ::raise(SIGUSR1);
  EXPECT_TRUE(is_readable());
  EXPECT_EQ(signals::take(), (std::vector<int>{SIGUSR1, SIGTERM}));
  EXPECT_FALSE(is_readable());
}

TEST_F(Signals, OthersAreTakenWhereTheyAreWanted) {
  const int more[] = {SIGUSR2, SIGWINCH, SIGRTMAX};
  ASSERT_TRUE(signals::install(more).ok());
  for (int s : more) ::raise(s);
  EXPECT_EQ(signals::take(), (std::vector<int>{SIGUSR2, SIGWINCH, SIGRTMAX}));
  for (int s : more) ::signal(s, SIG_DFL);
}

TEST_F(Signals, WhatIsNoneIsRefused) {
  for (int wrong : {0, -1, 65, 1000, SIGKILL, SIGSTOP}) {
    const int more[] = {wrong};
    EXPECT_FALSE(signals::install(more).ok()) << wrong;
  }
}

TEST_F(Signals, ABrokenPipeIsNoEnd) {
  ::raise(SIGPIPE);
  EXPECT_TRUE(signals::take().empty());
}

TEST_F(Signals, AreNotedWithTheErrnoOfTheirContext) {
  errno = 77;
  ::raise(SIGUSR1);
  EXPECT_EQ(errno, 77);
  signals::take();
}

using SignalsDeathTest = Signals;

// In a process of its own: 0 where `signal` leads to what is expected.
[[noreturn]] void raise_and_exit(int signal, sighandler_t before, const std::vector<int>& expected) {
  ::signal(signal, before);
  if (!signals::install({}).ok()) ::_exit(1);
  ::raise(signal), ::raise(signal);
  ::_exit(signals::take() == expected ? 0 : 2);
}

// nohup(1) lets a process stay when its terminal goes.
TEST_F(SignalsDeathTest, HangingUpIsIgnoredWhereItWas) {
  EXPECT_EXIT(raise_and_exit(SIGHUP, SIG_IGN, {}), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(raise_and_exit(SIGHUP, SIG_DFL, {1}), testing::ExitedWithCode(0), "");
}

// timeout(1) and shells send the same interrupt twice, at once: that is one.
TEST_F(SignalsDeathTest, TwoInterruptsAtOnceAreOne) { EXPECT_EXIT(raise_and_exit(SIGINT, SIG_DFL, {2}), testing::ExitedWithCode(0), ""); }

} // namespace
} // namespace session
