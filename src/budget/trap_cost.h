// What the trap of a user probe costs on this host, which differs several times over by CPU, kernel and virtualisation.
#pragma once

#include "ir/ir.h"

#include <string>

namespace budget {

// A place of a user probe that is never hit but by emulated_trap_ns(): in a function of acu itself. A probe whose places are known later is put there.
std::string place_in_acu();

// Cost of one hit in ns, without the program's run time, measured once with probes on functions of acu itself (a few milliseconds); if that fails,
// typical values. The kernel emulates the instruction at most places; to step over another takes many times as long.
double emulated_trap_ns();
// The mean of the places of the program's user probes. 0: it has none.
double trap_cost_ns(const ir::Program& program);

} // namespace budget
