// `acu help`: an overview, the options of one subcommand, manual pages and completion, from the table.
#include "base/text.h"
#include "session/arguments.h"
#include "spec/subcommands.h"
#include "tool/tool.h"

#include <algorithm>

namespace tool {

// The first sentence of what a subcommand does, on one line.
static std::string first_sentence(std::string_view doc) {
  std::string text(doc);
  base::replace_all(text, "\n", " ");
  return text.substr(0, std::min({text.find(". "), text.find("; "), text.find_last_not_of('.') + 1}));
}

void show_overview(void (*to)(std::string_view)) {
  std::string out = "acu traces and profiles a running Linux system, with scripts in the language of bpftrace.\n\n"
                    "usage: acu SUBCOMMAND …\n       acu TOOL …              (`acu tools` lists them)\n"
                    "       acu [options] FILE\n       acu [options] -e SCRIPT\n\n";
  constexpr size_t doc_column = 12;
  for (const spec::Subcommand& s : spec::subcommands) {
    std::string name = "  " + std::string(s.name);
    name.resize(doc_column, ' ');
    out += name + first_sentence(s.doc) + "\n";
  }
  out += "\nexamples:\n";
  for (const spec::Subcommand& s : spec::subcommands) out += "  " + std::string(s.example.substr(0, s.example.find('\n'))) + "\n";
  to(out + "\n`acu help run` explains the options.\n");
}

static base::Error unknown_topic(const std::string& topic, std::string_view what, std::vector<std::string_view> names) {
  const std::string_view near = base::nearest(topic, names);
  return {base::Failure::usage, "there is no " + std::string(what) + " `" + topic + "`" +
                                    (near.empty() ? "" : "; did you mean `" + std::string(near) + "`?")};
}

static base::Result<std::string> text_of(const std::vector<std::string>& words) {
  std::vector<std::string_view> names;
  for (const spec::Subcommand& s : spec::subcommands) names.push_back(s.name);
  const std::string& topic = words[0];
  if (topic == "reference") return reference();
  if (topic == "completion") {
    const std::string shell = words.size() > 1 ? words[1] : "";
    const std::string_view script = completion_script(shell);
    if (script.empty()) return unknown_topic(shell, "completion for the shell", {"bash", "zsh", "fish"});
    return std::string(script);
  }
  const bool is_manual = topic == "man";
  if (is_manual && words.size() == 1) return manual(nullptr);
  const std::string& name = is_manual ? words[1] : topic;
  if (const spec::Subcommand* s = spec::find_subcommand(name)) return is_manual ? manual(s) : session::help_text(*s);
  names.insert(names.end(), {"reference", "man", "completion"});
  return unknown_topic(name, "subcommand", names);
}

int help(Words words) {
  if (words.size() > 1 && std::string_view(words[0]) == "complete" && std::string_view(words[1]) == "--") {
    const std::vector<std::string_view> typed(words.begin() + 2, words.end());
    std::string out;
    for (const std::string& answer : complete(typed)) out += answer + "\n";
    return say(out), 0;
  }
  auto arguments = session::parse_arguments(*spec::find_subcommand("help"), words);
  if (!arguments.ok()) return fail(arguments.error());
  if (arguments->words.empty()) return show_overview(say), 0;
  auto text = text_of(arguments->words);
  return text.ok() ? (say(*text), 0) : fail(text.error());
}

} // namespace tool
