// What system calls take and give, for those who show them. One row a call; a call without a row is shown by
// its registers.
//
// `arguments` and `result` are words: a kind of value (trace/values.cc) or a set of flags (flag_sets.h).
// Behind a colon stands how many there are of what is pointed to: the number of the argument that tells (from
// 0), or `r`, the result.
#pragma once

#include "base/inline_text.h"

#include <string_view>

namespace spec {

struct SyscallRow {
  base::InlineText<23> name;
  base::InlineText<23> groups; // file (takes a path), desc (takes a descriptor), process, net, memory, signal,
                                 // ipc, creds, clock, pure (no arguments, cannot fail), stat, lstat, fstat, statfs, fstatfs
  base::InlineText<55> arguments;
  base::InlineText<23> result = "int";
};

// nullptr where there is no row.
const SyscallRow* find_syscall_row(std::string_view name);
// Is the call in the group ("file", "network", "%stat": without the first %)?
bool is_in_group(std::string_view call, std::string_view group);
// Is there a group of this name?
bool is_syscall_group(std::string_view name);

} // namespace spec
