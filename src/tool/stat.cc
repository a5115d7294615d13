// `acu stat`: counters over a command, a process or the host, as in perf-stat(1).
#include "base/text.h"
#include "counters/counting.h"
#include "session/arguments.h"
#include "tool/tool.h"
#include "tool/whose.h"

namespace tool {

namespace {

using spec::OptionId;

// "cycles,sched:sched_switch"
void add_events(const std::string& text, std::vector<std::string>& to) {
  for (std::string_view name : base::split(text, ','))
    if (name = base::trim(name); !name.empty()) to.emplace_back(name);
}

base::Result<counters::Options> read_request(const session::Arguments& arguments) {
  counters::Options out;
  ACU_TRY(out.filter, read_target_filter(arguments));
  if (arguments.words_before) return base::usage_error("`" + arguments.words[0] + "`: a command goes after `--`");
  out.command = arguments.behind;
  const bool is_of_others = names_some(out.filter) || arguments.has(OptionId::all);
  out.while_command = arguments.has(OptionId::all) && !out.command.empty();
  if (is_of_others == !out.command.empty() && !out.while_command)
    return base::usage_error("no target given: add one of -p PID, --cgroup GROUP, -a, or a command after `--`");
  if (out.while_command && names_some(out.filter))
    return base::usage_error("`-a` with a command counts all processes while it runs; it cannot be combined with `-p`, `-t` or `--cgroup`");
  for (const session::Given& given : arguments.options)
    if (given.id == OptionId::event) add_events(given.value, out.events);
  if (const std::string* text = arguments.value(OptionId::interval)) {
    ACU_TRY(out.interval_ns, session::read_time("-I", *text));
  }
  if (const std::string* text = arguments.value(OptionId::rounds)) {
    ACU_TRY(out.rounds, session::read_count("-n", *text, 1'000'000'000));
    if (!out.interval_ns) return base::usage_error("`-n` counts intervals and requires `-I`: acu stat -I 1s -n 10");
  }
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(out.duration_ns, session::read_time("--duration", *text));
  }
  if (const std::string* text = arguments.value(OptionId::repeats)) {
    ACU_TRY(out.repeats, session::read_count("-r", *text, 10'000));
    if (out.command.empty()) return base::usage_error("`-r` requires a command: acu stat -r 5 -- CMD");
  }
  if (out.repeats > 1 && out.interval_ns) return base::usage_error("`-r` and `-I` cannot be combined");
  if (const std::string* file = arguments.value(OptionId::output)) out.output = *file;
  out.by_cpu = arguments.has(OptionId::by_cpu);
  out.json = arguments.has(OptionId::json);
  out.quiet = arguments.has(OptionId::quiet);
  if (arguments.has(OptionId::csv)) out.separator.assign(1, ',');
  if (const std::string* text = arguments.value(OptionId::separator)) {
    if (text->empty()) return base::usage_error("`-x` takes the separator of fields: acu stat -x, -- CMD");
    out.separator = *text;
  }
  if (out.json && !out.separator.empty()) return base::usage_error("`--json` cannot be combined with `-x` or `--csv`");
  return out;
}

} // namespace

int stat(const session::Arguments& arguments) {
  auto request = read_request(arguments);
  if (!request.ok()) return fail(request.error());
  auto status = counters::count_events(*request);
  return status.ok() ? *status : fail(status.error());
}

} // namespace tool
