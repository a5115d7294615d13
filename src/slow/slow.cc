// The steps in their order; those of a trace (tracing.cc), but for what becomes of records. What a program's function costs to
// be probed is known by its calls: they are counted as they are probed, and when they become too many the probes go.
#include "slow/slow.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/process_status.h"
#include "base/text.h"
#include "report/names.h"
#include "session/losses.h"
#include "session/run_times.h"
#include "session/runner.h"
#include "session/script_maps.h"
#include "slow/entries.h"
#include "slow/functions.h"
#include "slow/looks.h"
#include "slow/script.h"
#include "slow/text.h"
#include "symbol/containers.h"
#include "trace/call.h"

#include <algorithm>
#include <unistd.h>

namespace slow {

namespace {

// How calls of a function are seen.
enum class Seen : uint8_t { whole, by_entries, by_waits };

constexpr std::string_view entry_kinds[] = {"uprobe:"};
constexpr uint64_t budget_period_ns = 100'000'000; // calls are weighed over so long

struct Slow {
  explicit Slow(const Options& o) : options(o), looks(o.min_duration_ns, o.max_cost) {}

  base::Status find();
  base::Status compile();
  base::Status load();
  base::Status fill_wanted();
  base::Status live();
  base::Status report_rest();

  void take(const type::Type& type, std::span<const std::byte> bytes);
  void take_wait(Wait& wait);
  void take_call(const Call& call);
  base::Result<std::vector<Call>> calls_in_progress(uint64_t end);
  void take_seen(const Thread& thread, uint64_t at, InCall in, const StackId& user);
  void report_over(const std::optional<Call>& call);
  void tell(const Outlier& outlier);
  void write(const Story& story);
  base::Status keep_budget();
  base::Status follow_by(Seen how, uint64_t now);
  base::Status look();
  base::Status end_look(uint64_t now);
  std::vector<uint32_t> probes_of(std::span<const std::string_view> kinds) const;
  bool is_landing(uint32_t probe) const;
  uint64_t calls();
  uint64_t call_ns() const { return !options.kind->is_expensive ? 0 : seen == Seen::whole ? functions.call_ns : spec::slow_entry_ns; }
  void charge();
  std::string summary();
  void say(const std::string& text);

  const Options& options;
  Functions functions;
  int files_of = -1; // the process whose functions are meant; -1: nobody's
  Seen seen = Seen::whole;
  bool is_leaving = false; // whole calls, as the probes of their returns are taken off
  bool wants_look = false;
  session::Condition condition;
  session::Options run; // as `acu run` would have been asked
  std::unique_ptr<session::Output> output;
  std::optional<session::Runner> runner;
  session::RunTimes run_times;
  std::optional<Stacks> stacks;
  Records records;
  Notes notes;
  Entries entries; // by_entries, and of looks
  Looks looks;     // by_waits
  InterpreterLocks interpreter_locks;
  std::optional<StoryWriter> story_writer;
  session::Regular regular;
  uint64_t period_began_ns = 0, calls_then = 0; // of the budget
  uint64_t looked_ns = 0, calls_seen = 0;       // the last time
  uint64_t probed_ns = 0;                       // how long each call was
  uint64_t charged_calls = 0, charged_ns = 0;   // what calls took to be probed
  uint64_t found = 0, attached_ns = 0, detached_ns = 0;
  int64_t wall_ns = base::to_wall_ns(CLOCK_MONOTONIC);
};

void Slow::say(const std::string& text) {
  if (!options.quiet) output->message(text + "\n");
}

base::Status Slow::find() {
  run.quiet = true;
  run.pid = files_of = options.filter.pid;
  run.output_file = options.output;
  ACU_TRY(output, session::Output::open(run));
  ACU_TRY(condition, session::target_condition(options.filter));
  if (!options.kind->is_expensive) return {};
  // Of a container its main process has the files.
  const bool is_contained = !options.filter.container.empty();
  if (is_contained) files_of = symbol::main_process(symbol::processes_of_group(options.filter.cgroup)).value_or(-1);
  ACU_TRY(functions, find_slow_functions(options.function, files_of, options.command.empty() ? "" : options.command.front()));
  const std::string& why_not = functions.no_calls.empty() || functions.is_risk ? functions.no_returns : functions.no_calls;
  if (options.is_exact && !why_not.empty()) return base::Error{base::Failure::usage, "`--exact` is not supported here: " + why_not};
  if (options.is_exact && functions.is_risk) say("WARNING: " + functions.no_calls);
  if (options.is_exact) return {};
  if (!functions.no_returns.empty()) seen = Seen::by_entries;
  if (!functions.no_calls.empty()) seen = Seen::by_waits;
  return {};
}

base::Status Slow::compile() {
  Wanted wanted = {.kind = seen == Seen::by_waits ? nullptr : options.kind,
                       .begin = {options.begin, "the first probe"},
                       .end = {options.end, "the second probe"},
                       .condition = condition,
                       .filter = options.filter,
                       .calls = options.calls,
                       .min_duration_ns = options.min_duration_ns,
                       .duration_ns = options.duration_ns};
  if (options.kind->is_expensive) {
    wanted.begin = {session::listed("uprobe:", functions.places), options.function};
    wanted.end = {session::listed("uretprobe:", functions.places), options.function};
    wanted.has_ends = seen == Seen::whole;
    wanted.landings = functions.landings;
  }
  // acu itself is not part of the result.
  wanted.condition.text = "(" + condition.text + ") && pid != " + std::to_string(::getpid());
  runner.emplace(session::Measurement{.aim = "probe that",
                                      .script = slow_script(wanted),
                                      .filter = options.filter,
                                      .command = options.command,
                                      .functions_of = files_of,
                                      .filters_itself = true,
                                      .follows_processes = true,
                                      .keeps_files = true,
                                      .keeps_contents = true,
                                      .languages = options.languages,
                                      .take_runtime = [this](uint32_t pid, const language_table& table) { interpreter_locks.add_to(*runner, pid, table); }},
                 [this](const type::Type& type, std::span<const std::byte> bytes) { take(type, bytes); });
  return runner->compile();
}

base::Status Slow::load() {
  ACU_CHECK(runner->load(run));
  return fill_wanted();
}

// Of many system calls (max_compared_calls) the script looks into a map.
base::Status Slow::fill_wanted() {
  const std::optional<uint32_t> wanted = session::find_map(runner->program(), "wanted");
  for (int call : options.calls) {
    const auto number = static_cast<uint64_t>(call), is_wanted = uint64_t{1};
    if (wanted) ACU_CHECK(runner->backend().engine().put(*wanted, std::as_bytes(std::span(&number, 1)), std::as_bytes(std::span(&is_wanted, 1))));
  }
  return {};
}

// ---- records

void Slow::take(const type::Type& type, std::span<const std::byte> bytes) {
  Note note = records.read(type, bytes);
  if (auto* wake = std::get_if<Wake>(&note)) notes.take(std::move(*wake));
  if (auto* sample = std::get_if<OnCpu>(&note)) {
    notes.take(*sample);
    take_seen(sample->thread, sample->at, sample->in, sample->user);
  }
  if (auto* next = std::get_if<NextCall>(&note)) report_over(entries.seen_after(next->task, next->start));
  if (auto* ran = std::get_if<Ran>(&note)) notes.take(*ran);
  if (auto* turn = std::get_if<Turn>(&note)) notes.take(*turn);
  if (auto* wait = std::get_if<Wait>(&note)) take_wait(*wait);
  if (auto* call = std::get_if<Call>(&note)) take_call(*call);
  if (auto* io = std::get_if<Io>(&note)) write(story_writer->tell(*io));
}

// Of calls that were going on when their probes went nobody knows the end; what was waited for in them is known.
void Slow::take_call(const Call& call) {
  const Outlier outlier = notes.about(call);
  if (!call.has_ended && seen == Seen::by_entries) return report_over(entries.end(call.thread.task)); // its thread has ended
  if (call.has_ended || (seen == Seen::whole && !is_leaving)) return tell(outlier);
  for (const Wait& wait : outlier.waits)
    if (!wait.is_told && wait.ns() >= options.min_duration_ns) tell(notes.about(wait));
  notes.all_told(call.thread.task);
}

// Where no call is probed, a long wait within the function tells of one.
void Slow::take_wait(Wait& wait) {
  wait.is_told = seen == Seen::by_waits && wait.ns() >= options.min_duration_ns && story_writer->is_within(wait.user);
  notes.take(wait);
  if (wait.is_told) tell(notes.about(wait));
  take_seen(wait.thread, wait.back, wait.in, wait.user);
}

// Where calls are known by their entries: is the thread still in the last one? In a look a thread that has entered none since it began
// is in one that is older; entries from before it do not count, as others may have come unseen.
void Slow::take_seen(const Thread& thread, uint64_t at, InCall in, const StackId& user) {
  if (seen == Seen::whole) return;
  if (seen == Seen::by_waits && (!looks.is_open() || in.start < looks.opened_ns()))
    in = {.start = looks.is_open() && at >= looks.opened_ns() ? looks.opened_ns() : 0, .is_counted = false};
  const StoryWriter::Within within = story_writer->where_is(user);
  if (seen == Seen::by_waits && looks.is_due(thread.task, at, within == StoryWriter::Within::yes)) {
    wants_look = true;
    regular.next_ns = at; // soon
  }
  if (!in.start) return;
  if (within == StoryWriter::Within::yes) report_over(entries.seen_in(thread, at, in));
  if (within == StoryWriter::Within::no) report_over(entries.seen_after(thread.task, in.start));
}

void Slow::report_over(const std::optional<Call>& call) {
  if (!call || call->end - call->start < options.min_duration_ns) return;
  Outlier outlier = notes.about(*call);
  outlier.is_whole = false;
  tell(outlier);
}

void Slow::tell(const Outlier& outlier) { write(story_writer->tell(outlier)); }

void Slow::write(const Story& story) {
  if (options.count && found >= options.count) return;
  output->out(options.json ? slow_json(story, wall_ns) : slow_text(story, wall_ns));
  output->settle();
  found++;
}

// ---- while it goes on

uint64_t Slow::calls() {
  const base::Result<uint64_t> out = session::read_number(runner->program(), runner->backend().engine(), "calls");
  return out.ok() ? *out : 0;
}

// As they were probed until now.
void Slow::charge() {
  const uint64_t all = calls();
  charged_ns += (all - charged_calls) * call_ns();
  charged_calls = all;
}

// Until `end`, with the time that their threads are away now.
base::Result<std::vector<Call>> Slow::calls_in_progress(uint64_t end) {
  std::vector<Call> out;
  const std::optional<uint32_t> begun = session::find_map(runner->program(), "call");
  if (!begun) return out;
  ACU_TRY(std::vector<ir::Entry> entries, runner->backend().engine().read_map(*begun));
  for (const ir::Entry& e : entries) {
    Call call = records.read_open_call(e.key, *runner->program().maps[*begun].value, e.values);
    call.end = end;
    if (call.start && call.start < end) out.push_back(std::move(call));
  }
  if (out.empty()) return out;
  ACU_TRY(const auto left, session::read_sums(runner->program(), runner->backend().engine(), "left"));
  ACU_TRY(const auto woken, session::read_sums(runner->program(), runner->backend().engine(), "woken"));
  for (Call& call : out) {
    const auto l = left.find(call.thread.task), w = woken.find(call.thread.task);
    if (l == left.end() || l->second < call.start || l->second >= end) continue;
    const bool is_preempted = l->second & 1;
    call.away_ns += end - l->second;
    if (is_preempted)
      call.queued_ns += end - l->second;
    else if (w != woken.end() && w->second >= l->second && w->second < end)
      call.queued_ns += end - w->second;
  }
  return out;
}

base::Status Slow::keep_budget() {
  const uint64_t now = base::clock_ns(), called = calls();
  if (now - period_began_ns >= budget_period_ns) period_began_ns = now, calls_then = called;
  const auto is_above = [&](uint64_t calls, double allowed, uint64_t since_ns) {
    return static_cast<double>(calls * call_ns()) > allowed / 100 * static_cast<double>(since_ns);
  };
  // A rate far above the budget is detected sooner.
  constexpr uint64_t enough_calls = 300;
  constexpr double far_above = 5;
  const uint64_t new_calls = called - std::exchange(calls_seen, called), passed = now - std::exchange(looked_ns, now);
  const bool is_plain = new_calls >= enough_calls && is_above(new_calls, far_above * options.max_cost, passed);
  if (!is_plain && !is_above(called - calls_then, options.max_cost, budget_period_ns)) return {};
  // The rate that was too high: in the period, or in a shorter time.
  const double a_second = is_plain ? static_cast<double>(new_calls) * 1e9 / static_cast<double>(passed)
                                   : static_cast<double>(called - calls_then) * 1e9 / static_cast<double>(budget_period_ns);
  const double entries_cost = a_second * static_cast<double>(spec::slow_entry_ns) / 1e7; // percent of a CPU
  const bool entries_alone = seen == Seen::whole && functions.is_at_returns && entries_cost <= options.max_cost;
  char text[256];
  std::snprintf(text, sizeof text, "%.0f calls per second: probing %s would take about %.1f%% of a CPU, above --max-cost %g", a_second,
                seen == Seen::whole ? "each call" : "their entries", a_second * static_cast<double>(call_ns()) / 1e7, options.max_cost);
  say(std::string(text) + "\nfrom now on " +
      (entries_alone ? "returns are not probed: samples and waits give a lower bound of the duration"
                     : "calls are found by their waits and by CPU samples: most calls with many short waits are missed"));
  looks.allow(entries_cost);
  return follow_by(entries_alone ? Seen::by_entries : Seen::by_waits, now);
}

std::vector<uint32_t> Slow::probes_of(std::span<const std::string_view> kinds) const {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < runner->program().probes.size(); i++)
    if (std::ranges::any_of(kinds, [&](std::string_view kind) { return runner->program().probes[i].name.starts_with(kind); })) out.push_back(i);
  return out;
}

// Such a probe ends calls that are measured whole; otherwise it is not needed.
bool Slow::is_landing(uint32_t probe) const {
  return std::ranges::find(functions.landings.events, runner->program().probes[probe].name) != functions.landings.events.end();
}

// Probes entries briefly, only as long as needed.
base::Status Slow::look() {
  const uint64_t now = base::clock_ns();
  if (looks.is_over(now, entries.last_seen())) return end_look(now);
  if (!std::exchange(wants_look, false) || looks.is_open() || runner->backend().is_detaching()) return {};
  for (uint32_t probe : probes_of(entry_kinds)) {
    if (is_landing(probe)) continue;
    ACU_CHECK(runner->backend().attach(probe, [](base::Error) { return base::Status(); }));
  }
  looks.open(base::clock_ns());
  return {};
}

base::Status Slow::end_look(uint64_t now) {
  runner->backend().detach_probes(probes_of(entry_kinds));
  charge();
  for (const Call& call : entries.end_all()) report_over(call);
  looks.close(now);
  return runner->backend().engine().clear_map(*session::find_map(runner->program(), "call"));
}

// With fewer probes. A call that goes on as they are detached is told by what was waited for in it, or followed on by its entry.
base::Status Slow::follow_by(Seen how, uint64_t now) {
  charge();
  constexpr std::string_view ends[] = {"uretprobe:"}, calls_kinds[] = {"uprobe:", "uretprobe:"};
  if (how == Seen::by_entries) {
    ACU_CHECK(session::set_number(runner->program(), runner->backend().engine(), "by_entries", 1));
    runner->backend().detach_probes(probes_of(ends));
    runner->drain();
    seen = how;
    return {};
  }
  is_leaving = true;
  runner->backend().detach_probes(probes_of(calls_kinds));
  runner->drain();
  if (seen == Seen::whole) {
    ACU_TRY(std::vector<Call> calls, calls_in_progress(now));
    for (const Call& call : calls) take_call(call);
  }
  for (const Call& call : entries.end_all()) report_over(call);
  ACU_CHECK(runner->backend().engine().clear_map(*session::find_map(runner->program(), "call")));
  ACU_CHECK(session::set_number(runner->program(), runner->backend().engine(), "by_entries", 1));
  ACU_CHECK(session::set_number(runner->program(), runner->backend().engine(), "looks", looks.interval_ns()));
  seen = how; // from here on each wait is told as it ends
  probed_ns = now - attached_ns;
  return {};
}

base::Status Slow::live() {
  stacks.emplace(runner->backend().engine(), runner->backend().walker() != nullptr, runner->names().sources());
  story_writer.emplace(notes, *stacks, runner->names(), interpreter_locks, options.kind->is_expensive ? functions.name : std::string(), options.begin + " … " + options.end);
  regular.begin = [&] {
    attached_ns = period_began_ns = looked_ns = runner->attached_ns();
    regular.next_ns = attached_ns + 2'000'000;
    if (seen == Seen::by_entries)
      say("returns are not probed: " + functions.no_returns + "\nsamples and waits give a lower bound of the duration");
    if (seen == Seen::by_waits)
      say("calls are found by their waits; calls that are slow on the CPU or have many short waits are missed: " + functions.no_calls + (functions.is_risk ? " (--exact probes it)" : ""));
  };
  // Often at first: the call rate is not known yet.
  regular.tick = [this]() -> base::Result<bool> {
    constexpr uint64_t first_ns = 1'000'000'000, often_ns = 3'000'000, seldom_ns = 10'000'000;
    const uint64_t now = base::clock_ns();
    regular.next_ns = now + (now < attached_ns + first_ns ? often_ns : seldom_ns);
    if (options.kind->is_expensive && seen != Seen::by_waits && !options.is_exact) ACU_CHECK(keep_budget());
    if (seen == Seen::by_waits && functions.no_calls.empty()) ACU_CHECK(look());
    return !options.count || found < options.count;
  };
  ACU_CHECK(runner->live(*output, {&regular, run_times.in_pieces(runner->backend())}));
  detached_ns = runner->detached_ns();
  if (seen != Seen::by_waits) probed_ns = detached_ns - attached_ns;
  return {};
}

// ---- at the end

// Reads /proc about a call in progress.
void look_at(Call& call) {
  const auto thread = static_cast<pid_t>(call.thread.task);
  call.thread.tid = call.thread.task;
  call.thread.pid = static_cast<uint32_t>(base::process_of_thread(thread).value_or(thread));
  if (auto name = base::read_file("/proc/" + std::to_string(thread) + "/comm"); name.ok()) call.thread.name = base::trim(*name);
}

base::Status Slow::report_rest() {
  for (const Call& call : entries.end_all()) report_over(call);
  if (seen == Seen::whole) {
    ACU_TRY(std::vector<Call> calls, calls_in_progress(detached_ns));
    for (Call& call : calls) {
      if (call.end < call.start + options.min_duration_ns) continue;
      look_at(call);
      if (options.kind->name == "syscall")
        if (const std::optional<session::CallInProgress> now = session::call_in_progress(call.thread.task))
          call.call = static_cast<int>(now->number) + (call.start & 1 ? trace::Call::first_of_32 : 0), call.arguments = now->arguments;
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
  const ir::Counters counters = runner->backend().engine().counters();
  const uint64_t lost = session::lost_events(counters);
  charge();
  const uint64_t calls = charged_calls;
  const uint64_t probes_ns = run_times.of_all_time(counters.run_ns) + charged_ns;
  char text[512];
  if (options.json) {
    std::snprintf(text, sizeof text,
                  "{\"type\": \"summary\", \"slow\": %lu, \"calls\": %lu, \"by_waits\": %s, \"by_entries\": %s, \"lost\": %lu, \"probes_ns\": %lu}\n",
                  found, calls, seen == Seen::by_waits ? "true" : "false", seen == Seen::by_entries ? "true" : "false", lost, probes_ns);
    return text;
  }
  std::string out = found ? std::to_string(found) + " slow" : "nothing was slow";
  out += " (at least " + base::short_time(options.min_duration_ns) + ")";
  if (seen != Seen::by_waits) {
    const std::string_view what = options.kind->has_waits ? "call" : "disk request";
    out += " of " + base::counted(calls, what);
    if (seen == Seen::by_entries) out += ", returns not probed";
  } else if (calls) {
    const double a_second = static_cast<double>(calls) * 1e9 / static_cast<double>(std::max<uint64_t>(probed_ns, 1));
    std::snprintf(text, sizeof text, ", found by their waits; about %.0f calls per second at first", a_second);
    out += text;
  } else {
    out += ", found by their waits; calls were not counted";
  }
  return out + "; " + std::to_string(lost) + " lost; " + session::own_costs(probes_ns);
}

} // namespace

base::Result<int> find_slow(const Options& options) {
  Slow s(options);

  // Functions and processes exist, and the way to measure calls is chosen.
  ACU_CHECK(s.find());

  // The script is verified IR; the command waits in its own process.
  ACU_CHECK(s.compile());

  // The kernel holds the program.
  ACU_CHECK(s.load());

  // Detached; all slow calls were reported.
  ACU_CHECK(s.live());

  // Unfinished calls and the summary were reported.
  ACU_CHECK(s.report_rest());
  return session::end_of(s.runner->child());
}

} // namespace slow
