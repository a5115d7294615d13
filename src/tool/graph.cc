// `acu graph`: nested calls of functions of a program and of the kernel, as trace-cmd(1) shows those of
// the kernel.
#include "base/text.h"
#include "graph/functions.h"
#include "graph/graphing.h"
#include "session/arguments.h"
#include "tool/tool.h"
#include "tool/whose.h"

#include <algorithm>

namespace tool {

namespace {

using spec::OptionId;

base::Result<graph::Options> read_request(const session::Arguments& arguments) {
  graph::Options out;
  ACU_TRY(out.filter, read_target_filter(arguments));
  out.command = arguments.behind;
  out.functions.assign(arguments.words.begin(),
                       arguments.words.begin() + static_cast<ptrdiff_t>(arguments.words_before));
  if (out.functions.empty())
    return base::usage_error("no function given: name some, such as `main`, `'parse_*'` or `libc:malloc` of a program, or "
                 "`k:vfs_read` of the kernel");
  const bool has_program = !out.filter.pids.empty() || !out.filter.threads.empty() || !out.command.empty();
  const bool is_of_some = names_some(out.filter) || arguments.has(OptionId::all);
  for (const std::string& f : out.functions) {
    if (graph::is_kernel_function_name(f) || has_program) continue;
    if (!graph::names_program(f))
      return base::usage_error("no program given for `" + f + "`: add -p PID, -t TID or a command after `--`, or write PROGRAM:" +
                   f + "; kernel functions are `k:" + f + "`");
    if (!is_of_some)
      return base::usage_error("no target given for `" + f +
                   "`: add -p PID, -u USER, --cgroup GROUP, -a, or a command after `--`");
  }
  if (is_of_some && !out.command.empty())
    return base::usage_error(
        "a command after `--` cannot be combined with `-p`, `-t`, `-u`, `--cgroup`, `--container` or `-a`");
  if (const std::string* text = arguments.value(OptionId::depth)) {
    ACU_TRY(out.depth, session::read_count("--depth", *text));
  }
  if (const std::string* text = arguments.value(OptionId::min_duration)) {
    ACU_TRY(out.min_duration_ns, session::read_time("--min-duration", *text, 1));
  }
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(out.duration_ns, session::read_time("--duration", *text));
  }
  if (const std::string* file = arguments.value(OptionId::output)) out.output = *file;
  out.all_returns = arguments.has(OptionId::all_returns);
  out.counts = arguments.has(OptionId::counts);
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(out.top, session::read_count("--top", *text, 1'000'000));
  }
  if (out.top && !out.counts) return base::usage_error("`--top` requires `-c`: acu graph -c --top 10 '*' -p PID");
  if (out.counts && out.output.ends_with(".json"))
    return base::usage_error("`-c` cannot be combined with a .json file, which has calls and no table");
  out.quiet = arguments.has(OptionId::quiet);
  out.verbose = arguments.has(OptionId::verbose);
  return out;
}

} // namespace

int graph(const session::Arguments& arguments) {
  auto request = read_request(arguments);
  if (!request.ok()) return fail(request.error());
  auto status = graph::graph_calls(*request);
  return status.ok() ? *status : fail(status.error());
}

} // namespace tool
