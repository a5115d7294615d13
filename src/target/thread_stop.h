// All threads of a process, stopped for as long as this lives (ptrace(2): PTRACE_SEIZE, PTRACE_INTERRUPT,
// which leave no trace in the process). When acu itself is killed, the kernel lets them run on.
#pragma once

#include "base/result.h"
#include "target/target.h"

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace target {

class ThreadStop {
public:
  // Failure: it has ended, another debugger holds it, or the system does not allow it; the message tells
  // which and what would help.
  static base::Result<ThreadStop> stop(pid_t pid);
  ThreadStop(ThreadStop&& o) noexcept : held_(std::exchange(o.held_, {})) {}
  ThreadStop& operator=(ThreadStop&&) = delete;
  ~ThreadStop();

  // Of those that are stopped.
  std::vector<Thread> threads() const;

private:
  ThreadStop() = default;
  bool seize_new(pid_t pid, int& error);

  std::vector<pid_t> held_;
};

// Why a process may not be looked at, for the user: who holds it, ptrace_scope, what would help.
base::Error refusal(pid_t pid, int code);

} // namespace target
