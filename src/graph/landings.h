// Probes for code that moves a thread to a frame further up: exceptions when the unwinder enters a handler or a
// cleanup, and longjmp. They show when the calls below that frame end, since those calls do not return.
//
// The unwinder of GCC (libgcc_s, also of Rust) calls _Unwind_SetIP once before each landing, with the context of the frame
// that it lands in; its CFA is the stack pointer there (GCC: libgcc/unwind-dw2.c, struct _Unwind_Context). jmp_buf has the
// stack pointer in its seventh word, which glibc rotates and combines with a word of the thread's own (glibc:
// sysdeps/x86_64/jmpbuf-offsets.h, sysdeps/unix/sysv/linux/x86_64/pointer_guard.h).
#pragma once

#include "probe/probe.h"

#include <string>
#include <vector>

namespace graph {

struct Landings {
  std::vector<std::string> exceptions, jumps; // probes, in the language; scripts/landings.bt has what is done there
  std::vector<std::string> events;            // the names of their events
};

// `program`: that plain names are of; empty: of the machine's process.
Landings find_landings(probe::Machine& machine, const std::string& program);

} // namespace graph
