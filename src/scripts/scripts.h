// The scripts of acu's commands as texts, made from the *.bt files of this folder when acu is built.
#pragma once

#include <string_view>

namespace scripts {

extern const std::string_view trace;        // `acu trace`: each call
extern const std::string_view trace_counts; // `acu trace -c`
extern const std::string_view slow;         // `acu slow`

// What they import.
extern const std::string_view whose, watched, syscall_registers, scheduler, waits, landings;
extern const std::string_view slow_waits, slow_calls, slow_syscalls, slow_functions, slow_between, slow_disks;

} // namespace scripts
