// Colors of messages on a terminal: the words ERROR, WARNING, NOTE and HINT at the start of a line or behind
// a place. ACU_COLOR (or BPFTRACE_COLOR) says always, never or auto: where standard error is a terminal.
#pragma once

#include <string>
#include <string_view>

namespace base {

// As it goes to standard error: with colors if they are wanted there.
std::string colored(std::string_view message);

} // namespace base
