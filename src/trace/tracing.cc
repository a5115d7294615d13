// The steps of a trace in their order; those of a recording (sampling.cc), but for what becomes of records
// and maps.
#include "trace/tracing.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/fd.h"
#include "base/text.h"
#include "bpf/features.h"
#include "report/json.h"
#include "report/number.h"
#include "session/losses.h"
#include "session/run_times.h"
#include "session/runner.h"
#include "session/script_maps.h"
#include "spec/syscalls.h"
#include "trace/call_lines.h"
#include "trace/plan.h"
#include "trace/summary.h"
#include "trace/text.h"
#include "trace/timed_windows.h"
#include "trace/values.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <set>
#include <unistd.h>

namespace trace {

namespace {

using Bytes = std::span<const std::byte>;
using Counts = std::map<int, CallCount>; // by the number of the call
using Tallies = std::map<int, Tally>;

struct Tracer {
  explicit Tracer(const TracingOptions& o) : options(o), lines(o) {}

  std::vector<int> seen_calls() const;
  session::BuiltinScript script_of(session::Condition whose, const std::vector<int>& calls) const;
  base::Status compile();
  base::Status load();
  base::Status live();
  base::Status report_counts();
  base::Status report_rest();
  void report_end();

  void take(const type::Type& type, Bytes bytes);
  bool has_gaps() const;
  base::Result<Tallies> read_tallies();
  base::Status count();
  void time_some();
  void tell(const Counts& counts);
  base::Result<bool> report_interval();

  const TracingOptions& options;
  std::optional<session::Runner> runner;
  CallLines lines;
  std::unique_ptr<session::Output> output;
  session::Regular regular;                    // intervals of counts, and the end after so many lines
  session::RunTimes run_times;
  session::Regular timing;                     // of counted calls
  std::optional<TimedWindows> windows;
  CountedCalls counted;
  Counts counted_before;              // until the last interval
  uint64_t told = 0, intervals = 0;   // calls; tables
  uint64_t interval_began_ns = 0;
};

// Those that are asked for, and those that lines need to know of: with the numbers of 32-bit programs.
std::vector<int> Tracer::seen_calls() const {
  std::vector<int> calls = options.calls;
  if (lines.names_descriptors() && !options.all_calls)
    for (int n = 0; n <= spec::last_syscall; n++)
      if (changes_descriptors(n) && !lines.is_asked_for(n)) calls.push_back(n);
  std::ranges::copy(calls_of_32_bits(options.calls, options.all_calls), std::back_inserter(calls));
  return calls;
}

// Those that do not return have no result and no duration.
static bool chooses_endless(const TracingOptions& o, std::string_view chosen) {
  return !o.fails_only && !o.min_duration_ns && chosen.find("retval") == chosen.npos && chosen.find("duration") == chosen.npos;
}

// Whether some calls may be counted without a time.
bool Tracer::has_gaps() const {
  return !options.is_exact && !options.histograms && !options.min_duration_ns && options.filter.expression.find("duration") == std::string::npos;
}

session::BuiltinScript Tracer::script_of(session::Condition whose, const std::vector<int>& calls) const {
  const std::string& chosen = options.filter.expression;
  session::BuiltinScript out(options.counts ? "trace_counts" : "trace");
  // What traces is no part of the picture.
  whose.text = "(" + whose.text + ") && pid != " + std::to_string(::getpid());
  out.set_whose(whose, options.filter, options.duration_ns);
  out.set("HAS_COMMAND", options.filter.command);
  out.set("ALL_CALLS", options.all_calls);
  out.set("FAILS_ONLY", options.fails_only);
  out.set("LEAST_NS", options.min_duration_ns);
  const bool chooses = !chosen.empty() || !options.filter.cpus.empty();
  out.set("CHOOSES", chooses);
  if (!chosen.empty()) out.set_expression("chosen", chosen, "--filter");
  if (options.counts) {
    out.set("HISTOGRAMS", options.histograms);
    out.set("GAPS", has_gaps());
    return out;
  }
  auto any = [&](auto holds) { return std::ranges::any_of(calls, holds); };
  out.set("TIMES", lines.needs_times());
  out.set("THREADS", lines.needs_threads());
  out.set("STACKS", options.stacks);
  out.set("SIGNALS", !options.quiet && !options.fails_only && !options.min_duration_ns && !chooses);
  out.set("PLAIN", Plan().pack());
  out.set("COPIED", std::max(256u, options.data));
  out.set("CHOOSES_ENDLESS", chooses_endless(options, chosen));
  out.set("DESCRIPTORS", lines.names_descriptors());
  out.set("SOCKETS", lines.names_descriptors() && options.descriptor_details);
  out.set("TIMEOUTS", any([](int call) { return plan_of(call).timeout.has_value(); }));
  out.set("WORDS", any([](int call) { return plan_of(call).word.has_value(); }));
  out.set("SIGRETURN", any([](int call) { return call == sigreturn_number; }));
  out.set("SETS", any([](int call) { return call == select_number || call == pselect_number; }));
  out.set("VECTORS", any([](int call) { return plan_of(call).shape >= Shape::vectors; }));
  out.set("LOOPS", bpf::has(bpf::Feature::loop));
  std::string begins = "number == -2"; // none
  for (int call : calls)
    if (plan_of(call).is_seen_at_begin) begins += " || number == " + std::to_string(call);
  out.set_expression("is_seen_at_begin", begins);
  return out;
}

base::Status Tracer::compile() {
  ACU_TRY(session::Condition whose, session::target_condition(options.filter));
  runner.emplace(session::Measurement{.aim = "trace",
                             .script = script_of(std::move(whose), seen_calls()),
                             .filter = options.filter,
                             .command = options.command,
                             .follows_processes = options.stacks,
                             .languages = options.languages},
                 [this](const type::Type& type, Bytes bytes) { take(type, bytes); });
  return runner->compile();
}

base::Status Tracer::load() {
  session::Options run; // as `acu run` would have been asked
  run.output_file = options.output;
  run.verbose = options.verbose;
  run.counts_failed_reads = false; // here they are read again
  if (!options.output.empty()) {
    ACU_TRY(output, session::Output::open(run));
  } else {
    output = std::make_unique<session::Output>(STDERR_FILENO, session::Buffering::line, ::isatty(STDERR_FILENO) != 0);
  }
  ACU_CHECK(runner->load(run));
  const std::optional<uint32_t> plans = session::find_map(runner->program(), "plan");
  for (int call : seen_calls()) {
    const auto number = static_cast<uint64_t>(call), plan = plan_of(call).pack();
    if (plans)
      ACU_CHECK(runner->backend().engine().put(*plans, std::as_bytes(std::span(&number, 1)),
                                      std::as_bytes(std::span(&plan, 1))));
  }
  return {};
}

// After so many calls no more are told, and the session ends.
void Tracer::take(const type::Type& type, Bytes bytes) {
  if (options.most && lines.told() == options.most) return;
  const std::string line = lines.line(type, bytes, runner->printer());
  if (line.empty()) return;
  output->out(line);
  if (lines.told() == options.most) regular.next_ns = 0;
}

base::Status Tracer::live() {
  regular.next_ns = session::Regular::never;
  regular.begin = [&] {
    interval_began_ns = runner->attached_ns();
    if (options.interval_ns) regular.next_ns = interval_began_ns + options.interval_ns;
  };
  regular.tick = [&]() -> base::Result<bool> {
    if (!options.interval_ns) return false;
    regular.next_ns += options.interval_ns;
    return report_interval();
  };
  if (runner->child()) lines.started(static_cast<uint32_t>(runner->child()->pid()));
  if (options.filter.pid >= 0) lines.look_at(static_cast<uint32_t>(options.filter.pid));
  std::vector<session::Regular*> regulars = {run_times.in_pieces(runner->backend())};
  if (options.most || options.interval_ns) regulars.push_back(&regular);
  if (options.counts && has_gaps()) {
    time_some();
    regulars.push_back(&timing);
  }
  ACU_CHECK(runner->live(*output, std::move(regulars)));
  return {};
}

void Tracer::time_some() {
  windows.emplace(runner->backend(), runner->program());
  timing.next_ns = session::Regular::never;
  timing.begin = [&] {
    windows->begin(runner->attached_ns());
    timing.next_ns = windows->next_ns();
  };
  timing.tick = [&]() -> base::Result<bool> {
    ACU_TRY(Tallies now, read_tallies());
    uint64_t calls = 0;
    for (const auto& [call, t] : now) calls += t.timed + t.untimed;
    ACU_TRY(const bool is_whole, windows->tick(calls));
    if (is_whole) counted.add(now);
    timing.next_ns = windows->next_ns();
    return true;
  };
}

// A program that makes its calls by the numbers of i386.
bool runs_32_bits(uint32_t tid) {
  char identification[EI_NIDENT] = {};
  const base::Fd file(::open(("/proc/" + std::to_string(tid) + "/exe").c_str(), O_RDONLY | O_CLOEXEC));
  return file.valid() && ::read(file.get(), identification, sizeof identification) == sizeof identification && identification[EI_CLASS] == ELFCLASS32;
}

// Calls that have not returned, and what was left out.
base::Status Tracer::report_rest() {
  // Whether they are asked for is seen when they return.
  if (!options.filter.expression.empty() || !options.path.empty()) return {};
  uint64_t room = options.most ? options.most - std::min(lines.told(), options.most) : UINT64_MAX; // lines
  if (!room) return {};
  auto tell = [&](CallLines::Unfinished call) {
    if (room && lines.is_asked_for(call.call)) output->out(lines.line(call)), room--;
  };
  ACU_TRY(std::vector<ir::Entry> begun, runner->read("start"));
  std::set<uint32_t> seen; // threads that have made calls
  for (const ir::Entry& e : begun) {
    const auto tid = static_cast<uint32_t>(number_at<uint64_t>(e.key, 0));
    const uint64_t since = number_at<uint64_t>(e.values, 0);
    seen.insert(tid);
    if (auto call = session::call_in_progress(tid); call && since && runner->detached_ns() > since)
      tell({.tid = tid, .call = static_cast<int>(call->number) + (since & 1 ? Call::first_of_32 : 0), .ns = runner->detached_ns() - since, .arguments = call->arguments});
  }
  for (const auto& [tid, is_32] : lines.threads())
    if (auto call = seen.insert(tid).second ? session::call_in_progress(tid) : std::nullopt)
      tell({.tid = tid, .call = static_cast<int>(call->number) + (is_32 ? Call::first_of_32 : 0), .ns = {}, .arguments = call->arguments});
  // Of one process also what its threads have been in all the time: there it may hang.
  std::error_code gone;
  if (options.filter.pid >= 0)
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(options.filter.pid) + "/task", gone)) {
      const auto tid = static_cast<uint32_t>(base::parse_integer(thread.path().filename().string()).value_or(0));
      const std::optional<session::CallInProgress> call = seen.contains(tid) ? std::nullopt : session::call_in_progress(tid);
      const bool is_32 = call && call->number >= 0 && runs_32_bits(tid);
      if (call && (is_32 || std::ranges::count(options.calls, call->number)))
        tell({.tid = tid, .call = static_cast<int>(call->number) + (is_32 ? Call::first_of_32 : 0), .began_before = true, .ns = {}, .arguments = call->arguments});
    }
  return {};
}

int call_of(const ir::Entry& e) {
  int64_t n = 0;
  std::memcpy(&n, e.key.data(), std::min(e.key.size(), sizeof n));
  return static_cast<int>(n);
}

// Sums over the CPUs: stats are a sum and a count, counts are one number.
base::Result<Tallies> Tracer::read_tallies() {
  Tallies out;
  ACU_TRY(std::vector<ir::Entry> calls, runner->read("calls"));
  const ir::Map& stats = runner->program().maps[*session::find_map(runner->program(), "calls")];
  for (const ir::Entry& e : calls)
    for (size_t at = 0; at + stats.value_size <= e.values.size(); at += stats.value_size) {
      Tally& t = out[call_of(e)];
      t.ns += number_at<uint64_t>(e.values, at);
      t.timed += number_at<uint64_t>(e.values, at + 8);
    }
  for (auto [map, field] : {std::pair("untimed", &Tally::untimed), std::pair("errors", &Tally::errors)}) {
    ACU_TRY(std::vector<ir::Entry> entries, runner->read(map));
    for (const ir::Entry& e : entries)
      for (size_t at = 0; at + 8 <= e.values.size(); at += 8) out[call_of(e)].*field += number_at<uint64_t>(e.values, at);
  }
  return out;
}

base::Status Tracer::count() {
  ACU_TRY(Tallies now, read_tallies());
  counted.add(now);
  return {};
}

void Tracer::tell(const Counts& counts) {
  const std::vector<CountRow> rows = sorted_counts(counts, options.sort);
  if (!options.json) return output->out(summary_text(rows, options.top));
  for (size_t i = 0; i < rows.size() && (!options.top || i < options.top); i++) {
    std::string line = "{\"call\":";
    report::append_json(line, std::string_view(rows[i].name));
    line += ",\"calls\":" + std::to_string(rows[i].count.calls) + ",\"errors\":" + std::to_string(rows[i].count.errors) +
            ",\"ns\":" + std::to_string(rows[i].count.ns) + ",\"timed\":" + std::to_string(rows[i].count.timed);
    if (options.interval_ns) line += ",\"interval\":" + std::to_string(intervals);
    output->out(line + "}\n");
  }
}

// What was counted since the last one.
base::Result<bool> Tracer::report_interval() {
  ACU_CHECK(count());
  Counts gained;
  for (const auto& [call, c] : counted.counts()) {
    const CallCount before = std::exchange(counted_before[call], c);
    if (c.calls > before.calls) gained[call] = {c.calls - before.calls, c.errors - before.errors, c.ns - before.ns, c.timed - before.timed};
  }
  const uint64_t until = base::clock_ns(), passed = until - std::exchange(interval_began_ns, until);
  char text[32];
  std::snprintf(text, sizeof text, ", %.2f s:\n", static_cast<double>(passed) / 1e9);
  if (!options.json) output->out((intervals ? "\n" : "") + base::time_of_day() + text);
  intervals++;
  tell(gained);
  return !options.most || intervals < options.most;
}

base::Status Tracer::report_counts() {
  if (!options.interval_ns)
    ACU_CHECK(count());
  else if (!options.most || intervals < options.most)
    ACU_CHECK(report_interval());
  uint64_t timed = 0;
  for (const auto& [call, c] : counted.counts()) told += c.calls, timed += c.timed;
  if (!options.interval_ns) tell(counted.counts());
  if (timed < told && !options.json)
    output->message("NOTE: times are estimates: " + report::grouped(timed) + " of " + report::grouped(told) + " calls were timed, as there were many (--exact times all). Calls and errors are exact.\n");
  if (options.histograms) {
    const std::optional<uint32_t> times = session::find_map(runner->program(), "times");
    ACU_TRY(std::vector<ir::Entry> entries, runner->read("times"));
    for (const ir::Entry& e : entries) {
      output->out("\n" + name_of_row(call_of(e)) + ", ns:\n");
      runner->printer().entry(*times, e);
    }
  }
  return {};
}

// Prints the summary line: calls, losses and overhead. Not among lines of JSON.
void Tracer::report_end() {
  if (options.quiet || (options.json && options.output.empty())) return;
  const ir::Counters counters = runner->backend().engine().counters();
  if (!options.counts) told = lines.told();
  if (lines.late() || lines.missing())
    output->message("WARNING: " + base::counted(lines.late() + lines.missing(), "argument") + " could not be read when the call returned (memory not mapped): " +
                    std::to_string(lines.late()) + " read later, " + std::to_string(lines.missing()) + " shown as addresses\n");
  output->message(report::grouped(told) + " " + base::unit_of(told, "call") + ", " + session::losses_in_short(counters) + "; " +
                  session::own_costs(run_times.of_all_time(counters.run_ns)) + "\n");
}

} // namespace

base::Result<int> trace_calls(const TracingOptions& options) {
  Tracer t(options);

  // The script is verified IR; the command waits in its own process.
  ACU_CHECK(t.compile());

  // The kernel holds the program, and knows which calls are wanted.
  ACU_CHECK(t.load());

  // Detached; all calls were printed or counted, also those that have not returned, but in tables.
  ACU_CHECK(t.live());
  ACU_CHECK(options.counts ? t.report_counts() : t.report_rest());
  t.report_end();
  ACU_CHECK(t.output->finish());
  return session::end_of(t.runner->child());
}

} // namespace trace
