// What a program that ended itself by abort() said last: the text of a failed assertion, of malloc's and other checks of glibc, or the C++
// exception that nothing caught. It went to standard error, which a core dump does not have, but the memory still holds it.
#pragma once

#include "probe/stopped_program.h"

#include <string>

namespace snapshot {

// "free(): double free detected in tcache 2", "exception std::out_of_range: vector::_M_range_check: …"; empty: none is known.
std::string last_words(probe::StoppedProgram& stopped);

} // namespace snapshot
