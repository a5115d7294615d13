// The command of -c: started early, so that its process id is known to the compiler, but held back until all
// probes are attached.
#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace session {

// Words of a command: split at blanks; '…' and "…" keep blanks, \ the next character. Failure: an open quote.
base::Result<std::vector<std::string>> split_command(std::string_view command);

// The path of a command, found as by execvp, so that a mistake is reported before anything is attached. `option`: how it was given.
base::Result<std::string> find_executable(const std::string& name, std::string_view option);

class Child {
public:
  // Forks; the new process waits. Failure: no such command.
  static base::Result<Child> start(std::string_view command);
  // The same by its words. `option`: how it was given, for messages.
  // `is_silent`: it has nothing to do with the terminal, neither reading nor writing.
  static base::Result<Child> start(std::vector<std::string> words, std::string_view option, bool is_silent = false);
  Child(Child&&) noexcept;
  Child& operator=(Child&&) = delete;
  // A process that has not started its command exits by itself; a running one gets SIGTERM.
  ~Child();
  pid_t pid() const { return pid_; }
  const std::string& file() const { return file_; } // that it runs
  // Lets the command begin. Failure: it could not be executed. `look` is called when its program is in memory but has
  // not run yet.
  base::Status release(const std::function<void()>& look = {});
  // Readable once the process has ended.
  int fd() const { return pidfd_.get(); }
  // Its exit status as in a shell: that of the command, or 128 plus the number of the signal. Nothing: still running.
  std::optional<int> status() const;
  // The number of the signal that ended it. Nothing: it is still running, or has exited by itself, whatever its status is.
  std::optional<int> signal() const;

private:
  Child() = default;
  std::optional<siginfo_t> end() const;
  pid_t pid_ = -1;
  std::string file_;
  base::Fd pidfd_;
  base::Fd go_;     // closed unwritten: give up
  base::Fd failed_; // the child's errno if exec fails
  bool released_ = false;
};

// Readable once process `pid` has ended. Failure: no such process.
base::Result<base::Fd> watch_process(pid_t pid);

} // namespace session
