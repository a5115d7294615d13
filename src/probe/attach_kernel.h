// Attaching programs to functions of the kernel.
#pragma once

#include "probe/attach.h"
#include "probe/attach_user.h"

#include <span>

namespace probe {

// What the kernel attaches a program to its functions by, told when the program is loaded.
enum class KernelLink : uint8_t {
  event,   // a definition in tracefs and an event of perf, for all functions
  multi,   // one link for the entries, or the returns, of all functions (Linux 5.18)
  session, // the same, and the program also runs when the function returns (Linux 6.10)
};

// BPF_TRACE_KPROBE_MULTI and _SESSION of the kernel's uapi/linux/bpf.h; 0 for events.
uint32_t attach_type_of(KernelLink link);

struct KernelProgram {
  std::span<const Event* const> events; // where
  std::span<const uint64_t> cookies;    // what the program is told of each; or none
  int fd = -1;
  KernelLink link = KernelLink::multi;
};

// As attach_user().
base::Result<Attachment> attach_kernel(const KernelProgram& program, const Refusal& refused);

// Where probes on these events stop: the address, and the index of the event. Functions of one name give one
// each.
std::vector<std::pair<uint64_t, size_t>> addresses_of(std::span<const Event* const> events);

// Of Context::function: the program knows its function.
base::Result<Attachment> attach_function(const Event& event, Context context, int program_fd,
                                         const AttachOptions&);

// What the kernel answers to a link whose functions cannot be read: an errno.
int try_kernel_link(KernelLink link, int program_fd);

// How often its functions were called, or returned, without the program being run, as far as the kernel
// tells. To be asked before it is closed.
uint64_t missed_hits(const Attachment& attachment);

} // namespace probe
