// Closing descriptors that take long to close, without waiting for it.
//
// The last close of a perf tracepoint waits for the kernel's grace period, about 70 ms each, one after the
// other: 50 of them hold a process at its exit for 3.5 s. A small process of its own that shares the
// descriptors lets go of them last and does the waiting, while acu ends at once.
#pragma once

#include "base/fd.h"
#include "probe/attach.h"

#include <vector>

namespace bpf {

// Hands the descriptors to a process that has nothing else of ours (no terminal, no pipes, no children) and
// ends by itself when they are closed. Closes them here. Where no process can be made, they are simply
// closed. `definitions` are those of tracefs that their events were made by: they are removed at last.
void leave_closing(std::vector<base::Fd> descriptors, std::vector<probe::Definitions> definitions = {});

} // namespace bpf
