// Whose events count: -p, -u, --cgroup, -a, or the command behind `--`.
#pragma once

#include "session/arguments.h"
#include "session/sampling_script.h"

namespace tool {

// Failure: two of them, or what is no number of a process.
base::Result<session::Filter> read_whose(const session::Arguments& arguments);

} // namespace tool
