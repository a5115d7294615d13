// The functions that `acu flame alloc --leaks` tracks and `acu flame allocated`, `freed` and `objects` sample: those of
// spec/allocation_functions.h and spec/object_functions.h in the files a process has mapped or a command will map; and the cost of
// tracking them.
#pragma once

#include "base/result.h"
#include "session/builtin_script.h"
#include "spec/profile_kinds.h"

#include <cstdint>
#include <string>
#include <vector>

namespace flame {

struct Allocations {
  std::string_view name;            // of a file that the script imports
  std::string functions;            // its content: probes, and what they do
  std::vector<lang::Insert> places; // of these probes
  session::BuiltinScript counts;                 // only counts calls that are followed: @taken, @given and @careful
  std::vector<std::string> notes; // what there is to know before they are attached
};

// Failure: the process has no such functions; names what is missing.
base::Result<Allocations> find_allocations(int pid, spec::AllocatorCalls calls);
// The same for a command that has not started yet, by its program or script: the files that it will map.
base::Result<Allocations> find_allocations(const std::string& command, spec::AllocatorCalls calls);

// Percent of a CPU, for one second. `careful`: the allocating calls whose returns are probed at the
// return instructions (@careful).
double cost_of_following(uint64_t taken, uint64_t given, uint64_t careful, uint64_t duration_ns);

} // namespace flame
