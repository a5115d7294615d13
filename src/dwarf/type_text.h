// Types, functions and variables as the source declares them, for people: "const char *path".
#pragma once

#include "dwarf/types.h"

namespace dwarf {

// "struct sock *", "const char *", "int (*)(void *)"; with a name as it is declared: "int numbers[4]".
// nullptr: void.
std::string type_text(Types& types, const Die* type, std::string name = {});
// "struct point {\n        int x;\n        …};" of a structure, union or enumeration; without a newline at
// the end.
std::string definition_text(Types& types, const Die& die);
// "int open(const char *path, int flags, ...)" of a function's entry.
std::string function_text(Types& types, const Die& subprogram);

} // namespace dwarf
