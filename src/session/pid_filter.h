// `-p PID`, `--container` and `--cgroup` for probes that the kernel runs for every process: their programs give up at once for
// all others.
#pragma once

#include "bpf/features.h"
#include "ir/group_sets.h"
#include "ir/ir.h"

namespace session {

// Puts the test in front of each program that is attached to a tracepoint. Timed samples are left alone: they
// are opened for the one process.
void filter_by_pid(ir::Program& program, int pid, const bpf::Features& features);

// Likewise for the processes of some control groups: puts the test in front of each program that the kernel runs, also of timed
// samples, but not of iterators.
void filter_by_group(ir::Program& program, type::Table& types, const spec::GroupSet& groups);

} // namespace session
