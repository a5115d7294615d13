// The script of `acu graph`: src/scripts/graph.bt, which imports a text generated here with the probes of each group of functions.
#pragma once

#include "graph/functions.h"
#include "session/builtin_script.h"
#include "spec/arch.h"

#include <cstdint>

namespace graph {

// Bytes between the stack pointer at the entry and after the return.
inline constexpr uint64_t graph_return_address = spec::arch.return_address_bytes;

struct Wanted {
  session::Condition whose;
  session::TargetFilter filter;
  uint64_t depth = 0;       // calls deeper than that are not reported; 0: all are
  uint64_t min_duration_ns = 0;    // shorter calls are not reported; 0: all are
  uint64_t duration_ns = 0; // 0: until all is over
  bool has_values = true;
};

struct Script {
  session::BuiltinScript script;
  size_t groups = 0; // and of each a map @openN, with `min_duration_ns`
};
Script make_graph_script(const Functions& functions, const Wanted& wanted);

// An argument whose name is not valid in the language, such as `$n` in C; empty: none. Scripts cannot use it.
std::string_view foreign_name(const Functions& functions);

} // namespace graph
