// What the trap of a user probe costs on this machine, which differs several times over by CPU, kernel and virtualisation.
#pragma once

namespace session {

// Of one hit, in ns, beside the run of its program: calls of a function of acu's own are probed for some milliseconds, as programs
// run that are measured. Where that fails it is what it is on common machines.
double trap_cost_ns();

} // namespace session
