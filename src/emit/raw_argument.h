// Arguments of tracepoints for targets that see what the kernel's code passes, not the record of the trace event: SystemTap
// (kernel.trace) and DTrace for Linux (rawtp). Also those of single system calls.
#pragma once

#include "probe/probe.h"

#include <optional>
#include <string>
#include <string_view>

namespace emit {

struct RawArgument {
  unsigned number = 0;              // from 0
  std::string name;                 // as the kernel's code has it: "prev"; "arg0" where the kernel has no types
  const type::Type* type = nullptr; // nullptr: not known
  std::string path;                 // from a pointer to the member: "signal->oom_score_adj"; empty: the argument itself
};

// Of a field of a tracepoint's record, or an argument of a raw tracepoint. Nothing: it is computed when the record is made.
std::optional<RawArgument> raw_argument(probe::Machine& machine, const probe::Event& event, std::string_view field);

// tracepoint:syscalls:sys_enter_NAME and sys_exit_NAME.
struct Syscall {
  std::string name;
  int number = -1;
  bool is_exit = false;
};
std::optional<Syscall> syscall_of(const probe::Event& event);
// Which argument of the call a field of sys_enter_NAME is, from 0; of sys_exit_NAME, `ret` is 0. Nothing: it is none.
std::optional<unsigned> syscall_argument(const Syscall& call, const type::Field& field);

} // namespace emit
