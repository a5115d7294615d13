// What the steps of a run (run.cc) and of a recording (sampling.cc) need alike.
#pragma once

#include "report/report.h"
#include "session/child.h"
#include "session/compile.h"
#include "session/options.h"

namespace session {

// `child`: the command, or nullptr. The script has been checked.
ir::LowerOptions lower_options(const Compiled& compiled, EngineKind engine, const Child* child);

report::Options report_options(const spec::Config& config, bool json);

} // namespace session
