// System calls of x86-64 by number (arch/x86/entry/syscalls/syscall_64.tbl of the kernel). Another
// architecture brings a table of its own.
#pragma once

#include "spec/numbers.h"

#include <string_view>

namespace spec {

// The number of the system call that tracefs calls `event` ("openat" of sys_enter_openat; "newfstat" is
// fstat); -1 where it is not known.
int syscall_of_event(std::string_view event);

inline constexpr int last_syscall = 470;

// The number of the system call that programs know by this name ("fstat"); -1 where there is none.
int syscall_named(std::string_view name);

// The name of a system call as programs know it ("fstat"); empty where there is none with this number.
std::string_view syscall_name(int number);
inline constexpr NumberNames syscall_names{last_syscall, syscall_name, "unknown"};

// Of 32-bit programs, whose calls have the numbers of i386 (syscall_32.tbl).
inline constexpr int last_syscall_32 = 470;
std::string_view syscall_name_32(int number);

} // namespace spec
