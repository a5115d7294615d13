// `acu run`: the command line into session::Options.
#include "budget/run.h"
#include "tool/tool.h"

namespace tool {

// A script in D, by the ending of its file's name.
static bool is_d_script(Words words) {
  const std::string_view first = words.empty() ? std::string_view() : words[0];
  return first.size() > 2 && !first.starts_with("-") && first.ends_with(".d");
}

int run(Words words) { return is_d_script(words) ? run_command("dscript", words, dscript) : run(words, {}); }

int run(Words words, const session::ReadyTool& tool) {
  auto arguments = session::parse_arguments(*spec::find_subcommand("run"), words);
  if (!arguments.ok()) return fail(arguments.error());
  if (arguments->has(spec::OptionId::version)) return version();
  if (arguments->has(spec::OptionId::info)) return info({});
  auto options = session::read_options(*arguments);
  if (!options.ok()) return refuse(options.error().message);
  session::be_tool(*options, tool);
  return budget::run(*options);
}

} // namespace tool
