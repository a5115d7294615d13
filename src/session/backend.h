// An engine together with what brings its probes to life. The kernel's attaches to events; the one of this
// process has no events, only the probes that a session runs itself; tests have one that writes down what is
// asked of it.
#pragma once

#include "base/source.h"
#include "bpf/flight_ring.h"
#include "bpf/object.h"
#include "bpf/walker.h"
#include "ir/engine.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace session {

// Runs of the programs in the kernel and their time, counted while the kernel is asked to measure run times.
struct RunCosts {
  uint64_t runs = 0, ns = 0;
};

struct Compiled;

class Backend {
public:
  virtual ~Backend() = default;
  virtual ir::Engine& engine() = 0;
  // Of user stacks by tables; nullptr: the program takes none.
  virtual bpf::Walker* walker() { return nullptr; }
  // The same for another program (KernelOptions::walker).
  virtual std::shared_ptr<bpf::SharedWalker> shared_walker() { return {}; }
  // Records that are overwritten; nullptr: the program has none, or the engine keeps all.
  virtual const bpf::FlightRing* flight() { return nullptr; }
  // As bpf::Engine has them; others have room enough.
  virtual base::Result<std::optional<std::vector<ir::Entry>>> take_map(uint32_t) { return std::optional<std::vector<ir::Entry>>(); }
  virtual void forget_stacks(std::span<const uint64_t>) {}
  virtual base::Status begin_stacks() { return {}; }
  // Of an event that cannot be attached: ok to go on without it, or the failure that ends the session.
  using Refused = std::function<base::Status(base::Error)>;
  // Attaches a probe that has a context to all its events.
  virtual base::Status attach(uint32_t probe, const Refused& refused) = 0;
  // User probes: attaches the program of a probe to events of another compilation, which it fits.
  virtual base::Status attach_more(uint32_t probe, std::span<const probe::Event* const> events,
                                   std::span<const uint64_t> cookies, const Refused& refused) = 0;
  // Iterators: runs a probe for the next objects of its kind. false: there are no more.
  virtual base::Result<bool> step(uint32_t probe) = 0;
  // Probes of a stopped program: runs them for all its threads and calls, until `goes_on` says no.
  virtual base::Status run_stopped(const std::function<bool()>&) { return {}; }
  // Takes all user probes off a file.
  virtual void detach_file(std::string_view file) = 0;
  // As bpf::Engine has them.
  virtual void detach_probes(std::span<const uint32_t>) {}
  virtual bool is_detaching() { return false; }
  virtual RunCosts run_costs() { return {}; }
  // Takes all probes off. No record arrives afterwards that has not been begun.
  virtual void detach() = 0;
  // Readable when records wait (not for each of them at once); -1: records only come from Engine::run.
  virtual int wait_fd() const = 0;
};

// Runs begin, end, interval and signal probes in this process.
std::unique_ptr<Backend> make_eval_backend(const ir::Program& program);

// Runs the probes of a stopped program, which outlives it; and begin and end. `step_budget`: as
// eval::Options has it.
std::unique_ptr<Backend> make_stopped_backend(const ir::Program& program, probe::StoppedProgram& stopped,
                                            uint64_t step_budget);

struct KernelOptions {
  std::string license;
  uint32_t log_size = 0;
  uint32_t ring_pages = 0; // 0: as the engine likes
  uint64_t flight_bytes = 0; // of all CPUs, for records that are overwritten
  bool verbose = false;
  bool wants_log = false; // of the verifier
  int pid = -1;
  int command_pid = -1; // the process of -c
  std::string command = {}; // its file
  const base::Source* source = nullptr;
  std::shared_ptr<bpf::SharedWalker> walker = {}; // of another program that runs, which this one uses, too
  bpf::PieceSizes pieces = {};
};

// What was loaded, for --verbose.
struct LoadReport {
  std::vector<size_t> instructions;              // by ir::Program::probes
  uint64_t ask_ns = 0, emit_ns = 0, load_ns = 0; // ask: what the kernel is able to do
  std::string log;                               // the verifier's, if it was wanted
};

// Emits and loads the program; nothing is attached yet.
base::Result<std::unique_ptr<Backend>> make_kernel_backend(const ir::Program& program,
                                                           const KernelOptions& options, LoadReport& report);

// --dump bpf: the machine code as text, for the host that it was compiled for.
base::Result<std::string> dump_bpf(const Compiled& compiled, const base::Source& source);

} // namespace session
