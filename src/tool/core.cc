// `acu core FILE [SCRIPT]`: a core dump, as a summary or as what a script asks.
#include "base/text.h"
#include "heap/report.h"
#include "probe/stopped_program.h"
#include "profile/formats.h"
#include "report/target_names.h"
#include "session/arguments.h"
#include "session/run.h"
#include "snapshot/profile.h"
#include "snapshot/summary.h"
#include "snapshot/tasks.h"
#include "target/core_target.h"
#include "tool/file_note.h"
#include "tool/scripts.h"
#include "tool/snapshot_arguments.h"
#include "tool/tool.h"

namespace tool {

using spec::OptionId;

// Whether a thread is in a call of a function whose arguments debug information describes.
static bool is_in_call(probe::StoppedProgram& stopped, report::TargetNames& names, std::string_view function) {
  for (size_t t = 0; t < stopped.target().threads().size(); t++)
    for (const unwind::Frame& f : stopped.stacks().of(t).frames)
      if (const symbol::Frame at = names.frames_at(f.look_up(), false).back(); at.name == function && !at.file.empty()) return true;
  return false;
}

// Tools that know more of a program than its stacks say so in their first comment.
static void report_more(probe::StoppedProgram& stopped) {
  report::TargetNames names(stopped.target(), stopped.stacks());
  for (const Script& script : all_scripts()) {
    constexpr std::string_view mark = "\n// Part of the summary where a thread is in ";
    const size_t at = script.is_stopped ? script.text.find(mark) : script.text.npos;
    if (at == script.text.npos) continue;
    const std::string_view rest = script.text.substr(at + mark.size());
    if (!is_in_call(stopped, names, rest.substr(0, rest.find('.')))) continue;
    session::Options options;
    options.script = script.text;
    options.has_script = true;
    options.script_name = std::string(script.name) + ".bt";
    probe::StoppedProgram again(stopped.target(), stopped.stacks()); // its binaries serve one compilation
    options.stopped = &again;
    options.engine = session::EngineKind::eval;
    options.warnings = false;
    say("\n");
    session::run(options);
  }
}

int core(Words words) { return core(words, {}); }

static int run_core(session::Arguments arguments, const session::ReadyTool& tool) {
  if (arguments.words.empty() && !tool.name.empty())
    return refuse(tool.name + " needs a core dump or a process: `acu " + tool.name + " core.4711`, `acu " + tool.name + " -p 4711`");
  if (arguments.words.empty()) return refuse("no core dump: `acu core FILE [SCRIPT]` (see `acu help core`)");
  std::string file = arguments.words.front();
  arguments.words.erase(arguments.words.begin());
  const std::string* flame = arguments.value(OptionId::flame);
  if (flame)
    if (auto format = profile::format_of_output(*flame); !format.ok()) return fail(format.error());
  const bool shows_tasks = arguments.has(OptionId::async);
  if (shows_tasks && (!arguments.words.empty() || arguments.has(OptionId::execute) || flame))
    return refuse("--async shows the tasks of the program: it takes no script and no --flame");
  auto target = target::open_core(file, search_of(arguments));
  if (!target.ok()) return fail(target.error());
  target::Stacks stacks(**target);
  stacks.set_show(runtime::show_of(arguments.text(OptionId::lang)));
  probe::StoppedProgram stopped(**target, stacks);
  const bool is_heap = !arguments.words.empty() && heap::is_heap_question(arguments.words[0]) &&
                       !arguments.has(OptionId::execute);
  const bool is_script = !is_heap && (!arguments.words.empty() || arguments.has(OptionId::execute));
  if (!is_script && !flame)
    if (const base::Status opened = open_output(arguments); !opened.ok()) return fail(opened.error());
  if (flame) {
    auto written = is_heap ? heap::write_holders(**target, stacks, arguments.words, *flame)
                           : snapshot::write_stacks(stopped, *flame);
    return written.ok() ? 0 : fail(written.error());
  }
  if (shows_tasks) {
    auto text = snapshot::describe_tasks(stopped, arguments.has(OptionId::json));
    if (!text.ok()) return fail(text.error());
    say(*text);
    return 0;
  }
  if (!is_script && !is_heap) {
    snapshot::SummaryOptions options = {.json = arguments.has(OptionId::json), .with_heap = true};
    if (const std::string* text = arguments.value(OptionId::frames)) {
      auto frames = session::read_count("--frames", *text, 1'000'000);
      if (!frames.ok()) return fail(frames.error());
      options.most_frames = *frames;
    }
    say(snapshot::summarize(stopped, options));
    if (!options.json) report_more(stopped);
    return 0;
  }
  if (is_heap) {
    auto answer = heap::answer_heap(**target, stacks, arguments.words, arguments.has(OptionId::json));
    if (!answer.ok()) return fail(answer.error());
    say(*answer);
    return 0;
  }
  auto options = session::read_options(arguments);
  if (!options.ok()) return refuse(options.error().message);
  session::be_tool(*options, tool);
  options->stopped = &stopped;
  options->engine = session::EngineKind::eval;
  options->json |= arguments.has(OptionId::json);
  return session::run(*options);
}

int core(Words words, const session::ReadyTool& tool) {
  const int status = run_command("core", words, [&](const session::Arguments& arguments) { return run_core(arguments, tool); });
  note_unopened_files();
  return status;
}

} // namespace tool
