// The maps by which user stacks are walked in the kernel by tables (lib/walk.h): what they look like, and the programs
// beside those of the script that keep them true while processes come and go.
#pragma once

#include "bpf/emit.h"

namespace bpf {

// As lib/unwind.bpf.c names it.
MapSpec walk_map_spec(std::string_view name, const ir::Program& program, const EmitOptions& options);

// Those that several programs may share: not the memory that a walk is made in, as one program may interrupt another.
inline constexpr std::string_view shared_walk_maps[] = {
    "acu_rows",       "acu_starts",     "acu_rules",       "acu_mappings", "acu_processes", "acu_walked",           "acu_walk_ids",
    "acu_walk_known", "acu_walk_rules", "acu_walk_counts", "acu_walk_set", "acu_languages", "acu_language_threads", "acu_language_sent"};

// Adds Object::watchers.
base::Status add_walk_watchers(Pool& pool);

} // namespace bpf
