// `acu tools`, and `acu NAME`. The comment at the start of a tool's script explains it.
#include "tool/scripts.h"

#include "base/text.h"
#include "session/arguments.h"
#include "tool/own_tools.h"
#include "tool/tool_header.h"

#include <algorithm>
#include <sys/stat.h>
#include <vector>

namespace tool {

// A library of descriptions, which no probe is in.
static constexpr std::string_view no_tool = "libstdcxx";

const Script* find_script(std::string_view name) {
  for (const Script& s : all_scripts())
    if (s.name == name && name != no_tool) return &s;
  return find_own(name);
}

// The comment, without its slashes; the sources' `acu run tools/NAME.bt` is `acu NAME` here.
static std::string explanation(const Script& script) {
  std::string out;
  for (std::string_view line : base::split(script.text, '\n')) {
    if (line.starts_with("#!")) continue;
    if (!line.starts_with("//")) break;
    line.remove_prefix(line.starts_with("// ") ? 3 : 2);
    out.append(line).append("\n");
  }
  const std::string name(script.name);
  for (std::string_view folder : {"tools/", "./", ""}) base::replace_all(out, "acu run " + std::string(folder) + name + ".bt", "acu " + name);
  for (std::string_view core : {"acu core core.1234", "acu snap -p 1234"})
    base::replace_all(out, std::string(core) + " tools/static/" + name + ".bt",
                      "acu " + name + std::string(core.substr(8)));
  return out;
}

// The first sentence of it, without the name.
static std::string one_line(const Script& script) {
  std::string text = explanation(script);
  base::replace_all(text, "\n", " ");
  const size_t colon = text.find(": "), begin = colon == text.npos ? 0 : colon + 2;
  return text.substr(begin, text.find(". ", begin) - begin);
}

// The highest number of a parameter ($1, $2, …) in the code.
static size_t parameters(std::string_view text) {
  size_t out = 0;
  for (std::string_view line : base::split(text, '\n')) {
    if (base::trim(line).starts_with("//")) continue;
    for (size_t at = line.find('$'); at != line.npos; at = line.find('$', at + 1)) {
      const std::string_view rest = line.substr(at + 1);
      const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
      if (auto number = base::parse_integer(digits)) out = std::max<size_t>(out, *number);
    }
  }
  return out;
}

// The first command line of the explanation, without what it says about it.
static std::string example(const Script& script) {
  const std::string text = explanation(script), command = "acu " + std::string(script.name);
  const size_t at = text.find("  " + command);
  if (at == text.npos) return command;
  const std::string_view line = std::string_view(text).substr(at + 2, text.find('\n', at) - at - 2);
  return std::string(base::trim(line.substr(0, line.find("   "))));
}

static session::ReadyTool ready(const Script& script) {
  return {.name = std::string(script.name), .example = example(script), .parameters = parameters(script.text)};
}

int run_script(const Script& script, Words words) {
  for (std::string_view word : words) {
    if (word == "--") break;
    if (word == "--help" || word == "-h") return say(explanation(script)), 0;
    if (word == "--explain" || word == "--schema") {
      auto header = read_header(script.text);
      return header.ok() ? (say(word == "--schema" ? schema_of(*header) : explain(*header)), 0) : fail(header.error());
    }
  }
  std::string option = "-e", text(script.text);
  std::vector<char*> all = {option.data(), text.data()};
  all.insert(all.end(), words.begin(), words.end());
  const session::ReadyTool tool = ready(script);
  if (!script.is_stopped) return run(all, tool);
  const bool is_live = std::any_of(words.begin(), words.end(), [](std::string_view w) {
    return w.starts_with("-p") || w.starts_with("--pid") || w.starts_with("--container");
  });
  return is_live ? snap(all, tool) : core(all, tool);
}

void take_tool(session::Options& options) {
  struct stat about = {};
  if (options.has_script || options.file.empty() || options.file == "-" || ::stat(options.file.c_str(), &about) == 0) return;
  const Script* script = find_script(options.file);
  if (!script) return;
  options.script = script->text, options.has_script = true;
  session::be_tool(options, ready(*script));
}

static void append_row(std::string& out, const Script& script) {
  constexpr size_t doc_column = 24;
  std::string row = "  " + std::string(script.name);
  if (row.size() < doc_column) row.resize(doc_column, ' ');
  out += row + one_line(script) + "\n";
}

// The rows of the tables in tools/README.md: "| about | tools |"; all, or those of one group. Those of users are the group `own`.
static std::string overview(std::string_view group = {}) {
  std::string out;
  for (std::string_view line : base::split(about_scripts(), '\n')) {
    if (line.starts_with("`static/`") && group.empty())
      out += "\nfor a core dump (acu NAME CORE) or a live process (acu NAME -p PID):\n";
    const std::vector<std::string_view> cells = base::split(line, '|');
    if (cells.size() < 4 || base::trim(cells[1]) == "about" || cells[1].starts_with("---")) continue;
    const std::string_view about = base::trim(cells[1]);
    if (!group.empty() && base::lower(about) != base::lower(group)) continue;
    out.append("\n").append(about).append("\n");
    for (std::string_view name : base::split(base::trim(cells[2]), ' '))
      if (const Script* script = find_script(name)) append_row(out, *script);
  }
  if (group.empty() || base::lower(group) == "own") {
    const std::vector<const Script*> own = own_scripts();
    if (!own.empty()) out += "\nown\n";
    for (const Script* script : own) append_row(out, *script);
  }
  return out.substr(std::min<size_t>(out.find_first_not_of('\n'), out.size()));
}

std::vector<ListedTool> listed_tools() {
  std::vector<ListedTool> out;
  for (std::string_view line : base::split(about_scripts(), '\n')) {
    const std::vector<std::string_view> cells = base::split(line, '|');
    if (cells.size() < 4 || base::trim(cells[1]) == "about" || cells[1].starts_with("---")) continue;
    for (std::string_view name : base::split(base::trim(cells[2]), ' '))
      if (const Script* script = find_script(name)) out.push_back({script->name, base::trim(cells[1]), one_line(*script)});
  }
  for (const Script* script : own_scripts()) out.push_back({script->name, "own", one_line(*script)});
  return out;
}

int tools(Words words) {
  const spec::Subcommand& self = *spec::find_subcommand("tools");
  auto arguments = session::parse_arguments(self, words);
  if (!arguments.ok()) return fail(arguments.error());
  if (arguments->has(spec::OptionId::help) && arguments->words.empty())
    return say(session::help_text(self)), 0;
  if (arguments->words.empty()) return say(overview()), 0;
  const std::string& name = arguments->words[0];
  if (const Script* script = find_script(name)) return say(explanation(*script)), 0;
  if (const std::string rows = overview(name); !rows.empty()) return say(rows), 0;
  std::vector<std::string_view> names;
  for (const Script& s : all_scripts()) names.push_back(s.name);
  std::string_view near = base::nearest(name, names);
  return refuse("there is no tool `" + name + "`" +
                (near.empty() ? " (`acu tools` lists them)" : "; did you mean `" + std::string(near) + "`?"));
}

} // namespace tool
