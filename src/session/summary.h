// What there is to say of a program that stands still, without a script: what ended it, where its threads
// are, with what arguments and variables, and what of its files is here.
#pragma once

#include "probe/still.h"

#include <string>

namespace session {

std::string summarize(probe::Still& still, bool json);

} // namespace session
