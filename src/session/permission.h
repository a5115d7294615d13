// A command line as the policy of the host sees it (policy/enforce.h).
#pragma once

#include "session/arguments.h"

namespace session {

// Failure (permission): the policy does not permit this to whoever started acu.
base::Status check_permission(const spec::Subcommand& subcommand, const Arguments& arguments);

} // namespace session
