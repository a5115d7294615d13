// What the steps of a run (run.cc), of a recording (sampling.cc) and of a trace (tracing.cc) need alike.
#pragma once

#include "report/report.h"
#include "session/backend.h"
#include "session/child.h"
#include "session/compile.h"
#include "session/options.h"

#include <array>
#include <optional>

namespace session {

// `child`: the command, or nullptr. The script has been checked.
ir::LowerOptions lower_options(const Compiled& compiled, EngineKind engine, const Child* child);

// What a script of acu's own is about.
struct Own {
  std::string_view aim;                    // for messages: "record"
  const std::vector<std::string>& command; // words; empty: none
  int pid = -1;                            // whose functions it may name; -1: nobody's
  std::string container = {};              // whose files and functions it may name; empty: nobody's
  bool is_silent = false;                  // the command has nothing to do with the terminal
  bool may_end_programs = false;           // returns that exceptions may pass by are probed like others
  bool filters_itself = false;             // its conditions tell whose events count
};

// Compiles it for the kernel, and starts the command, which waits.
base::Status compile_own(Compiled& compiled, base::Source& source, const Own& own, std::optional<Child>& child, const lang::Parts& parts = {});

// Options of the kernel engine for it; the command sets -v, the process and the ring itself.
KernelOptions kernel_options(const Compiled& compiled, const base::Source& source, const std::optional<Child>& child);

// The system call that a thread is in, from /proc. -1: it waits outside of system calls. Nothing: it runs, or has exited.
struct CallInProgress {
  int64_t number = -1;
  std::array<uint64_t, 6> arguments{};
};
std::optional<CallInProgress> call_in_progress(uint32_t tid);

// How the command ended (Child::status), 0 where there is none; one that goes on is ended.
int end_of(std::optional<Child>& child);

report::Options report_options(const spec::Config& config, bool json);

} // namespace session
