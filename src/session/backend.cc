#include "session/backend.h"

#include "base/clock.h"
#include "bpf/engine.h"
#include "bpf/features.h"
#include "bpf/pieces.h"
#include "eval/engine.h"
#include "host/cpus.h"
#include "session/compile.h"
#include "session/likely_languages.h"

#include <algorithm>
#include <bit>

namespace session {

namespace {

class EvalBackend : public Backend {
public:
  explicit EvalBackend(const ir::Program& program) : program_(program), engine_(program) {}
  ir::Engine& engine() override { return engine_; }
  base::Status attach(uint32_t probe, const Refused&) override {
    return base::Error{base::Failure::usage,
                       program_.probes[probe].name + " needs the kernel: run without `--engine eval`"};
  }
  base::Status attach_more(uint32_t probe, std::span<const probe::Event* const>, std::span<const uint64_t>,
                           const Refused& refused) override {
    return attach(probe, refused);
  }
  base::Result<bool> step(uint32_t) override { return false; }
  void detach_file(std::string_view) override {}
  void detach() override {}
  int wait_fd() const override { return -1; }

private:
  const ir::Program& program_;
  eval::Engine engine_;
};

class KernelBackend : public Backend {
public:
  explicit KernelBackend(std::unique_ptr<bpf::Engine> engine) : engine_(std::move(engine)) {}
  ir::Engine& engine() override { return *engine_; }
  bpf::Walker* walker() override { return engine_->walker(); }
  const bpf::FlightRing* flight() override { return engine_->flight(); }
  std::shared_ptr<bpf::SharedWalker> shared_walker() override { return engine_->shared_walker(); }
  base::Result<std::optional<std::vector<ir::Entry>>> take_map(uint32_t map) override { return engine_->take_map(map); }
  void forget_stacks(std::span<const uint64_t> kernel_stacks) override { engine_->forget_stacks(kernel_stacks); }
  base::Status begin_stacks() override { return engine_->begin_stacks(); }
  base::Status attach(uint32_t probe, const Refused& refused) override { return engine_->attach(probe, refused); }
  base::Status attach_more(uint32_t probe, std::span<const probe::Event* const> events,
                           std::span<const uint64_t> cookies, const Refused& refused) override {
    return engine_->attach_user(probe, events, cookies, refused);
  }
  base::Result<bool> step(uint32_t probe) override { return engine_->step(probe); }
  void detach_file(std::string_view file) override { engine_->detach_file(file); }
  void detach_probes(std::span<const uint32_t> probes) override { engine_->detach_probes(probes); }
  bool is_detaching() override { return engine_->is_detaching(); }
  RunCosts run_costs() override {
    const ir::Counters counters = engine_->run_counters();
    return {counters.runs, counters.run_ns};
  }
  void detach() override { engine_->detach(); }
  int wait_fd() const override { return engine_->wait_fd(); }

private:
  std::unique_ptr<bpf::Engine> engine_;
};

} // namespace

std::unique_ptr<Backend> make_eval_backend(const ir::Program& program) {
  return std::make_unique<EvalBackend>(program);
}

static base::Result<std::unique_ptr<Backend>> load(const ir::Program& program, const KernelOptions& options, LoadReport& report) {
  uint64_t start = base::clock_ns();
  bpf::EmitOptions emit = bpf::options_for(program, bpf::features(), options.pieces);
  if (options.ring_pages) emit.ring_bytes = std::bit_ceil(options.ring_pages) * 4096; // the kernel wants 2^n
  if (options.flight_bytes) {
    constexpr uint64_t most = 1 << 30;
    emit.flight_cpus = host::online_cpus();
    emit.flight_bytes = static_cast<uint32_t>(std::clamp<uint64_t>(std::bit_floor(options.flight_bytes / emit.flight_cpus), 2 * bpf::flight_segment, most));
  }
  emit.languages = options.walker ? options.walker->walker->languages() : bpf::no_languages;
  report.ask_ns = base::clock_ns() - start;
  start = base::clock_ns();
  ACU_TRY(bpf::Object object, bpf::emit(program, emit));
  if (object.walks && !options.walker) {
    const bpf::Languages likely = likely_languages(options.pid, options.command) & ~emit.languages;
    emit.languages |= likely;
    if (likely) {
      ACU_TRY(object, bpf::emit(program, emit));
    }
  }
  report.emit_ns = base::clock_ns() - start;
  start = base::clock_ns();
  bpf::Engine::Options load = {.license = options.license,
                               .log_size = options.log_size,
                               .verbose = options.verbose,
                               .target_pid = options.pid,
                               .command_pid = options.command_pid,
                               .source = options.source,
                               .log = options.wants_log ? &report.log : nullptr,
                               .walker = options.walker,
                               .emit = emit};
  ACU_TRY(std::unique_ptr<bpf::Engine> engine, bpf::Engine::load(program, object, load));
  report.load_ns = base::clock_ns() - start;
  for (const bpf::Engine::ProgramInfo& p : engine->programs()) report.instructions.push_back(p.instructions);
  return std::unique_ptr<Backend>(std::make_unique<KernelBackend>(std::move(engine)));
}

base::Result<std::unique_ptr<Backend>> make_kernel_backend(const ir::Program& program,
                                                           const KernelOptions& options, LoadReport& report) {
  auto loaded = load(program, options, report);
  if (loaded.ok() || options.pieces != bpf::PieceSizes()) return loaded;
  // What was cut to be loaded sooner can be loaded as it is, too; and what has too many ways through it, in small pieces.
  const bool may_be_whole = bpf::has_long_functions(program, options.pieces) && !bpf::has_long_functions(program, bpf::rarely_cut);
  const bool is_refused = loaded.error().kind == base::Failure::runtime;
  for (const bpf::PieceSizes& pieces : {bpf::rarely_cut, bpf::often_cut}) {
    if (pieces == bpf::rarely_cut ? !may_be_whole : !is_refused) continue;
    KernelOptions other = options;
    other.pieces = pieces;
    LoadReport of_other;
    auto again = load(program, other, of_other);
    if (!again.ok()) continue;
    report = std::move(of_other);
    return again;
  }
  return loaded;
}

// "kprobe:vfs_*: 12 events by kprobe.multi": what programs are attached by, where that differs by kernel.
static std::string describe_links(const ir::Program& program, const bpf::Features& features) {
  constexpr std::string_view user[] = {"tracefs", "uprobe.multi", "uprobe.session"};
  constexpr std::string_view kernel[] = {"tracefs", "kprobe.multi", "kprobe.session"};
  std::string out;
  for (const ir::Probe& p : program.probes) {
    std::string_view link;
    if (p.context == probe::Context::registers) link = user[static_cast<size_t>(bpf::user_link(p, features))];
    if (p.context == probe::Context::kernel_registers) link = kernel[static_cast<size_t>(bpf::kernel_link(program, p, features))];
    if (p.context == probe::Context::function) link = "trampoline";
    if (link.empty()) continue;
    out += p.name + ": " + std::to_string(p.events.size()) + (p.events.size() == 1 ? " event by " : " events by ");
    out.append(link).append(1, '\n');
  }
  return out.empty() ? out : "\n" + out;
}

base::Result<std::string> dump_bpf(const Compiled& compiled, const base::Source& source) {
  ACU_TRY(bpf::Object object, bpf::emit(compiled.program, bpf::options_for(compiled.program, *compiled.features)));
  return bpf::to_string(object, source) + describe_links(compiled.program, *compiled.features);
}

} // namespace session
