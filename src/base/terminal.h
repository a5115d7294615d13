// Text for a terminal. Names of processes, files and functions are chosen by whoever made these, and a terminal obeys some of their
// characters. base::write_all shows such characters, as \x1b, where it writes to a terminal; in pipes and files all bytes stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace base {

// Control characters other than line ends, tabs and acu's own colors become visible, and so do bytes that are no UTF-8.
std::string for_terminal(std::string_view text);
// Whether for_terminal() may differ from the text; fast.
bool may_control_terminals(std::string_view text);

// The script itself writes escape sequences, so a terminal gets all of its output as it is.
void let_escapes_through();
bool escapes_go_through();
// Whether a script writes an escape character in a literal: \e, \033, \x1b.
bool writes_escapes(std::string_view script);

} // namespace base
