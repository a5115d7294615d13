// What there is to say of a program that stands still, without a script: what ended it, where its threads
// are, with what arguments and variables, and what of its files is here.
#pragma once

#include "probe/still.h"

#include <string>

namespace session {

// with_heap: what is on the heap, too, for which all of its memory is read.
std::string summarize(probe::Still& still, bool json, bool with_heap);

} // namespace session
