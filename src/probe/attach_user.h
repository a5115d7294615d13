// Attaching programs to instructions of user code: many places of one file at once.
#pragma once

#include "probe/attach.h"

#include <functional>
#include <span>

namespace probe {

// What the kernel attaches a program to user code by, told when the program is loaded.
enum class UserLink : uint8_t {
  event,   // a definition in tracefs and an event of perf, for all places of one file
  multi,   // one link for all places of one file (Linux 6.6)
  session, // the same, and the program also runs when the function returns (Linux 6.13)
};

// BPF_TRACE_UPROBE_MULTI and _SESSION of the kernel's uapi/linux/bpf.h; 0 for events.
uint32_t attach_type_of(UserLink link);

struct UserProgram {
  std::span<const Event* const> events; // where
  std::span<const uint64_t> cookies;    // what the program is told of each; or none
  int fd = -1;
  UserLink link = UserLink::multi;
  int pid = -1; // only this process, with all its threads; -1: all
};

using Refusal = std::function<base::Status(base::Error)>;

// Attaches the program to its events. `refused` says of one that cannot be attached whether to go on without
// it; without that, and where it does not, this fails, and nothing of this program is attached.
base::Result<Attachment> attach_user(const UserProgram& program, const Refusal& refused);

// What the kernel answers to such a link in a folder: an errno.
int try_user_link(UserLink link, int program_fd, int pid);

} // namespace probe
