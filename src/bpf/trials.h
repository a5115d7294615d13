// Questions that a kernel answers only when it is given a program to load, beside those about its abilities
// (features.h). Of a saved host they were asked when it was saved: about what can be named beforehand by name,
// about functions by the kinds of their arguments, since which of those are read decides.
#pragma once

#include "bpf/features.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace bpf {

// Whether the kernel takes a program of Context::function at this function (at its return: fexit, kretprobe) that reads
// these words of the context: older ones do not let pointers be read that lead to no structure.
bool may_trace_function(const Features& features, probe::Machine& machine, const probe::Event& event,
                        std::span<const uint32_t> slots);

// How far behind the lowest byte of a task's kernel stack its registers are, where a program may take a number for
// their address, and so needs no call to find them; else 0.
int32_t find_registers(host::Environment& host, const ir::TaskLayout& task);

// All questions of host::Environment::answer and what this host says, for a file (host/save.h). `machine` is of this host.
std::map<std::string, int64_t> ask_all(probe::Machine& machine);

} // namespace bpf
