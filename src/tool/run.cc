// `acu run`: the command line into session::Options.
#include "session/run.h"
#include "tool/tool.h"

namespace tool {

// A script in D, by the ending of its file's name.
static bool is_d_script(Words words) {
  for (std::string_view word : words) {
    if (word == "--") return false;
    if (!word.starts_with("-")) return word.size() > 2 && word.ends_with(".d");
  }
  return false;
}

int run(Words words) { return is_d_script(words) ? dscript(words) : run(words, {}); }

int run(Words words, const session::ReadyTool& tool) {
  auto arguments = session::parse_arguments(*spec::find_subcommand("run"), words);
  if (!arguments.ok()) return refuse(arguments.error().message);
  if (arguments->has(spec::OptionId::version)) return version();
  if (arguments->has(spec::OptionId::info)) return info({});
  auto options = session::read_options(*arguments);
  if (!options.ok()) return refuse(options.error().message);
  session::be_tool(*options, tool);
  return session::run(*options);
}

} // namespace tool
