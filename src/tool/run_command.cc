#include "tool/tool.h"

namespace tool {

int refuse_word(std::string_view subcommand, std::string_view word) {
  return refuse("`" + std::string(word) + "`: usage: acu " + std::string(subcommand) + " " + std::string(spec::find_subcommand(subcommand)->usage));
}

int run_command(std::string_view subcommand, Words words, const std::function<int(const session::Arguments&)>& run) {
  const spec::Subcommand& self = *spec::find_subcommand(subcommand);
  const auto arguments = session::parse_arguments(self, words);
  if (!arguments.ok()) return fail(arguments.error());
  if (arguments->has(spec::OptionId::help)) return say(session::help_text(self)), 0;
  return run(*arguments);
}

int run_command(const Command& command, Words words) { return command.words ? command.words(words) : run_command(command.name, words, command.parsed); }

} // namespace tool
