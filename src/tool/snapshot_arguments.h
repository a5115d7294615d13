// What `acu core` and `acu snap` are given alike.
#pragma once

#include "session/arguments.h"
#include "target/target.h"

namespace tool {

// Where debug files and the program's own files are.
target::Search search_of(const session::Arguments& arguments);
// Opens the file of -o, to which say() writes from here on. Scripts and flame graphs write files of their own.
base::Status open_output(const session::Arguments& arguments);

} // namespace tool
