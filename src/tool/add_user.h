// `acu serve --add-user`.
#pragma once

#include "session/arguments.h"

namespace tool {

// Asks for a password and writes the user's line. Failure: there is no password, or the file cannot be written.
base::Status add_user(const session::Arguments& arguments);

} // namespace tool
