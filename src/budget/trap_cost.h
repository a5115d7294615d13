// What the trap of a user probe costs on this host, which differs several times over by CPU, kernel and virtualisation.
#pragma once

#include <string>

namespace budget {

// A place of a user probe that is never hit but by trap_cost_ns(): in a function of acu itself. A probe whose places are known later is put there.
std::string place_in_acu();

// Cost of one hit in ns, without the program's run time, measured once with a probe on a function of acu itself (a few milliseconds).
// If that fails: a typical value.
double trap_cost_ns();

} // namespace budget
