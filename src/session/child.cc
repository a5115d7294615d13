#include "session/child.h"

#include "base/privilege.h"
#include "base/text.h"
#include "policy/enforce.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace session {

base::Result<std::vector<std::string>> split_command(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < command.size(); i++) {
    char c = command[i];
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      word += command[++i];
      in_word = true;
    } else if (quote ? c == quote : c == '\'' || c == '"') {
      quote = quote ? 0 : c;
      in_word = true;
    } else if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote)
    return base::Error{base::Failure::usage, "`-c`: a quote is not closed in `" + std::string(command) + "`"};
  if (in_word) words.push_back(std::move(word));
  if (words.empty()) return base::Error{base::Failure::usage, "`-c` needs a command"};
  return words;
}

base::Result<std::string> find_executable(const std::string& name, std::string_view option) {
  auto runs = [](const std::string& path) {
    struct stat about = {};
    return base::is_accessible(path.c_str(), X_OK) && ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
  };
  if (name.find('/') != name.npos) {
    if (runs(name)) return name;
    if (base::is_accessible(name.c_str(), F_OK)) return base::Error{base::Failure::usage, "`" + std::string(option) + "`: `" + name + "` is not an executable file"};
  } else if (const char* path = std::getenv("PATH")) {
    for (std::string_view folder : base::split(path, ':')) {
      std::string full = (folder.empty() ? "." : std::string(folder)) + "/" + name;
      if (runs(full)) return full;
    }
  }
  return base::Error{base::Failure::usage, "`" + std::string(option) + "`: there is no command `" + name + "`"};
}

static base::Fd open_pidfd(pid_t pid) {
  return base::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

base::Result<base::Fd> watch_process(pid_t pid) {
  base::Fd fd = open_pidfd(pid);
  if (!fd.valid() && errno == ESRCH)
    return base::Error{base::Failure::nothing_matched, "there is no process " + std::to_string(pid)};
  if (!fd.valid()) return base::errno_error("cannot watch process " + std::to_string(pid), errno);
  pollfd ended = {.fd = fd.get(), .events = POLLIN, .revents = 0};
  if (::poll(&ended, 1, 0) > 0)
    return base::Error{base::Failure::nothing_matched, "process " + std::to_string(pid) + " has ended; its parent has not waited for it yet (a zombie)"};
  return fd;
}

// The words to go: at once, or with a stop when the program is in memory.
static constexpr char runs = 'r', stops = 's';
// Reported before the command runs: that it will stop, or the errno of its failure.
static constexpr int is_traced = -1;

// In the new process: waits for the word to go, then becomes the command.
[[noreturn]] static void wait_and_run(int go, int failed, const char* path, char* const* argv) {
  auto tell = [&](int code) {
    if (::write(failed, &code, sizeof code) < 0) {
    }
  };
  char word;
  ssize_t n;
  while ((n = ::read(go, &word, 1)) < 0 && errno == EINTR) {
  }
  if (n < 0) tell(errno);
  if (n != 1) ::_exit(0); // acu has ended, or changed its mind
  if (word == stops && ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) tell(is_traced);
  if (const int error = policy::become_caller()) {
    tell(error);
    ::_exit(127);
  }
  ::execv(path, argv);
  tell(errno);
  ::_exit(127);
}

base::Result<Child> Child::start(std::string_view command) {
  ACU_TRY(std::vector<std::string> words, split_command(command));
  return start(std::move(words), "-c");
}

base::Result<Child> Child::start(std::vector<std::string> words, std::string_view option, bool is_silent) {
  ACU_TRY(std::string path, find_executable(words[0], option));
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  int go[2], failed[2];
  if (::pipe2(go, O_CLOEXEC) != 0) return base::errno_error("cannot start `" + words[0] + "`", errno);
  base::Fd go_read(go[0]), go_write(go[1]);
  if (::pipe2(failed, O_CLOEXEC) != 0) return base::errno_error("cannot start `" + words[0] + "`", errno);
  base::Fd failed_read(failed[0]), failed_write(failed[1]);
  pid_t pid = ::fork();
  if (pid < 0) return base::errno_error("cannot start `" + words[0] + "`", errno);
  if (pid == 0) {
    go_write.reset();
    if (int null = is_silent ? ::open("/dev/null", O_RDWR | O_CLOEXEC) : -1; null >= 0)
      for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::isatty(fd)) ::dup2(null, fd);
    wait_and_run(go_read.get(), failed_write.get(), path.c_str(), argv.data());
  }
  Child child;
  child.pid_ = pid;
  child.file_ = std::move(path);
  child.pidfd_ = open_pidfd(pid);
  child.go_ = std::move(go_write);
  child.failed_ = std::move(failed_read);
  return child;
}

Child::Child(Child&& o) noexcept
    : pid_(std::exchange(o.pid_, -1)), file_(std::move(o.file_)), pidfd_(std::move(o.pidfd_)), go_(std::move(o.go_)),
      failed_(std::move(o.failed_)), released_(o.released_) {}

Child::~Child() {
  if (pid_ < 0) return;
  go_.reset();
  if (released_ && ::waitpid(pid_, nullptr, WNOHANG) == 0) ::kill(pid_, SIGTERM);
}

// How it ended. Nothing: still running.
std::optional<siginfo_t> Child::end() const {
  siginfo_t about = {};
  if (pid_ < 0 || ::waitid(P_PID, static_cast<id_t>(pid_), &about, WEXITED | WNOHANG | WNOWAIT) != 0 || !about.si_pid)
    return std::nullopt;
  return about;
}

std::optional<int> Child::status() const {
  const auto about = end();
  if (!about) return std::nullopt;
  return about->si_code == CLD_EXITED ? about->si_status : 128 + about->si_status;
}

std::optional<int> Child::signal() const {
  const auto about = end();
  if (!about || about->si_code == CLD_EXITED) return std::nullopt;
  return about->si_status;
}

// Whether the process came to its stop and did not end before.
static bool wait_for_stop(pid_t pid) {
  int status = 0;
  pid_t got;
  while ((got = ::waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
  }
  return got == pid && WIFSTOPPED(status);
}

base::Status Child::release(const std::function<void()>& look) {
  released_ = true;
  if (::write(go_.get(), look ? &stops : &runs, 1) != 1) return base::errno_error("cannot start the command", errno);
  go_.reset();
  // The pipe closes when the command runs: then there is nothing to read.
  int code = 0, error = 0;
  bool will_stop = false;
  ssize_t n;
  while ((n = ::read(failed_.get(), &code, sizeof code)) == sizeof code || (n < 0 && errno == EINTR)) {
    if (n < 0) continue;
    will_stop |= code == is_traced;
    if (code != is_traced) error = code;
  }
  failed_.reset();
  if (error) return base::errno_error("cannot start the command", error);
  if (will_stop && wait_for_stop(pid_)) {
    look();
    ::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr);
  }
  return {};
}

} // namespace session
