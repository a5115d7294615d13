// `acu waits`: measures who waits for whom (scripts/wait_graph.bt), and reports the bottlenecks of the target.
#pragma once

#include "base/result.h"
#include "runtime/splice.h"
#include "session/runner.h"
#include "waits/findings.h"
#include "waits/graph_maker.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace waits {

struct Options {
  session::TargetFilter filter;
  std::vector<std::string> command;  // words; empty: none
  uint64_t min_duration_ns = 100'000; // shorter waits count as running
  uint64_t duration_ns = 0;          // 0: until the command or the process ends, or a signal
  size_t top = 5;                    // bottlenecks that are shown
  runtime::Show languages = runtime::Show::folded;
  std::string output;                // a file; empty: standard output
  std::string function;              // whose calls are asked about; empty: all that threads do
  bool json = false;
  bool quiet = false;
};

// A measurement from its script to the graph; others may run beside it (session::Runner::run).
class Measuring {
public:
  // `shared`: with other measurements. `options` outlive it.
  explicit Measuring(const Options& options, std::shared_ptr<session::Shared> shared = std::make_shared<session::Shared>())
      : options_(options), shared_(std::move(shared)) {}

  // The script is verified IR, and the command waits.
  base::Status compile();
  // The kernel holds the program. `run`: as `acu run` would have been asked.
  base::Status load(const session::Options& run);
  session::Runner& runner() { return *runner_; }
  // What there is of it, after the run.
  Graph graph() { return maker_->make(runner_->attached_ns(), runner_->detached_ns()); }
  // Finds the source locations of the first bottlenecks.
  void locate(Graph& graph, const Findings& findings, size_t first);
  uint64_t lost();
  const std::string& what() const { return condition_.what; }

private:
  const Options& options_;
  std::shared_ptr<session::Shared> shared_;
  session::Condition condition_;
  std::optional<session::Runner> runner_;
  std::optional<Stacks> stacks_;
  InterpreterLocks interpreter_locks_;
  std::optional<WaitNames> names_;
  std::optional<GraphMaker> maker_;
  Records records_;
};

// Returns the exit status: that of the command, as in a shell.
base::Result<int> find_waits(const Options& options);

} // namespace waits
