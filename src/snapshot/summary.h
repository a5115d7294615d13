// What there is to say of a stopped program, without a script: what ended it, where its threads
// are, with what arguments and variables, and what of its files is here.
#pragma once

#include "probe/stopped_program.h"

#include <string>

namespace snapshot {

struct SummaryOptions {
  bool json = false;
  bool with_heap = false;   // what is on the heap, too, for which all of its memory is read
  size_t most_frames = 100; // of a stack: half of them innermost, half outermost
};
std::string summarize(probe::StoppedProgram& stopped, const SummaryOptions& options);

} // namespace snapshot
