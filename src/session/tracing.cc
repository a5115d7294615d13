// The steps of a trace in their order; those of a recording (sampling.cc), but for what becomes of records
// and maps.
#include "session/tracing.h"

#include "base/text.h"
#include "report/histogram.h"
#include "report/names.h"
#include "session/descriptors.h"
#include "session/life.h"
#include "session/losses.h"
#include "session/own_maps.h"
#include "session/steps.h"
#include "spec/syscalls.h"
#include "trace/plan.h"
#include "trace/script.h"
#include "trace/summary.h"
#include "trace/text.h"
#include "trace/values.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace session {

namespace {

using Bytes = std::span<const std::byte>;

struct Tracer {
  explicit Tracer(const TracingOptions& o) : options(o) {}

  base::Status compile();
  base::Status load();
  base::Status live();
  base::Status tell_counts();
  base::Status tell_rest();

  void take(const type::Type& type, Bytes bytes);
  std::string prefix(const trace::Call& call) const;
  base::Result<std::vector<ir::Entry>> read(std::string_view map);

  const TracingOptions& options;
  Condition condition;
  Options run; // as `acu run` would have been asked
  std::optional<base::Source> source;
  Compiled compiled;
  std::optional<Child> child;
  std::vector<base::Fd> targets;
  std::unique_ptr<Backend> backend;
  report::SystemNames names;
  SeenDescriptors descriptors;
  trace::Options shown;
  std::unique_ptr<Output> output;
  report::Printer* printer = nullptr; // while it lives
  uint64_t detached_ns = 0;
};

base::Status Tracer::compile() {
  ACU_TRY(targets, watch_targets(options.filter));
  ACU_TRY(condition, whose_of(options.filter));
  // What traces is no part of the picture.
  std::string whose = "(" + condition.text + ") && pid != " + std::to_string(::getpid());
  const std::string which = which_of(options.filter);
  trace::Wanted wanted = {.condition = whose,
                          .before = condition.before,
                          .chosen = which,
                          .has_command = options.filter.command,
                          .all_calls = options.all_calls,
                          .fails_only = options.fails_only,
                          .least_ns = options.least_ns,
                          .copied = std::max(256u, options.data),
                          .stacks = options.stacks,
                          .tells_signals = !options.quiet && !options.fails_only && !options.least_ns && which.empty(),
                          .duration_ns = options.duration_ns,
                          .histograms = options.histograms};
  source.emplace("trace", options.counts ? count_script(wanted) : call_script(wanted));
  return compile_own(compiled, *source, {.aim = "trace", .command = options.command, .expression = options.filter.expression}, child);
}

base::Status Tracer::load() {
  const spec::Config& config = compiled.tree->config;
  KernelOptions kernel = {.license = config.text("license"),
                          .log_size = static_cast<uint32_t>(config.number("log_size")),
                          .command_pid = child ? static_cast<int>(child->pid()) : -1,
                          .source = &*source};
  LoadReport loaded;
  ACU_TRY(backend, make_kernel_backend(compiled.program, kernel, loaded));
  const std::optional<uint32_t> plans = find_map(compiled.program, "plan");
  for (int call : options.calls) {
    const auto number = static_cast<uint64_t>(call), plan = trace::plan_of(spec::syscall_name(call)).pack();
    if (plans)
      ACU_CHECK(backend->engine().put(*plans, std::as_bytes(std::span(&number, 1)),
                                      std::as_bytes(std::span(&plan, 1))));
  }
  return {};
}

uint64_t number_of(const type::Field& f, Bytes bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + f.offset, std::min<uint32_t>(f.type->size, 8));
  return value;
}

// Who it was, where that is not plain.
std::string Tracer::prefix(const trace::Call& call) const {
  const Filter& f = options.filter;
  const bool is_one_thread = f.threads.size() == 1;
  const bool is_alone = f.command ? child && call.tid == static_cast<uint32_t>(child->pid())
                                  : is_one_thread || static_cast<int>(call.tid) == f.pid;
  if (is_alone) return {};
  const bool is_family = f.command || f.pid >= 0;
  return (is_family ? "[pid " : "[" + call.thread + " ") + std::to_string(call.tid) + "] ";
}

std::string seconds(uint64_t ns) {
  char text[32];
  return std::string(
      text, static_cast<size_t>(std::snprintf(text, sizeof text, "<%.6f>", static_cast<double>(ns) / 1e9)));
}

// What was copied belongs to the arguments that the plan of the call names.
void Tracer::take(const type::Type& type, Bytes bytes) {
  using namespace trace;
  const std::span<const type::Field> fields = type.fields();
  if (fields.size() < field_copied) return;
  Call call;
  call.number = static_cast<int>(number_of(fields[field_number], bytes));
  call.result = static_cast<int64_t>(number_of(fields[field_result], bytes));
  call.duration_ns = number_of(fields[field_duration], bytes);
  call.tid = static_cast<uint32_t>(number_of(fields[field_tid], bytes));
  call.pid = static_cast<uint32_t>(number_of(fields[field_pid], bytes));
  const type::Field& thread = fields[field_thread];
  const char* name = reinterpret_cast<const char*>(bytes.data()) + thread.offset;
  call.thread.assign(name, ::strnlen(name, thread.type->size));
  if (call.number < 0) {
    const auto code = static_cast<int>(call.result);
    return output->out(prefix(call) +
                       (call.number == signal_record ? signal_text(call.duration_ns, code) : end_text(code)) +
                       "\n");
  }
  for (size_t i = 0; i < call.arguments.size(); i++)
    call.arguments[i] = number_of(fields[field_arguments + i], bytes);
  const Plan plan = plan_of(spec::syscall_name(call.number));
  for (size_t i = 0; i + field_copied < fields.size() && i < plan.slots.size(); i++) {
    const type::Field& f = fields[field_copied + i];
    Bytes part = bytes.subspan(f.offset, f.type->size);
    const size_t argument =
        plan.takes_path_at_entry ? i + (call_name(call.number) == "execveat") : plan.slots[i].argument;
    if (f.type->is(type::Kind::buffer)) {
      const uint32_t length = number_at<uint32_t>(part, 0);
      call.copied[argument] = part.subspan(4, std::min<size_t>(length, part.size() - 4));
    } else if (f.type->is(type::Kind::string)) {
      call.copied[argument] = part;
      call.is_cut[argument] = !part.empty() && part.back() != std::byte{0};
    }
  }
  shown.descriptors = options.descriptors ? &descriptors : nullptr;
  if (options.descriptors) descriptors.learn(call);
  std::string line = prefix(call) + call_text(call, shown);
  if (options.durations && call.duration_ns != Call::no_time) line += " " + seconds(call.duration_ns);
  line += "\n";
  if (options.stacks && printer) {
    const type::Field& stack = fields.back();
    line +=
        "        " +
        std::string(base::trim(printer->text(*stack.type, bytes.subspan(stack.offset, stack.type->size)))) +
        "\n";
  }
  output->out(line);
  if (options.descriptors) descriptors.forget(call);
}

base::Status Tracer::live() {
  run.quiet = true;
  run.pid = options.filter.pid;
  run.output_file = options.output;
  shown.data = options.data;
  if (!options.output.empty()) {
    ACU_TRY(output, Output::open(run));
  } else {
    output = std::make_unique<Output>(STDERR_FILENO, Buffering::line, ::isatty(STDERR_FILENO) != 0);
  }
  report::Options how = report_options(compiled.tree->config, false);
  how.take_value = [this](const type::Type& type, Bytes bytes) { take(type, bytes); };
  report::Printer own(compiled.program, backend->engine(), names, *output, how);
  printer = &own;
  Effects effects(compiled.program, backend->engine(), own, *output, &*source);
  std::optional<ProcessWatch> watch;
  std::optional<Unwinding> unwinding;
  if (options.stacks) {
    watch.emplace(names.users());
    if (backend->walker()) unwinding.emplace(*backend->walker(), names.users(), *watch, *compiled.machine);
  }
  Life life = {.program = compiled.program,
               .options = run,
               .source = &*source,
               .backend = *backend,
               .effects = effects,
               .printer = own,
               .output = *output,
               .child = child ? &*child : nullptr,
               .target_fd = targets.empty() ? -1 : targets.front().get(),
               .more_targets = std::span(targets).subspan(targets.empty() ? 0 : 1),
               .watch = watch ? &*watch : nullptr,
               .unwinding = unwinding ? &*unwinding : nullptr,
               .print_maps_on_exit = false};
  if (options.descriptors && child) descriptors.look_at(static_cast<uint32_t>(child->pid()));
  ACU_CHECK(session::live(life));
  compiled.machine->store_facts();
  printer = nullptr;
  detached_ns = life.detached_ns;
  return {};
}

base::Result<std::vector<ir::Entry>> Tracer::read(std::string_view map) {
  const std::optional<uint32_t> index = find_map(compiled.program, map);
  if (!index) return std::vector<ir::Entry>();
  return backend->engine().read_map(*index);
}

// The system call that a thread is in: "7 0x… …" in /proc; none if it runs.
std::optional<int64_t> call_of(uint32_t tid) {
  auto now = base::read_file("/proc/" + std::to_string(tid) + "/syscall");
  return now.ok() ? base::parse_integer(std::string_view(*now).substr(0, now->find(' '))) : std::nullopt;
}

// Calls that have not returned, and what was left out.
base::Status Tracer::tell_rest() {
  auto tell = [&](uint32_t tid, int64_t call, const std::string& since) {
    output->out("[pid " + std::to_string(tid) + "] " + trace::call_name(static_cast<int>(call)) + "(... <unfinished" + since + ">\n");
  };
  ACU_TRY(std::vector<ir::Entry> begun, read("start"));
  std::set<uint32_t> seen; // threads that have made calls
  for (const ir::Entry& e : begun) {
    const auto tid = static_cast<uint32_t>(trace::number_at<uint64_t>(e.key, 0));
    const uint64_t since = trace::number_at<uint64_t>(e.values, 0);
    seen.insert(tid);
    if (std::optional<int64_t> call = call_of(tid); call && since && detached_ns > since) {
      const std::string after = seconds(detached_ns - since); // " <0.012>" without its ends
      tell(tid, *call, " after " + after.substr(after.find('<') + 1, after.find('>') - after.find('<') - 1));
    }
  }
  // Of one process also what its threads have been in all the time: there it may hang.
  std::error_code gone;
  if (options.filter.pid >= 0)
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(options.filter.pid) + "/task", gone)) {
      const auto tid = static_cast<uint32_t>(base::parse_integer(thread.path().filename().string()).value_or(0));
      const std::optional<int64_t> call = seen.contains(tid) ? std::nullopt : call_of(tid);
      if (call && std::ranges::count(options.calls, *call)) tell(tid, *call, ", begun before");
    }
  ACU_TRY(std::vector<ir::Entry> foreign, read("foreign"));
  uint64_t left_out = 0;
  for (const ir::Entry& e : foreign)
    for (size_t at = 0; at + 8 <= e.values.size(); at += 8)
      left_out += trace::number_at<uint64_t>(e.values, at);
  if (left_out)
    output->message("WARNING: " + std::to_string(left_out) + " calls of 32-bit programs were left out.\n");
  return {};
}

// Sums over the CPUs: stats are a sum and a count, counts are one number.
base::Status Tracer::tell_counts() {
  std::map<int, trace::CallCount> counts;
  auto number = [](const ir::Entry& e) {
    int64_t n = 0;
    std::memcpy(&n, e.key.data(), std::min(e.key.size(), sizeof n));
    return static_cast<int>(n);
  };
  ACU_TRY(std::vector<ir::Entry> calls, read("calls"));
  ACU_TRY(std::vector<ir::Entry> errors, read("errors"));
  const ir::Map& stats = compiled.program.maps[*find_map(compiled.program, "calls")];
  for (const ir::Entry& e : calls)
    for (size_t at = 0; at + stats.value_size <= e.values.size(); at += stats.value_size) {
      trace::CallCount& c = counts[number(e)];
      c.ns += trace::number_at<uint64_t>(e.values, at);
      c.calls += trace::number_at<uint64_t>(e.values, at + 8);
    }
  for (const ir::Entry& e : errors)
    for (size_t at = 0; at + 8 <= e.values.size(); at += 8)
      counts[number(e)].errors += trace::number_at<uint64_t>(e.values, at);
  output->out(trace::summary_text(counts));
  if (options.histograms) {
    const std::optional<uint32_t> times = find_map(compiled.program, "times");
    ACU_TRY(std::vector<ir::Entry> entries, read("times"));
    report::Printer own(compiled.program, backend->engine(), names, *output,
                        report_options(compiled.tree->config, false));
    for (const ir::Entry& e : entries) {
      output->out("\n" + trace::call_name(number(e)) + ", ns:\n");
      own.entry(*times, e);
    }
  }
  return {};
}

} // namespace

base::Result<int> trace_calls(const TracingOptions& options) {
  // Kept until the process ends, as in sampling.cc.
  Tracer& t = *new Tracer(options);

  // The script is verified IR; the command waits in its own process.
  ACU_CHECK(t.compile());

  // The kernel holds the program, and knows which calls are wanted.
  ACU_CHECK(t.load());

  // It was attached, and is so no more; each call was told, or counted.
  ACU_CHECK(t.live());
  if (options.counts) ACU_CHECK(t.tell_counts());
  ACU_CHECK(t.tell_rest());
  t.output->flush();
  return t.child ? t.child->status().value_or(0) : 0;
}

} // namespace session
