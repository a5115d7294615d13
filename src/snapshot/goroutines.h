// The goroutines of a stopped Go program: what each waits for, and its stack. They are found by the runtime's
// own list, as its debug information describes it (runtime.allgs, struct runtime.g).
#pragma once

#include "probe/stopped_program.h"
#include "type/type.h"
#include "unwind/walk.h"

#include <optional>
#include <string>
#include <vector>

namespace snapshot {

struct Goroutine {
  uint64_t id = 0;
  std::string state; // "runnable", "waiting: chan receive"
  unwind::Walk walk; // empty: it runs on a thread, whose stack it is
};

struct Goroutines {
  std::vector<Goroutine> all; // but for dead ones, in the runtime's order
  size_t unreadable = 0;      // whose memory is not there
  std::string problem;        // why there are none of a program of Go's; empty: none
};

// Nothing: no module of the program is Go's.
std::optional<Goroutines> find_goroutines(probe::StoppedProgram& stopped, type::Table& types);

} // namespace snapshot
