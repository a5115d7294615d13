// What there is to say of a stopped program, without a script: what ended it, where its threads
// are, with what arguments and variables, and what of its files is here.
#pragma once

#include "probe/stopped_program.h"
#include "snapshot/line.h"

#include <string>
#include <vector>

namespace snapshot {

struct SummaryOptions {
  bool json = false;
  bool with_heap = false;   // what is on the heap, too, for which all of its memory is read
  size_t most_frames = 100; // of a stack: half of them innermost, half outermost
};
// The stack of the thread that a signal ended, innermost first, with arguments and variables; empty: there is no such thread.
std::vector<Line> fault_stack(probe::StoppedProgram& stopped);
std::string summarize(probe::StoppedProgram& stopped, const SummaryOptions& options);

} // namespace snapshot
