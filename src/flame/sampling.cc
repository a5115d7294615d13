// The steps of a recording in their order; those of a script's run (run.cc), but for what becomes of the map.
#include "flame/sampling.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/priority.h"
#include "base/rounded.h"
#include "base/text.h"
#include "bpf/features.h"
#include "budget/duty_cycle.h"
#include "budget/trap_cost.h"
#include "flame/allocations.h"
#include "flame/earlier_waits.h"
#include "flame/gains.h"
#include "flame/goroutines.h"
#include "flame/new_go_programs.h"
#include "format/tracefs.h"
#include "profile/naming.h"
#include "session/losses.h"
#include "session/run_times.h"
#include "session/runner.h"
#include "session/script_maps.h"
#include "session/stack_map.h"
#include "spec/stack_ends.h"

#include <arpa/inet.h>
#include <cstdio>
#include <cstring>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <unordered_map>

namespace flame {

namespace {

// Where the parts of a key stand; see spec/profile_kinds.h.
enum KeyField { key_pid, key_tid, key_process, key_thread, key_kernel, key_user, key_leaf, key_which };
// Of a note's number: the sample stands for other events as well (flame_goroutines.bt).
constexpr uint64_t stands_for_others = 0x40000000;
// Of a kind without notes that has_links, in their place.
enum LinkField { key_trace = key_leaf, key_span };
// Of a kind that has_waker, behind the note.
enum WakerField { waker_kernel = key_leaf + 1, waker_user, waker_pid };

// The names of files and folders, by number: that of the folder above, and the name, which the root of a mount has not.
class FilePaths {
public:
  void add(const ir::Map& map, const std::vector<ir::Entry>& entries) {
    const std::span<const type::Field> parts = map.value->fields();
    for (const ir::Entry& e : entries) {
      uint64_t id = 0, above = 0;
      std::memcpy(&id, e.key.data(), sizeof id);
      std::memcpy(&above, e.values.data() + parts[0].offset, sizeof above);
      const char* name = reinterpret_cast<const char*>(e.values.data()) + parts[1].offset;
      names_[id] = {above, std::string(name, ::strnlen(name, parts[1].type->size))};
    }
  }
  std::string path(uint64_t id) const {
    if (!id) return "other files";
    std::string out;
    constexpr int deepest = 64; // a name that was used again could lead around
    auto at = names_.find(id);
    for (int depth = 0; at != names_.end() && depth < deepest; depth++, at = names_.find(at->second.first))
      if (!at->second.second.empty()) out.insert(0, "/" + at->second.second);
    return out.empty() ? "/" : out;
  }

private:
  std::unordered_map<uint64_t, std::pair<uint64_t, std::string>> names_;
};

struct Sampler {
  explicit Sampler(const SamplingOptions& o) : options(o) {}

  void choose_kind();
  base::Status make_script();
  base::Status compile();
  void tell_interpreter(uint32_t pid, const language_table& table);
  uint64_t unmeasured_interpreters = 0; // processes that there was no room for
  base::Status load();
  base::Status live();
  void keep_to_budget();
  void measure_later();
  void follow_goroutines();
  base::Result<double> trap_share();
  base::Status add_waiting(session::StackReader& stacks);
  std::vector<std::string_view> leaves() const;
  base::Result<std::vector<ir::Entry>> read_stacks();
  base::Status read_paths();
  void split();
  bool is_state() const { return kind.is_state && !script.lacks_end; }
  base::Status make_state();
  void note_losses(ir::Counters counters);
  void describe();
  uint64_t rate() const { return options.rate ? options.rate : default_rate(kind); }
  base::Result<uint64_t> read_number(std::string_view map);
  base::Status read_seen();
  void scale();
  base::Status read_notes();
  base::Status read();
  void report_costs();

  const SamplingOptions& options;
  spec::ProfileKind kind;
  session::TargetFilter filter;
  SamplingScript script;
  std::optional<session::Runner> runner;
  std::unique_ptr<session::Output> output;
  const uint64_t began_ns = base::clock_ns() - base::clock_ns(CLOCK_PROCESS_CPUTIME_ID); // of acu, at the latest
  session::RunTimes run_times;
  Recording recording;
  bool is_trial = false;    // to see what it costs, …
  uint64_t measured_from_ns = 0; // … which is measured when the rate of samples has settled
  FilePaths paths;
  uint64_t seen = 0, seen_weight = 0; // of a kind that is sampled: all events, less those whose stacks are still to come
  std::optional<Slicer> slicer;
  session::Regular regular;          // of whoever looks at the map before the end
  session::Regular cycle;            // of what is measured of the probes' cost, and of their duty cycle
  std::optional<budget::DutyCycle> duty_cycle;
  bool has_goroutines = false; // that the kind does not show
  std::optional<Goroutines> goroutines;
  EarlierWaits earlier;
  NewGoPrograms new_programs;
  const Viewer* viewer = nullptr;
};

void Sampler::choose_kind() {
  kind = *options.kind;
  filter = options.filter;
  if (options.probe.empty()) return;
  kind = {.name = options.probe, .script = "flame_probe", .title = options.probe, .unit = "hits"};
  if (!options.weight.empty()) kind.unit = options.weight;
  filter.include_idle = true;
}

// What following every call will cost is measured by counting them for a moment.
base::Result<double> measure_cost(const SamplingOptions& options, const session::BuiltinScript& counts) {
  constexpr uint64_t moment_ns = 200'000'000;
  Sampler trial(options);
  trial.choose_kind();
  trial.script.script = counts;
  trial.script.script.set_whose({.text = "true"}, {}, moment_ns);
  ACU_CHECK(trial.compile());
  ACU_CHECK(trial.load());
  ACU_CHECK(trial.live());
  ACU_TRY(uint64_t taken, trial.read_number("taken"));
  ACU_TRY(uint64_t given, trial.read_number("given"));
  ACU_TRY(uint64_t careful, trial.read_number("careful"));
  return cost_of_following(taken, given, careful, trial.recording.profile.about.duration_ns);
}

std::string in_percent(double number) {
  char out[32];
  std::snprintf(out, sizeof out, "%.1f%%", number);
  return out;
}

constexpr double default_max_cost = 30; // percent of a CPU, of kinds whose every event is a trap

// Reports the cost before anything that is expensive is attached. That of a command is known at its end.
base::Result<Allocations> follow_allocations(const SamplingOptions& options) {
  const bool is_command = options.filter.pid < 0;
  const spec::AllocatorCalls calls = options.kind->allocator;
  if (calls != spec::AllocatorCalls::live && !options.is_exact && !bpf::has(bpf::Feature::uprobe_multi_pid))
    return base::Error{base::Failure::unsupported, "`" + std::string(options.kind->name) +
                                                       "` attaches and detaches probes of one process at once, which requires Linux 6.10\n"
                                                       "hint: --exact keeps them attached, whatever the overhead"};
  std::string program;
  if (is_command) {
    ACU_TRY(program, session::find_executable(options.command.front(), "--"));
  }
  ACU_TRY(Allocations found, is_command ? find_allocations(program, calls) : find_allocations(options.filter.pid, calls));
  std::string text = is_command ? "only the command's own process is traced, not its children" : "";
  if (!is_command && calls == spec::AllocatorCalls::live) {
    ACU_TRY(double cost, measure_cost(options, found.counts));
    text = "estimated overhead of tracking every allocation: " + in_percent(cost) + " of a CPU";
    if (cost > options.max_cost.value_or(default_max_cost))
      return base::Error{base::Failure::runtime,
                         text + ", above the limit of `--max-cost`\nhint: acu flame alloc, without --leaks, has low overhead"};
  }
  if (!options.quiet) {
    if (!text.empty()) base::write_all(STDERR_FILENO, text + "\n");
    for (const std::string& note : found.notes) base::write_all(STDERR_FILENO, "WARNING: " + note + "\n");
  }
  return found;
}

// Records briefly to measure the time of the probes in the kernel, in percent of a CPU. For a command it is only known at the end.
constexpr uint64_t trial_ns = 400'000'000, trial_settle_ns = 200'000'000;
base::Status estimate_cost(const SamplingOptions& options) {
  const bool has_limit = options.max_cost || options.kind->is_of_goroutines;
  const bool is_asked_for = options.is_exact || (has_limit && options.kind->allocator != spec::AllocatorCalls::live);
  if (!is_asked_for || options.filter.command) return {};
  SamplingOptions moment = options;
  moment.duration_ns = trial_ns;
  moment.quiet = true;
  Sampler trial(moment);
  trial.is_trial = true;
  ACU_CHECK(trial.make_script());
  ACU_CHECK(trial.compile());
  ACU_CHECK(trial.load());
  ACU_CHECK(trial.live());
  const profile::About& about = trial.recording.profile.about;
  if (!trial.duty_cycle && !trial.measured_from_ns) return {}; // it has ended
  const uint64_t measured_ns = trial.runner->attached_ns() + about.duration_ns - trial.measured_from_ns;
  double cost = 100.0 * (trial.duty_cycle ? trial.duty_cycle->expected_run_share(options.duration_ns)
                                          : static_cast<double>(about.kernel_ns) / static_cast<double>(measured_ns));
  if (trial.goroutines) {
    ACU_TRY(const double traps, trial.trap_share());
    cost += 100.0 * traps;
  }
  const std::string text = "estimated overhead of recording: " + in_percent(cost) + " of a CPU (measured briefly)";
  const double limit = options.max_cost.value_or(options.kind->is_of_goroutines ? default_max_cost : cost);
  if (cost > limit)
    return base::Error{base::Failure::runtime,
                       text + ", above the limit of `--max-cost`\nhint: " +
                           (trial.goroutines   ? "every wait of a goroutine is seen, whatever the rate (-F); acu flame offcpu has low overhead"
                            : options.is_exact ? "--exact raises the overhead; omit it"
                                               : "lower the rate (-F) or name a process (-p)")};
  if (!options.quiet) base::write_all(STDERR_FILENO, text + "\n");
  return {};
}

// Failure: the kernel has no such tracepoint.
base::Status check_needs(const spec::ProfileKind& kind) {
  if (kind.needs.empty()) return {};
  ACU_TRY(format::Tracefs tracefs, format::Tracefs::open());
  const size_t colon = kind.needs.find(':');
  if (tracefs.has(kind.needs.substr(0, colon), kind.needs.substr(colon + 1))) return {};
  utsname system = {};
  ::uname(&system);
  return base::Error{base::Failure::unsupported,
                     "`" + std::string(kind.name) + "` needs the tracepoint " + std::string(kind.needs) + ", available from Linux " +
                         std::string(kind.since) + "; this is " + system.release};
}

base::Status Sampler::make_script() {
  choose_kind();
  ACU_CHECK(check_needs(kind));
  ACU_TRY(script, make_sampling_script(kind, filter, rate(), options.is_exact, options.duration_ns, options.only_ended));
  if (kind.has_links) script.script.set("LINKS", options.has_links);
  if (!options.probe.empty()) {
    script.script.set_places("chosen_probe", options.probe);
    script.script.set("IS_WEIGHED", !options.weight.empty());
    if (!options.weight.empty()) script.script.set_expression("weight", options.weight, "--weight");
  }
  has_goroutines = kind.shows_threads_only && is_go_program(options.filter, options.command);
  if (kind.is_of_goroutines) {
    ACU_TRY(goroutines, find_goroutines(options.filter, options.command));
    script.script.set_import("goroutine_functions.bt", goroutines->functions);
    for (const lang::Insert& place : goroutines->places) script.script.parts.places.push_back(place);
    if (!options.quiet) {
      for (const std::string& problem : goroutines->problems) base::write_all(STDERR_FILENO, "WARNING: " + problem + "\n");
      if (goroutines->programs.empty()) base::write_all(STDERR_FILENO, "no process runs a Go program: those that start are recorded\n");
    }
  }
  if (kind.allocator == spec::AllocatorCalls::none) return {};
  ACU_TRY(Allocations found, follow_allocations(options));
  script.script.set_import(found.name, std::move(found.functions));
  for (lang::Insert& places : found.places) script.script.parts.places.push_back(std::move(places));
  return {};
}

base::Status Sampler::compile() {
  // Functions of programs are looked for in the files of the process, and probed for it alone.
  const bool names_functions = !options.probe.empty() || kind.allocator != spec::AllocatorCalls::none || kind.is_of_goroutines;
  const int functions_of = names_functions ? options.filter.pid : -1;
  session::TargetFilter places = options.filter;
  if (kind.is_of_goroutines) places.container.clear(); // their files are named as acu sees them
  runner.emplace(session::Measurement{.aim = "record",
                             .script = script.script,
                             .filter = std::move(places),
                             .command = options.command,
                             .functions_of = functions_of,
                             .probes_command = kind.allocator != spec::AllocatorCalls::none && functions_of < 0,
                             .is_silent = viewer && viewer->has_terminal,
                             .filters_itself = kind.is_of_goroutines, // threads are switched to from those of other processes
                             .follows_processes = true,
                             .keeps_files = true,
                             .languages = options.languages,
                             .take_runtime = [this](uint32_t pid, const language_table& table) { tell_interpreter(pid, table); },
                             .records_may_wait = true});
  return runner->compile();
}

// The lock is in the interpreter's variable. What there is no room for is not measured.
void Sampler::tell_interpreter(uint32_t pid, const language_table& table) {
  if (!kind.waits_for_interpreter || runtime::runtime_of(table.kind).lock.empty()) return;
  if (!session::put_interpreter_lock(runner->program(), runner->backend().engine(), pid, table.root, table.root + table.root_bytes)) unmeasured_interpreters++;
}

base::Status Sampler::load() {
  session::Options run; // as `acu run` would have been asked
  run.verbose = options.verbose;
  ACU_TRY(output, session::Output::open(run));
  return runner->load(run);
}

base::Status Sampler::live() {
  std::vector<session::Regular*> regulars;
  if (regular.tick) regulars.push_back(&regular);
  if (!options.is_exact && !kind.duty_cycle.probes.empty())
    keep_to_budget();
  else if (is_trial)
    measure_later();
  else if (kind.is_of_goroutines)
    follow_goroutines();
  if (kind.is_of_goroutines && slicer && !options.filter.command)
    recording.profile.about.notes.emplace_back("waits that had begun before the recording are not counted with --split");
  if (!is_trial && (options.is_exact || kind.duty_cycle.probes.empty())) {
    // Some come no more often than was asked for, or trap anyway.
    if (kind.name == "cpu" || kind.name == "cycles" || kind.is_of_goroutines)
      run_times.start();
    else
      regulars.push_back(run_times.in_pieces(runner->backend()));
  }
  if (!cycle.tick) cycle.next_ns = session::Regular::never;
  cycle.end = [this] { // what is done after it holds nobody up
    run_times.stop();
    if (duty_cycle) duty_cycle->end();
  };
  regulars.push_back(&cycle);
  ACU_CHECK(runner->live(*output, regulars));

  profile::About& about = recording.profile.about;
  about.duration_ns = runner->detached_ns() - runner->attached_ns();
  about.start_ns = runner->attached_ns() + static_cast<uint64_t>(base::to_wall_ns(CLOCK_MONOTONIC));
  const ir::Counters counters = runner->backend().engine().counters();
  note_losses(counters);
  if (script.lacks_end)
    about.notes.push_back(std::string(kind.is_state ? "memory freed at the end is included" : "waits and calls unfinished at the end are not counted") +
                          ": before Linux 5.13, programs cannot iterate over maps");
  const std::string losses = session::describe_losses(runner->program(), counters, &runner->source(), {});
  for (std::string_view line : base::split(losses, '\n'))
    if (!line.empty()) about.notes.emplace_back(line);
  if (unmeasured_interpreters) about.notes.push_back(base::counted(unmeasured_interpreters, "process") + " could not be measured: too many run Python");
  if (runner->lost_changes())
    about.notes.push_back("lost " + base::counted(runner->lost_changes(), "process event") +
                          ": some code may have no name, or the name of another program");
  return {};
}

void Sampler::measure_later() {
  cycle.begin = [&] { cycle.next_ns = runner->attached_ns() + trial_settle_ns; };
  cycle.tick = [this]() -> base::Result<bool> {
    run_times.start();
    measured_from_ns = base::clock_ns();
    cycle.next_ns = session::Regular::never;
    return true;
  };
}

// Earlier waits, and programs that start, unless the probes are only tried.
void Sampler::follow_goroutines() {
  cycle.next_ns = session::Regular::never;
  cycle.begin = [this] {
    if (!viewer && !slicer) earlier.list(*goroutines, options.filter, runner->program(), runner->backend().engine(), recording.profile.about.notes);
    if (!goroutines->is_of_all) return;
    new_programs.take_running();
    cycle.next_ns = 0;
  };
  cycle.tick = [this]() -> base::Result<bool> {
    constexpr uint64_t period_ns = 5'000'000;
    cycle.next_ns = base::clock_ns() + period_ns;
    ACU_CHECK(new_programs.take(runner->program(), runner->backend().engine()));
    std::vector<std::string>& notes = recording.profile.about.notes;
    for (const NewGoPrograms::Started& s : new_programs.follow(*goroutines, runner->program(), runner->backend(), notes))
      if (!viewer && !slicer)
        earlier.add(goroutines->programs[s.program], options.filter, s.pid, s.attached_ns, runner->program(), runner->backend().engine());
    return true;
  };
}

// They weigh what they waited during the recording.
base::Status Sampler::add_waiting(session::StackReader& stacks) {
  ACU_TRY(const std::vector<uint64_t> ends, earlier.ends(runner->program(), runner->backend().engine(), runner->detached_ns()));
  uint64_t count = 0, of_new_programs = 0;
  for (size_t i = 0; i < ends.size(); i++) {
    const WaitingGoroutine& w = earlier.all()[i];
    const uint64_t since_ns = std::max(w.since_ns, runner->attached_ns());
    if (ends[i] <= since_ns) continue;
    profile::RawSample s = {.pid = w.pid, .tid = w.pid, .process = w.process, .thread = w.process, .leaf = goroutines->notes[w.note]};
    s.user = static_cast<uint32_t>(stacks.out.stacks.size());
    s.weight = ends[i] - since_ns, s.count = 1;
    runner->names().seen(w.pid, w.frames, 0, 0);
    stacks.out.stacks.push_back({.pid = w.pid, .frames = w.frames, .end = w.is_whole ? "" : std::string(spec::name_of_stack_end(2)), .is_end_known = true});
    seen++, seen_weight += s.weight, (w.since_ns ? of_new_programs : count)++;
    stacks.out.samples.push_back(std::move(s));
  }
  const auto note = [&](uint64_t waits, const std::string& before, std::string_view from) {
    if (waits) recording.profile.about.notes.push_back(base::counted(waits, "wait") + " had begun before " + before + " and " + (waits == 1 ? "counts" : "count") + " from " + std::string(from));
  };
  note(count, "the recording", "its beginning");
  note(of_new_programs, "acu probed programs that started meanwhile,", "then on");
  return {};
}

// CPUs that the traps of its probes took.
base::Result<double> Sampler::trap_share() {
  ACU_TRY(const uint64_t hits, read_number("hits"));
  return static_cast<double>(hits) * budget::emulated_trap_ns() / static_cast<double>(recording.profile.about.duration_ns);
}

// Notes by number.
std::vector<std::string_view> Sampler::leaves() const {
  if (goroutines) return {goroutines->notes.begin(), goroutines->notes.end()};
  return kind.leaves.empty() ? std::vector<std::string_view>() : base::split(kind.leaves, '|');
}

void Sampler::keep_to_budget() {
  duty_cycle.emplace(runner->backend(), runner->program(), kind.duty_cycle, runner->child() ? runner->child()->pid() : options.filter.pid);
  cycle.begin = [&] {
    duty_cycle->begin(runner->attached_ns());
    cycle.next_ns = duty_cycle->next_ns();
  };
  cycle.tick = [this]() -> base::Result<bool> {
    ACU_CHECK(duty_cycle->tick());
    cycle.next_ns = duty_cycle->next_ns();
    return true;
  };
}

void Sampler::note_losses(ir::Counters counters) {
  profile::About& about = recording.profile.about;
  about.kernel_ns = duty_cycle ? duty_cycle->run_ns() : run_times.of_all_time(counters.run_ns);
  about.lost = counters.scratch_busy + counters.missed_runs;
  for (uint64_t full : counters.map_full) about.lost += full;
}

// ---- from the map to stacks

struct MapReader {
  report::SystemNames& names;
  const ir::Map& map;
  std::span<const type::Field> fields;
  session::StackReader& stacks;
  const spec::ProfileKind& kind;
  const FilePaths& paths;

  uint64_t number(const ir::Entry& e, size_t field) const { return session::number_in(e, fields[field]); }
  std::string text(const ir::Entry& e, size_t field) const {
    const type::Field& f = fields[field];
    const char* begin = reinterpret_cast<const char*>(e.key.data()) + f.offset;
    return std::string(begin, ::strnlen(begin, f.type->size));
  }
  // The name of a variable, the path of a file, an address of the network, or a text.
  std::string leaf_text(const ir::Entry& e) const {
    const type::Field& f = fields[key_leaf];
    if (!kind.paths.empty()) return paths.path(number(e, key_leaf));
    if (f.type->is(type::Kind::usym))
      return names.variable(static_cast<uint32_t>(number(e, key_pid)), number(e, key_leaf), false);
    if (!f.type->is(type::Kind::inet)) return text(e, key_leaf);
    const std::byte* length = e.key.data() + f.offset;
    char out[INET6_ADDRSTRLEN] = {};
    const bool is_short = static_cast<uint8_t>(*length) == sizeof(in_addr);
    ::inet_ntop(is_short ? AF_INET : AF_INET6, length + 1, out, sizeof out);
    return out;
  }
  // The note on top, from its number or its text.
  std::string leaf(const ir::Entry& e, const std::vector<std::string_view>& leaves) {
    if (fields[key_leaf].type->is(type::Kind::integer) && kind.paths.empty()) {
      const uint64_t n = number(e, key_leaf) & ~stands_for_others;
      return n < leaves.size() ? std::string(leaves[n]) : std::string();
    }
    const bool has_which = fields.size() > key_which && !kind.has_waker;
    std::string out(leaves[has_which ? number(e, key_which) % leaves.size() : 0]);
    if (size_t at = out.find('%'); at != out.npos) out.replace(at, 1, leaf_text(e));
    return out;
  }
  // What the key stands for, with what it weighs.
  void take(const ir::Entry& e, const std::vector<std::string_view>& leaves, uint64_t weight, uint64_t count) {
    if (!weight) return;
    profile::RawSample s;
    s.weight = weight, s.count = count;
    s.pid = static_cast<uint32_t>(number(e, key_pid));
    s.tid = static_cast<uint32_t>(number(e, key_tid));
    s.process = text(e, key_process);
    s.thread = text(e, key_thread);
    s.kernel = stacks.take(number(e, key_kernel), 0, *fields[key_kernel].type);
    s.user = stacks.take(number(e, key_user), s.pid, *fields[key_user].type);
    if (fields.size() > key_leaf && !leaves.empty()) s.leaf = leaf(e, leaves);
    if (kind.has_links && fields.size() > key_span) s.link = {text(e, key_trace), text(e, key_span)};
    s.has_waker = kind.has_waker;
    if (s.has_waker) {
      const auto pid = static_cast<uint32_t>(number(e, waker_pid));
      s.waker_kernel = stacks.take(number(e, waker_kernel), 0, *fields[waker_kernel].type);
      if (pid) s.waker_user = stacks.take(number(e, waker_user), pid, *fields[waker_user].type);
    }
    stacks.out.samples.push_back(std::move(s));
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

base::Result<uint64_t> Sampler::read_number(std::string_view name) { return session::read_number(runner->program(), runner->backend().engine(), name); }

// What the script itself counted.
base::Status Sampler::read_notes() {
  for (std::string_view line : base::split(kind.notes, '\n')) {
    std::string told;
    std::optional<uint64_t> first;
    for (size_t at = 0; at < line.size();) {
      if (line[at] != '{') {
        told += line[at++];
        continue;
      }
      const size_t end = line.find('}', at);
      ACU_TRY(uint64_t number, read_number(line.substr(at + 1, end - at - 1)));
      if (!first) first = number;
      told += std::to_string(number);
      at = end + 1;
    }
    if (first.value_or(0)) recording.profile.about.notes.push_back(std::move(told));
  }
  profile::About& about = recording.profile.about;
  if (kind.allocator == spec::AllocatorCalls::live) {
    ACU_TRY(uint64_t taken, read_number("taken"));
    ACU_TRY(uint64_t given, read_number("given"));
    ACU_TRY(uint64_t careful, read_number("careful"));
    ACU_TRY(uint64_t allocated, read_number("allocated"));
    ACU_TRY(uint64_t blocks, read_number("blocks"));
    ACU_TRY(uint64_t freed, read_number("freed"));
    about.notes.push_back("allocated " + base::counted(allocated, "byte") + " in " + base::counted(blocks, "block") + "; freed of that " +
                          base::counted(freed, "byte") + " (" + in_percent(allocated ? 100.0 * static_cast<double>(freed) / static_cast<double>(allocated) : 0) + ")");
    about.notes.push_back("overhead of tracking about " + in_percent(cost_of_following(taken, given, careful, about.duration_ns)) +
                          " of a CPU: " + base::counted(taken, "allocation call") + ", " + base::counted(given, "free call"));
  }
  if (has_goroutines) about.notes.emplace_back("this is a Go program, whose threads wait for its goroutines: `acu flame goroutines` shows what those wait for");
  if (goroutines) {
    ACU_TRY(const uint64_t hits, read_number("hits"));
    ACU_TRY(const double traps, trap_share());
    const double share = traps + static_cast<double>(about.kernel_ns) / static_cast<double>(about.duration_ns);
    about.notes.push_back("overhead of the probes about " + in_percent(100 * share) + " of a CPU: goroutines waited or went on " + base::counted(hits, "time"));
  }
  return {};
}

base::Result<std::vector<ir::Entry>> Sampler::read_stacks() {
  auto index = session::find_map(runner->program(), "");
  if (!index) return base::Error{base::Failure::runtime, "the recording has no map `@`"};
  return runner->backend().engine().read_map(*index);
}

base::Status Sampler::read_paths() {
  auto named = kind.paths.empty() ? std::nullopt : session::find_map(runner->program(), kind.paths);
  if (!named) return {};
  ACU_TRY(std::vector<ir::Entry> known, runner->backend().engine().read_map(*named));
  paths.add(runner->program().maps[*named], known);
  return {};
}

const ir::Map& map_of_stacks(const ir::Program& program) { return program.maps[*session::find_map(program, "")]; }

// The map is looked at whenever a slice ends.
void Sampler::split() {
  slicer.emplace(options.split_ns);
  regular.begin = [this] { regular.next_ns = runner->attached_ns() + slicer->next_ns(); };
  regular.tick = [this]() -> base::Result<bool> {
    if (is_state()) ACU_CHECK(make_state());
    ACU_TRY(std::vector<ir::Entry> entries, read_stacks());
    slicer->take(map_of_stacks(runner->program()), entries, base::clock_ns() - runner->attached_ns());
    regular.next_ns = runner->attached_ns() + slicer->next_ns();
    return true;
  };
}

// What there would be if the recording ended now.
base::Status Sampler::make_state() {
  ACU_CHECK(runner->backend().engine().clear_map(*session::find_map(runner->program(), "")));
  for (uint32_t i = 0; i < runner->program().probes.size(); i++)
    for (uint32_t e : runner->program().probes[i].events)
      if (runner->program().events[e].kind == probe::Kind::end) {
        ACU_CHECK(runner->backend().engine().run(i));
      }
  return {};
}

bool is_for_others(const ir::Map& map, const ir::Entry& e) { return session::number_in(e, map.key->fields()[key_leaf]) & stands_for_others; }

// Events that had a sample each weigh what they weigh; the rest of what all weighed is that of the samples that stand for others.
double factor_of_others(const ir::Map& map, const std::vector<ir::Entry>& entries, uint64_t all) {
  uint64_t own = 0, others = 0;
  for (const ir::Entry& e : entries) {
    profile::RawSample sum;
    session::add_values(map, e, sum);
    (is_for_others(map, e) ? others : own) += sum.weight;
  }
  return others && all > own ? static_cast<double>(all - own) / static_cast<double>(others) : 1;
}

base::Status Sampler::read() {
  if (slicer && is_state()) ACU_CHECK(make_state()); // the last slice has left one
  ACU_TRY(std::vector<ir::Entry> entries, read_stacks());
  const ir::Map& map = map_of_stacks(runner->program());
  session::StackReader stacks = {runner->backend().engine(), runner->backend().walker() != nullptr, {}, {}};
  ACU_CHECK(read_paths());
  MapReader reader = {runner->names(), map, map.key->fields(), stacks, kind, paths};
  const std::vector<std::string_view> leaves = this->leaves();
  std::vector<size_t> sample_at; // by entry: where its sample is, if it has one
  ACU_CHECK(read_seen());
  const double factor = goroutines && !slicer ? factor_of_others(map, entries, seen_weight) : 1;
  for (const ir::Entry& e : entries) {
    sample_at.push_back(stacks.out.samples.size());
    profile::RawSample all;
    session::add_values(map, e, all);
    if (factor != 1 && is_for_others(map, e)) all.weight = static_cast<uint64_t>(base::rounded(static_cast<double>(all.weight) * factor));
    reader.take(e, leaves, all.weight, all.count);
  }
  if (slicer) slicer->end(map, entries, recording.profile.about.duration_ns);
  ACU_CHECK(read_notes());
  ACU_CHECK(add_waiting(stacks));
  runner->unload(); // its tables take as much memory as names will

  describe();
  const std::vector<uint32_t> numbers = name_samples(recording.profile, stacks.out, runner->names().sources());
  if (filter.pid >= 0 && kind.unit == "ns" && recording.profile.samples().empty())
    recording.profile.about.notes.push_back("no wait ended during the recording: to see what the threads are waiting for, run `acu snap -p " +
                                            std::to_string(filter.pid) + "`");
  if (slicer && duty_cycle && duty_cycle->attached_share() < 0.999)
    recording.profile.about.notes.push_back("events while probes were detached (gaps of up to 2 s) are counted in the next slice");
  if (slicer) {
    sample_at.push_back(numbers.size());
    std::vector<uint32_t> sample_of;
    for (size_t i = 0; i < entries.size(); i++)
      sample_of.push_back(sample_at[i] < sample_at[i + 1] ? numbers[sample_at[i]] : Slicer::no_sample);
    slicer->give(recording.profile, entries, sample_of);
  }
  scale();
  return {};
}

// What all events weighed is known exactly, whichever of them became samples.
base::Status Sampler::read_seen() {
  if (!kind.is_sampled) return {};
  ir::Engine& engine = runner->backend().engine();
  ACU_TRY(profile::RawSample sum, session::read_sum(runner->program(), engine, "seen"));
  ACU_TRY(uint64_t pending, read_number("pending"));
  seen = sum.count;
  seen_weight = sum.weight - std::min(pending, sum.weight);
  if (!duty_cycle) return {};
  // I/O in gaps is estimated from time, unless the kernel counted it.
  ACU_TRY(auto gaps, session::read_sums(runner->program(), engine, "gaps"));
  ACU_TRY(auto within, session::read_sums(runner->program(), engine, "within"));
  ACU_TRY(auto files, session::read_sums(runner->program(), engine, "files"));
  ACU_TRY(auto guessed, session::read_sums(runner->program(), engine, "guessed"));
  ACU_TRY(auto ended, session::read_sums(runner->program(), engine, "ended"));
  double counted = 0, in_place_of = 0, in_windows = 0, in_files = 0;
  for (auto [pid, guess] : guessed) {
    const double share = within[pid] ? static_cast<double>(files[pid]) / static_cast<double>(within[pid]) : 0;
    in_place_of += static_cast<double>(guess);
    in_windows += static_cast<double>(within[pid]);
    in_files += static_cast<double>(files[pid]);
    const double all = within[pid] ? static_cast<double>(files[pid]) + share * static_cast<double>(gaps[pid]) : static_cast<double>(guess);
    counted += all * (ended.contains(pid) ? 1 : duty_cycle->correction_of_last_gap());
  }
  double correction = duty_cycle->correction();
  if (ended.contains(static_cast<uint32_t>(runner->child() ? runner->child()->pid() : options.filter.pid))) {
    // What was asked for ended in the last gap, which the kernel counted, too.
    correction /= duty_cycle->correction_of_last_gap();
    for (auto [pid, bytes] : gaps)
      if (!guessed.contains(pid)) counted += static_cast<double>(bytes) * (in_windows > 0 ? in_files / in_windows : 1);
  }
  seen_weight = static_cast<uint64_t>((static_cast<double>(seen_weight) - in_place_of) * correction + counted);
  return {};
}

void Sampler::scale() {
  profile::Profile& profile = recording.profile;
  const double attached = duty_cycle ? duty_cycle->attached_share() : 1;
  const bool has_gaps = attached < 0.999;
  const std::optional<double> error = has_gaps && !kind.duty_cycle.is_of_host ? duty_cycle->standard_error() : std::nullopt;
  if (has_gaps)
    profile.about.notes.push_back("probes were attached " + in_percent(100 * attached) + " of the time to limit overhead: totals are estimates" +
                                  (error ? ", standard error " + in_percent(100 * *error) : "") + " (--exact keeps them attached)");
  constexpr double least_doubt = 0.05; // below what other estimates are off by
  if (has_gaps && duty_cycle->doubt() > least_doubt) {
    char text[120];
    std::snprintf(text, sizeof text, "the program took %.1f times as long while probes were attached: totals may be wrong by %.0f%%", duty_cycle->slowdown(), 100 * duty_cycle->doubt());
    profile.about.notes.push_back(text);
  }
  if (duty_cycle && !duty_cycle->failure().empty())
    profile.about.notes.push_back("probes could not be attached again, so later events are estimated: " + duty_cycle->failure());
  const uint64_t sampled = profile.total();
  if (!sampled || !seen_weight) return;
  if (sampled != seen_weight) profile.scale(static_cast<double>(seen_weight) / static_cast<double>(sampled));
  if (profile.about.samples >= seen) return; // the time of what had not ended
  profile.about.notes.push_back("stacks were taken for " + std::to_string(profile.about.samples) + " of " + base::counted(seen, "event") +
                                (has_gaps ? " seen" : "") + ": " + (has_gaps ? "" : "totals are exact, ") +
                                "shares are estimates (--exact: for all)");
}

void Sampler::describe() {
  profile::Profile& profile = recording.profile;
  profile.about.title = kind.title;
  profile.about.unit = kind.unit;
  profile.about.what = script.what;
  if (kind.name == "cpu") profile.about.period_ns = 1'000'000'000 / rate();
  if (!options.command.empty()) {
    profile.about.what = "command";
    for (const std::string& word : options.command) profile.about.what += " " + on_one_line(word);
  }
  utsname system = {};
  ::uname(&system);
  profile.about.host = system.nodename;
}

void Sampler::report_costs() {
  rusage own = {};
  ::getrusage(RUSAGE_SELF, &own);
  auto ns = [](const timeval& t) {
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_usec) * 1000;
  };
  recording.profile.about.own_cpu_ns = ns(own.ru_utime) + ns(own.ru_stime);
  recording.ran_ns = base::clock_ns() - began_ns;
  recording.profile.about.own_memory = static_cast<uint64_t>(own.ru_maxrss) << 10;
}

// ---- while it goes on

// Of what follows allocations the map is made at each look: by what else is done at the end.
struct Onlooker {
  Onlooker(Sampler& s, const Viewer& v)
      : sampler(s), viewer(v), stacks{s.runner->backend().engine(), s.runner->backend().walker() != nullptr, {}, {}},
        names(s.recording.profile, stacks.out, s.runner->names().sources()) {}
  void follow();
  base::Result<bool> look();

  Sampler& sampler;
  const Viewer& viewer;
  session::StackReader stacks;
  profile::GrowingNames names;
  Gains gains;
  uint64_t last_ns = 0; // CLOCK_MONOTONIC
  bool is_filling = false, is_emptied = false;
  size_t forgotten = 0; // of stacks, those that the kernel need not keep

private:
  base::Result<std::vector<ir::Entry>> read();
  void make_room(const ir::Map& map, size_t entries);
};

void Onlooker::follow() {
  session::Regular& regular = sampler.regular;
  regular.fd = viewer.input_fd;
  // What was missed is not made up for.
  const auto next_ns = [this] {
    const uint64_t now = base::clock_ns(), passed = viewer.is_by_wall_clock ? base::clock_ns(CLOCK_REALTIME) : now - sampler.runner->attached_ns();
    return now + viewer.period_ns - passed % viewer.period_ns;
  };
  regular.begin = [this, &regular, next_ns] {
    last_ns = sampler.runner->attached_ns();
    regular.next_ns = viewer.is_by_wall_clock ? next_ns() : last_ns + viewer.period_ns;
    if (viewer.begin) viewer.begin();
  };
  regular.input = viewer.input;
  regular.end = viewer.end;
  regular.tick = [this, &regular, next_ns]() -> base::Result<bool> {
    regular.next_ns = next_ns();
    return look();
  };
}

// A map that fills is emptied: its keys begin anew.
base::Result<std::vector<ir::Entry>> Onlooker::read() {
  if (std::exchange(is_filling, false)) {
    ACU_TRY(auto taken, sampler.runner->backend().take_map(*session::find_map(sampler.runner->program(), "")));
    is_emptied = taken.has_value();
    if (taken) return std::move(*taken);
  }
  return sampler.read_stacks();
}

// Tables of the kernel hold what minutes bring, and this may go on for days.
void Onlooker::make_room(const ir::Map& map, size_t entries) {
  constexpr size_t max_stacks = 2048; // a quarter of the kernel's own that there is room for, and a sixteenth of the others
  if (std::exchange(is_emptied, false)) gains = {};
  is_filling = entries > map.max_entries / 4;
  const auto& all = stacks.out.stacks;
  if (all.size() - forgotten < max_stacks) return;
  std::vector<uint64_t> ids;
  for (; forgotten < all.size(); forgotten++)
    if (!all[forgotten].pid) ids.push_back(all[forgotten].id);
  sampler.runner->backend().forget_stacks(ids);
}

base::Result<bool> Onlooker::look() {
  Sampler& s = sampler;
  const ir::Map& map = map_of_stacks(s.runner->program());
  if (s.is_state()) {
    ACU_CHECK(s.make_state());
    gains = {};
  }
  ACU_TRY(std::vector<ir::Entry> entries, read());
  const uint64_t now = base::clock_ns(), passed = now - std::exchange(last_ns, now), time = base::clock_ns(CLOCK_REALTIME);
  ACU_CHECK(s.read_paths());
  MapReader reader = {s.runner->names(), map, map.key->fields(), stacks, s.kind, s.paths};
  const std::vector<std::string_view> leaves = s.leaves();
  stacks.out.samples.clear();
  const double corrected = s.duty_cycle ? s.duty_cycle->correction() : 1;
  for (const Gains::Gain& g : gains.take(map, entries))
    reader.take(entries[g.entry], leaves, static_cast<uint64_t>(static_cast<double>(g.weight) * corrected), g.count);
  make_room(map, entries.size());
  std::vector<uint32_t> numbers = names.add_samples();
  std::vector<profile::Gain> found;
  for (size_t i = 0; i < numbers.size(); i++) found.push_back({numbers[i], stacks.out.samples[i].weight, stacks.out.samples[i].count});

  s.recording.profile.about.duration_ns = now - s.runner->attached_ns();
  const ir::Counters counters = s.runner->backend().engine().counters();
  s.note_losses(counters);
  s.report_costs();
  return viewer.look({s.recording.profile, found, passed, time, s.is_state(), session::losses_in_short(counters), s.recording.ran_ns});
}

} // namespace

base::Result<Recording> record(const SamplingOptions& options) {
  Sampler s(options);

  // The script of the kind is there. Where it may be expensive, its cost was measured and reported.
  ACU_CHECK(estimate_cost(options));
  ACU_CHECK(s.make_script());

  // It is verified IR; the command waits in its own process.
  ACU_CHECK(s.compile());

  {
    const base::RaisedPriority raised;

    // The kernel holds the program.
    ACU_CHECK(s.load());
    if (options.split_ns) s.split();

    // It was attached and is detached; what was lost is written down.
    ACU_CHECK(s.live());
  }

  // The map's stacks are a call tree of names.
  ACU_CHECK(s.read());

  // What all of this took is written down.
  s.report_costs();
  s.recording.command_status = session::end_of(s.runner->child());
  return std::move(s.recording);
}

base::Result<Recording> watch(const SamplingOptions& options, const Viewer& viewer) {
  Sampler s(options);
  s.viewer = &viewer;

  // As above.
  if (options.kind->is_of_goroutines) ACU_CHECK(estimate_cost(options));
  ACU_CHECK(s.make_script());
  ACU_CHECK(s.compile());
  const base::RaisedPriority raised;
  ACU_CHECK(s.load());

  // Whoever looks on has seen what there was, but for what happened since the last look.
  s.describe();
  Onlooker onlooker(s, viewer);
  onlooker.follow();
  ACU_CHECK(s.live());

  // That, too.
  ACU_CHECK(onlooker.look());
  ACU_CHECK(s.read_notes());
  s.report_costs();
  s.recording.command_status = session::end_of(s.runner->child());
  return std::move(s.recording);
}

} // namespace flame
