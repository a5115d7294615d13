// The steps of `acu graph` in their order; those of a trace (tracing.cc), but for what becomes of records.
#include "graph/graphing.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/text.h"
#include "graph/call_graph.h"
#include "graph/call_json.h"
#include "graph/call_text.h"
#include "graph/records.h"
#include "graph/script.h"
#include "report/names.h"
#include "report/text.h"
#include "session/losses.h"
#include "session/run_times.h"
#include "session/runner.h"
#include "symbol/containers.h"
#include "symbol/demangle.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace graph {

namespace {

using Bytes = std::span<const std::byte>;

constexpr uint64_t lowest_stack = 1 << 16; // depths are lower
constexpr size_t max_landed = 8192;       // of a thread
constexpr uint64_t look_ns = 200'000'000;  // between two looks for lines that have waited

struct Grapher {
  explicit Grapher(const Options& o) : options(o) {}

  // Whose functions plain names are: /proc has threads, too.
  int first_pid() const {
    const session::TargetFilter& f = options.filter;
    return !f.pids.empty() ? f.pids.front() : !f.threads.empty() ? f.threads.front() : -1;
  }

  base::Status find();
  base::Status compile(const Wanted& wanted);
  base::Status compile();
  base::Status load();
  base::Status take_refused(base::Error why);
  base::Status live();
  base::Status read_open(uint64_t now);
  void report_rest();

  void take(const type::Type& type, Bytes bytes);
  void take_whole(const CallGraph::Moment& at, const Function& f, const Fields& fields, Bytes bytes);
  void land(const CallGraph::Moment& at, uint64_t stack, Ended how);
  const Function& function_at(const type::Field& field, Bytes bytes, bool is_kernel);
  std::string value(const Value& v, std::span<const type::Field>& fields, Bytes bytes);
  std::string values(const std::vector<Value>& all, const type::Field& record, Bytes bytes);

  const Options& options;
  Functions functions;
  std::map<std::string, const Function*, std::less<>> by_symbol[2]; // of programs, and of the kernel
  session::Condition condition;
  std::optional<Script> script;
  Records records;
  std::optional<session::Runner> runner;
  session::RunTimes run_times;
  std::unique_ptr<session::Output> output;
  std::unique_ptr<CallText> lines;
  std::unique_ptr<CallJson> json;
  CallTable table;
  std::optional<CallGraph> calls;
  bool has_values = true;
  // With --min-duration: where exceptions and longjmp went, by thread.
  struct Landed {
    uint64_t ns, stack;
    OffCpu off;
    Ended how;
  };
  const Landed* left_by(uint64_t tid, uint64_t start, uint64_t place) const;
  std::map<uint32_t, std::vector<Landed>> landed;
  int files_of = -1;  // the process whose functions are meant; -1: nobody's
  size_t refused = 0; // entries and returns that cannot be attached
  base::Error first_refused;
};

base::Status Grapher::find() {
  // Of a container its main process has the files.
  const bool is_contained = !options.filter.container.empty();
  files_of = is_contained ? symbol::main_process(symbol::processes_of_group(options.filter.cgroup)).value_or(-1) : first_pid();
  Request request{
      .functions = options.functions, .pid = files_of, .all_returns = options.all_returns};
  if (!options.command.empty()) {
    ACU_TRY(request.program, session::find_executable(options.command.front(), "--"));
    auto begin =
        base::read_up_to(base::Fd(::open(request.program.c_str(), O_RDONLY | O_CLOEXEC)), 2, request.program);
    const bool names_all = std::ranges::all_of(options.functions, [](const std::string& f) {
      return is_kernel_function_name(f) || names_program(f);
    });
    if (begin.ok() && *begin == "#!" && !names_all)
      return base::Error{base::Failure::usage, base::quoted(request.program) +
                                                   " is a script: start its interpreter, or name "
                                                   "that: PROGRAM:FUNCTION"};
  }
  ACU_TRY(functions, find_graph_functions(request));
  if (options.quiet) return {};
  for (const std::string& note : functions.notes) base::write_all(STDERR_FILENO, "NOTE: " + note + "\n");
  return {};
}

base::Status Grapher::compile(const Wanted& wanted) {
  script.emplace(make_graph_script(functions, wanted));
  runner.emplace(session::Measurement{.aim = "graph",
                                      .script = script->script,
                                      .filter = options.filter,
                                      .command = options.command,
                                      .functions_of = files_of,
                                      .may_end_programs = options.all_returns,
                                      .filters_itself = true,
                                      .ring_pages = 2048,
                                      .refused = [this](base::Error why) { return take_refused(std::move(why)); }},
                 [this](const type::Type& type, Bytes bytes) { take(type, bytes); });
  return runner->compile();
}

base::Status Grapher::compile() {
  ACU_TRY(condition, session::target_condition(options.filter));
  // acu itself is not part of the result.
  condition.text = "(" + condition.text + ") && pid != " + std::to_string(::getpid());
  Wanted wanted{.whose = condition,
                     .filter = options.filter,
                     .depth = options.depth,
                     .min_duration_ns = options.min_duration_ns,
                     .duration_ns = options.duration_ns};
  const std::string_view foreign = foreign_name(functions);
  base::Status status = foreign.empty() ? compile(wanted) : base::Error{base::Failure::usage, base::quoted(foreign) + " is not a name in the language\n"};
  if (status.ok()) return {};
  // Without arguments then: their names may be words of the language.
  if (options.verbose) base::write_all(STDERR_FILENO, "NOTE: arguments are not shown: " + status.error().message);
  wanted.has_values = has_values = false;
  return compile(wanted);
}

base::Status Grapher::load() {
  session::Options run; // as `acu run` would have been asked
  run.verbose = options.verbose;
  run.output_file = options.output;
  ACU_TRY(output, session::Output::open(run));
  ACU_CHECK(runner->load(run));
  run_times.start();
  return {};
}

// Of many functions some may be refused, but not all of the kernel's.
base::Status Grapher::take_refused(base::Error why) {
  const bool is_one_of_many =
      std::ranges::any_of(options.functions, [](const std::string& f) { return base::has_glob(f); });
  if (!is_one_of_many) return why;
  if (!refused++) first_refused = std::move(why);
  size_t kernel = 0;
  for (const Function& f : functions.functions)
    if (f.about.is_kernel) kernel += 1 + f.about.has_return;
  return refused == kernel ? base::Status(first_refused) : base::Status();
}

// ---- from records to calls

// By its number; or as `func` tells it: by the number of its name, or where a block was split (on kernels
// without cookies) by the name.
const Function& Grapher::function_at(const type::Field& field, Bytes bytes, bool is_kernel) {
  auto called = [&](std::string_view symbol) -> const Function& {
    auto found = by_symbol[is_kernel].find(symbol);
    return found == by_symbol[is_kernel].end() ? functions.functions.front() : *found->second;
  };
  if (field.type->is(type::Kind::string)) return called(text_of(field, bytes));
  const uint64_t number = number_of(field, bytes);
  if (field.type->is(type::Kind::probe_name)) return called(runner->program().probe_names[number]);
  return functions.functions[std::min<size_t>(number, functions.functions.size() - 1)];
}

// Takes what belongs to it from the front of the fields.
std::string Grapher::value(const Value& v, std::span<const type::Field>& fields, Bytes bytes) {
  if (!v.is_known) return "?";
  if (fields.empty()) return {};
  const type::Field f = fields.front();
  fields = fields.subspan(1);
  if (v.is_text && !fields.empty()) {
    const type::Field t = fields.front();
    fields = fields.subspan(1);
    const std::string_view text = text_of(t, bytes);
    if (!number_of(f, bytes)) return "NULL";
    if (text != "\x01") {
      std::string out = "\"";
      report::append_escaped(out, std::as_bytes(std::span(text)));
      return out + "\"" + (text.size() == t.type->size ? "..." : "");
    }
  }
  if (f.type->is(type::Kind::pointer) && !number_of(f, bytes)) return "NULL";
  return runner->printer().text(*f.type, bytes.subspan(f.offset, f.type->size));
}

std::string Grapher::values(const std::vector<Value>& all, const type::Field& record, Bytes bytes) {
  std::string out;
  if (!has_values) return out;
  std::span<const type::Field> fields = record.type->fields();
  bytes = bytes.subspan(record.offset, record.type->size);
  for (const Value& v : all) {
    const std::string text = value(v, fields, bytes);
    out += (out.empty() ? "" : ", ") + (v.name.empty() ? text : v.name + "=" + text);
  }
  return out;
}

void Grapher::take_whole(const CallGraph::Moment& at, const Function& f, const Fields& fields, Bytes bytes) {
  Call call;
  call.function = &f.about;
  call.start_ns = number_of(*fields.start, bytes);
  call.end_ns = at.ns;
  call.off.waited = at.off.waited - number_of(*fields.waited_before, bytes);
  call.off.preempted = at.off.preempted - number_of(*fields.preempted_before, bytes);
  call.arguments = values(f.arguments, *fields.arguments, bytes);
  call.result = values(f.result, *fields.result, bytes);
  calls->take_whole(at, std::move(call), number_of(*fields.depth, bytes));
}

void Grapher::take(const type::Type& type, Bytes bytes) {
  const Fields& fields = records.fields_in(type);
  if (!fields.kind) return;
  const CallGraph::Moment at{
      .tid = static_cast<uint32_t>(number_of(*fields.tid, bytes)),
      .pid = static_cast<uint32_t>(number_of(*fields.pid, bytes)),
      .cpu = static_cast<uint32_t>(number_of(*fields.cpu, bytes)),
      .ns = number_of(*fields.ns, bytes),
      .off = {number_of(*fields.waited, bytes), number_of(*fields.preempted, bytes)},
      .thread = text_of(*fields.thread, bytes)};
  const uint64_t stack = fields.stack ? number_of(*fields.stack, bytes) : 0;
  auto function = [&]() -> const Function& { return function_at(*fields.function, bytes, !stack); };
  switch (Records::kind_of(fields, bytes)) {
  case RecordKind::entry: {
    const Function& f = function();
    return calls->enter(at, f.about, number_of(*fields.depth, bytes), stack, values(f.arguments, *fields.arguments, bytes));
  }
  case RecordKind::leave: {
    const Function& f = function();
    return calls->leave(at, f.about, stack ? stack - graph_return_address : 0, values(f.result, *fields.result, bytes));
  }
  case RecordKind::whole: return take_whole(at, function(), fields, bytes);
  case RecordKind::exec: return calls->exec(at);
  case RecordKind::fork: return calls->fork(at, static_cast<uint32_t>(number_of(*fields.child, bytes)));
  case RecordKind::landing: return land(at, stack, Records::how_of(fields, bytes));
  case RecordKind::ending: return calls->end_thread(at);
  }
}

void Grapher::land(const CallGraph::Moment& at, uint64_t stack, Ended how) {
  if (!options.min_duration_ns) return calls->land(at, stack, how);
  std::vector<Landed>& all = landed[at.tid];
  if (all.size() == max_landed) all.erase(all.begin(), all.begin() + max_landed / 2);
  all.push_back({at.ns, stack, at.off, how});
}

// By what a call was left that has not returned.
const Grapher::Landed* Grapher::left_by(uint64_t tid, uint64_t start, uint64_t place) const {
  auto found = landed.find(static_cast<uint32_t>(tid));
  if (found == landed.end()) return nullptr;
  for (const Landed& l : found->second)
    if (l.ns > start && (!l.stack || l.stack > place)) return &l;
  return nullptr;
}

// Calls that have not returned, where only those that have were told.
base::Status Grapher::read_open(uint64_t now) {
  for (size_t group = 0; options.min_duration_ns && group < script->groups; group++) {
    const std::string name = "open" + std::to_string(group);
    for (uint32_t i = 0; i < runner->program().maps.size(); i++) {
      const ir::Map& map = runner->program().maps[i];
      if (map.name != name) continue;
      ACU_TRY(std::vector<ir::Entry> entries, runner->backend().engine().read_map(i));
      for (const ir::Entry& e : entries) {
        const Fields &key = records.fields_in(*map.key), &fields = records.fields_in(*map.value);
        const uint64_t start = number_of(*fields.start, e.values);
        if (!start || now < start + options.min_duration_ns) continue;
        const uint64_t tid = number_of(*key.tid, e.key), place = number_of(*key.place, e.key);
        const Function& f = function_at(*fields.function, e.values, place < lowest_stack);
        Call call;
        call.function = &f.about;
        call.start_ns = start, call.end_ns = now;
        call.arguments = values(f.arguments, *fields.arguments, e.values);
        auto name = base::read_file("/proc/" + std::to_string(tid) + "/comm");
        call.ended = name.ok() ? Ended::by_end : Ended::by_exit;
        if (const Landed* by = f.about.is_kernel ? nullptr : left_by(tid, start, place)) {
          if (by->ns - start < options.min_duration_ns) continue;
          call.end_ns = by->ns, call.ended = by->how;
          call.off.waited = by->off.waited - number_of(*fields.waited, e.values);
          call.off.preempted = by->off.preempted - number_of(*fields.preempted, e.values);
        }
        calls->take_unended({.tid = static_cast<uint32_t>(tid),
                             .ns = now,
                             .off = {},
                             .thread = name.ok() ? base::trim(*name) : std::string_view()},
                            std::move(call));
      }
    }
  }
  return {};
}

base::Status Grapher::live() {
  const bool is_json = options.output.ends_with(".json");
  std::vector<CallListener*> listeners;
  if (is_json) listeners.push_back((json = std::make_unique<CallJson>(*output)).get());
  if (!is_json && !options.counts)
    listeners.push_back((lines = std::make_unique<CallText>(*output)).get());
  if (options.counts) listeners.push_back(&table);
  calls.emplace(std::move(listeners));
  for (const Function& f : functions.functions) by_symbol[f.about.is_kernel].emplace(f.symbol, &f);
  for (const Function& f : functions.functions) // as `func` has it where the environment sets cpp_demangle
    if (std::string shown = symbol::demangle(f.symbol); !f.about.is_kernel && !shown.empty()) by_symbol[false].emplace(std::move(shown), &f);

  session::Regular regular;
  regular.begin = [&] {
    if (lines) lines->header();
    regular.next_ns = base::clock_ns() + look_ns;
  };
  regular.tick = [&]() -> base::Result<bool> {
    const uint64_t now = base::clock_ns();
    regular.next_ns = now + look_ns;
    if (lines) lines->report_old(now);
    return true;
  };
  ACU_CHECK(runner->live(*output, {&regular}));
  ACU_CHECK(read_open(runner->detached_ns()));
  calls->finish(runner->detached_ns());
  if (lines) lines->finish();
  return {};
}

// Prints the table, the end of the file, and a summary line: events, losses and overhead.
void Grapher::report_rest() {
  const ir::Counters c = runner->backend().engine().counters();
  const uint64_t lost = c.lost_events + c.scratch_busy + c.missed_runs + c.missed_hits;
  if (json) json->finish(lost);
  if (options.counts && !json) output->out(table.text(options.top));
  output->flush();
  if (options.quiet) return;
  if (refused)
    base::write_all(STDERR_FILENO, "WARNING: " + (refused == 1 ? "1 entry or return is not probed: " : std::to_string(refused) +
                                 " entries and returns are not probed; the first: ") + first_refused.message + "\n");
  std::string text = base::counted(calls->calls(), "call") + " in " + base::counted(calls->threads(), "thread") + ", ";
  if (calls->unbegun()) text += base::counted(calls->unbegun(), "return") + " of earlier calls, ";
  text += session::losses_in_short(c);
  if (c.missed_hits) text += ", " + std::to_string(c.missed_hits) + " missed by the kernel";
  base::write_all(STDERR_FILENO, text + "; " + session::own_costs(run_times.of_all_time(c.run_ns)) + "\n");
}

} // namespace

base::Result<int> graph_calls(const Options& options) {
  Grapher g(options);

  // Functions are found, with the types of their arguments and results.
  ACU_CHECK(g.find());

  // The script is verified IR; the command waits in its own process.
  ACU_CHECK(g.compile());

  // The kernel holds the programs.
  ACU_CHECK(g.load());

  // Detached; all calls were reported, and open ones are closed.
  ACU_CHECK(g.live());
  g.report_rest();
  ACU_CHECK(g.output->finish());
  return session::end_of(g.runner->child());
}

} // namespace graph
