// Where the kernel keeps what the walker needs of a thread: the return addresses of functions whose return is probed (uretprobe), in whose place
// the kernel puts a trampoline's, where a walk would end; and the thread pointer, by which language runtimes know a thread.
#pragma once

#include "bpf/walk_tables.h"
#include "probe/probe.h"

namespace watch {

// Passes the offsets to the walker. If the kernel has no types, or different ones, stacks end at such functions, and have no language frames.
void tell_task_members(bpf::WalkTables& tables, probe::Machine& machine);

} // namespace watch
