// `acu trace`: system calls of a command, of processes or of everything, as strace(1) tells them.
#include "base/text.h"
#include "session/arguments.h"
#include "session/tracing.h"
#include "spec/syscall_rows.h"
#include "spec/syscalls.h"
#include "tool/calls.h"
#include "tool/sampled.h"
#include "tool/tool.h"
#include "tool/whose.h"

#include <algorithm>

namespace tool {

namespace {

using spec::OptionId;

base::Error usage(std::string message) { return {base::Failure::usage, std::move(message)}; }

base::Error unknown_call(std::string_view word) {
  std::vector<std::string_view> names;
  for (int n = 0; n <= spec::last_syscall; n++)
    if (std::string_view name = spec::syscall_name(n); !name.empty()) names.push_back(name);
  std::string_view near = base::nearest(word, names);
  return usage("there is no system call `" + std::string(word) + "`" +
               (near.empty() ? "; groups are %file %desc %process %net %memory %signal %ipc %creds %clock"
                             : "; did you mean `" + std::string(near) + "`?"));
}

bool is_in_group(std::string_view call, std::string_view group) {
  const spec::SyscallRow* row = spec::find_syscall_row(call);
  if (!row) return false;
  const std::vector<std::string_view> groups = base::split(row->groups, ' ');
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

} // namespace

base::Result<std::vector<int>> read_calls(std::string_view text) {
  if (text.starts_with("trace=")) text.remove_prefix(6); // as strace has it
  const bool all_but = text.starts_with("!");
  if (all_but) text.remove_prefix(1);
  std::vector<int> out;
  const std::vector<std::string_view> words =
      text.empty() ? std::vector<std::string_view>{"*"} : base::split(text, ',');
  std::vector<bool> met(words.size(), false);
  for (int n = 0; n <= spec::last_syscall; n++) {
    const std::string_view name = spec::syscall_name(n);
    if (name.empty()) continue;
    bool named = false;
    for (size_t w = 0; w < words.size(); w++) {
      const bool fits = words[w].starts_with("%") ? is_in_group(name, words[w].substr(1))
                                                  : base::glob_match(words[w], name);
      if (fits) named = met[w] = true;
    }
    if (named != all_but) out.push_back(n);
  }
  for (size_t w = 0; w < words.size(); w++)
    if (!met[w]) return unknown_call(words[w]);
  return out;
}

namespace {

// The table of counts, and when it ends.
base::Status read_ends(const session::Arguments& arguments, session::TracingOptions& to) {
  if (const std::string* text = arguments.value(OptionId::interval)) {
    ACU_TRY(to.interval_ns, session::read_time("-I", *text));
  }
  if (const std::string* text = arguments.value(OptionId::rounds)) {
    ACU_TRY(to.most, read_count("-n", *text, 1'000'000'000));
  }
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(to.top, read_count("--top", *text, 1'000'000));
  }
  const std::string* by = arguments.value(OptionId::sort);
  if (by) to.sort = trace::sort_of_counts(*by);
  if (const std::string* path = arguments.value(OptionId::path)) to.path = *path;
  if (!to.counts && (to.interval_ns || to.top || by)) return usage("`-I`, `--sort` and `--top` are for the table: acu trace -c -I 1s -a");
  if (to.counts && to.most && !to.interval_ns) return usage("`-n` is a number of calls, or with `-c` of intervals: acu trace -c -I 1s -n 5 -a");
  if (to.counts && !to.path.empty()) return usage("`-P` is for lines, not for `-c`: the kernel counts calls without looking at paths");
  if (to.histograms && (to.interval_ns || to.json)) return usage("`--histogram` is for one table of text at the end, without `-I` and `--json`");
  return {};
}

base::Result<session::TracingOptions> read_request(const session::Arguments& arguments) {
  session::TracingOptions out;
  ACU_TRY(out.filter, read_whose(arguments));
  if (arguments.words_before) return usage("`" + arguments.words[0] + "`: a command goes behind `--`");
  out.command = arguments.behind;
  if (!names_some(out.filter) && !arguments.has(OptionId::all) && out.command.empty())
    return usage("say what to trace: -p PID, -u USER, --cgroup GROUP, -a, or a command behind `--`");
  const std::string* calls = arguments.value(OptionId::event);
  ACU_TRY(out.calls, read_calls(calls ? *calls : std::string_view()));
  out.all_calls = !calls;
  if (const std::string* text = arguments.value(OptionId::least)) {
    ACU_TRY(out.least_ns, session::read_time("--min-duration", *text, 1));
  }
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(out.duration_ns, session::read_time("--duration", *text));
  }
  if (const std::string* text = arguments.value(OptionId::data)) {
    auto bytes = base::parse_integer(*text);
    if (!bytes || *bytes > 4096) return usage("`-s` takes a number of bytes up to 4096, not `" + *text + "`");
    out.data = static_cast<uint32_t>(*bytes);
  }
  if (const std::string* file = arguments.value(OptionId::output)) out.output = *file;
  out.fails_only = arguments.has(OptionId::fails_only);
  out.durations = arguments.has(OptionId::times) || out.least_ns;
  out.descriptors = arguments.has(OptionId::descriptors);
  out.stacks = arguments.has(OptionId::stacks);
  out.histograms = arguments.has(OptionId::histograms);
  out.counts = arguments.has(OptionId::counts) || out.histograms;
  out.json = arguments.has(OptionId::json);
  out.verbose = arguments.has(OptionId::verbose);
  out.quiet = arguments.has(OptionId::quiet);
  ACU_CHECK(read_ends(arguments, out));
  return out;
}

} // namespace

int trace(Words words) {
  const spec::Subcommand& self = *spec::find_subcommand("trace");
  auto arguments = session::parse_arguments(self, words);
  if (!arguments.ok()) return refuse(arguments.error().message);
  if (arguments->has(OptionId::help)) return say(session::help_text(self)), 0;
  auto request = read_request(*arguments);
  if (!request.ok()) return fail(request.error());
  auto status = session::trace_calls(*request);
  return status.ok() ? *status : fail(status.error());
}

} // namespace tool
