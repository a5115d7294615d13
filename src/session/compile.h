// From the text of a script to a Program that an engine can run. The steps stand singly for the session,
// which starts the command of -c between two of them, and in one call for tests.
#pragma once

#include "base/diagnostics.h"
#include "ir/ir.h"
#include "ir/lower.h"
#include "lang/check.h"
#include "lang/parse.h"
#include "spec/group_sets.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bpf {
class Features;
}
namespace dlang {
struct Plan;
struct TranslateOptions;
}

namespace session {

struct CompileOptions {
  std::vector<std::string> positional;
  std::vector<std::pair<std::string, std::string>> named;
  std::vector<std::string> include_dirs, include_files; // -I, --include
  lang::Parts parts = {};
  bool unsafe = false, read_only = false;                 // as lang::CheckOptions has them
  const dlang::TranslateOptions* d_script = nullptr; // the text is in D
  bool accepts_old_scripts = false, needs_events = false; // as lang::CheckOptions has them
  bool test = false, bench = false; // --test, --bench
  std::function<bool(const probe::Event&)> wants_probe; // as lang::CheckOptions has it
  std::vector<std::string> debug_folders;                 // --debuginfo
  std::string traceable_functions;                        // the text of the file of --traceable-functions
  bool has_command = false;         // `cpid` may be used
  bool in_kernel = true;            // where functions can't call themselves
  int pid = -1;                     // only this process counts; user probes are looked for in its files
  bool filters_itself = false;      // … as the script tells: nothing is added to its probes
  std::optional<spec::GroupSet> groups; // only processes in these control groups count
  std::string container;            // whose files user probes are looked for in, by name or ID; empty: nobody's
  bool optimize = true;
  bool shares_aggregations = false; // as lang::CheckOptions has it
  probe::StoppedProgram* stopped = nullptr; // as in Options
  const bpf::Features* features = nullptr; // of the host to compile for; nullptr: this one
  ir::LowerOptions lower;
};

// A script on its way. Types and events that `program` points to live in `tree`: keep them together.
struct Compiled {
  std::unique_ptr<lang::Program> tree;
  std::unique_ptr<probe::Machine> machine;
  const bpf::Features* features = nullptr; // of its host
  lang::Checked checked;
  ir::Program program;
  std::shared_ptr<const dlang::Plan> d_plan; // of a script in D: how its output is printed
  std::string environment_mistake; // a variable with a wrong value
  bool ok = false;                 // all steps done, no mistakes
};

// Text to tree; the configuration keys of the environment are in force. false: mistakes.
bool parse(Compiled& to, base::Source& source, const CompileOptions& options, base::Diagnostics& diagnostics);
// Names, types and probes are known. false: mistakes.
bool check(Compiled& to, const CompileOptions& options, base::Diagnostics& diagnostics);
// Tree to verified and optimised IR. false: mistakes.
bool lower(Compiled& to, const CompileOptions& options, base::Diagnostics& diagnostics);

Compiled compile(base::Source& source, const CompileOptions& options, base::Diagnostics& diagnostics);

// The exit status that these mistakes deserve: nothing_matched if all say that a probe is not there, else
// usage.
base::Failure failure_of(const base::Diagnostics& diagnostics);

} // namespace session
