// `acu run`: a script from its text to its exit status.
#pragma once

#include "ir/engine.h"
#include "report/report.h"
#include "session/backend.h"
#include "session/compile.h"
#include "session/life.h"
#include "session/options.h"
#include "session/output.h"

#include <span>
#include <string>
#include <vector>

namespace session {

// What runs, once it is loaded; all of it lives until the script has ended.
struct Running {
  const ir::Program& program;
  Backend& backend;
  report::Printer& printer;
  Output& output;
};

// Work that is done now and then beside a running script.
class Beside {
public:
  virtual ~Beside() = default;
  // Before the probes are attached.
  virtual base::Result<Regular*> begin(const Running& running) = 0;
  // Then maps are not printed at the end.
  virtual bool shows_maps() const { return false; }
  // Then so has the script, once it has ended.
  virtual bool has_failed() const { return false; }
};

// Prints to standard output and standard error. Returns the exit status. `expressions`: the bodies of macros of the script, as lang::Parts has them.
int run(const Options& options, std::span<Beside* const> beside = {}, std::vector<lang::Insert> expressions = {});

// For tests: runs the begin probes, then the end probes, and gives back all that a session would have written
// to standard output, maps included. Messages (errorf, losses) follow it, each with "stderr: " before it.
// `source` may be nullptr. `d_plan`: of a script in D.
std::string output_of(const ir::Program& program, ir::Engine& engine, const base::Source* source = nullptr, const dlang::Plan* d_plan = nullptr);

} // namespace session
