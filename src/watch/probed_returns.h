// Where the kernel keeps the return addresses of functions whose return is probed (uretprobe): it puts a
// trampoline's in their place, and a walk would end there.
#pragma once

#include "bpf/walk_tables.h"
#include "probe/probe.h"

namespace watch {

// Passes the offsets to the walker. If the kernel has no types, or different ones, stacks end at such functions.
void tell_probed_returns(bpf::WalkTables& tables, probe::Machine& machine);

} // namespace watch
