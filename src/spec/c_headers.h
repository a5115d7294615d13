// What a machine without C headers can do: the compiler's own small headers, and which headers of the kernel
// and of the C library scripts name for types and constants that acu knows without them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace spec {

// The text of <stddef.h> and the like; empty if it is none of them.
std::string_view builtin_header(std::string_view name);

// <linux/sched.h>, <net/sock.h>, "vmlinux.h" …: BTF tells what is in it.
bool is_kernel_header(std::string_view name);

// <sys/socket.h>, <errno.h> …: header_constant (spec/numbers.h) knows the constants that scripts take from it.
bool is_constants_header(std::string_view name);

// AF_INET, TASK_COMM_LEN …: the values that Linux gives them on this architecture. Those beside errors, signals and
// system calls; ask header_constant, which knows all.
std::optional<int64_t> find_c_constant(std::string_view name);

} // namespace spec
