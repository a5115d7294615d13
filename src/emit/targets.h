// The targets. Each is an object in a file of its own; targets.cc has the table.
#pragma once

#include "emit/target.h"

namespace emit {

extern const Target bpftrace_target; // bpftrace_target.cc
extern const Target stap_target;     // stap_target.cc
extern const Target d_target;        // d_target.cc
extern const Target libbpf_target;   // libbpf_target.cc
extern const Target bcc_target;      // bcc_target.cc
extern const Target gdb_target;      // gdb_target.cc
extern const Target lldb_target;     // lldb_target.cc

// In the order of the documentation.
std::span<const Target* const> targets();
// By --to; nullptr: there is none.
const Target* find_target(std::string_view name);

} // namespace emit
