// The command of -c: its words, its waiting, its end.
#include "scratch.h"
#include "session/child.h"

#include <csignal>
#include <gtest/gtest.h>
#include <poll.h>
#include <tuple>

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

// A shell makes the same status of both.
TEST(Child, AStatusIsNoSignal) {
  for (const auto& [command, status, signal] : {std::tuple("sh -c 'exit 137'", 137, 0), std::tuple("sh -c 'kill -KILL $$'", 137, SIGKILL), std::tuple("true", 0, 0)}) {
    auto child = Child::start(command);
    ASSERT_TRUE(child.ok());
    EXPECT_FALSE(child->status() || child->signal()) << "it waits";
    ASSERT_TRUE(child->release().ok());
    ASSERT_TRUE(ends(child->fd(), 5000)) << command;
    EXPECT_EQ(child->status(), status) << command;
    EXPECT_EQ(child->signal().value_or(0), signal) << command;
  }
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

// ---- words, as a shell splits them

std::vector<std::string> words(std::string_view command) {
  auto out = session::split_command(command);
  return out.ok() ? *out : std::vector<std::string>{"refused: " + out.error().message};
}
using Words = std::vector<std::string>;

TEST(Child, QuotesJoinWhatIsBesideThem) {
  EXPECT_EQ(words("a'b c'd"), Words{"ab cd"});
  EXPECT_EQ(words("\"a\"'b'c"), Words{"abc"});
  EXPECT_EQ(words("''"), Words{""});
  EXPECT_EQ(words("a '' b"), (Words{"a", "", "b"}));
  EXPECT_EQ(words("'a\"b'"), Words{"a\"b"}) << "the other quote is a character";
}

TEST(Child, ABackslashKeepsTheNextCharacter) {
  EXPECT_EQ(words("a\\ b"), Words{"a b"});
  EXPECT_EQ(words("a\\\\b"), Words{"a\\b"});
  EXPECT_EQ(words("'a\\b'"), Words{"a\\b"}) << "but for single quotes";
  EXPECT_EQ(words("a\\'b"), Words{"a'b"});
  EXPECT_EQ(words("a\\"), Words{"a\\"}) << "there is no next one";
}

TEST(Child, BlanksOfAllKindsSeparate) {
  EXPECT_EQ(words(" \t\na\n\tb  "), (Words{"a", "b"}));
  EXPECT_EQ(words("größe 名"), (Words{"größe", "名"}));
}

TEST(Child, OpenQuotesAreNamed) {
  EXPECT_EQ(words("a \"b c"), Words{"refused: `-c`: a quote is not closed in `a \"b c`"});
  EXPECT_EQ(words(""), Words{"refused: `-c` needs a command"});
}

// ---- where commands are found: as execvp(3)

TEST(Child, CommandsAreFoundInThePath) {
  Scratch scratch;
  scratch.write("mine", "#!/bin/sh\nexit 3\n"), scratch.write("text", "x");
  ASSERT_TRUE(scratch.run("chmod +x mine && mkdir folder"));
  const std::string before = std::getenv("PATH") ? std::getenv("PATH") : "";
  ::setenv("PATH", ("/no/such:" + scratch.folder() + ":/bin").c_str(), 1);
  EXPECT_EQ(*session::find_executable("mine", "-c"), scratch.path("mine"));
  EXPECT_FALSE(session::find_executable("text", "-c").ok()) << "it cannot be executed";
  EXPECT_FALSE(session::find_executable("folder", "-c").ok());
  EXPECT_FALSE(session::find_executable("", "-c").ok());
  EXPECT_EQ(*session::find_executable(scratch.path("mine"), "-c"), scratch.path("mine"));
  EXPECT_EQ(session::find_executable("./mine", "--").error().message, "`--`: there is no command `./mine`") << "a path is not looked for";
  EXPECT_EQ(session::find_executable("/proc/self/maps", "--").error().message, "`--`: `/proc/self/maps` is not an executable file");
  ::setenv("PATH", before.c_str(), 1);
}

// ---- how it ends

int status_of(std::vector<std::string> command) {
  auto child = Child::start(std::move(command), "--");
  EXPECT_TRUE(child.ok() && child->release().ok());
  EXPECT_TRUE(ends(child->fd(), 10'000));
  return child->status().value_or(-1);
}

// As a shell has them: 128 and the number of the signal.
TEST(Child, ItsStatusIsThatOfAShell) {
  EXPECT_EQ(status_of({"true"}), 0);
  EXPECT_EQ(status_of({"sh", "-c", "exit 3"}), 3);
  EXPECT_EQ(status_of({"sh", "-c", "exit 255"}), 255);
  EXPECT_EQ(status_of({"sh", "-c", "kill -TERM $$"}), 128 + SIGTERM);
  EXPECT_EQ(status_of({"sh", "-c", "kill -KILL $$"}), 128 + SIGKILL);
}

TEST(Child, WhileItRunsItHasNoStatus) {
  auto child = Child::start("sleep 100");
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child->status(), std::nullopt);
  EXPECT_TRUE(child->release().ok());
  EXPECT_EQ(child->status(), std::nullopt);
}

TEST(Child, WhatCannotBeExecutedIsAFailure) {
  Scratch scratch;
  scratch.write("garbage", "\x7f" "ELF garbage");
  ASSERT_TRUE(scratch.run("chmod +x garbage"));
  auto child = Child::start({scratch.path("garbage")}, "--");
  ASSERT_TRUE(child.ok());
  const base::Status released = child->release();
  ASSERT_FALSE(released.ok());
  EXPECT_EQ(released.error().message, "cannot start the command: Exec format error");
}

TEST(Child, ItsWordsAreItsOwn) {
  Scratch scratch;
  EXPECT_EQ(status_of({"sh", "-c", "printf '%s|' \"$@\" >" + scratch.path("out"), "x", "a b", "", "*", "\n"}), 0);
  EXPECT_EQ(scratch.read("out"), "a b||*|\n|");
}

} // namespace
