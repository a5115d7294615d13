// What `acu flame alloc --leaks` follows, and `acu flame allocated` and `freed` sample: the functions of spec/allocation_functions.h in
// what a process has mapped or a command will map; and what it will cost to follow them.
#pragma once

#include "base/result.h"
#include "session/builtin_script.h"
#include "spec/profile_kinds.h"

#include <cstdint>
#include <string>
#include <vector>

namespace flame {

struct Allocations {
  std::string functions;            // a file that the script imports: its probes, and what they do
  std::vector<lang::Insert> places; // of these probes
  session::BuiltinScript counts;                 // only counts calls that are followed: @taken, @given and @careful
  std::vector<std::string> notes; // what there is to know before they are attached
};

// Failure: the process has no such functions, with what is missing.
base::Result<Allocations> find_allocations(int pid, spec::AllocatorCalls calls);
// The same of a command that is not started yet, by its program or script: the files that it will have mapped.
base::Result<Allocations> find_allocations(const std::string& command, spec::AllocatorCalls calls);

// Of a second, in percent of a CPU. `careful`: of those that take memory, the calls whose returns are probed at the
// return instructions (@careful).
double cost_of_following(uint64_t taken, uint64_t given, uint64_t careful, uint64_t duration_ns);

} // namespace flame
