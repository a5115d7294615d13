// `acu graph`: calls within calls of functions of a program and of the kernel, as trace-cmd(1) shows those of
// the kernel.
#include "base/text.h"
#include "session/arguments.h"
#include "graph/functions.h"
#include "graph/graphing.h"
#include "tool/sampled.h"
#include "tool/tool.h"
#include "tool/whose.h"

#include <algorithm>

namespace tool {

namespace {

using spec::OptionId;

base::Error usage(std::string message) { return {base::Failure::usage, std::move(message)}; }

base::Result<graph::Options> read_request(const session::Arguments& arguments) {
  graph::Options out;
  ACU_TRY(out.filter, read_whose(arguments));
  out.command = arguments.behind;
  out.functions.assign(arguments.words.begin(),
                       arguments.words.begin() + static_cast<ptrdiff_t>(arguments.words_before));
  if (out.functions.empty())
    return usage("say which functions to follow: `main`, `'parse_*'`, `libc:malloc` of a program, "
                 "`k:vfs_read` of the kernel");
  const bool has_program = !out.filter.pids.empty() || !out.filter.threads.empty() || !out.command.empty();
  const bool is_of_some = names_some(out.filter) || arguments.has(OptionId::all);
  for (const std::string& f : out.functions) {
    if (graph::is_kernel_function_name(f) || has_program) continue;
    if (!graph::names_program(f))
      return usage("of which program is `" + f + "`? Say -p PID, -t TID, a command behind `--`, or PROGRAM:" +
                   f + "; functions of the kernel are `k:" + f + "`");
    if (!is_of_some)
      return usage("say whose calls of `" + f +
                   "` to follow: -p PID, -u USER, --cgroup GROUP, -a, or a command behind `--`");
  }
  if (is_of_some && !out.command.empty())
    return usage(
        "a command behind `--` and `-p`, `-t`, `-u`, `--cgroup`, `--container` and `-a` exclude each other");
  if (const std::string* text = arguments.value(OptionId::depth)) {
    const auto depth = base::parse_integer(*text);
    if (!depth || *depth == 0 || *depth > UINT32_MAX)
      return usage("`--depth` takes a number from 1 on, not `" + *text + "`");
    out.depth = *depth;
  }
  if (const std::string* text = arguments.value(OptionId::least)) {
    ACU_TRY(out.least_ns, session::read_time("--min-duration", *text, 1));
  }
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(out.duration_ns, session::read_time("--duration", *text));
  }
  if (const std::string* file = arguments.value(OptionId::output)) out.output = *file;
  out.all_returns = arguments.has(OptionId::all_returns);
  out.counts = arguments.has(OptionId::counts);
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(out.top, read_count("--top", *text, 1'000'000));
  }
  if (out.top && !out.counts) return usage("`--top` is for the table: acu graph -c --top 10 '*' -p PID");
  if (out.counts && out.output.ends_with(".json"))
    return usage("`-c` makes a table, and a file that ends in .json has calls: one of them");
  out.quiet = arguments.has(OptionId::quiet);
  out.verbose = arguments.has(OptionId::verbose);
  return out;
}

} // namespace

int graph(Words words) {
  const spec::Subcommand& self = *spec::find_subcommand("graph");
  auto arguments = session::parse_arguments(self, words);
  if (!arguments.ok()) return refuse(arguments.error().message);
  if (arguments->has(OptionId::help)) return say(session::help_text(self)), 0;
  auto request = read_request(*arguments);
  if (!request.ok()) return fail(request.error());
  auto status = graph::graph_calls(*request);
  return status.ok() ? *status : fail(status.error());
}

} // namespace tool
