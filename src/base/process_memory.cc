#include "base/process_memory.h"

#include <sys/uio.h>

namespace base {

bool read_process(pid_t pid, uint64_t address, std::span<std::byte> to) {
  const iovec here = {to.data(), to.size()}, there = {reinterpret_cast<void*>(address), to.size()};
  return ::process_vm_readv(pid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(to.size());
}

} // namespace base
