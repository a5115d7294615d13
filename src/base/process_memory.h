// Memory of another process, as it is now (process_vm_readv(2)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/types.h>

namespace base {

// Fills all of the bytes; false: not all of them are mapped, the process has ended, or may not be read.
bool read_process(pid_t pid, uint64_t address, std::span<std::byte> to);

} // namespace base
