// `acu trace`: system calls of a command, of processes or of all processes, in the format of strace(1).
#include "base/text.h"
#include "session/arguments.h"
#include "spec/syscall_rows.h"
#include "spec/syscalls.h"
#include "tool/calls.h"
#include "tool/tool.h"
#include "tool/whose.h"
#include "trace/text.h"
#include "trace/tracing.h"

#include <algorithm>
#include <optional>
#include <regex>

namespace tool {

namespace {

using spec::OptionId;

base::Error unknown_call(std::string_view word) {
  std::vector<std::string_view> names;
  for (int n = 0; n <= spec::last_syscall; n++)
    if (std::string_view name = spec::syscall_name(n); !name.empty()) names.push_back(name);
  std::string_view near = base::nearest(word, names);
  return base::usage_error("there is no system call `" + std::string(word) + "`" +
               (near.empty() ? "; groups are %file %desc %memory %process %signal %ipc %network %creds %clock %pure, and %stat and similar"
                             : "; did you mean `" + std::string(near) + "`?"));
}

// What strace takes before `=`, and is more than a choice of calls.
base::Status refuse_qualifier(std::string_view name) {
  struct Qualifier {
    std::string_view name, why;
  };
  static constexpr Qualifier others[] = {{"inject", "acu does not change calls"},
                                         {"fault", "acu does not change calls"},
                                         {"status", "use `-Z` for failed calls, --filter 'retval >= 0' for the others"},
                                         {"signal", "use `-q` to omit signals"},
                                         {"quiet", "use `-q` to omit signals and thread exits"},
                                         {"read", "use `-s` to show more bytes of data"},
                                         {"write", "use `-s` to show more bytes of data"},
                                         {"abbrev", "use `-v` to show more directory entries"},
                                         {"verbose", "use `-v` to show more directory entries"},
                                         {"raw", "use `--filter` for raw arguments, as arg0 to arg5"},
                                         {"decode-fds", "use `-y` or `-yy` to decode descriptors"},
                                         {"kvm", "acu does not trace virtual machines"}};
  for (const Qualifier& q : others)
    if (q.name == name) return base::usage_error("`-e " + std::string(q.name) + "=` is not supported: " + std::string(q.why));
  return {};
}

// One of the words of `-e`: of a regular expression, its form for the C library.
struct CallsWord {
  std::string_view text;
  std::optional<std::regex> expression;
  bool may_be_none = false; // `?` before it
  bool is_met = false;

  bool fits(std::string_view call) const {
    if (expression) return std::regex_search(call.begin(), call.end(), *expression);
    return text.starts_with("%") ? spec::is_in_group(call, text.substr(1)) : text == "all" || base::glob_match(text, call);
  }
};

base::Result<CallsWord> read_word(std::string_view text) {
  CallsWord out = {.text = text};
  // `?` is also one letter of a pattern; of those only what begins so is lost.
  out.may_be_none = text.starts_with("?") && text.size() > 1;
  if (out.may_be_none) out.text.remove_prefix(1);
  if (!out.text.starts_with("/")) return out;
  std::string_view inner = out.text.substr(1);
  if (inner.ends_with("/")) inner.remove_suffix(1);
  try {
    out.expression.emplace(inner.begin(), inner.end(), std::regex::extended);
  } catch (const std::regex_error&) {
    return base::usage_error("`" + std::string(out.text) + "` is not a regular expression");
  }
  return out;
}

} // namespace

base::Result<std::vector<int>> read_calls(std::string_view text) {
  if (const size_t equals = text.find('='); equals != text.npos) { // as strace has it; without, `read` is a call
    const std::string_view qualifier = text.substr(0, equals);
    ACU_CHECK(refuse_qualifier(qualifier));
    if (qualifier == "trace" || qualifier == "t") text.remove_prefix(equals + 1);
  }
  const bool all_but = text.starts_with("!");
  if (all_but) text.remove_prefix(1);
  std::vector<int> out;
  std::vector<CallsWord> words;
  for (std::string_view word : base::split(text.empty() ? "*" : text, ',')) {
    ACU_TRY(CallsWord read, read_word(word));
    words.push_back(std::move(read));
  }
  for (int n = 0; n <= spec::last_syscall; n++) {
    const std::string_view name = spec::syscall_name(n);
    if (name.empty()) continue;
    bool named = false;
    for (CallsWord& word : words)
      if (word.fits(name)) named = word.is_met = true;
    if (named != all_but) out.push_back(n);
  }
  for (const CallsWord& word : words)
    if (!word.is_met && !word.may_be_none) return unknown_call(word.text);
  return out;
}

namespace {

// The table of counts, and when it ends.
base::Status read_ends(const session::Arguments& arguments, trace::TracingOptions& to) {
  if (const std::string* text = arguments.value(OptionId::interval)) {
    ACU_TRY(to.interval_ns, session::read_time("-I", *text));
  }
  if (const std::string* text = arguments.value(OptionId::rounds)) {
    ACU_TRY(to.most, session::read_count("-n", *text, 1'000'000'000));
  }
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(to.top, session::read_count("--top", *text, 1'000'000));
  }
  const std::string* by = arguments.value(OptionId::sort);
  if (by) to.sort = trace::sort_of_counts(*by);
  if (const std::string* path = arguments.value(OptionId::path)) to.path = *path;
  if (!to.counts && to.is_exact) return base::usage_error("`--exact` requires `-c`: without it, each call is shown");
  if (!to.counts && (to.interval_ns || to.top || by)) return base::usage_error("`-I`, `--sort` and `--top` require `-c`: acu trace -c -I 1s -a");
  if (to.counts && to.most && !to.interval_ns) return base::usage_error("`-n` with `-c` counts intervals and requires `-I`: acu trace -c -I 1s -n 5 -a");
  if (to.counts && !to.path.empty()) return base::usage_error("`-P` and `-c` cannot be combined: the kernel counts calls without looking at paths");
  if (to.histograms && (to.interval_ns || to.json)) return base::usage_error("`--histogram` prints one text table at the end; it cannot be combined with `-I` or `--json`");
  return {};
}

base::Result<trace::TracingOptions> read_request(const session::Arguments& arguments) {
  trace::TracingOptions out;
  ACU_TRY(out.filter, read_target_filter(arguments));
  if (arguments.words_before) {
    const bool is_thread = arguments.has(OptionId::clock_times) && base::parse_integer(arguments.words[0]);
    return base::usage_error("`" + arguments.words[0] + "`: " + (is_thread ? "`-t` shows timestamps, as in strace; select threads with --tid" : "a command goes after `--`"));
  }
  out.command = arguments.behind;
  if (!names_some(out.filter) && !arguments.has(OptionId::all) && out.command.empty())
    return base::usage_error("no target given: add -p PID, -u USER, --cgroup GROUP, -a, or a command after `--`");
  const std::string* calls = arguments.value(OptionId::event);
  ACU_TRY(out.calls, read_calls(calls ? *calls : std::string_view()));
  out.all_calls = !calls;
  if (const std::string* text = arguments.value(OptionId::min_duration)) {
    ACU_TRY(out.min_duration_ns, session::read_time("--min-duration", *text, 1));
  }
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(out.duration_ns, session::read_time("--duration", *text));
  }
  if (const std::string* text = arguments.value(OptionId::data)) {
    auto bytes = base::parse_integer(*text);
    if (!bytes || *bytes > 4096) return base::usage_error("`-s` takes a number of bytes up to 4096, not `" + *text + "`");
    out.data = static_cast<uint32_t>(*bytes);
  }
  if (const std::string* file = arguments.value(OptionId::output)) out.output = *file;
  out.fails_only = arguments.has(OptionId::fails_only);
  out.durations = arguments.has(OptionId::times) || out.min_duration_ns;
  out.descriptors = arguments.has(OptionId::descriptors);
  out.descriptor_details = arguments.count(OptionId::descriptors) > 1;
  constexpr size_t max_detail = 3; // -ttt
  out.clock_times = static_cast<trace::ClockTimes>(std::min(arguments.count(OptionId::clock_times), max_detail));
  out.relative_times = arguments.has(OptionId::relative_times);
  out.stacks = arguments.has(OptionId::stacks);
  out.languages = runtime::show_of(arguments.text(OptionId::lang));
  out.histograms = arguments.has(OptionId::histograms);
  out.counts = arguments.has(OptionId::counts) || out.histograms;
  out.is_exact = arguments.has(OptionId::exact);
  const bool is_redacted = arguments.has(OptionId::redact);
  if (is_redacted && out.descriptors) return base::usage_error("`--redact` hides paths: it cannot be combined with `-y`");
  trace::redact_text(is_redacted);
  out.json = arguments.has(OptionId::json);
  out.verbose = arguments.has(OptionId::verbose);
  out.quiet = arguments.has(OptionId::quiet);
  ACU_CHECK(read_ends(arguments, out));
  return out;
}

} // namespace

int trace(const session::Arguments& arguments) {
  auto request = read_request(arguments);
  if (!request.ok()) return fail(request.error());
  auto status = trace::trace_calls(*request);
  return status.ok() ? *status : fail(status.error());
}

} // namespace tool
