// Facts about this host and process that a program is compiled with.
#include "session/steps.h"

#include "base/clock.h"
#include "base/confinement.h"
#include "base/text.h"
#include "bpf/trials.h"
#include "host/environment.h"

#include <algorithm>
#include <set>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace session {

static ir::LowerOptions::Process own_process() {
  const auto name_of = [](const std::string& process) {
    auto name = base::read_file("/proc/" + process + "/comm");
    return name.ok() ? std::string(base::trim(*name)) : std::string();
  };
  const auto parent = static_cast<uint32_t>(::getppid());
  return {parent, name_of("self"), name_of(std::to_string(parent))};
}

// acu's own pid namespace; nothing where it is the initial one, whose number never changes.
static ir::PidNamespace pid_namespace() {
  struct stat about = {};
  if (::stat("/proc/self/ns/pid", &about) != 0 || about.st_ino == base::initial_pid_namespace) return {};
  // As the kernel itself packs the number of a device.
  return {uint64_t{major(about.st_dev)} << 20 | minor(about.st_dev), about.st_ino};
}

ir::LowerOptions lower_options(const Compiled& compiled, EngineKind engine, const Child* child) {
  ir::LowerOptions out;
  bool in_kernel = engine == EngineKind::kernel;
  out.cpid = child ? static_cast<uint32_t>(child->pid()) : 0;
  host::Environment& host = compiled.machine->host();
  const host::Clocks clocks = host.clocks();
  out.start_ns = clocks.boot_ns;
  out.boot_to_wall_ns = clocks.boot_to_wall_ns;
  out.possible_cpus = host.possible_cpus();
  if (host.is_this_host()) out.pid_namespace = pid_namespace();
  if (in_kernel)
    out.takes_function = [&features = *compiled.features](probe::Machine& machine, const probe::Event& event,
                                                          std::span<const uint32_t> slots) {
      return bpf::may_trace_function(features, machine, event, slots);
    };
  if (!in_kernel) out.own_process = own_process();
  // Asking the kernel costs time: only where a map could make use of it.
  bool may_be_task = false;
  for (const lang::Map* m : compiled.tree->maps) may_be_task |= m->tid_only;
  out.task_storage = may_be_task && in_kernel && compiled.features->has(bpf::Feature::task_storage);
  return out;
}

// Reports mistakes in expressions of the command line once each, even if the script contains them several times.
static std::string about_inserted(const base::Diagnostics& all, const base::Source& source, const lang::Parts& parts) {
  base::Diagnostics told;
  std::set<uint32_t> places;
  for (const base::Diagnostic& d : all.all()) {
    const bool is_inside = std::ranges::any_of(parts.expressions, [&](const lang::Insert& e) { return e.shown.starts_with("--") && e.shown == source.name(d.where.begin); });
    if (is_inside && d.severity == base::Severity::error && places.insert(d.where.begin).second) told.error(d.tag, d.where, d.message, d.hint);
  }
  std::string out = told.render(source, false);
  base::replace_all(out, ": ERROR: ", ": ");
  return out;
}

base::Status compile_own(Compiled& compiled, base::Source& source, const Own& own, std::optional<Child>& child, const lang::Parts& parts) {
  base::Diagnostics diagnostics;
  CompileOptions options;
  options.parts = parts;
  options.has_command = !own.command.empty();
  options.pid = own.pid;
  options.container = own.container;
  options.shares_aggregations = true;
  options.filters_itself = own.filters_itself;
  options.unsafe = own.may_end_programs;
  bool ok = parse(compiled, source, options, diagnostics) && check(compiled, options, diagnostics);
  if (ok && !own.command.empty()) {
    ACU_TRY(Child started, Child::start(own.command, "--", own.is_silent));
    child.emplace(std::move(started));
  }
  if (ok) {
    options.lower = lower_options(compiled, EngineKind::kernel, child ? &*child : nullptr);
    ok = lower(compiled, options, diagnostics);
  }
  if (ok) return {};
  if (const std::string told = about_inserted(diagnostics, source, parts); !told.empty()) return base::Error{base::Failure::usage, told};
  const std::string what = "cannot " + std::string(own.aim) + ": ";
  const bool is_blind = compiled.machine && !compiled.machine->tracefs();
  if (!is_blind) return base::Error{failure_of(diagnostics), what + diagnostics.render(source, false)};
  // Where in the script does not matter: no tracepoint can be found.
  const auto first = std::ranges::find(diagnostics.all(), base::Severity::error, &base::Diagnostic::severity);
  const std::string told = first == diagnostics.all().end() ? compiled.machine->tracefs_error().message : first->message + (first->hint.empty() ? "" : "\nHINT: " + first->hint);
  return base::Error{compiled.machine->tracefs_error().kind, what + told};
}

KernelOptions kernel_options(const Compiled& compiled, const base::Source& source, const std::optional<Child>& child) {
  const spec::Config& config = compiled.tree->config;
  return {.license = config.text("license"),
          .log_size = static_cast<uint32_t>(config.number("log_size")),
          .command_pid = child ? static_cast<int>(child->pid()) : -1,
          .command = child ? child->file() : std::string(),
          .source = &source};
}

// "0 0x3 0x7ffd… …", the last two words the stack and the place; "running". A thread of the kernel has zeros, as it makes no calls.
std::optional<CallInProgress> call_in_progress(uint32_t tid) {
  auto text = base::read_file("/proc/" + std::to_string(tid) + "/syscall");
  if (!text.ok()) return std::nullopt;
  const std::vector<std::string_view> words = base::split(base::trim(*text), ' ');
  auto number = base::parse_integer(words[0]);
  if (!number || words.back() == "0x0") return std::nullopt;
  CallInProgress out{.number = static_cast<int64_t>(*number)};
  for (size_t i = 0; i < out.arguments.size() && i + 1 < words.size(); i++)
    out.arguments[i] = base::parse_integer(words[i + 1]).value_or(0);
  return out;
}

int end_of(std::optional<Child>& child) {
  const int status = child ? child->status().value_or(0) : 0;
  child.reset();
  return status;
}

report::Options report_options(const spec::Config& config, bool json) {
  return {.json = json,
          .cut_trailer = config.text("str_trunc_trailer"),
          .max_cat_bytes = config.number("max_cat_bytes"),
          .boot_to_wall_ns = base::boot_to_wall_ns(),
          .monotonic_to_wall_ns = base::to_wall_ns(CLOCK_MONOTONIC),
          .tai_to_wall_ns = base::to_wall_ns(CLOCK_TAI)};
}

} // namespace session
