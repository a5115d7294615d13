// `acu slow`: functions, system calls, or what lies between two probes, where they take long.
#include "base/text.h"
#include "session/arguments.h"
#include "slow/slow.h"
#include "spec/probes.h"
#include "tool/calls.h"
#include "tool/tool.h"
#include "tool/whose.h"
#include "trace/plan.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace tool {

namespace {

using spec::OptionId;

// "uprobe:FILE:FUNCTION": not "FILE:FUNCTION", nor "ns::f".
bool is_probe(std::string_view word) {
  const std::vector<std::string_view> parts = base::split(word, ':');
  if (parts.size() < 3 || parts[1].empty()) return false;
  return std::ranges::any_of(spec::probe_kinds, [&](const spec::ProbeKind& k) {
    return k.name == parts[0] || std::ranges::find(k.aliases, parts[0]) != k.aliases.end();
  });
}

// Reads what to measure from the words before `--`.
base::Status read_what(std::span<const std::string> words, slow::Options& out) {
  if (words.empty()) {
    std::string kinds;
    for (const spec::SlowKind& k : spec::slow_kinds) kinds.append(kinds.empty() ? "" : ", ").append(k.asked_by);
    return base::usage_error("nothing to measure given: add one of " + kinds);
  }
  const std::string& first = words[0];
  constexpr std::string_view one_call = "syscall:";
  if (words.size() == 2) {
    if (first.empty() || words[1].empty()) return base::usage_error("a probe cannot be empty");
    out.kind = spec::find_slow_kind("between");
    out.begin = first;
    out.end = words[1];
    return {};
  }
  if (words.size() > 2) return base::usage_error("`" + words[2] + "`: at most two probes; a command goes after `--`");
  if (first == "io") {
    out.kind = spec::find_slow_kind("io");
    return {};
  }
  if (first == "syscalls" || first.starts_with(one_call)) {
    out.kind = spec::find_slow_kind("syscall");
    if (first == "syscalls") return {};
    ACU_TRY(out.calls, read_calls(std::string_view(first).substr(one_call.size())));
    std::ranges::copy(trace::calls_of_32_bits(out.calls, false), std::back_inserter(out.calls));
    return {};
  }
  if (is_probe(first)) return base::usage_error("`" + first + "` is a probe: add a second one, for the end");
  out.function = first;
  return {};
}

base::Status read_numbers(const session::Arguments& arguments, slow::Options& out) {
  if (const std::string* text = arguments.value(OptionId::min_duration)) {
    ACU_TRY(out.min_duration_ns, session::read_time("--min-duration", *text, 1'000));
  }
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(out.duration_ns, session::read_time("--duration", *text));
  }
  if (const std::string* text = arguments.value(OptionId::rounds)) {
    ACU_TRY(out.count, session::read_count("-n", *text));
  }
  if (const std::string* text = arguments.value(OptionId::max_cost)) {
    ACU_TRY(out.max_cost, session::read_percent("--max-cost", *text));
  }
  return {};
}

base::Result<slow::Options> read_request(const session::Arguments& arguments) {
  slow::Options out;
  ACU_TRY(out.filter, read_target_filter(arguments));
  out.command = arguments.behind;
  ACU_CHECK(read_what(std::span(arguments.words).first(arguments.words_before), out));
  ACU_CHECK(read_numbers(arguments, out));
  ACU_CHECK(require_target(out.filter, arguments));
  if (out.kind->is_expensive && out.filter.pid < 0 && out.command.empty() && out.function.find_first_of("/:") == std::string::npos)
    return base::usage_error("no program given for `" + out.function + "`: add -p PID or a command after `--`, or write FILE:" + out.function);
  if (const std::string* file = arguments.value(OptionId::output)) out.output = *file;
  out.is_exact = arguments.has(OptionId::exact);
  out.languages = runtime::show_of(arguments.text(OptionId::lang));
  out.json = arguments.has(OptionId::json);
  out.quiet = arguments.has(OptionId::quiet);
  return out;
}

} // namespace

int slow(const session::Arguments& arguments) {
  auto request = read_request(arguments);
  if (!request.ok()) return fail(request.error());
  auto status = slow::find_slow(*request);
  return status.ok() ? *status : fail(status.error());
}

} // namespace tool
