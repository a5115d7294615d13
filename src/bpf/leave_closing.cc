// See leave_closing.h. Between fork and exit the new process makes system calls only: it may have been made
// while any lock of this process was held.
#include "bpf/leave_closing.h"

#include <algorithm>
#include <fcntl.h>
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

// Waits until the parent has let go of its descriptors (the pipe ends), so that ours are the last, and ends.
[[noreturn]] void outlive(const std::vector<int>& keep, int pipe, const std::vector<probe::Definitions>& definitions) {
  close_others(keep);
  ::prctl(PR_SET_NAME, "acu-closing");
  if (::chdir("/") != 0) {
  } // only to hold no mount
  char byte;
  while (::read(pipe, &byte, 1) > 0) {
  }
  for (int fd : keep)
    if (!definitions.empty()) ::close(fd);
  for (const probe::Definitions& d : definitions) d.write();
  ::_exit(0);
}

} // namespace

void leave_closing(std::vector<base::Fd> descriptors, std::vector<probe::Definitions> definitions) {
  if (descriptors.empty()) return;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  base::Fd reader(ends[0]), writer(ends[1]);
  std::vector<int> keep{reader.get()};
  for (const base::Fd& fd : descriptors) keep.push_back(fd.get());
  std::sort(keep.begin(), keep.end());

  // Twice, so that the one that stays is nobody's child here and leaves no zombie.
  long child = fork_quietly();
  if (child == 0) {
    ::setsid();
    if (fork_quietly() == 0) outlive(keep, reader.get(), definitions);
    ::_exit(0);
  }
  if (child > 0) {
    ::waitpid(static_cast<pid_t>(child), nullptr, __WALL);
    for (probe::Definitions& d : definitions) d.undo.clear(); // the other's
  }
  descriptors.clear(); // before the pipe, which lets the other go
}

} // namespace bpf
