// Functions of the kernel that programs may call though they are no helpers (kfuncs): which kinds of program may is
// told by the kernel's verifier alone.
#pragma once

#include "probe/probe.h"

#include <map>
#include <string>

namespace bpf {

// Whether programs on this event may call the function with this type id; asked by loading one that does. False where
// nobody may be asked.
bool may_call(probe::Machine& machine, const probe::Event& event, uint32_t function);

// The same of all such functions and kinds of program, for a host that is saved (trials.h): only what they may.
void ask_calls(probe::Machine& machine, std::map<std::string, int64_t>& to);

} // namespace bpf
