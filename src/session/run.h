// `acu run`: a script from its text to its exit status.
#pragma once

#include "ir/engine.h"
#include "session/compile.h"
#include "session/options.h"

#include <string>

namespace session {

// Prints to standard output and standard error. Returns the exit status.
int run(const Options& options);

// For tests: runs the begin probes, then the end probes, and gives back all that a session would have written
// to standard output, maps included. Messages (errorf, losses) follow it, each with "stderr: " before it.
// `source` may be nullptr. `d_plan`: of a script in D.
std::string output_of(const ir::Program& program, ir::Engine& engine, const base::Source* source = nullptr, const dlang::Plan* d_plan = nullptr);

} // namespace session
