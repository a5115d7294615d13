// Tables that measure for a while: CPU samples, waits and system calls, with the built-in scripts of the other commands.
#include "sql/samples.h"

#include "base/print.h"
#include "base/privilege.h"
#include "flame/sampling.h"
#include "proc/process_files.h"
#include "session/output.h"
#include "session/runner.h"
#include "spec/numbers.h"
#include "spec/syscalls.h"
#include "sql/sources.h"
#include "sql/subject.h"
#include "why/script_rows.h"

#include <algorithm>
#include <map>
#include <unistd.h>

namespace sql {

std::vector<SampleRow> sample_rows(const profile::Profile& profile, std::optional<int64_t> pid, double seconds_each) {
  std::vector<SampleRow> out;
  for (const profile::Sample& s : profile.samples()) {
    const profile::Thread& thread = profile.threads()[s.thread];
    if (pid && thread.pid != *pid) continue;
    SampleRow row = {.pid = thread.pid, .tid = thread.tid, .weight = static_cast<int64_t>(s.weight), .count = static_cast<int64_t>(s.count),
                     .process = std::string(profile.texts()[thread.process]), .thread = std::string(profile.texts()[thread.name]),
                     .seconds = static_cast<double>(s.weight) * seconds_each};
    const std::vector<uint32_t> frames = profile.stack(s.node);
    for (uint32_t number : frames) row.stack += (row.stack.empty() ? "" : ";") + std::string(profile.name(profile.frames()[number]));
    if (!frames.empty()) {
      const profile::Frame& innermost = profile.frames()[frames.back()];
      row.function = profile.name(innermost);
      if (innermost.module) row.module = std::string(profile.module(innermost));
      row.kind = std::string(spec::row_of(innermost.kind).name);
    }
    out.push_back(std::move(row));
  }
  return out;
}

namespace {

constexpr double default_seconds = 1, min_seconds = 0.001, max_seconds = 3600;

constexpr Column seconds_argument = argument("seconds", Type::real, "s", "For how long it measures, from 0.001 to 3600 (default 1).", Role::optional_argument);

// What there is time for.
base::Result<uint64_t> duration_of(const Request& request) {
  const double seconds = request.real("seconds").value_or(default_seconds);
  if (seconds < min_seconds || seconds > max_seconds) return base::Error{base::Failure::usage, base::print("`seconds` is from %g to %g, not %g", min_seconds, max_seconds, seconds)};
  return std::min(static_cast<uint64_t>(seconds * 1e9), request.left_ns());
}

session::TargetFilter filter_of(const Request& request) {
  session::TargetFilter out;
  if (const auto pid = request.number("pid"); pid && *pid > 0 && *pid <= INT32_MAX) out.pid = static_cast<int>(*pid), out.pids = {out.pid};
  return out;
}

// With a condition on a process that does not exist, there are no rows: that is no failure.
bool has_no_process(const session::TargetFilter& filter) { return filter.pid >= 0 && !base::is_accessible(("/proc/" + std::to_string(filter.pid)).c_str(), F_OK); }

base::Result<std::vector<SampleRow>> record(const Request& request, std::string_view kind) {
  flame::SamplingOptions options;
  options.kind = spec::find_profile_kind(kind);
  options.filter = filter_of(request);
  ACU_TRY(options.duration_ns, duration_of(request));
  options.quiet = true;
  if (has_no_process(options.filter)) return std::vector<SampleRow>();
  ACU_TRY(const flame::Recording recording, flame::record(options));
  const profile::About& about = recording.profile.about;
  for (const std::string& note : about.notes) request.note(note);
  if (about.lost) request.note(std::to_string(about.lost) + " samples were lost");
  return sample_rows(recording.profile, request.number("pid"), about.unit == "ns" ? 1e-9 : static_cast<double>(about.period_ns) / 1e9);
}

base::Result<std::vector<SampleRow>> read_cpu_samples(const Request& request) { return record(request, "cpu"); }
base::Result<std::vector<SampleRow>> read_offcpu(const Request& request) { return record(request, "offcpu"); }

constexpr Column cpu_columns[] = {
    column<&SampleRow::pid>("pid", "", "The process.", Role::pushed),
    column<&SampleRow::process>("process", "", "Its name."),
    column<&SampleRow::tid>("tid", "", "The thread."),
    column<&SampleRow::thread>("thread", "", "Its name."),
    column<&SampleRow::weight>("samples", "", "How often a CPU was seen there, 99 times a second."),
    column<&SampleRow::seconds>("cpu_time", "s", "CPU time that the samples stand for."),
    column<&SampleRow::function>("function", "", "Function on top of the stack."),
    column<&SampleRow::module>("module", "", "File of its code; [kernel]."),
    column<&SampleRow::kind>("kind", "", "Kind of that frame: user, kernel, inlined, python, …"),
    column<&SampleRow::stack>("stack", "", "The stack, outermost function first, separated by semicolons."),
    seconds_argument,
};

constexpr Column offcpu_columns[] = {
    column<&SampleRow::pid>("pid", "", "The process.", Role::pushed),
    column<&SampleRow::process>("process", "", "Its name."),
    column<&SampleRow::tid>("tid", "", "The thread."),
    column<&SampleRow::thread>("thread", "", "Its name."),
    column<&SampleRow::count>("waits", "", "How often it waited there."),
    column<&SampleRow::seconds>("time", "s", "For how long, in total."),
    column<&SampleRow::function>("function", "", "[waiting], [run queue] or [preempted]."),
    column<&SampleRow::stack>("stack", "", "The stack, outermost function first, separated by semicolons."),
    seconds_argument,
};

struct Calls {
  int64_t pid = 0, count = 0, errors = 0;
  std::string call, process;
  double seconds = 0;
  std::optional<std::string> error; // the most frequent one
};

constexpr Column call_columns[] = {
    column<&Calls::pid>("pid", "", "The process.", Role::pushed),
    column<&Calls::process>("process", "", "Its name; empty: it has ended."),
    column<&Calls::call>("call", "", "Name of the system call."),
    column<&Calls::count>("calls", "", "Calls that returned."),
    column<&Calls::seconds>("time", "s", "Their time, in total."),
    column<&Calls::errors>("errors", "", "Calls that failed."),
    column<&Calls::error>("error", "", "The most frequent error; NULL: none failed."),
    seconds_argument,
};

constexpr int64_t first_of_32 = 536870912; // as src/scripts/syscall_registers.bt counts calls of 32-bit programs

std::string call_name(int64_t number) {
  const std::string_view name = number >= first_of_32 ? spec::syscall_name_32(static_cast<int>(number - first_of_32)) : spec::syscall_name(static_cast<int>(number));
  return name.empty() ? "call " + std::to_string(number) : std::string(name);
}

base::Result<std::vector<Calls>> calls_of(session::Runner& runner) {
  std::map<std::pair<int64_t, int64_t>, Calls> by_call; // process and number
  std::map<std::pair<int64_t, int64_t>, uint64_t> most;
  std::map<int64_t, std::string> names;
  ACU_TRY(const std::vector<why::ScriptRow> calls, why::read_rows(runner, "calls"));
  ACU_TRY(const std::vector<why::ScriptRow> failed, why::read_rows(runner, "failed"));
  for (const why::ScriptRow& r : calls) {
    const int64_t pid = r.integer("0"), number = r.integer("1");
    const auto [name, is_new] = names.try_emplace(pid);
    if (is_new) name->second = proc::name_of_process(static_cast<int>(pid));
    by_call[{pid, number}] = {.pid = pid, .count = static_cast<int64_t>(r.count()), .call = call_name(number), .process = name->second, .seconds = static_cast<double>(r.sum()) / 1e9};
  }
  for (const why::ScriptRow& r : failed) {
    const std::pair key = {r.integer("0"), r.integer("1")};
    const auto at = by_call.find(key);
    if (at == by_call.end()) continue;
    at->second.errors += static_cast<int64_t>(r.count());
    if (r.count() > most[key]) most[key] = r.count(), at->second.error = std::string(spec::error_name(static_cast<int>(r.number("2"))));
  }
  std::vector<Calls> out;
  for (auto& [key, row] : by_call) out.push_back(std::move(row));
  return out;
}

base::Result<std::vector<Calls>> read_syscalls(const Request& request) {
  const session::TargetFilter filter = filter_of(request);
  if (has_no_process(filter)) return std::vector<Calls>();
  ACU_TRY(const uint64_t duration_ns, duration_of(request));
  ACU_TRY(const session::Condition condition, session::condition_of(filter));
  session::BuiltinScript script("why_syscalls");
  script.set("MOST_CALLS", UINT64_MAX >> 1);
  script.set("YOUNG_NS", uint64_t{0});
  script.set_whose(condition, filter, duration_ns);
  session::Measurement measurement = {.aim = "count system calls", .script = std::move(script), .filter = filter};
  measurement.filters_itself = measurement.records_may_wait = true;
  session::Runner runner(std::move(measurement));
  session::Options options;
  options.quiet = true;
  ACU_CHECK(runner.compile());
  ACU_CHECK(runner.load(options));
  session::Output nowhere(-1, session::Buffering::full, false);
  ACU_CHECK(runner.live(nowhere));
  return calls_of(runner);
}

constexpr Column recorded_columns[] = {
    column<&SampleRow::pid>("pid", "", "The process.", Role::pushed),
    column<&SampleRow::process>("process", "", "Its name."),
    column<&SampleRow::tid>("tid", "", "The thread."),
    column<&SampleRow::thread>("thread", "", "Its name."),
    column<&SampleRow::weight>("weight", "", "In the unit of the recording: `select value from about where name = 'unit'`."),
    column<&SampleRow::count>("count", "", "How often it was seen."),
    column<&SampleRow::function>("function", "", "Function on top of the stack."),
    column<&SampleRow::module>("module", "", "File of its code; [kernel]."),
    column<&SampleRow::kind>("kind", "", "Kind of that frame: user, kernel, inlined, python, …"),
    column<&SampleRow::stack>("stack", "", "The stack, outermost function first, separated by semicolons."),
};

base::Result<std::vector<SampleRow>> read_recorded(const Request& request) { return sample_rows(*request.subject().recording, request.number("pid"), 0); }

struct Property {
  std::string name, value;
};

constexpr Column about_columns[] = {
    column<&Property::name>("name", "", "title, unit, what, host, start, duration, samples, lost, complete, note."),
    column<&Property::value>("value", "", "Its value; start in seconds since 1970, duration in seconds."),
};

base::Result<std::vector<Property>> read_about(const Request& request) {
  const profile::About& about = request.subject().recording->about;
  const auto seconds = [](uint64_t ns) { return std::to_string(static_cast<double>(ns) / 1e9); };
  std::vector<Property> out = {{"title", about.title}, {"unit", about.unit}, {"what", about.what}, {"host", about.host}, {"start", seconds(about.start_ns)},
                               {"duration", seconds(about.duration_ns)}, {"samples", std::to_string(about.samples)}, {"lost", std::to_string(about.lost)},
                               {"complete", std::to_string(about.complete)}};
  for (const std::string& note : about.notes) out.push_back({"note", note});
  return out;
}

struct SliceRow {
  double begin = 0, end = 0;
  int64_t pid = 0, tid = 0, weight = 0, count = 0;
  std::string process, function;
};

constexpr Column slice_columns[] = {
    column<&SliceRow::begin>("begin", "s", "Start of the slice, after the start of the recording."),
    column<&SliceRow::end>("end", "s", "Its end."),
    column<&SliceRow::pid>("pid", "", "The process.", Role::pushed),
    column<&SliceRow::tid>("tid", "", "The thread."),
    column<&SliceRow::process>("process", "", "Name of the process."),
    column<&SliceRow::function>("function", "", "Function on top of the stack."),
    column<&SliceRow::weight>("weight", "", "What was added in the slice, in the unit of the recording."),
    column<&SliceRow::count>("count", "", "How often it was seen."),
};

base::Result<std::vector<SliceRow>> read_slices(const Request& request) {
  const profile::Profile& p = *request.subject().recording;
  const std::optional<int64_t> pid = request.number("pid");
  const double each = static_cast<double>(p.slice_ns) / 1e9;
  std::vector<SliceRow> out;
  for (const profile::Slice& slice : p.slices)
    for (const profile::Gain& gain : slice.gains) {
      const profile::Sample& s = p.samples()[gain.sample];
      const profile::Thread& thread = p.threads()[s.thread];
      if (pid && thread.pid != *pid) continue;
      out.push_back({.begin = static_cast<double>(slice.number) * each, .end = static_cast<double>(slice.number + slice.span) * each, .pid = thread.pid, .tid = thread.tid,
                     .weight = static_cast<int64_t>(gain.weight), .count = static_cast<int64_t>(gain.count), .process = std::string(p.texts()[thread.process]),
                     .function = s.node ? std::string(p.name(p.frame_of(s.node))) : std::string()});
    }
  if (!p.slice_ns) request.note("the recording has no slices: `acu record --split 1s` keeps them, `--flight` does not");
  return out;
}

} // namespace

const Table cpu_samples = {.name = "cpu_samples", .doc = "Where CPUs are, sampled for some seconds.", .example = "select function, sum(cpu_time) from cpu_samples(2) group by 1 order by 2 desc limit 5",
                           .columns = cpu_columns, .read = rows_of<read_cpu_samples>, .measures = true};
const Table offcpu = {.name = "offcpu", .doc = "Where threads wait, measured for some seconds.", .example = "select process, sum(time) from offcpu(1) group by 1 order by 2 desc limit 5",
                      .columns = offcpu_columns, .read = rows_of<read_offcpu>, .measures = true};
const Table syscalls = {.name = "syscalls", .doc = "System calls by process, counted for some seconds.", .example = "select call, sum(calls), sum(time) from syscalls(1) group by 1 order by 2 desc limit 5",
                        .columns = call_columns, .read = rows_of<read_syscalls>, .measures = true};
const Table recording_samples = {.of = Of::recording, .name = "samples", .doc = "Its samples, by thread and stack.", .example = "select function, sum(weight) from samples group by 1 order by 2 desc limit 5",
                                 .columns = recorded_columns, .read = rows_of<read_recorded>};
const Table recording_about = {.of = Of::recording, .name = "about", .doc = "How it was made, and what is missing in it.", .example = "select * from about", .columns = about_columns,
                               .read = rows_of<read_about>, .expected_rows = 10};
const Table recording_slices = {.of = Of::recording, .name = "slices", .doc = "What samples gained in each slice of time (acu record --split).",
                                .example = "select begin, sum(weight) from slices group by 1", .columns = slice_columns, .read = rows_of<read_slices>};

} // namespace sql
