// A measurement: a script of acu's own, from its text to its end and to what was lost. What is asked for is a value; what came of it is asked
// of the runner.
#pragma once

#include "report/names.h"
#include "report/report.h"
#include "session/life.h"
#include "session/builtin_script.h"
#include "session/run_times.h"
#include "session/steps.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace session {

struct Measurement {
  std::string_view aim; // for messages: "record"
  BuiltinScript script;
  TargetFilter filter;                         // whose end is its end
  std::vector<std::string> command = {}; // words; empty: none
  int functions_of = -1;                 // the process whose functions the script may name, and alone are probed; -1: nobody's
  bool probes_command = false;           // those of the command alone
  bool is_silent = false;                // the command has nothing to do with the terminal
  bool follows_processes = false;        // what they map is known before names are asked for
  bool keeps_files = false;              // of what they map, as they may be replaced
  bool records_may_wait = false;         // nobody sees them before the end
};

class Runner {
public:
  // `take`: gets the records that the script prints; it may ask printer().
  using Take = std::function<void(const type::Type&, std::span<const std::byte>)>;
  explicit Runner(Measurement what, Take take = {});

  // The script is verified IR, and the command waits. Failure: a mistake in what somebody wrote, told with its place.
  base::Status compile();
  // The kernel holds the program. `options`: how the command was asked (-v, -o, -q).
  base::Status load(const Options& options);
  // It was attached, and is so no more; all records were taken. `regulars`: what else is done meanwhile.
  base::Status live(Output& output, std::vector<Regular*> regulars = {});

  // What the kernel holds goes, with the program's maps; names stay.
  void unload();

  const ir::Program& program() const { return compiled_.program; }
  const base::Source& source() const { return *source_; }
  Backend& backend() { return *backend_; }
  report::SystemNames& names() { return names_; }
  report::Printer& printer() { return *printer_; } // from live() on
  std::optional<Child>& child() { return child_; }
  // All entries of a map, by name; none: the script has no such map.
  base::Result<std::vector<ir::Entry>> read(std::string_view map);
  uint64_t attached_ns() const { return life_ ? life_->attached_ns : 0; } // CLOCK_MONOTONIC
  uint64_t detached_ns() const { return life_ ? life_->detached_ns : 0; }
  uint64_t lost_changes() const { return watch_ ? watch_->lost() : 0; } // of processes

private:
  Measurement what_;
  Take take_;
  Options options_;
  std::optional<base::Source> source_;
  Compiled compiled_;
  std::optional<Child> child_;
  std::vector<base::Fd> targets_;
  std::unique_ptr<Backend> backend_;
  report::SystemNames names_;
  // From live() on, each with references to those before.
  std::optional<report::Printer> printer_;
  std::optional<Effects> effects_;
  std::optional<watch::ProcessWatch> watch_;
  std::optional<watch::Unwinding> unwinding_;
  std::optional<Life> life_;
};

} // namespace session
