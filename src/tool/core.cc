// `acu core FILE [SCRIPT]`: a core dump, as a summary or as what a script asks.
#include "base/text.h"
#include "probe/still.h"
#include "session/arguments.h"
#include "session/heap_report.h"
#include "session/run.h"
#include "session/still_profile.h"
#include "session/summary.h"
#include "target/core_target.h"
#include "tool/tool.h"

namespace tool {

using spec::OptionId;

static target::Search search_of(const session::Arguments& arguments) {
  target::Search out;
  for (const session::Given& g : arguments.options) {
    if (g.id == OptionId::debuginfo) out.folders.push_back(g.value);
    if (g.id == OptionId::sysroot) out.sysroot = g.value;
    if (g.id == OptionId::debuginfod) out.download = true;
  }
  return out;
}

int core(Words words) { return core(words, "stdin"); }

int core(Words words, std::string_view script_name) {
  const spec::Subcommand& self = *spec::find_subcommand("core");
  auto arguments = session::parse_arguments(self, words);
  if (!arguments.ok()) return refuse(arguments.error().message);
  if (arguments->has(OptionId::help)) return say(session::help_text(self)), 0;
  if (arguments->words.empty()) return refuse("no core dump: `acu core FILE [SCRIPT]` (see `acu help core`)");
  std::string file = arguments->words.front();
  arguments->words.erase(arguments->words.begin());
  auto target = target::open_core(file, search_of(*arguments));
  if (!target.ok()) return fail(target.error());
  target::Stacks stacks(**target);
  probe::Still still(**target, stacks);
  const bool is_heap = !arguments->words.empty() && session::is_heap_question(arguments->words[0]) &&
                       !arguments->has(OptionId::execute);
  if (const std::string* flame = arguments->value(OptionId::flame)) {
    auto written = is_heap ? session::write_holders(**target, stacks, arguments->words, *flame)
                           : session::write_stacks(still, *flame);
    return written.ok() ? 0 : fail(written.error());
  }
  if (arguments->words.empty() && !arguments->has(OptionId::execute)) {
    say(session::summarize(still, arguments->has(OptionId::json), true));
    return 0;
  }
  if (is_heap) {
    auto answer = session::answer_heap(**target, stacks, arguments->words, arguments->has(OptionId::json));
    if (!answer.ok()) return fail(answer.error());
    say(*answer);
    return 0;
  }
  auto options = session::read_options(*arguments);
  if (!options.ok()) return refuse(options.error().message);
  options->script_name = script_name;
  options->still = &still;
  options->engine = session::EngineKind::eval;
  options->json |= arguments->has(OptionId::json);
  return session::run(*options);
}

} // namespace tool
