// The target filter of a command: -p, -t, -u, --cgroup, --container, -a, or the command after `--`; -C and --filter.
#pragma once

#include "flame/script.h"
#include "session/arguments.h"

namespace tool {

// Failure: more than one target, or an invalid number, container or CPU.
base::Result<session::TargetFilter> read_target_filter(const session::Arguments& arguments);

// Whether -p, -t, -u, --cgroup or --container was given.
bool names_some(const session::TargetFilter& filter);

// Failure: neither these nor -a nor a command was given.
base::Status require_target(const session::TargetFilter& filter, const session::Arguments& arguments);

} // namespace tool
