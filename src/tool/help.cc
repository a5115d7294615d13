// `acu help`: an overview, or the options of one subcommand, from the table.
#include "base/text.h"
#include "session/arguments.h"
#include "tool/tool.h"

namespace tool {

void show_overview(void (*to)(std::string_view)) {
  std::string out = "acu asks a running Linux system questions in the language of bpftrace.\n\n"
                    "usage: acu SUBCOMMAND …\n       acu [options] FILE\n       acu [options] -e SCRIPT\n\n";
  constexpr size_t doc_column = 10;
  for (const spec::Subcommand& s : spec::subcommands) {
    std::string name = "  " + std::string(s.name);
    name.resize(doc_column, ' ');
    out += name + std::string(s.doc.substr(0, s.doc.find('\n'))) + "\n";
  }
  out += "\nexamples:\n";
  for (const spec::Subcommand& s : spec::subcommands) out += "  " + std::string(s.example.substr(0, s.example.find('\n'))) + "\n";
  to(out + "\n`acu help run` explains the options.\n");
}

int help(Words words) {
  auto arguments = session::parse_arguments(*spec::find_subcommand("help"), words);
  if (!arguments.ok()) return refuse(arguments.error().message);
  if (arguments->words.empty()) return show_overview(say), 0;
  const std::string& topic = arguments->words[0];
  if (const spec::Subcommand* s = spec::find_subcommand(topic)) return say(session::help_text(*s)), 0;
  if (topic == "reference") return say(reference()), 0;
  std::vector<std::string_view> names = {"reference"};
  for (const spec::Subcommand& s : spec::subcommands) names.push_back(s.name);
  std::string_view near = base::nearest(topic, names);
  return refuse("there is no subcommand `" + topic + "`" +
                (near.empty() ? "" : "; did you mean `" + std::string(near) + "`?"));
}

} // namespace tool
