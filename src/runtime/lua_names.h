// Names of Lua functions. Prototypes have none: a function is known by its chunk and the line that it begins at, as in the tracebacks of Lua.
#pragma once

#include "runtime/code.h"

#include <string_view>

namespace runtime {

// Sets name and file. `chunk` is what the program gave for its source: "@" and a file's name, "=" and any name, or the source itself.
// `first_line` of a chunk's main function is 0.
void name_lua_function(Code& code, std::string_view chunk);

} // namespace runtime
