// The scripts of acu's commands as texts, made from the *.bt files of this folder when acu is built.
#pragma once

#include <string_view>

namespace scripts {

extern const std::string_view trace;        // `acu trace`: each call
extern const std::string_view trace_counts; // `acu trace -c`

extern const std::string_view graph;        // `acu graph`

// What they import. Of graph.bt acu writes the groups of functions itself: the files here are examples.
extern const std::string_view whose, watched, syscall_registers, scheduler, landings, graph_values, graph_functions;

} // namespace scripts
