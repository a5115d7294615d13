// A measurement: a built-in script from its text to its end, and to what was lost. What is asked for is a value (Measurement); what
// came of it is asked of the runner. Several run at once in one process (`run`), with what they know of processes in common (Shared).
#pragma once

#include "report/names.h"
#include "report/report.h"
#include "session/builtin_script.h"
#include "session/follow_groups.h"
#include "session/life.h"
#include "session/run_times.h"
#include "session/steps.h"

#include <atomic>
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
  TargetFilter filter;                   // whose end is its end
  std::vector<std::string> command = {}; // words; empty: none
  int functions_of = -1;                 // the process whose functions the script may name; -1: nobody's; only the process of `filter` is probed then
  bool probes_command = false;           // those of the command alone
  bool is_silent = false;                // the command has nothing to do with the terminal
  bool may_end_programs = false;         // as CompileOptions::unsafe
  bool filters_itself = false;           // as CompileOptions has it
  bool follows_processes = false;        // what they map is known before names are asked for
  bool keeps_files = false;              // of what they map, as they may be replaced
  bool keeps_contents = false;           // variables are named from them
  runtime::Show languages = runtime::Show::folded; // in user stacks
  watch::Unwinding::TakeRuntime take_runtime = {}; // of processes that are walked, until unload()
  bool records_may_wait = false;         // nobody sees them before the end
  uint32_t ring_pages = 0;               // 0: as the engine likes
  uint64_t flight_bytes = 0;             // of records that are overwritten
  std::function<bool(const ir::Action&)> overwrites = {}; // which ones
  std::function<void(const ir::Action&, std::span<const std::byte> payload)> take_users = {}; // as report::Options has it
  Backend::Refused refused = {};         // decides on events that cannot be attached; none: the first ends it
};

// What measurements of one process have in common: names of code, the processes followed for them, and the tables by which user
// stacks are walked, which are loaded once.
class Shared {
public:
  report::SystemNames names;

  // Follows this process and those that come from it; nothing: all.
  void follow(std::optional<pid_t> only);
  // The first program that walks stacks has brought the tables for all.
  void take_walker(Backend& backend);
  // They are filled, and kept true.
  void walk(probe::Machine& machine);
  // What the kernel holds goes; names stay.
  void release();

  watch::ProcessWatch* watch() { return watch_ ? &*watch_ : nullptr; }
  watch::Unwinding* unwinding() { return unwinding_ ? &*unwinding_ : nullptr; }
  const std::shared_ptr<bpf::SharedWalker>& walker() const { return walker_; }

private:
  std::shared_ptr<bpf::SharedWalker> walker_;
  std::optional<watch::ProcessWatch> watch_;
  std::optional<watch::Unwinding> unwinding_; // refers to both
};

class Runner {
public:
  // `take`: gets the records that the script prints; it may ask printer().
  using Take = std::function<void(const type::Type&, std::span<const std::byte>)>;
  explicit Runner(Measurement what, Take take = {}, std::shared_ptr<Shared> shared = std::make_shared<Shared>());
  ~Runner() { unload(); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // The script is verified IR, and the command waits. Failure: a mistake in the user's text, with its location.
  base::Status compile();
  // The kernel holds the program. `options`: how the command was asked (-v, -o, -q).
  base::Status load(const Options& options);
  // The same with another engine, for tests.
  void load_into(std::unique_ptr<Backend> backend, const Options& options);
  // Attaches and runs. `regulars`: periodic work. Failure: a probe that cannot be attached or run.
  base::Status start(Output& output, std::vector<Regular*> regulars = {});
  // Runs all of them until each has ended; an ended one is detached while the others continue. outcome() has the result.
  static void run(std::span<Runner* const> runners);
  // What ended it: ok, or the failure of start() or run().
  const base::Status& outcome() const { return outcome_; }
  // start(), run() and outcome() of one.
  base::Status live(Output& output, std::vector<Regular*> regulars = {});
  // Ends it as soon as possible, even while it attaches. Call it from the thread in run(), or before run().
  void stop() { is_cancelled_ = true; }

  // What the kernel holds goes, with the program's maps; names stay.
  void unload();

  const ir::Program& program() const { return compiled_.program; }
  const spec::Config& config() const { return compiled_.tree->config; }
  const base::Source& source() const { return *source_; }
  Backend& backend() { return *backend_; }
  report::SystemNames& names() { return shared_->names; }
  report::Printer& printer() { return *printer_; } // from start() on
  std::optional<Child>& child() { return child_; }
  // All entries of a map, by name; none: the script has no such map.
  base::Result<std::vector<ir::Entry>> read(std::string_view map);
  // Hands out what has been sent until now.
  void drain() { effects_->drain(); }
  uint64_t attached_ns() const { return life_ ? life_->attached_ns : 0; } // CLOCK_MONOTONIC
  uint64_t detached_ns() const { return life_ ? life_->detached_ns : 0; }
  uint64_t lost_changes() { return shared_->watch() ? shared_->watch()->lost() : 0; } // of processes

private:
  Measurement what_;
  Take take_;
  std::shared_ptr<Shared> shared_;
  Options options_;
  std::optional<base::Source> source_;
  Compiled compiled_;
  std::optional<Child> child_;
  std::vector<base::Fd> targets_;
  std::unique_ptr<Backend> backend_;
  std::atomic<bool> is_cancelled_ = false;
  bool has_more_ = false; // after start(): there is something to wait for
  base::Status outcome_;
  // From start() on, each with references to those before.
  std::optional<report::Printer> printer_;
  std::optional<Effects> effects_;
  std::optional<FollowGroups> groups_;
  std::optional<watch::ThreadContexts> contexts_;
  std::optional<Life> life_;
};

} // namespace session
