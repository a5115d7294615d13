// The steps of a session in their order. Each leaves the Session with more in it; each may end it, with an
// Error whose kind is the exit status. An Error without a message was reported already.
#include "session/run.h"

#include "base/clock.h"
#include "base/color.h"
#include "base/counted.h"
#include "base/terminal.h"
#include "base/text.h"
#include "bpf/features.h"
#include "dlang/consumer.h"
#include "dlang/lower.h"
#include "host/environment.h"
#include "policy/enforce.h"
#include "probe/stopped_program.h"
#include "report/names.h"
#include "report/target_names.h"
#include "session/follow_groups.h"
#include "session/life.h"
#include "session/listing.h"
#include "session/losses.h"
#include "session/probe_options.h"
#include "session/script.h"
#include "session/signals.h"
#include "session/stack_map.h"
#include "session/steps.h"
#include "session/target_filter.h"
#include "spec/diagnostics.h"
#include "watch/omitted_returns.h"

#include <algorithm>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace session {

namespace {

constexpr uint64_t trial_steps = 1 << 28; // of a run over memory that changes: it may go in circles

struct Session {
  Session(const Options& o, std::span<Beside* const> b, std::vector<lang::Insert> inserted) : options(o), beside(b), expressions(std::move(inserted)) {}

  base::Status read();
  base::Status parse_and_check();
  base::Status read_probe_options();
  base::Status check_parameters() const;
  base::Status start_processes();
  base::Status lower();
  base::Status load();
  base::Status live();
  base::Status try_stopped();
  report::Options printing() const;
  std::string parameters() const;
  std::string probes();
  void report_mistakes();
  std::string mistakes_of_tool() const;
  base::Status check_words() const;
  void report_steps();

  const Options& options;
  const std::span<Beside* const> beside;
  std::vector<lang::Insert> expressions;
  std::unique_ptr<Output> output;
  std::optional<base::Source> source;
  base::Diagnostics diagnostics;
  CompileOptions compiling;
  Compiled compiled;
  std::optional<Child> child;
  base::Fd target;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<host::Environment> host; // that is compiled for, where it is a saved one
  std::optional<bpf::Features> features;   // of it
  LoadReport loaded;
  uint64_t parse_ns = 0, check_ns = 0, lower_ns = 0;
  int status = 0;
};

// Runs a step and says how long it took.
template<class F> bool timed(uint64_t& ns, F step) {
  uint64_t start = base::clock_ns(CLOCK_MONOTONIC);
  bool ok = step();
  ns = base::clock_ns(CLOCK_MONOTONIC) - start;
  return ok;
}

std::string_view name_of(probe::Context context) {
  switch (context) {
  case probe::Context::none: return "run by acu";
  case probe::Context::tracepoint: return "tracepoint";
  case probe::Context::raw_tracepoint: return "raw_tracepoint";
  case probe::Context::btf_tracepoint: return "btf_tracepoint";
  case probe::Context::function: return "function";
  case probe::Context::perf_event: return "perf_event";
  case probe::Context::registers: return "registers";
  case probe::Context::kernel_registers: return "kernel_registers";
  case probe::Context::iterator: return "iterator";
  }
  return {};
}

// Messages about the system and the arguments only, each once: users of a tool do not know its script.
std::string Session::mistakes_of_tool() const {
  constexpr std::string_view of_system[] = {spec::tag::no_such_probe, spec::tag::doubtful_probe, spec::tag::denied, spec::tag::user_warning};
  std::string out;
  std::set<std::string_view> seen;
  for (const base::Diagnostic& d : diagnostics.all()) {
    const bool is_error = d.severity == base::Severity::error;
    if (is_error != diagnostics.has_errors() || !seen.insert(d.message).second) continue;
    if (!is_error && (!options.warnings || !base::is_one_of(of_system, d.tag))) continue;
    out += (is_error ? "ERROR: " : "WARNING: ") + options.tool.name + ": " + d.message + "\n";
    if (!d.hint.empty() && !(is_error && options.stopped)) out += "HINT: " + d.hint + "\n";
    if (is_error && options.stopped)
      return out + "HINT: " + options.tool.name + " needs the debug information of the program: it is missing, or this is another program (`acu " +
             options.tool.name + " --help`)\n";
    if (is_error) return out + "HINT: for example `" + options.tool.example + "`; `acu " + options.tool.name + " --help` explains it\n";
  }
  return out;
}

// Too few words, or too many.
base::Status Session::check_words() const {
  const ReadyTool& tool = options.tool;
  const size_t given = options.positional.size();
  if (tool.name.empty() || options.help || options.list || given == tool.parameters) return {};
  auto number = [](size_t n) { return n ? std::to_string(n) : std::string("no"); };
  std::string message = tool.name + (given < tool.parameters ? " needs " : " takes ") + number(tool.parameters) + " " +
                        base::unit_of(tool.parameters, "argument");
  message += given ? ", not " + std::to_string(given) + " (`" + options.positional.back() + "`)" : std::string();
  return base::Error{base::Failure::usage, message + "\nHINT: for example `" + tool.example + "`; `acu " + tool.name + " --help` explains it"};
}

void Session::report_mistakes() {
  if (!options.tool.name.empty() && !options.verbose) return output->message(mistakes_of_tool());
  const bool has_tags = compiled.d_plan && compiled.d_plan->error_tags;
  std::string text = (has_tags ? dlang::with_error_tags(diagnostics) : diagnostics).render(*source, options.warnings);
  if (!text.empty()) output->message(text);
}

base::Status Session::read() {
  ACU_TRY(output, Output::open(options));
  ACU_CHECK(check_words());
  ACU_TRY(base::Source text, read_script(options));
  source.emplace(std::move(text));
  if (options.tool.name.empty() && base::writes_escapes(source->text())) base::let_escapes_through();
  return {};
}

base::Status Session::parse_and_check() {
  // The files that a script names may be looked for in the process of -p.
  if (options.pid >= 0 && !options.help) {
    ACU_TRY(target, watch_process(options.pid));
  }
  compiling.positional = options.positional;
  compiling.named = options.named;
  compiling.include_dirs = options.include_dirs;
  compiling.include_files = options.include_files;
  compiling.parts.parameters = options.parameters;
  compiling.parts.expressions = expressions;
  if (options.d_script) {
    compiling.d_script = &*options.d_script;
    compiling.filters_itself = true; // -p only names $target there
  }
  compiling.unsafe = options.unsafe;
  compiling.read_only = options.read_only;
  compiling.accepts_old_scripts = options.as_bpftrace;
  compiling.needs_events = !options.tool.name.empty();
  compiling.test = options.test;
  compiling.bench = options.bench;
  compiling.has_command = !options.command.empty();
  compiling.in_kernel = options.engine == EngineKind::kernel;
  compiling.pid = options.pid;
  compiling.debug_folders = options.debug_folders;
  if (!options.container.empty() || !options.cgroup.empty()) {
    ACU_TRY(compiling.groups, group_set_of(options.container, options.cgroup));
    compiling.container = options.container;
  }
  ACU_CHECK(read_probe_options());
  compiling.stopped = options.stopped;
  bool ok = timed(parse_ns, [&] { return parse(compiled, *source, compiling, diagnostics); }) &&
            timed(check_ns, [&] { return check(compiled, compiling, diagnostics); });
  if (compiled.d_plan && compiled.d_plan->destructive && !policy::permits_unsafe())
    return base::Error{base::Failure::permission, "the policy of this host does not permit the option `destructive`, which needs `may unsafe`"};
  if (ok) return options.help || options.list ? base::Status() : check_parameters();
  report_mistakes();
  if (!compiled.environment_mistake.empty())
    return base::Error{base::Failure::usage, compiled.environment_mistake};
  base::Failure kind = failure_of(diagnostics);
  // A probe that is not there because we may not look is a matter of permission.
  bool blind = kind == base::Failure::nothing_matched && compiled.machine && !compiled.machine->tracefs();
  return base::Error{blind ? compiled.machine->tracefs_error().kind : kind, {}};
}

// --probe-filter and --traceable-functions.
base::Status Session::read_probe_options() {
  if (!options.probe_filter.empty()) {
    ACU_TRY(compiling.wants_probe, probe_filter(options.probe_filter));
  }
  if (!options.traceable_functions.empty()) {
    ACU_TRY(compiling.traceable_functions, traceable_functions(options.traceable_functions));
  }
  return {};
}

// A parameter that the script does not ask for is a typo.
base::Status Session::check_parameters() const {
  std::vector<std::string_view> known;
  for (const lang::NamedParameter& p : compiled.checked.parameters) known.push_back(p.name);
  for (auto& [name, value] : options.named) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string_view near = base::nearest(name, known);
    return base::Error{base::Failure::usage,
                       (options.tool.name.empty() ? source->name() : options.tool.name) + " has no parameter `--" + name + "`" +
                           (near.empty() ? "" : "; did you mean `--" + std::string(near) + "`?")};
  }
  return {};
}

base::Status Session::start_processes() {
  if (!options.command.empty()) {
    ACU_TRY(Child started, Child::start(options.command));
    child.emplace(std::move(started));
  }
  return {};
}

base::Status Session::lower() {
  compiling.lower = lower_options(compiled, options.engine, child ? &*child : nullptr);
  compiling.lower.counts_missing_elements = options.report_faults;
  compiling.lower.samples = options.max_cost.has_value() && options.engine == EngineKind::kernel;
  if (options.stopped) compiling.lower.own_process = {options.stopped->target().parent(), {}, {}};
  bool ok = timed(lower_ns, [&] { return session::lower(compiled, compiling, diagnostics); });
  report_mistakes();
  if (!ok) return base::Error{failure_of(diagnostics), {}};
  return {};
}

base::Status Session::load() {
  if (options.stopped) {
    backend = make_stopped_backend(compiled.program, *options.stopped, options.is_trial ? trial_steps : 0);
    return {};
  }
  if (options.engine == EngineKind::eval) {
    backend = make_eval_backend(compiled.program);
    return {};
  }
  KernelOptions kernel = kernel_options(compiled, *source, child);
  kernel.ring_pages = static_cast<uint32_t>(compiled.tree->config.number("perf_rb_pages"));
  kernel.verbose = options.verbose;
  kernel.wants_log = options.dump.verifier;
  kernel.pid = options.d_script ? -1 : options.pid;
  ACU_TRY(backend, make_kernel_backend(compiled.program, kernel, loaded));
  return {};
}

// --verbose: how each probe is attached, and where the time went.
void Session::report_steps() {
  std::string out;
  for (size_t i = 0; i < compiled.program.probes.size(); i++) {
    const ir::Probe& p = compiled.program.probes[i];
    out += p.name + ": " + std::string(name_of(p.context));
    probe::Kind kind = compiled.program.events[p.events.front()].kind;
    if (p.context == probe::Context::function && kind == probe::Kind::kprobe) out += ", as fentry";
    if (p.context == probe::Context::function && kind == probe::Kind::kretprobe) out += ", as fexit";
    if (p.events.size() > 1) out += ", " + base::counted(p.events.size(), "event");
    if (i < loaded.instructions.size())
      out += ", " + base::counted(loaded.instructions[i], "instruction");
    out += "\n";
  }
  for (auto& e : compiled.tree->events)
    if (e->kind == probe::Kind::uprobe && e->at_entry && e->address != e->function_address)
      out += e->name + ": probed " + base::counted(e->address - e->function_address, "byte") +
             " after the start, at the first instruction with low overhead\n";
  out += "parse " + base::in_ms(parse_ns) + ", check " + base::in_ms(check_ns) + ", lower " + base::in_ms(lower_ns);
  bool in_kernel = options.engine == EngineKind::kernel;
  if (in_kernel)
    out += ", ask kernel " + base::in_ms(loaded.ask_ns) + ", emit " + base::in_ms(loaded.emit_ns) + ", load " +
           base::in_ms(loaded.load_ns);
  out += "\nfrom text to " + std::string(in_kernel ? "bytecode" : "operations") + " in " +
         base::in_ms(parse_ns + check_ns + lower_ns + loaded.emit_ns);
  output->message(out + "\n");
}

report::Options Session::printing() const {
  report::Options out = report_options(compiled.tree->config, options.json);
  out.patience_ms = signals::patience_ms;
  if (options.stopped)
    out.memory = [&memory = options.stopped->target().memory()](uint64_t address, std::span<std::byte> to) {
      return memory.read(address, to) == target::Missing::none;
    };
  return out;
}

base::Status Session::live() {
  const spec::Config& config = compiled.tree->config;
  report::SystemNames names(config.flag("cpp_demangle"));
  names.users().search_in(options.debug_folders);
  names.codes().set_show(options.languages);
  std::optional<report::TargetNames> stopped_names;
  if (options.stopped)
    stopped_names.emplace(options.stopped->target(), options.stopped->stacks(), config.flag("cpp_demangle"));
  report::Names& shown = stopped_names ? static_cast<report::Names&>(*stopped_names) : names;
  std::optional<dlang::Consumer> d_output;
  report::Options how = printing();
  if (compiled.d_plan) how.take_value = [&](const type::Type& type, std::span<const std::byte> bytes) { d_output->take(type, bytes); };
  report::Printer printer(compiled.program, backend->engine(), shown, *output, how);
  if (compiled.d_plan) d_output.emplace(*compiled.d_plan, compiled.program, backend->engine(), shown, printer, *output, signals::patience_ms);
  Effects effects(compiled.program, backend->engine(), printer, *output, &*source, options.warnings);
  effects.take_maps_with([&](uint32_t map) { return backend->take_map(map); });
  // From here on, mappings are tracked before a probe can see them.
  std::optional<watch::ProcessWatch> watch;
  std::optional<watch::Unwinding> unwinding;
  std::optional<watch::ThreadContexts> contexts;
  if ((compiled.program.uses_user_symbols || compiled.program.walks_stacks || reads_thread_contexts(compiled.program)) &&
      options.engine == EngineKind::kernel && !options.dry_run) {
    watch.emplace(names.users());
    names.users().keep_contents(); // variables are named from them
    const bool draws = std::any_of(compiled.program.actions.begin(), compiled.program.actions.end(),
                                   [](const ir::Action& a) { return a.kind == ir::ActionKind::flame; });
    if (draws) names.users().keep_files(); // for inlined calls
    if (backend->walker()) unwinding.emplace(*backend->walker(), names.users(), names.codes(), *watch, *compiled.machine);
    if (reads_thread_contexts(compiled.program)) contexts.emplace(compiled.program, backend->engine(), names.users(), *watch, options.pid >= 0 ? std::optional<pid_t>(options.pid) : std::nullopt);
  }
  FollowFiles files(compiled, *source, compiling, *backend, *output, options.warnings);
  Life life = {.program = compiled.program,
               .options = options,
               .source = &*source,
               .backend = *backend,
               .effects = effects,
               .printer = printer,
               .output = *output,
               .child = child ? &*child : nullptr,
               .target_fd = target.get(),
               .watch = watch ? &*watch : nullptr,
               .unwinding = unwinding ? &*unwinding : nullptr,
               .contexts = contexts ? &*contexts : nullptr,
               .files = &files,
               .print_maps_on_exit = config.flag("print_maps_on_exit") && std::ranges::none_of(beside, &Beside::shows_maps),
               .missing_may_be = config.text("missing_probes") != "error",
               .report_missing = config.text("missing_probes") != "ignore",
               .reports_attached = !compiled.d_plan || !compiled.d_plan->display.quiet,
               .attached = compiled.d_plan ? dlang::matched(*compiled.d_plan, *compiled.tree, *source, options.d_script->parts) : std::string()};
  if (compiled.d_plan && life.reports_attached)
    life.detached = [&] {
      pollfd process = {child ? child->fd() : target.get(), POLLIN, 0};
      if (!life.options.quiet && ::poll(&process, 1, 0) > 0)
        output->message(child ? dlang::end_of_process(child->pid(), child->status(), child->signal()) : dlang::end_of_process(options.pid, {}, {}));
    };
  FollowGroups groups(compiled.program, backend->engine(), names);
  if ((groups.is_needed() || !files.containers().empty()) && !options.stopped) {
    ACU_CHECK(groups.begin());
    life.regulars.push_back(groups.regular(&files));
  }
  for (Beside* one : beside) {
    ACU_TRY(Regular* const regular, one->begin({compiled.program, *backend, printer, *output}));
    life.regulars.push_back(regular);
  }
  effects.draw_with([&](const ir::Action& action, const std::vector<ir::Entry>& entries) -> base::Status {
    const uint64_t now = life.detached_ns ? life.detached_ns : base::clock_ns(CLOCK_MONOTONIC);
    const FlameRequest request = {action, entries, life.attached_ns ? now - life.attached_ns : 0};
    ACU_TRY(std::string file, write_flame(request, compiled.program,
                                          {backend->engine(), backend->walker() != nullptr, {}, {}}, printer,
                                          names.sources()));
    if (!options.quiet) output->message("wrote " + file + "\n");
    return {};
  });
  std::optional<watch::OmittedReturns> omitted;
  bool probes_returns = std::any_of(compiled.program.events.begin(), compiled.program.events.end(),
                                    [](const probe::Event& e) { return e.kind == probe::Kind::uretprobe; });
  if (probes_returns && options.engine == EngineKind::kernel) omitted.emplace();
  ACU_CHECK(session::live(life));
  if (d_output) d_output->finish();
  if (std::string told = omitted ? omitted->told() : std::string(); !told.empty()) output->message(told);
  compiled.machine->store_facts();
  const bool has_failed = life.failed || std::ranges::any_of(beside, &Beside::has_failed);
  status = has_failed ? static_cast<int>(base::Failure::runtime) : effects.status();
  return {};
}

// Runs begin and the probes of a stopped program; what they print goes nowhere, but is made for the memory that
// containers are read from.
base::Status Session::try_stopped() {
  struct Nowhere : report::Sink {
    void out(std::string_view) override {}
    void message(std::string_view) override {}
  } nowhere;
  report::TargetNames names(options.stopped->target(), options.stopped->stacks());
  report::Printer printer(compiled.program, backend->engine(), names, nowhere, printing());
  auto drop = [&] {
    backend->engine().drain([&](std::span<const std::byte> record) {
      uint32_t index = 0;
      std::memcpy(&index, record.data(), std::min(record.size(), sizeof index));
      const ir::Action* action = index < compiled.program.actions.size() ? &compiled.program.actions[index] : nullptr;
      using enum ir::ActionKind;
      const bool shows_values = action && (action->kind == printf || action->kind == print_value);
      if (shows_values && record.size() >= 8) printer.record(*action, record.subspan(8), {});
    });
    return true;
  };
  // Memory that changes may lead anywhere.
  auto run_all = [&](probe::Kind kind) {
    for (uint32_t i = 0; i < compiled.program.probes.size(); i++)
      if (compiled.program.events[compiled.program.probes[i].events.front()].kind == kind)
        (void)backend->engine().run(i).ok();
  };
  run_all(probe::Kind::begin);
  (void)backend->run_stopped(drop).ok();
  run_all(probe::Kind::end);
  drop();
  return {};
}

// The script's own parameters, for its help.
std::string Session::parameters() const {
  if (compiled.checked.parameters.empty()) return {};
  std::string out = "\nparameters of " + source->name() + " (after `--`):\n";
  for (const lang::NamedParameter& p : compiled.checked.parameters) {
    std::string left = "  --" + p.name;
    if (p.default_value != "false") left += "=" + p.default_value;
    if (!p.help.empty()) left.resize(std::max<size_t>(left.size() + 1, 30), ' ');
    out += left + p.help + "\n";
  }
  return out;
}

// -l with a script: what it would attach to.
std::string Session::probes() {
  std::string out;
  if (compiled.d_plan) return dlang::list(*compiled.d_plan, *compiled.tree);
  for (auto& event : compiled.tree->events)
    if (!compiling.wants_probe || compiling.wants_probe(*event)) out += describe_event(*compiled.machine, *event, options.verbose);
  return out;
}

std::string help_of(const Options& options) {
  return help_text(*spec::find_subcommand(options.as_bpftrace ? "bpftrace" : "run"));
}

bool is_file(const std::string& path) {
  struct stat about = {};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

// All steps. Those that only look at the script leave early.
base::Status run_steps(Session& s) {
  const Options& o = s.options;

  // The output is open and the script's text is in memory, and is text.
  ACU_CHECK(s.read());

  // The tree has no mistakes; every name, type and probe in it is known. Nothing was asked of the kernel that
  // needs a privilege, but tracefs may have been read.
  ACU_CHECK(s.parse_and_check());
  if (o.help) return s.output->out(help_of(o) + s.parameters()), base::Status();
  if (o.list) return s.output->out(s.probes()), base::Status();
  if (o.dump.ast) s.output->out(lang::to_string(*s.compiled.tree));
  if (o.dump.any && !o.dump.ir && !o.dump.bpf && !o.dump.verifier) return {};

  // The command of -c waits in its own process: its id may go into the program.
  ACU_CHECK(s.start_processes());

  // The program is in verified IR; all warnings about the script are reported.
  ACU_CHECK(s.lower());
  if (o.dump.ir) s.output->out(ir::to_string(s.compiled.program));
  if (o.dump.bpf) {
    ACU_TRY(std::string code, dump_bpf(s.compiled, *s.source));
    s.output->out(code);
  }
  if (o.dump.any && !o.dump.verifier) return {};

  // The engine holds the program: maps exist, the verifier is content, nothing is attached.
  ACU_CHECK(s.load());
  if (o.verbose || o.dump.verifier) s.report_steps();
  if (o.dump.verifier) s.output->out(s.loaded.log);
  if (o.dump.any) return {};

  if (o.is_trial) return s.try_stopped();

  // The script has run: everything is detached, its results are written.
  return s.live();
}

// The exit status; what was not told yet is told.
int refuse(const base::Error& error, const Options& options) {
  if (!error.message.empty()) write_all(STDERR_FILENO, base::colored("ERROR: " + error.message + "\n"));
  const bool is_of_script = error.kind == base::Failure::usage || error.kind == base::Failure::nothing_matched; // 1 for dtrace
  return options.as_bpftrace || (options.d_script && is_of_script) ? 1 : static_cast<int>(error.kind);
}

} // namespace

int run(const Options& given, std::span<Beside* const> beside, std::vector<lang::Insert> expressions) {
  Options options = given;
  std::erase_if(options.named, [&](auto& n) { return n.first == "help" && (options.help = true); });
  bool has_script = options.has_script || !options.file.empty();
  std::unique_ptr<host::Environment> host;
  if (!options.host_file.empty()) {
    auto opened = host::open_saved(options.host_file);
    if (!opened.ok()) return refuse(opened.error(), options);
    host = std::move(*opened);
  }
  if (options.list && !options.has_script && !is_file(options.file)) {
    ListRequest request = {.patterns = options.positional,
                           .arguments = options.verbose,
                           .pid = options.pid,
                           .container = options.container,
                           .as_bpftrace = options.as_bpftrace,
                           .debug_folders = options.debug_folders,
                           .traceable_functions = options.traceable_functions};
    if (!options.file.empty()) request.patterns.insert(request.patterns.begin(), options.file);
    return list_probes(request, host ? *host : host::this_host());
  }
  if (options.help && !has_script) {
    write_all(STDOUT_FILENO, help_of(options));
    return 0;
  }

  Session s(options, beside, std::move(expressions));
  if (host) {
    s.host = std::move(host);
    s.compiling.features = &s.features.emplace(*s.host);
  }
  for (const std::string& name : options.without) s.features ? s.features->do_without(name) : bpf::do_without(name);
  base::Status done = run_steps(s);
  if (s.output) s.output->release(), s.output->flush();
  if (done.ok()) done = s.output->finish();
  s.child.reset(); // a command that still runs is told to end
  return done.ok() ? s.status : refuse(done.error(), options);
}

namespace {
class StringSink : public report::Sink {
public:
  void out(std::string_view text) override { results += text; }
  void message(std::string_view text) override { messages += "stderr: " + std::string(text); }
  std::string results, messages;
};
} // namespace

std::string output_of(const ir::Program& program, ir::Engine& engine, const base::Source* source, const dlang::Plan* d_plan) {
  StringSink sink;
  report::SystemNames names;
  std::optional<dlang::Consumer> d_output;
  report::Options how;
  if (d_plan) how.take_value = [&](const type::Type& type, std::span<const std::byte> bytes) { d_output->take(type, bytes); };
  report::Printer printer(program, engine, names, sink, how);
  if (d_plan) d_output.emplace(*d_plan, program, engine, names, printer, sink);
  Effects effects(program, engine, printer, sink, source);
  for (probe::Kind kind : {probe::Kind::begin, probe::Kind::end}) {
    effects.reopen();
    for (uint32_t i = 0; i < program.probes.size(); i++)
      for (uint32_t e : program.probes[i].events)
        if (program.events[e].kind == kind) {
          if (auto ran = engine.run(i); !ran.ok()) return "ERROR: " + ran.error().message + "\n";
          effects.drain();
        }
  }
  std::string losses = describe_losses(program, engine.counters(), source, {.report_faults = true});
  if (!losses.empty()) sink.message(losses);
  if (d_output)
    d_output->finish();
  else
    effects.print_maps(true);
  return sink.results + sink.messages;
}

} // namespace session
