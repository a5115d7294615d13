// Reading the comment by its blank lines: a sentence, an indented block of command lines, an indented block of output, notes.
#include "tool/tool_header.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>

namespace tool {

namespace {

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

// What is behind a map's name and key, which may be a stack of several lines; the lines that follow.
struct BehindName {
  std::string_view text;
  size_t next;
};

BehindName behind_name(const Block& block, size_t at, size_t name_size, bool has_keys) {
  std::string_view text = base::trim(block[at].text).substr(name_size);
  if (!has_keys) return {base::trim(text.substr(text.starts_with(':') ? 1 : 0)), at + 1};
  for (;; text = block[at].text) {
    at++;
    if (const size_t end = text.find("]:"); end != text.npos) return {base::trim(text.substr(end + 2)), at};
    if (at == block.size()) return {"", at};
  }
}

ShownMap::Value value_of(const Block& block, const BehindName& behind) {
  const std::string_view first = behind.text;
  if (first.starts_with("{ .count")) return ShownMap::Value::stats;
  const size_t sign = first.starts_with('-') ? 1 : 0;
  if (first.size() > sign && std::isdigit(static_cast<unsigned char>(first[sign]))) return ShownMap::Value::number;
  const bool has_rows = behind.next < block.size() && block[behind.next].text.ends_with('|');
  return first.empty() && has_rows ? ShownMap::Value::histogram : ShownMap::Value::unknown;
}

void read_map(const Block& block, size_t at, ToolHeader& to) {
  const std::string_view text = base::trim(block[at].text);
  const size_t size = std::min(text.find_first_of("[: "), text.size());
  const bool has_keys = text.substr(size).starts_with('[');
  const ShownMap::Value value = value_of(block, behind_name(block, at, size, has_keys));
  const std::string name(text.substr(0, size));
  const auto known = std::find_if(to.maps.begin(), to.maps.end(), [&](const ShownMap& m) { return m.name == name; });
  if (known == to.maps.end()) return to.maps.push_back({name, value, has_keys});
  if (known->value == ShownMap::Value::unknown) known->value = value;
  known->has_keys |= has_keys;
}

void read_sample(const Block& block, ToolHeader& to) {
  for (size_t at = 0; at < block.size(); at++) {
    const std::string_view text = base::trim(block[at].text);
    if (text.starts_with('@')) read_map(block, at, to);
    std::vector<Column> columns = read_headings(text);
    if (columns.empty()) continue;
    if (to.columns.empty())
      to.columns = std::move(columns);
    else if (at == 0) // a table of its own begins behind a blank line
      to.more_tables.push_back(std::move(columns));
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
  if (blocks.empty()) return base::usage_error("line 1: no header: a tool begins with a comment, `// NAME: what it shows.` (`acu tool new NAME` writes one)");
  ToolHeader out;
  std::string about;
  for (const Line& line : blocks[0]) about += (about.empty() ? "" : " ") + std::string(base::trim(line.text));
  const size_t colon = about.find(": ");
  if (colon == about.npos || about.find(' ') < colon) return base::usage_error(at_line(blocks[0][0]) + "no `// NAME: what it shows.`");
  out.name = about.substr(0, colon);
  out.summary = about.substr(colon + 2, about.find(". ", colon) - colon - 2);
  if (out.summary.ends_with('.')) out.summary.pop_back();
  size_t seen = 0; // indented blocks
  for (size_t i = 1; i < blocks.size(); i++) {
    if (!is_indented(blocks[i])) {
      if (seen > 1) break;
      continue;
    }
    if (seen++ == 0) {
      if (!read_example(blocks[i][0].text, out)) return base::usage_error(at_line(blocks[i][0]) + "the example does not run the tool: `//   acu run " + out.name + ".bt`");
      for (size_t n = 1; n < blocks[i].size(); n++) read_example(blocks[i][n].text, out);
    } else {
      read_sample(blocks[i], out);
    }
  }
  if (seen < 1) return base::usage_error(at_line(blocks[0][0]) + "no example: a block of indented lines, `//   acu run " + out.name + ".bt`");
  if (seen < 2) return base::usage_error(at_line(blocks[0][0]) + "no output: a block of indented lines behind the example shows what the tool prints");
  return out;
}

std::string explain(const ToolHeader& h) {
  std::string out = h.name + ": " + h.summary + "\n\nruns on   " + (h.is_stopped ? "core dumps and stopped processes" : "live programs") + "\n";
  for (size_t i = 0; i < h.examples.size(); i++) out += (i ? "          " : "example   ") + ("acu " + h.name) + (h.examples[i].empty() ? "" : " " + h.examples[i]) + "\n";
  const auto table = [&](const std::vector<Column>& columns) {
    for (size_t i = 0; i < columns.size(); i++) out += (i ? "          " : "columns   ") + columns[i].name + (columns[i].unit.empty() ? "" : ", in " + columns[i].unit) + "\n";
  };
  table(h.columns);
  for (const std::vector<Column>& columns : h.more_tables) table(columns);
  for (size_t i = 0; i < h.maps.size(); i++) out += (i ? "          " : "maps      ") + h.maps[i].name + "\n";
  return out;
}

} // namespace tool
