// Closing descriptors that take long to close, or for ever.
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

// Closes links with probes in programs, all at the same time, and waits until the kernel has let go of them, but no longer than
// `limit_ms`. False: it has not. They are out of the programs then, too.
//
// The kernel waits for calls whose return is probed until a timer of their thread has gone off, and each further probed call
// sets that timer anew (Linux 6.13: uprobe_unregister_sync(), prepare_uretprobe()). So a link with a function that never returns
// is closed no sooner than the probes in what that function calls all the time are gone – those of other tracers, too, while
// nothing can end a process that waits so: hence another process, with a thread for each link.
[[nodiscard]] bool close_together(std::vector<base::Fd> descriptors, int limit_ms);

// The same without waiting: the result becomes readable once all are closed; invalid if they already are.
base::Fd begin_closing_together(std::vector<base::Fd> descriptors);

} // namespace bpf
