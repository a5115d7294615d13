// The steps in their order; those of a trace (tracing.cc), but for what becomes of records. What a program's function costs to
// be probed is known by its calls: they are counted as they are probed, and when they become too many the probes go.
#include "session/slow.h"

#include "base/text.h"
#include "report/names.h"
#include "session/life.h"
#include "session/losses.h"
#include "session/own_maps.h"
#include "session/run_times.h"
#include "session/slow_functions.h"
#include "session/slow_script.h"
#include "session/slow_text.h"
#include "session/steps.h"
#include "session/time.h"

#include <cstring>
#include <unistd.h>

namespace session {

namespace {

constexpr uint64_t budget_period_ns = 100'000'000; // calls are weighed over so long

struct Slow {
  explicit Slow(const SlowOptions& o) : options(o) {}

  base::Status find();
  base::Status compile();
  base::Status load();
  base::Status live();
  base::Status tell_rest();

  void take(const type::Type& type, std::span<const std::byte> bytes);
  void take_wait(Wait& wait);
  void take_call(const SlowCall& call);
  base::Result<std::vector<SlowCall>> calls_in_progress();
  void tell(const Outlier& outlier);
  void write(const SlowStory& story);
  base::Status keep_budget();
  uint64_t calls();
  std::string summary();
  void say(const std::string& text);

  const SlowOptions& options;
  SlowFunctions functions;
  bool is_probed = true;   // each call
  bool is_leaving = false; // … as its probes are taken off
  std::string why_by_waits;
  Condition condition;
  Options run; // as `acu run` would have been asked
  std::optional<base::Source> source;
  Compiled compiled;
  std::optional<Child> child;
  std::vector<base::Fd> targets;
  std::unique_ptr<Backend> backend;
  RunTimes run_times;
  report::SystemNames names;
  std::unique_ptr<Output> output;
  std::optional<SlowStacks> stacks;
  SlowNotes notes;
  std::optional<SlowTeller> teller;
  Regular regular;
  Effects* effects = nullptr; // while it lives
  uint64_t period_began_ns = 0, calls_then = 0; // of the budget
  uint64_t looked_ns = 0, calls_seen = 0;       // the last time
  uint64_t probed_ns = 0;                       // how long each call was
  uint64_t found = 0, attached_ns = 0, detached_ns = 0;
  int64_t wall_ns = to_wall_ns(CLOCK_MONOTONIC);
};

std::string listed(std::string_view kind, const std::vector<std::string>& places) {
  std::string out;
  for (const std::string& place : places) out.append(out.empty() ? "" : ",").append(kind).append(place);
  return out;
}

void Slow::say(const std::string& text) {
  if (!options.quiet) output->message(text + "\n");
}

base::Status Slow::find() {
  run.quiet = true;
  run.pid = options.filter.pid;
  run.output_file = options.output;
  ACU_TRY(output, Output::open(run));
  ACU_TRY(targets, watch_targets(options.filter));
  ACU_TRY(condition, whose_of(options.filter));
  if (!options.kind->is_dear) return {};
  ACU_TRY(functions, find_slow_functions(options.function, options.filter.pid, options.command.empty() ? "" : options.command.front()));
  why_by_waits = functions.refusal.empty() && !options.is_exact ? functions.risk : functions.refusal;
  if (options.is_exact && !functions.refusal.empty()) return base::Error{base::Failure::usage, "`--exact` cannot be had: " + functions.refusal};
  if (options.is_exact && !functions.risk.empty()) say("WARNING: " + functions.risk);
  is_probed = why_by_waits.empty();
  return {};
}

base::Status Slow::compile() {
  SlowWanted wanted = {.kind = is_probed ? options.kind : nullptr,
                       .begin = options.begin,
                       .end = options.end,
                       .condition = condition,
                       .calls = options.calls,
                       .least_ns = options.least_ns,
                       .duration_ns = options.duration_ns};
  if (options.kind->is_dear) {
    wanted.begin = listed("uprobe:", functions.places);
    wanted.end = listed("uretprobe:", functions.places);
  }
  // What looks is no part of the picture.
  wanted.condition.text = "(" + condition.text + ") && pid != " + std::to_string(::getpid());
  source.emplace("slow", slow_script(wanted));
  const Own own = {.aim = "follow that", .command = options.command, .pid = options.filter.pid, .filters_itself = true};
  return compile_own(compiled, *source, own, child);
}

base::Status Slow::load() {
  KernelOptions kernel = kernel_options(compiled, *source, child);
  kernel.pid = options.filter.pid;
  LoadReport loaded;
  ACU_TRY(backend, make_kernel_backend(compiled.program, kernel, loaded));
  run_times.start(true);
  return {};
}

// ---- records

void Slow::take(const type::Type& type, std::span<const std::byte> bytes) {
  SlowNote note = read_slow_record(type, bytes);
  if (auto* wake = std::get_if<Wake>(&note)) notes.take(std::move(*wake));
  if (auto* sample = std::get_if<OnCpu>(&note)) notes.take(*sample);
  if (auto* ran = std::get_if<Ran>(&note)) notes.take(*ran);
  if (auto* wait = std::get_if<Wait>(&note)) take_wait(*wait);
  if (auto* call = std::get_if<SlowCall>(&note)) take_call(*call);
  if (auto* io = std::get_if<SlowIo>(&note)) write(teller->tell(*io));
}

// Of calls that were going on when their probes went nobody knows the end; what was waited for in them is known.
void Slow::take_call(const SlowCall& call) {
  const Outlier outlier = notes.about(call);
  if (call.has_ended || (is_probed && !is_leaving)) return tell(outlier);
  for (const Wait& wait : outlier.waits)
    if (!wait.is_told && wait.ns() >= options.least_ns) tell(notes.about(wait));
  notes.all_told(call.thread.task);
}

// Where no call is probed, a long wait within the function tells of one.
void Slow::take_wait(Wait& wait) {
  wait.is_told = !is_probed && wait.ns() >= options.least_ns && teller->is_within(wait.user);
  notes.take(wait);
  if (wait.is_told) tell(notes.about(wait));
}

void Slow::tell(const Outlier& outlier) { write(teller->tell(outlier)); }

void Slow::write(const SlowStory& story) {
  if (options.count && found >= options.count) return;
  output->out(options.json ? slow_json(story, wall_ns) : slow_text(story, wall_ns));
  output->settle();
  found++;
}

// ---- while it goes on

uint64_t Slow::calls() {
  const base::Result<uint64_t> out = read_number(compiled.program, backend->engine(), "calls");
  return out.ok() ? *out : 0;
}

// Until now.
base::Result<std::vector<SlowCall>> Slow::calls_in_progress() {
  std::vector<SlowCall> out;
  const std::optional<uint32_t> begun = find_map(compiled.program, "start");
  if (!begun) return out;
  ACU_TRY(std::vector<ir::Entry> entries, backend->engine().read_map(*begun));
  for (const ir::Entry& e : entries) {
    SlowCall call = {.thread = {}, .end = clock_ns(), .has_ended = false, .user = {}};
    std::memcpy(&call.thread.task, e.key.data(), sizeof call.thread.task);
    std::memcpy(&call.start, e.values.data(), sizeof call.start);
    if (call.start) out.push_back(std::move(call));
  }
  return out;
}

base::Status Slow::keep_budget() {
  const uint64_t now = clock_ns(), seen = calls();
  if (now - period_began_ns >= budget_period_ns) period_began_ns = now, calls_then = seen;
  const auto is_above = [&](uint64_t calls, double allowed, uint64_t since_ns) {
    return static_cast<double>(calls * functions.call_ns) > allowed / 100 * static_cast<double>(since_ns);
  };
  // What is far above it is plain sooner.
  constexpr uint64_t enough_calls = 300;
  constexpr double far_above = 5;
  const uint64_t new_calls = seen - std::exchange(calls_seen, seen), passed = now - std::exchange(looked_ns, now);
  const bool is_plain = new_calls >= enough_calls && is_above(new_calls, far_above * options.max_cost, passed);
  if (!is_plain && !is_above(seen - calls_then, options.max_cost, budget_period_ns)) return {};
  is_leaving = true;
  for (const std::string& file : functions.files) backend->detach_file(file);
  effects->drain();
  ACU_TRY(std::vector<SlowCall> calls, calls_in_progress());
  for (const SlowCall& call : calls) take_call(call);
  is_probed = false; // from here on each wait is told as it ends
  probed_ns = now - attached_ns;
  // As many as were too many: in the period, or in a shorter time.
  const double a_second = is_plain ? static_cast<double>(new_calls) * 1e9 / static_cast<double>(passed)
                                   : static_cast<double>(seen - calls_then) * 1e9 / static_cast<double>(budget_period_ns);
  char text[256];
  std::snprintf(text, sizeof text, "%.0f calls a second: to probe each would take about %.1f%% of a CPU, more than --max-cost %g allows", a_second,
                a_second * static_cast<double>(functions.call_ns) / 1e7, options.max_cost);
  why_by_waits = text;
  say(why_by_waits + "\nfrom here on calls are found by their waits: not those that are slow on the CPU or by many short waits");
  return {};
}

base::Status Slow::live() {
  report::Options how = report_options(compiled.tree->config, false);
  how.take_value = [this](const type::Type& type, std::span<const std::byte> bytes) { take(type, bytes); };
  report::Printer printer(compiled.program, backend->engine(), names, *output, how);
  Effects own(compiled.program, backend->engine(), printer, *output, &*source);
  effects = &own;
  names.users().keep_files();
  names.users().keep_contents(); // locks are named from them
  stacks.emplace(backend->engine(), backend->walker() != nullptr, names.users());
  teller.emplace(notes, *stacks, names, options.kind->is_dear ? functions.name : std::string(), options.begin + " … " + options.end);
  ProcessWatch watch(names.users());
  if (child || options.filter.pid >= 0) watch.only(child ? child->pid() : options.filter.pid);
  std::optional<Unwinding> unwinding;
  if (backend->walker()) unwinding.emplace(*backend->walker(), names.users(), watch, *compiled.machine);
  Life one = {.program = compiled.program,
              .options = run,
              .source = &*source,
              .backend = *backend,
              .effects = own,
              .printer = printer,
              .output = *output,
              .child = child ? &*child : nullptr,
              .target_fd = targets.empty() ? -1 : targets.front().get(),
              .more_targets = std::span(targets).subspan(targets.empty() ? 0 : 1),
              .watch = &watch,
              .unwinding = unwinding ? &*unwinding : nullptr,
              .regulars = {&regular},
              .print_maps_on_exit = false};
  regular.begin = [&] {
    attached_ns = period_began_ns = looked_ns = one.attached_ns;
    regular.next_ns = attached_ns + 2'000'000;
    if (options.kind->is_dear && !is_probed)
      say("calls are found by their waits, not those that are slow on the CPU or by many short waits: " + why_by_waits + " (--exact probes it)");
  };
  // Often at first: nobody knows yet how often it is called.
  regular.tick = [this]() -> base::Result<bool> {
    constexpr uint64_t first_ns = 1'000'000'000, often_ns = 3'000'000, seldom_ns = 10'000'000;
    const uint64_t now = clock_ns();
    regular.next_ns = now + (now < attached_ns + first_ns ? often_ns : seldom_ns);
    if (options.kind->is_dear && is_probed && !options.is_exact) ACU_CHECK(keep_budget());
    return !options.count || found < options.count;
  };
  ACU_CHECK(session::live(one));
  compiled.machine->store_facts();
  detached_ns = one.detached_ns;
  if (is_probed) probed_ns = detached_ns - attached_ns;
  return {};
}

// ---- at the end

// What /proc knows of a call that goes on.
void look_at(SlowCall& call) {
  const std::string folder = "/proc/" + std::to_string(call.thread.task);
  call.thread.pid = call.thread.tid = call.thread.task;
  if (auto name = base::read_file(folder + "/comm"); name.ok()) call.thread.name = base::trim(*name);
  auto status = base::read_file(folder + "/status");
  for (std::string_view line : base::split(status.ok() ? std::string_view(*status) : "", '\n'))
    if (line.starts_with("Tgid:"))
      if (auto pid = base::parse_integer(base::trim(line.substr(5)))) call.thread.pid = static_cast<uint32_t>(*pid);
}

base::Status Slow::tell_rest() {
  if (is_probed) {
    ACU_TRY(std::vector<SlowCall> calls, calls_in_progress());
    for (SlowCall& call : calls) {
      call.end = detached_ns;
      if (call.end < call.start + options.least_ns) continue;
      look_at(call);
      if (options.kind->name == "syscall")
        if (const std::optional<CallInProgress> now = call_in_progress(call.thread.task))
          call.call = static_cast<int>(now->number), call.arguments = now->arguments;
      tell(notes.about(call));
    }
  }
  output->flush();
  const std::string told = summary();
  if (options.json)
    output->out(told);
  else
    say(told);
  return output->finish();
}

std::string Slow::summary() {
  const ir::Counters counters = backend->engine().counters();
  uint64_t lost = counters.lost_events + counters.scratch_busy + counters.missed_runs;
  for (uint64_t full : counters.map_full) lost += full;
  const uint64_t calls = this->calls();
  const uint64_t probes_ns = run_times.of_all_time(counters.run_ns) + (options.kind->is_dear ? calls * spec::slow_call_ns : 0);
  char text[512];
  if (options.json) {
    std::snprintf(text, sizeof text,
                  "{\"type\": \"summary\", \"slow\": %lu, \"calls\": %lu, \"by_waits\": %s, \"lost\": %lu, \"probes_ns\": %lu}\n",
                  found, calls, is_probed ? "false" : "true", lost, probes_ns);
    return text;
  }
  std::string out = found ? std::to_string(found) + " slow" : "nothing was slow";
  out += " (from " + short_time(options.least_ns) + " on)";
  if (is_probed) {
    const std::string_view what = options.kind->has_waits ? " call" : " disk request";
    out.append(" of ").append(std::to_string(calls)).append(what).append(calls == 1 ? "" : "s");
  } else if (calls) {
    const double a_second = static_cast<double>(calls) * 1e9 / static_cast<double>(std::max<uint64_t>(probed_ns, 1));
    std::snprintf(text, sizeof text, ", found by their waits; about %.0f calls a second at first", a_second);
    out += text;
  } else {
    out += ", found by their waits; calls were not counted";
  }
  return out + "; " + std::to_string(lost) + " lost; " + own_costs(probes_ns);
}

} // namespace

base::Result<int> find_slow(const SlowOptions& options) {
  // Kept until the process ends, as in sampling.cc.
  Slow& s = *new Slow(options);

  // Functions and processes are there, and it is known how calls can be seen.
  ACU_CHECK(s.find());

  // The script is verified IR; the command waits in its own process.
  ACU_CHECK(s.compile());

  // The kernel holds the program.
  ACU_CHECK(s.load());

  // It was attached, and is so no more; what was slow was told.
  ACU_CHECK(s.live());

  // What had not ended was told, and how much was seen.
  ACU_CHECK(s.tell_rest());
  return end_of(s.child);
}

} // namespace session
