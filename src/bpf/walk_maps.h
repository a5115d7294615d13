// The maps by which user stacks are walked in the kernel by tables (lib/walk.h): what they look like, and the programs
// beside those of the script that keep them true while processes come and go.
#pragma once

#include "bpf/emit.h"

namespace bpf {

// As lib/unwind.bpf.c names it.
MapSpec walk_map_spec(std::string_view name, const ir::Program& program, const EmitOptions& options);

// Adds Object::watchers.
base::Status add_walk_watchers(Pool& pool);

} // namespace bpf
