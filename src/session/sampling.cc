// The steps of a recording in their order; those of a script's run (run.cc), but for what becomes of the map.
#include "session/sampling.h"

#include "base/text.h"
#include "bpf/syscall.h"
#include "profile/naming.h"
#include "report/names.h"
#include "session/life.h"
#include "session/losses.h"
#include "session/steps.h"
#include "session/time.h"
#include "spec/stack_ends.h"

#include <cstring>
#include <sys/resource.h>
#include <sys/utsname.h>

namespace session {

namespace {

// Where the parts of a key stand; see spec/profile_kinds.h.
enum KeyField { key_pid, key_tid, key_process, key_thread, key_kernel, key_user, key_leaf };

struct Sampler {
  explicit Sampler(const SamplingOptions& o) : options(o) {}

  void choose_kind();
  base::Status compile();
  base::Status load();
  base::Status live();
  base::Status read();
  void tell_costs();

  const SamplingOptions& options;
  spec::ProfileKind kind;
  std::string kind_script; // of a probe
  Filter filter;
  SamplingScript script;
  Options run; // as `acu run` would have been asked
  std::optional<base::Source> source;
  base::Diagnostics diagnostics;
  CompileOptions compiling;
  Compiled compiled;
  std::optional<Child> child;
  base::Fd target;
  std::unique_ptr<Backend> backend;
  base::Fd run_times;
  report::SystemNames names;
  Recording recording;
};

void Sampler::choose_kind() {
  kind = *options.kind;
  filter = options.filter;
  if (options.probe.empty()) return;
  std::string value = options.weight.empty() ? "count()" : "sum(" + options.weight + ")";
  kind_script = options.probe + " /FILTER/ { @[pid, tid, pcomm, comm, kstack, ustack] = " + value + " }\n";
  kind = {.name = options.probe, .title = options.probe, .unit = "hits"};
  if (!options.weight.empty()) kind.unit = options.weight;
  kind.script = kind_script;
  filter.idle_too = true;
}

base::Status Sampler::compile() {
  if (options.filter.pid >= 0) {
    ACU_TRY(target, watch_process(options.filter.pid));
  }
  choose_kind();
  ACU_TRY(script, make_sampling_script(kind, filter, options.rate, options.duration_ns));
  source.emplace("recording", script.text);
  compiling.has_command = !options.command.empty();
  bool ok = parse(compiled, *source, compiling, diagnostics) && check(compiled, compiling, diagnostics);
  if (ok && !options.command.empty()) {
    ACU_TRY(Child started, Child::start(options.command, "--"));
    child.emplace(std::move(started));
  }
  if (ok) {
    compiling.lower = lower_options(compiled, EngineKind::kernel, child ? &*child : nullptr);
    ok = lower(compiled, compiling, diagnostics);
  }
  if (ok) return {};
  bool blind = compiled.machine && !compiled.machine->tracefs();
  base::Failure kind = blind ? compiled.machine->tracefs_error().kind : failure_of(diagnostics);
  return base::Error{kind, "cannot record: " + diagnostics.render(*source, false)};
}

base::Status Sampler::load() {
  const spec::Config& config = compiled.tree->config;
  KernelOptions kernel = {.license = config.text("license"),
                          .log_size = static_cast<uint32_t>(config.number("log_size")),
                          .verbose = options.verbose,
                          .command_pid = child ? static_cast<int>(child->pid()) : -1,
                          .source = &*source};
  LoadReport loaded;
  ACU_TRY(backend, make_kernel_backend(compiled.program, kernel, loaded));
  run_times = bpf::measure_run_times();
  return {};
}

base::Status Sampler::live() {
  run.quiet = true;
  run.pid = options.filter.pid;
  run.verbose = options.verbose;
  ACU_TRY(std::unique_ptr<Output> output, Output::open(run));
  names.users().keep_files();
  report::Printer printer(compiled.program, backend->engine(), names, *output,
                          report_options(compiled.tree->config, false));
  Effects effects(compiled.program, backend->engine(), printer, *output, &*source);
  // What is mapped from here on is known, before a sample can show it.
  ProcessWatch watch(names.users());
  if (child || options.filter.pid >= 0) watch.only(child ? child->pid() : options.filter.pid);
  std::optional<Unwinding> unwinding;
  if (backend->walker()) unwinding.emplace(*backend->walker(), names.users(), watch, *compiled.machine);
  Life life = {.program = compiled.program,
               .options = run,
               .source = &*source,
               .backend = *backend,
               .effects = effects,
               .printer = printer,
               .output = *output,
               .child = child ? &*child : nullptr,
               .target_fd = target.get(),
               .watch = &watch,
               .unwinding = unwinding ? &*unwinding : nullptr,
               .records_may_wait = true,
               .print_maps_on_exit = false};
  ACU_CHECK(session::live(life));
  compiled.machine->store_numbers();
  if (child) recording.command_status = child->status().value_or(0);

  profile::About& about = recording.profile.about;
  about.duration_ns = life.detached_ns - life.attached_ns;
  about.start_ns = life.attached_ns + static_cast<uint64_t>(to_wall_ns(CLOCK_MONOTONIC));
  ir::Counters counters = backend->engine().counters();
  about.kernel_ns = counters.run_ns;
  about.lost = counters.scratch_busy + counters.missed_runs;
  for (uint64_t full : counters.map_full) about.lost += full;
  const std::string losses = describe_losses(compiled.program, counters, &*source, {});
  for (std::string_view line : base::split(losses, '\n'))
    if (!line.empty()) about.notes.emplace_back(line);
  if (watch.lost())
    about.notes.push_back(std::to_string(watch.lost()) +
                          " changes of processes were lost: code of some may have no names");
  return {};
}

// ---- from the map to stacks

struct MapReader {
  ir::Engine& engine;
  report::SystemNames& names;
  const ir::Map& map;
  std::span<const type::Field> fields;
  bool has_walker; // user stacks are walked by tables: they are whole, or say why not
  profile::RawRecording out;
  std::unordered_map<uint64_t, uint32_t> stacks; // by id

  uint64_t number(const ir::Entry& e, KeyField field) const {
    uint64_t value = 0;
    const type::Field& f = fields[field];
    std::memcpy(&value, e.key.data() + f.offset, std::min<uint32_t>(f.type->size, 8));
    return value;
  }
  std::string text(const ir::Entry& e, KeyField field) const {
    const type::Field& f = fields[field];
    const char* begin = reinterpret_cast<const char*>(e.key.data()) + f.offset;
    return std::string(begin, ::strnlen(begin, f.type->size));
  }
  uint32_t stack(uint64_t id, uint32_t pid, uint32_t depth) {
    if (!id) return profile::RawSample::no_stack;
    auto [at, is_new] = stacks.try_emplace(id, static_cast<uint32_t>(out.stacks.size()));
    if (!is_new) return at->second;
    std::vector<uint64_t> frames = engine.stack(id);
    // Code without frame pointers leads astray; a return to nowhere is the end of it.
    if (pid) frames.erase(std::find(frames.begin(), frames.end(), 0), frames.end());
    std::string end;
    const bool is_none = pid && !frames.empty() && spec::is_no_stack(frames.back());
    if (pid && !frames.empty() && spec::is_stack_end(frames.back())) {
      end = spec::text_of_stack_end(frames.back());
      frames.pop_back();
    }
    const bool is_end_known = pid && has_walker;
    const bool is_cut = !is_end_known && frames.size() >= depth;
    out.stacks.push_back({.id = id,
                          .pid = pid,
                          .frames = std::move(frames),
                          .end = std::move(end),
                          .is_none = is_none,
                          .is_end_known = is_end_known,
                          .is_cut = is_cut});
    return at->second;
  }
  // Of all CPUs: the weight, and how often there was one.
  void add_values(const ir::Entry& e, profile::RawSample& to) const {
    const bool has_count = map.value->is(type::Kind::stats) || map.value->is(type::Kind::avg);
    for (size_t at = 0; at + map.value_size <= e.values.size(); at += map.value_size) {
      uint64_t words[2] = {};
      std::memcpy(words, e.values.data() + at, std::min<size_t>(map.value_size, sizeof words));
      to.weight += words[0];
      to.count += has_count ? words[1] : words[0];
    }
    if (map.value->is(type::Kind::sum)) to.count = 1; // it is not known
  }
  // The note on top, from its number or its text.
  std::string leaf(const ir::Entry& e, const std::vector<std::string_view>& leaves) {
    if (fields[key_leaf].type->is(type::Kind::integer)) {
      uint64_t n = number(e, key_leaf);
      return n < leaves.size() ? std::string(leaves[n]) : std::string();
    }
    std::string out(leaves[0]);
    const bool is_address = fields[key_leaf].type->is(type::Kind::usym);
    if (size_t at = out.find('%'); at != out.npos)
      out.replace(at, 1, is_address ? names.user(static_cast<uint32_t>(number(e, key_pid)), number(e, key_leaf), false, 0) : text(e, key_leaf));
    return out;
  }
  void take(const ir::Entry& e, const std::vector<std::string_view>& leaves) {
    profile::RawSample s;
    s.pid = static_cast<uint32_t>(number(e, key_pid));
    s.tid = static_cast<uint32_t>(number(e, key_tid));
    s.process = text(e, key_process);
    s.thread = text(e, key_thread);
    s.kernel = stack(number(e, key_kernel), 0, fields[key_kernel].type->count);
    s.user = stack(number(e, key_user), s.pid, fields[key_user].type->count);
    if (fields.size() > key_leaf && !leaves.empty()) s.leaf = leaf(e, leaves);
    add_values(e, s);
    if (s.weight) out.samples.push_back(std::move(s));
  }
};

// White space of any length as one blank: a title has one line.
std::string on_one_line(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool is_blank = c == ' ' || (c >= '\t' && c <= '\r');
    if (!is_blank || !out.ends_with(' ')) out += is_blank ? ' ' : c;
  }
  return out;
}

base::Status Sampler::read() {
  const ir::Program& program = compiled.program;
  uint32_t index = 0;
  while (index < program.maps.size() && !program.maps[index].name.empty()) index++;
  if (index == program.maps.size())
    return base::Error{base::Failure::runtime, "the recording has no map `@`"};
  const ir::Map& map = program.maps[index];
  ACU_TRY(std::vector<ir::Entry> entries, backend->engine().read_map(index));
  MapReader reader = {backend->engine(), names, map, map.key->fields(), backend->walker() != nullptr, {}, {}};
  std::vector<std::string_view> leaves;
  if (!kind.leaves.empty()) leaves = base::split(kind.leaves, '|');
  for (const ir::Entry& e : entries) reader.take(e, leaves);
  backend.reset(); // its tables take as much memory as names will

  profile::Profile& profile = recording.profile;
  profile.about.title = kind.title;
  profile.about.unit = kind.unit;
  profile.about.what = script.what;
  if (kind.name == "cpu") profile.about.period_ns = 1'000'000'000 / options.rate;
  if (!options.command.empty()) {
    profile.about.what = "command";
    for (const std::string& word : options.command) profile.about.what += " " + on_one_line(word);
  }
  utsname system = {};
  ::uname(&system);
  profile.about.host = system.nodename;
  symbol::Kallsyms kernel;
  name_samples(profile, reader.out, kernel, names.users());
  return {};
}

void Sampler::tell_costs() {
  rusage own = {};
  ::getrusage(RUSAGE_SELF, &own);
  auto ns = [](const timeval& t) {
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_usec) * 1000;
  };
  recording.profile.about.own_cpu_ns = ns(own.ru_utime) + ns(own.ru_stime);
  recording.profile.about.own_memory = static_cast<uint64_t>(own.ru_maxrss) << 10;
}

} // namespace

base::Result<Recording> record(const SamplingOptions& options) {
  // Kept until the process ends: taking the trees and tables apart one by one would only cost time.
  Sampler& s = *new Sampler(options);

  // The script of the kind is verified IR; the command waits in its own process.
  ACU_CHECK(s.compile());

  // The kernel holds the program, and measures how long it runs.
  ACU_CHECK(s.load());

  // It was attached, and is so no more; what was lost is written down.
  ACU_CHECK(s.live());

  // The map's stacks are a call tree of names.
  ACU_CHECK(s.read());

  // What all of this took is written down.
  s.tell_costs();
  return std::move(s.recording);
}

} // namespace session
