// See leave_closing.h. Between fork and exit the new process makes system calls only: it may have been made
// while any lock of this process was held.
#include "bpf/leave_closing.h"

#include <algorithm>
#include <cstddef>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <span>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace bpf {
namespace {

// fork() without a signal to the parent at the child's end: a session that waits for its command's SIGCHLD
// shall not see ours.
long fork_quietly() { return ::syscall(SYS_clone, 0, 0, 0, 0, 0); }

// Closes all but `keep` (ascending).
void close_others(const std::vector<int>& keep) {
  unsigned from = 0;
  for (int fd : keep) {
    auto number = static_cast<unsigned>(fd);
    if (number > from) ::syscall(SYS_close_range, from, number - 1, 0);
    from = number + 1;
  }
  ::syscall(SYS_close_range, from, ~0u, 0);
}

void wait_for_end(int pipe) {
  char byte;
  while (::read(pipe, &byte, 1) > 0) {
  }
}

using Work = void (*)(std::span<const int> descriptors, void* about);

// Lets a process that keeps only these descriptors and `kept` do the work, after they are closed here, so that its are the last.
// It is nobody's child here and leaves no zombie: hence two of them. False: no process could be made, and they are just closed.
bool leave_to_another(std::vector<base::Fd> descriptors, int kept, Work work, void* about) {
  std::vector<int> numbers;
  for (const base::Fd& fd : descriptors) numbers.push_back(fd.get());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  base::Fd reader(ends[0]), writer(ends[1]);
  std::vector<int> keep = numbers;
  keep.push_back(reader.get());
  if (kept >= 0) keep.push_back(kept);
  std::sort(keep.begin(), keep.end());

  const long child = fork_quietly();
  if (child == 0) {
    ::setsid();
    if (fork_quietly() == 0) {
      close_others(keep);
      ::prctl(PR_SET_NAME, "acu-closing");
      if (::chdir("/") != 0) {
      } // only to hold no mount
      wait_for_end(reader.get());
      work(numbers, about);
    }
    ::_exit(0);
  }
  if (child > 0) ::waitpid(static_cast<pid_t>(child), nullptr, __WALL);
  descriptors.clear(); // before the pipe, which lets the other go
  return child > 0;
}

void close_in_turn(std::span<const int> descriptors, void* about) {
  const auto& definitions = *static_cast<const std::vector<probe::Definitions>*>(about);
  if (definitions.empty()) return; // as the process ends
  for (int fd : descriptors) ::close(fd);
  for (const probe::Definitions& d : definitions) d.write();
}

struct Closer { // a thread
  static constexpr size_t stack_size = 8192;
  alignas(16) std::byte stack[stack_size];
  static int close(void* descriptor) {
    ::syscall(SYS_close, static_cast<int>(reinterpret_cast<intptr_t>(descriptor)));
    return 0;
  }
};

void close_at_once(std::span<const int> descriptors, void* closers) {
  constexpr int as_thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  auto* closer = static_cast<Closer*>(closers);
  for (int fd : descriptors) {
    void* number = reinterpret_cast<void*>(static_cast<intptr_t>(fd));
    if (::clone(Closer::close, (closer++)->stack + Closer::stack_size, as_thread, number) < 0) Closer::close(number);
  }
  ::syscall(SYS_exit, 0); // of this thread; the process ends with the last one
}

} // namespace

void leave_closing(std::vector<base::Fd> descriptors, std::vector<probe::Definitions> definitions) {
  if (descriptors.empty()) return;
  if (leave_to_another(std::move(descriptors), -1, close_in_turn, &definitions))
    for (probe::Definitions& d : definitions) d.undo.clear(); // the other's
}

base::Fd begin_closing_together(std::vector<base::Fd> descriptors) {
  int ends[2];
  if (descriptors.empty() || ::pipe2(ends, O_CLOEXEC) != 0) return {};
  base::Fd reader(ends[0]), writer(ends[1]); // the other's end is closed when it has closed all
  std::vector<Closer> closers(descriptors.size());
  if (!leave_to_another(std::move(descriptors), writer.get(), close_at_once, closers.data())) return {};
  return reader;
}

bool close_together(std::vector<base::Fd> descriptors, int limit_ms) {
  const base::Fd closing = begin_closing_together(std::move(descriptors));
  pollfd end = {.fd = closing.get(), .events = POLLIN, .revents = 0};
  return !closing.valid() || ::poll(&end, 1, limit_ms) != 0;
}

} // namespace bpf
