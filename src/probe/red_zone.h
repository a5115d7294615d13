// Whether a probe on a nop of 5 bytes leaves alone what a function keeps below its stack pointer.
#pragma once

#include "host/environment.h"

namespace probe {

// Found out by doing, once, with a probe on a function of acu's own (30 ms): newer kernels put a call in
// place of such a nop (Linux 6.18), and the first that did let it write its return address there. Where it
// can't be found out: false.
bool nop5_keeps_red_zone(host::Environment& host);

} // namespace probe
