// Reading the comment by its blank lines: a sentence, an indented block of command lines, an indented block of output, notes.
#include "tool/tool_header.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>

namespace tool {

namespace {

base::Error usage(std::string message) { return {base::Failure::usage, std::move(message)}; }

struct Line {
  std::string_view text; // without slashes
  size_t number;
};
using Block = std::vector<Line>;

bool is_indented(const Block& block) { return block[0].text.starts_with("   "); }

std::vector<Block> blocks_of(std::string_view script) {
  std::vector<Block> out(1);
  size_t number = 0;
  for (std::string_view line : base::split(script, '\n')) {
    number++;
    if (line.starts_with("#!") && number == 1) continue;
    if (!line.starts_with("//")) break;
    line.remove_prefix(2);
    if (base::trim(line).empty()) {
      if (!out.back().empty()) out.emplace_back();
    } else {
      out.back().push_back({line, number});
    }
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

std::string at_line(const Line& line) { return "line " + std::to_string(line.number) + ": "; }

// `acu run tools/NAME.bt WORDS   comment`, `acu NAME WORDS`, `acu core core.1 NAME.bt`: the words behind the name.
bool read_example(std::string_view line, ToolHeader& to) {
  line = base::trim(line);
  if (!line.starts_with("acu ")) return false;
  line = line.substr(0, line.find("   "));
  const std::vector<std::string_view> words = base::split(line, ' ');
  to.is_stopped |= words.size() > 1 && (words[1] == "core" || words[1] == "snap");
  for (size_t i = 1; i < words.size(); i++) {
    const std::string_view file = words[i].substr(words[i].rfind('/') + 1);
    if (file != to.name && file != to.name + ".bt") continue;
    const size_t at = static_cast<size_t>(words[i].data() - line.data()) + words[i].size();
    to.examples.emplace_back(base::trim(line.substr(at)));
    return true;
  }
  return false;
}

void read_sample(const Block& block, ToolHeader& to) {
  for (const Line& line : block) {
    const std::string_view text = base::trim(line.text);
    if (to.columns.empty()) to.columns = read_headings(text);
    if (!text.starts_with('@')) continue;
    std::string name(text.substr(0, text.find_first_of("[: ")));
    if (std::find(to.maps.begin(), to.maps.end(), name) == to.maps.end()) to.maps.push_back(std::move(name));
  }
}

} // namespace

std::vector<Column> read_headings(std::string_view line) {
  std::vector<Column> out;
  for (std::string_view word : base::split(line, ' ')) {
    if (word.empty()) continue;
    const size_t open = word.find('('), first = word[0] == '%' ? 1 : 0;
    const std::string_view name = word.substr(0, open);
    const bool is_name = name.size() > first && std::isupper(static_cast<unsigned char>(name[first])) &&
                         std::none_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c); });
    if (!is_name || (open != word.npos && !word.ends_with(')'))) return {};
    out.push_back({std::string(name), open == word.npos ? "" : std::string(word.substr(open + 1, word.size() - open - 2))});
  }
  return out.size() > 1 ? out : std::vector<Column>();
}

base::Result<ToolHeader> read_header(std::string_view script) {
  const std::vector<Block> blocks = blocks_of(script);
  if (blocks.empty()) return usage("line 1: no header: a tool begins with a comment, `// NAME: what it shows.` (`acu tool new NAME` writes one)");
  ToolHeader out;
  std::string about;
  for (const Line& line : blocks[0]) about += (about.empty() ? "" : " ") + std::string(base::trim(line.text));
  const size_t colon = about.find(": ");
  if (colon == about.npos || about.find(' ') < colon) return usage(at_line(blocks[0][0]) + "no `// NAME: what it shows.`");
  out.name = about.substr(0, colon);
  out.summary = about.substr(colon + 2, about.find(". ", colon) - colon - 2);
  if (out.summary.ends_with('.')) out.summary.pop_back();
  size_t seen = 0; // indented blocks
  for (size_t i = 1; i < blocks.size(); i++) {
    if (!is_indented(blocks[i])) continue;
    if (seen++ == 0) {
      if (!read_example(blocks[i][0].text, out)) return usage(at_line(blocks[i][0]) + "the example does not run the tool: `//   acu run " + out.name + ".bt`");
      for (size_t n = 1; n < blocks[i].size(); n++) read_example(blocks[i][n].text, out);
    } else {
      read_sample(blocks[i], out);
      break;
    }
  }
  if (seen < 1) return usage(at_line(blocks[0][0]) + "no example: a block of indented lines, `//   acu run " + out.name + ".bt`");
  if (seen < 2) return usage(at_line(blocks[0][0]) + "no output: a block of indented lines behind the example shows what the tool prints");
  return out;
}

std::string explain(const ToolHeader& h) {
  std::string out = h.name + ": " + h.summary + "\n\nruns on   " + (h.is_stopped ? "core dumps and stopped processes" : "live programs") + "\n";
  for (size_t i = 0; i < h.examples.size(); i++) out += (i ? "          " : "example   ") + ("acu " + h.name) + (h.examples[i].empty() ? "" : " " + h.examples[i]) + "\n";
  for (size_t i = 0; i < h.columns.size(); i++) out += (i ? "          " : "columns   ") + h.columns[i].name + (h.columns[i].unit.empty() ? "" : ", in " + h.columns[i].unit) + "\n";
  for (size_t i = 0; i < h.maps.size(); i++) out += (i ? "          " : "maps      ") + h.maps[i] + "\n";
  return out;
}

} // namespace tool
