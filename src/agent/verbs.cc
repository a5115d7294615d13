// The table of verbs. Values that come from a client become words of a command line only in the forms `--name=VALUE` or, where a
// parameter is declared as a word, as words that do not begin with a dash: nothing of a client is taken as an option, a file to
// write to or a command to start.
#include "agent/verb.h"

#include "base/print.h"
#include "base/text.h"
#include "spec/profile_kinds.h"

#include <algorithm>
#include <cmath>

namespace agent {

namespace {

using base::Status;

constexpr double max_pid = 4194304; // PID_MAX_LIMIT of the kernel
constexpr Parameter pid_parameter = {.name = "pid", .kind = Kind::integer, .doc = "Only this process.", .min = 1, .max = max_pid};
constexpr Parameter script_parameter = {.name = "script", .doc = "The script, in the bpftrace language.", .required = true, .min = 1, .max = longest_script};
constexpr Parameter arguments_parameter = {.name = "arguments", .kind = Kind::list, .doc = "Positional parameters: $1, $2, …", .is_word = true, .max = 32};
constexpr Parameter options_parameter = {.name = "options", .kind = Kind::list, .doc = "Named parameters: \"min-us=1000\", or \"quiet\" for a switch.", .is_word = true, .max = 32};
constexpr Parameter user_parameter = {.name = "user", .doc = "Only processes of this user.", .is_word = true, .min = 1, .max = 64};
constexpr Parameter cgroup_parameter = {.name = "cgroup", .doc = "Only this control group and those below it.", .is_word = true, .min = 1, .max = 4096};
constexpr Parameter container_parameter = {.name = "container", .doc = "Only this container, by name or ID prefix.", .is_word = true, .min = 1, .max = 256};
constexpr Parameter view_parameter = {.name = "view", .doc = "What to show: stacks of all threads (default), asyncio tasks, heap blocks by kind, or leaked blocks.", .allowed = "threads|async|heap|leaks"};
constexpr Parameter stopped_script = {.name = "script", .doc = "Run this script on the memory instead, with the probes oneshot, thread, frame(\"FUNCTION\") and fault.", .min = 1, .max = longest_script};

std::string seconds_text(double seconds) { return base::print("%gs", seconds); }

void add_option(Plan& to, std::string_view name, const std::string& value) {
  if (!value.empty()) to.words.push_back("--" + std::string(name) + "=" + value);
}
std::string whole(double number) { return base::print("%.0f", number); }
void add_pid(Plan& to, const Arguments& from) {
  if (from.has("pid")) to.words.push_back("--pid=" + whole(from.number("pid", 0)));
}
void add_target(Plan& to, const Arguments& from) {
  add_pid(to, from);
  for (std::string_view name : {"user", "cgroup", "container"}) add_option(to, name, from.text(name));
}
// Positional parameters, and behind `--` the named ones.
void add_parameters(Plan& to, const Arguments& from) {
  for (std::string& word : from.list("arguments")) to.words.push_back(std::move(word));
  if (!from.has("options")) return;
  to.words.push_back("--");
  for (const std::string& option : from.list("options")) to.words.push_back("--" + option);
}

Status make_host(const Arguments&, const Settings&, Plan& to) { return to.words = {"info", "--json"}, Status(); }

Status make_list(const Arguments& from, const Settings&, Plan& to) {
  to.words = {"list"};
  if (from.flag("arguments")) to.words.push_back("-v");
  add_pid(to, from);
  to.words.push_back(from.text("pattern"));
  return {};
}

void add_script(const Arguments& from, Plan& to) {
  to.words.insert(to.words.end(), {"--read-only", "--execute=" + from.text("script")});
  add_pid(to, from);
  add_parameters(to, from);
}

Status make_check(const Arguments& from, const Settings&, Plan& to) {
  to.words = {"run", "--dry-run", "--quiet"};
  add_script(from, to);
  to.status_is_answer = true;
  return {};
}

Status make_run(const Arguments& from, const Settings&, Plan& to) {
  to.words = {"run", "--format=json"};
  add_script(from, to);
  to.enforces_cost = true;
  return {};
}

Status take_kind(const std::string& kind, Plan& to) {
  std::vector<std::string_view> kinds;
  for (const spec::ProfileKind& row : spec::profile_kinds) {
    kinds.push_back(row.name);
    if (row.name == kind) to.unit = row.unit;
  }
  if (base::is_one_of(kinds, kind)) return {};
  const std::string_view near = base::nearest(kind, kinds);
  return base::usage_error("there is no kind `" + kind + "`" + (near.empty() ? " (`acu help flame` lists them)" : "; did you mean `" + std::string(near) + "`?"));
}

Status make_flame(const Arguments& from, const Settings&, Plan& to) {
  const std::string kind = from.has("kind") ? from.text("kind") : "cpu";
  ACU_CHECK(take_kind(kind, to));
  to.words = {"flame", "--kind=" + kind, "--duration=" + seconds_text(to.seconds)};
  add_target(to, from);
  to.words.push_back("--max-cost=" + base::print("%g", to.max_cost));
  to.shown = to.words;
  to.seconds = 0;
  to.rows = static_cast<uint64_t>(from.number("top", 40));
  to.min_percent = from.number("min_percent", 1);
  return {};
}

Status make_slow(const Arguments& from, const Settings&, Plan& to) {
  to.words = {"slow", "--json", "--duration=" + seconds_text(to.seconds), "--max-cost=" + base::print("%g", to.max_cost)};
  if (from.has("min_duration_ms")) to.words.push_back("--min-duration=" + base::print("%.0fus", std::max(1.0, from.number("min_duration_ms", 0) * 1000)));
  if (from.has("count")) to.words.push_back("--count=" + whole(from.number("count", 0)));
  add_target(to, from);
  to.words.push_back(from.text("what"));
  to.seconds = 0;
  return {};
}

Status make_why(const Arguments& from, const Settings&, Plan& to) {
  to.words = {"why", "--json", "--duration=" + seconds_text(to.seconds), "--max-cost=" + base::print("%g", to.max_cost)};
  add_pid(to, from);
  for (std::string_view name : {"comm", "container"}) add_option(to, name, from.text(name));
  if (from.has("question")) to.words.push_back(from.text("question"));
  to.seconds = 0;
  return {};
}

// What `acu core` and `acu snap` share.
Status add_view(const Arguments& from, Plan& to) {
  const std::string view = from.has("view") ? from.text("view") : "threads";
  if (from.has("script") && from.has("view")) return base::usage_error("`view` and `script` exclude each other");
  if (from.has("script"))
    to.words.insert(to.words.end(), {"--read-only", "--execute=" + from.text("script")}), to.form = Form::lines;
  else if (view == "async")
    to.words.push_back("--async");
  else if (view != "threads")
    to.words.push_back(view);
  return {};
}

Status make_snap(const Arguments& from, const Settings&, Plan& to) {
  to.words = {"snap", "--json"};
  add_pid(to, from);
  return add_view(from, to);
}

Status make_core(const Arguments& from, const Settings&, Plan& to) {
  to.words = {"core", "--json", from.text("file")};
  return add_view(from, to);
}

Status make_sql(const Arguments& from, const Settings&, Plan& to) {
  to.words = {"sql", "--format=json", "--duration=" + seconds_text(to.limit_seconds)};
  add_option(to, "input", from.text("input"));
  to.words.push_back(from.text("query"));
  return {};
}

Status make_tool(const Arguments& from, const Settings& settings, Plan& to) {
  to.seconds = from.has("name") && !from.flag("help") ? to.seconds : 0;
  if (!from.has("name")) return to.words = {"tools"}, to.form = Form::text, Status();
  const std::string name = from.text("name");
  const std::optional<bool> is_stopped = settings.find_tool ? settings.find_tool(name) : std::nullopt;
  if (!is_stopped) return base::usage_error("there is no tool `" + name + "` (call this verb without a name to list them)");
  if (from.flag("help")) return to.words = {name, "--help"}, to.form = Form::text, Status();
  to.words = {name, "--read-only"};
  if (*is_stopped) {
    if (from.has("core") == from.has("pid")) return base::usage_error("the tool `" + name + "` needs `core` or `pid`: it reads a core dump or a live process");
    to.words.push_back("--json");
    to.seconds = 0;
  } else {
    if (from.has("core")) return base::usage_error("the tool `" + name + "` traces live programs: it does not take `core`");
    to.words.push_back("--format=json");
    to.enforces_cost = true;
  }
  add_pid(to, from);
  if (from.has("core")) to.words.push_back(from.text("core"));
  add_parameters(to, from);
  return {};
}

constexpr Parameter list_parameters[] = {
    {.name = "pattern", .doc = "Probes to list, with the wildcards * and ?: tracepoint:sched:*, kprobe:vfs_*, uprobe:/usr/bin/python3:*; or a kernel type: struct task_struct.", .required = true, .is_word = true, .min = 1, .max = 4096},
    {.name = "arguments", .kind = Kind::flag, .doc = "Also list the arguments of each probe."},
    pid_parameter,
};
constexpr Parameter check_parameters[] = {script_parameter, pid_parameter, arguments_parameter, options_parameter};
constexpr Parameter flame_parameters[] = {
    {.name = "kind", .doc = "What to sample: cpu (default), offcpu (waiting), wall (both), lock, io, alloc, leaks, and the other kinds of `acu flame`.", .is_word = true, .min = 1, .max = 32},
    pid_parameter, user_parameter, cgroup_parameter, container_parameter,
    {.name = "top", .kind = Kind::integer, .doc = "Lines of the tree (default 40).", .min = 1, .max = 1000},
    {.name = "min_percent", .kind = Kind::number, .doc = "Leave out branches with less than this share (default 1).", .min = 0, .max = 100},
};
constexpr Parameter slow_parameters[] = {
    {.name = "what", .doc = "A function, FILE:FUNCTION, `syscalls`, `syscall:fsync,read`, or `io` for disk requests.", .required = true, .is_word = true, .min = 1, .max = 4096},
    pid_parameter, user_parameter, cgroup_parameter, container_parameter,
    {.name = "min_duration_ms", .kind = Kind::number, .doc = "Report calls that take at least this long (default 10).", .min = 0.001, .max = 3600000},
    {.name = "count", .kind = Kind::integer, .doc = "Stop after this many slow calls.", .min = 1, .max = 100000},
};
constexpr Parameter why_parameters[] = {
    {.name = "question", .doc = "What is wrong; without it, acu looks for anything.", .allowed = "slow|growing|stuck|failing"},
    pid_parameter,
    {.name = "comm", .doc = "The busiest process of this name.", .is_word = true, .min = 1, .max = 256},
    container_parameter,
};
constexpr Parameter snap_parameters[] = {
    {.name = "pid", .kind = Kind::integer, .doc = "The process; it is stopped for some milliseconds.", .required = true, .min = 1, .max = max_pid}, view_parameter, stopped_script};
constexpr Parameter core_parameters[] = {{.name = "file", .doc = "The core dump.", .required = true, .is_word = true, .min = 1, .max = 4096}, view_parameter, stopped_script};
constexpr Parameter sql_parameters[] = {
    {.name = "query", .doc = "One SELECT in SQLite's SQL. Tables: `select name, sql from sqlite_master`; among them processes, threads, files, sockets, mappings.", .required = true, .is_word = true, .min = 1, .max = longest_script},
    {.name = "input", .doc = "Query this recording or core dump instead of the host.", .min = 1, .max = 4096},
};
constexpr Parameter tool_parameters[] = {
    {.name = "name", .doc = "The tool, such as execsnoop; without a name, the tools are listed.", .is_word = true, .min = 1, .max = 64},
    {.name = "help", .kind = Kind::flag, .doc = "Explain the tool instead of running it."},
    pid_parameter,
    {.name = "core", .doc = "For tools that read core dumps: the file.", .is_word = true, .min = 1, .max = 4096},
    arguments_parameter, options_parameter,
};

constexpr Verb table[] = {
    {.name = "host", .title = "What this host supports", .doc = "The kernel, its abilities that acu uses, and what this user may do.", .command = "acu info --json", .parameters = {}, .units = "none", .make = make_host},
    {.name = "list_probes", .title = "List probes", .doc = "Events that a script can be attached to, one a line. Use it before writing a script.", .command = "acu list PATTERN", .parameters = list_parameters, .units = "none", .form = Form::text, .make = make_list},
    {.name = "check_script", .title = "Check a script", .doc = "Compiles, loads and attaches a script, then detaches it at once. Reports mistakes with their location; data.valid is the answer.", .command = "acu run --dry-run --read-only -e SCRIPT", .parameters = check_parameters, .units = "none", .form = Form::text, .make = make_check},
    {.name = "run_script", .title = "Run a script", .doc = "Runs a tracing script for `duration` seconds and returns what it prints and its maps. Scripts that change the system or write files are refused.", .command = "acu run -f json --read-only -e SCRIPT", .parameters = check_parameters, .units = "as in the script: nsecs and elapsed are ns; hist() has buckets [min, max]", .form = Form::lines, .seconds = 5, .limit_seconds = 30, .max_cost = 30, .make = make_run},
    {.name = "flame", .title = "Sample stacks", .doc = "Where programs spend time, wait or allocate, as a call tree in text: share, amount, function; each branch is indented below its caller.", .command = "acu flame KIND", .parameters = flame_parameters, .units = "percent of all samples, and the amount in the unit of the first line", .form = Form::tree, .seconds = 5, .limit_seconds = 60, .max_cost = 30, .make = make_flame},
    {.name = "slow", .title = "Find slow calls", .doc = "Each call that took longer than a threshold, with what it waited for, lock holders, wakers and stacks.", .command = "acu slow WHAT --json", .parameters = slow_parameters, .units = "fields that end in _ns are nanoseconds, _us microseconds, _ms milliseconds", .form = Form::lines, .seconds = 10, .limit_seconds = 60, .max_cost = 2, .make = make_slow},
    {.name = "why", .title = "Find out why", .doc = "Measures, forms hypotheses and names the cause of a slow, growing, stuck or failing process or host, with evidence and advice.", .command = "acu why --json", .parameters = why_parameters, .units = "shares are 0 to 1; seconds unless a name says otherwise", .seconds = 15, .limit_seconds = 60, .max_cost = 10, .make = make_why},
    {.name = "snap", .title = "Look into a process", .doc = "Stacks of all threads of a live process with arguments and variables, its heap, or what a script reads from its memory.", .command = "acu snap -p PID --json", .parameters = snap_parameters, .units = "sizes in bytes, addresses in hexadecimal", .make = make_snap},
    {.name = "core", .title = "Look into a core dump", .doc = "Why a program crashed: signal, stacks of all threads with arguments and variables, heap, or what a script reads.", .command = "acu core FILE --json", .parameters = core_parameters, .units = "sizes in bytes, addresses in hexadecimal", .make = make_core},
    {.name = "sql", .title = "Query the host", .doc = "Processes, threads, open files, sockets, mappings, control groups and more as SQL tables.", .command = "acu sql -f json QUERY", .parameters = sql_parameters, .units = "as in the descriptions of columns: bytes, and seconds unless a name says otherwise", .form = Form::lines, .make = make_sql},
    {.name = "tool", .title = "Run a ready-made tool", .doc = "Runs one of acu's tools for `duration` seconds, explains it (`help`), or lists all (no `name`).", .command = "acu NAME -f json", .parameters = tool_parameters, .units = "as in the tool's explanation: headings name the units, as in LATENCY(us)", .form = Form::lines, .seconds = 5, .limit_seconds = 30, .max_cost = 30, .make = make_tool},
};

} // namespace

std::span<const Verb> verbs() { return table; }

bool is_offered(const Verb& verb, const Settings& settings) {
  return settings.verbs.empty() || std::find(settings.verbs.begin(), settings.verbs.end(), verb.name) != settings.verbs.end();
}

const Verb* find_verb(std::string_view name, const Settings& settings) {
  for (const Verb& verb : table)
    if (verb.name == name && is_offered(verb, settings)) return &verb;
  return nullptr;
}

std::vector<Parameter> parameters_of(const Verb& verb, const Settings& settings) {
  std::vector<Parameter> out(verb.parameters.begin(), verb.parameters.end());
  if (verb.seconds > 0) out.push_back({.name = "duration", .kind = Kind::number, .doc = "Measure for so many seconds.", .min = 0.1, .max = settings.max_seconds});
  out.push_back({.name = "time_limit", .kind = Kind::number, .doc = "End the call after so many seconds in any case, and return what there is.", .min = 0.1, .max = settings.max_seconds + 60});
  if (verb.max_cost > 0) out.push_back({.name = "max_cost", .kind = Kind::number, .doc = "Highest cost of the measurement, in percent of a CPU.", .min = 0.1, .max = settings.max_cost});
  out.push_back({.name = "max_output", .kind = Kind::integer, .doc = "Cut the result after so many bytes.", .min = 1024, .max = static_cast<double>(max_output)});
  return out;
}

base::Result<Plan> plan(const Verb& verb, const Arguments& arguments, const Settings& settings) {
  Plan out;
  out.form = verb.form;
  out.seconds = verb.seconds > 0 ? std::min(arguments.number("duration", verb.seconds), settings.max_seconds) : 0;
  out.expected_seconds = out.seconds;
  out.limit_seconds = arguments.number("time_limit", std::min(out.seconds, settings.max_seconds) + verb.limit_seconds);
  out.limit_seconds = std::min(out.limit_seconds, settings.max_seconds + 60);
  out.max_cost = verb.max_cost > 0 ? std::min(arguments.number("max_cost", verb.max_cost), settings.max_cost) : 0;
  out.max_output = static_cast<uint64_t>(arguments.number("max_output", static_cast<double>(default_output)));
  ACU_CHECK(verb.make(arguments, settings, out));
  return out;
}

std::string command_line(const Plan& plan) {
  const std::vector<std::string>& words = plan.shown.empty() ? plan.words : plan.shown;
  std::string out = plan.seconds > 0 ? "timeout -s INT " + base::print("%g", plan.seconds) + " acu" : "acu";
  for (const std::string& word : words) out += " " + base::in_shell(word);
  return out;
}

} // namespace agent
