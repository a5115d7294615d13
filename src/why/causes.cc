// A rule file begins with comments: a sentence in quotes, then paragraphs that begin with a word and a colon.
#include "why/causes.h"

#include "base/text.h"
#include "why/rules.h"

#include <string_view>

namespace why {

namespace {

// The comment at the beginning, without the marks; a line that goes on with the one before is joined to it.
std::string header_of(std::string_view text) {
  constexpr std::string_view words[] = {"Symptom: ", "Cause: ", "Refutation: ", "Thresholds: "};
  std::string out;
  for (std::string_view line : base::split(text, '\n')) {
    if (!line.starts_with("; ")) break;
    line.remove_prefix(2);
    std::string_view word;
    for (std::string_view w : words)
      if (line.starts_with(w)) word = w;
    if (!word.empty())
      out += "\n- **" + std::string(word.substr(0, word.size() - 2)) + ":** " + std::string(line.substr(word.size()));
    else
      out.append(out.empty() ? "" : " ").append(line);
  }
  return out;
}

} // namespace

std::string causes_text() {
  constexpr std::string_view ending = ".clp";
  std::string out = "# Causes that acu why knows\n\n"
                    "Each cause is a file of rules in `src/why/rules/`; its header is shown here. How rules work is in [acu why](why.md).\n";
  for (const RuleFile& file : rule_files()) {
    const std::string header = header_of(file.text);
    if (!header.starts_with('"')) continue; // what all rules share
    out += "\n## " + std::string(file.name.substr(0, file.name.size() - ending.size())) + "\n\n" + header.substr(0, header.find('\n')) + "\n" +
           header.substr(header.find('\n')) + "\n";
  }
  return out;
}

} // namespace why
