// Which runtimes (bpf/language_walkers.h) a program that takes user stacks is likely to meet, told by the names of the files that processes run. A guess only saves loading the program twice: what it does not know of is loaded when it is met.
#pragma once

#include "bpf/language_walkers.h"

#include <string_view>

namespace session {

// Of this process; -1: of all. `command`: the file of a command that will be run; empty: none. Its script's first line counts as well.
bpf::Languages likely_languages(int pid, std::string_view command);

} // namespace session
