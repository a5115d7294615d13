// Lowering: a checked script to IR. Everything about types, names and builtins is resolved here; see ir.h for
// what is left. The result is verified; `optimize` is the caller's to call.
#pragma once

#include "base/diagnostics.h"
#include "ir/ir.h"
#include "lang/check.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace ir {

struct LowerOptions {
  uint32_t cpid = 0;           // process id of the command of -c; 0: none
  uint64_t start_ns = 0;       // CLOCK_BOOTTIME when acu started, for `elapsed`
  int64_t boot_to_wall_ns = 0; // what CLOCK_BOOTTIME lacks to the wall clock, for tseries
  uint32_t possible_cpus = 1;
  // Where all probes run in acu's own process (the evaluator, which has no kernel's tasks to ask): who that
  // is.
  struct Process {
    uint32_t parent = 0;
    std::string name, parent_name;
  };
  std::optional<Process> own_process;
  PidNamespace pid_namespace; // of acu itself, where that is not the initial one
  bool task_storage = false;  // the engine has MapKind::task
  bool calls_loops = true;    // as lang::CheckOptions has it
  bool samples = false; // for probes that only count: Program::one_of
  bool counts_missing_elements = false; // reads of maps at keys that are not there (Fault::element_missing)
  // Whether the engine takes a program of probe::Context::function at this event that reads these words of
  // it.
  std::function<bool(probe::Machine&, const probe::Event&, std::span<const uint32_t> slots)> takes_function;
};

// Mistakes that only show here (an object too large, a format that needs …) go to `diagnostics`.
Program lower(const lang::Program& program, probe::Machine& machine, const LowerOptions& options,
              base::Diagnostics& diagnostics);

// What the kernel's types say of tasks.
TaskLayout task_layout(probe::Machine& machine);

} // namespace ir
