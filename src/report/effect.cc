// Output is passed on as it comes, so that neither a large file nor a slow command needs memory or waits to
// be seen. A command is run by the shell, with its errors going where those of acu go.
//
// Files that would make a reader wait (a pipe nobody writes to, trace_pipe, a terminal) are read as far as they go
// now: while acu waits for one of them it takes no events and no signals.
#include "report/effect.h"

#include "base/fd.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace report {

static base::Status pass_on(int fd, uint64_t limit, const std::string& what, const TakeOutput& take) {
  char buffer[16384];
  while (limit > 0) {
    ssize_t n = ::read(fd, buffer, std::min<uint64_t>(sizeof buffer, limit));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) return base::errno_error("cannot read " + what, errno);
    if (n == 0) break;
    take({buffer, static_cast<size_t>(n)});
    limit -= static_cast<uint64_t>(n);
  }
  return {};
}

base::Status read_pieces(const std::string& path, uint64_t limit, const TakeOutput& take) {
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return base::errno_error("cannot open `" + path + "`", errno);
  return pass_on(fd.get(), limit, "`" + path + "`", take);
}

// Starts the shell with its output going to a pipe.
static base::Result<pid_t> start_command(const std::string& command, base::Fd& output) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::errno_error("cannot run `" + command + "`", errno);
  output = base::Fd(ends[0]);
  const base::Fd input(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
  std::string shell = "sh", option = "-c", text = command;
  char* words[] = {shell.data(), option.data(), text.data(), nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, "/bin/sh", &actions, nullptr, words, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error) return base::errno_error("cannot run `" + command + "`", error);
  return pid;
}

// Waits until a descriptor is readable; false: patience ran out.
static bool wait_for(int fd, const std::function<int()>& patience_ms) {
  for (;;) {
    const int left = patience_ms ? patience_ms() : -1;
    if (left == 0) return false;
    pollfd waited = {fd, POLLIN, 0};
    // A signal between question and wait is not seen at once.
    constexpr int longest_ms = 100;
    if (::poll(&waited, 1, left < 0 ? longest_ms : std::min(left, longest_ms)) > 0) return true;
  }
}

base::Status run_command(const std::string& command, const TakeOutput& take, const std::function<int()>& patience_ms) {
  base::Fd output;
  ACU_TRY(const pid_t pid, start_command(command, output));
  bool goes_on = true;
  char buffer[16384];
  while ((goes_on = wait_for(output.get(), patience_ms))) {
    const ssize_t n = ::read(output.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    take({buffer, static_cast<size_t>(n)});
  }
  const base::Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (goes_on && ended.valid()) goes_on = wait_for(ended.get(), patience_ms);
  if (!goes_on) ::kill(pid, SIGTERM);
  if (!goes_on && ended.valid() && !wait_for(ended.get(), [polls = 2]() mutable { return polls--; })) ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return {};
}

base::Status write_trace_marker(std::string_view text) {
  constexpr const char* path = "/sys/kernel/tracing/trace_marker";
  base::Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return base::errno_error(std::string("cannot open ") + path, errno);
  if (::write(fd.get(), text.data(), text.size()) < 0) return base::errno_error(std::string("cannot write to ") + path, errno);
  return {};
}

} // namespace report
