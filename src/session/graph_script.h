// The script of `acu graph`: src/scripts/graph.bt, which imports a text made here with the probes of each group of functions.
#pragma once

#include "session/graph_functions.h"
#include "session/own_script.h"
#include "spec/arch.h"

#include <cstdint>

namespace session {

// Bytes between the stack pointer at the entry and behind the return.
inline constexpr uint64_t graph_return_address = spec::arch.return_address_bytes;

struct GraphWanted {
  Condition whose;
  Filter filter;
  uint64_t depth = 0;       // calls deeper than that are not told; 0: all are
  uint64_t least_ns = 0;    // shorter calls are not told; 0: all are
  uint64_t duration_ns = 0; // 0: until all is over
  bool has_values = true;
};

struct GraphScript {
  OwnScript script;
  size_t groups = 0; // and of each a map @openN, with `least_ns`
};
GraphScript make_graph_script(const GraphFunctions& functions, const GraphWanted& wanted);

// An argument with a name that the language can't have, such as `$n` of C; empty: there is none. Scripts can't ask for it.
std::string_view foreign_name(const GraphFunctions& functions);

} // namespace session
