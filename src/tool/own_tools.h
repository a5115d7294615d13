// Tools that users have added (`acu tool add`): scripts in a folder of their own, found by name after the built-in ones.
//
// Root's are in /usr/local/share/acu/tools, for everyone; those of others in $XDG_DATA_HOME/acu/tools (~/.local/share/acu/tools).
// A file counts only if it belongs to root or to the user and nobody else may write to it: acu often runs as root.
#pragma once

#include "tool/scripts.h"

#include <string>
#include <string_view>
#include <vector>

namespace tool {

// Where this user's tools are added (Failure::usage: there is no home).
base::Result<std::string> own_folder();
// Letters, digits, - and _, at most 64, as the name of a command.
bool is_tool_name(std::string_view name);
// nullptr: there is none of this name that may be run. It stays until the process ends.
const Script* find_own(std::string_view name);
// All of them, by name.
std::vector<const Script*> own_scripts();

} // namespace tool
