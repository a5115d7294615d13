// Whose events count, and which of them: -p, -t, -u, --cgroup, --container, -a, or the command behind `--`; -C and --filter.
#pragma once

#include "session/arguments.h"
#include "flame/script.h"

namespace tool {

// Failure: two of the former, or what is no number, container or CPU.
base::Result<session::TargetFilter> read_whose(const session::Arguments& arguments);

// What is not all: -p, -t, -u, --cgroup or --container was given.
bool names_some(const session::TargetFilter& filter);

} // namespace tool
