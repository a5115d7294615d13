#include "base/color.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unistd.h>

namespace base {

namespace {

struct Word {
  std::string_view text, color;
};
constexpr Word words[] = {
    {"ERROR", "\033[31m"}, {"WARNING", "\033[33m"}, {"NOTE", "\033[36m"}, {"HINT", "\033[36m"}};
constexpr std::string_view plain = "\033[0m";

bool wants_color() {
  for (const char* name : {"ACU_COLOR", "BPFTRACE_COLOR"}) {
    const char* value = std::getenv(name);
    if (value && std::string_view(value) == "always") return true;
    if (value && std::string_view(value) == "never") return false;
  }
  return ::isatty(STDERR_FILENO) == 1;
}

// The position of the word in "WORD: …" or "file:1:2-3: WORD: …".
std::optional<size_t> find_word(std::string_view line, const Word& word) {
  size_t at = line.starts_with(word.text) ? 0 : line.find(": " + std::string(word.text));
  if (at == line.npos) return {};
  if (at != 0) {
    if (line.substr(0, at).find(' ') != line.npos) return {}; // inside a sentence
    at += 2;
  }
  return line.substr(at + word.text.size()).starts_with(":") ? std::optional(at) : std::nullopt;
}

} // namespace

std::string colored(std::string_view message) {
  static const bool wanted = wants_color();
  if (!wanted) return std::string(message);
  std::string out;
  while (!message.empty()) {
    size_t end = std::min(message.find('\n'), message.size() - 1) + 1;
    std::string line(message.substr(0, end));
    message.remove_prefix(end);
    for (const Word& word : words) {
      auto at = find_word(line, word);
      if (!at) continue;
      line.insert(*at + word.text.size(), plain);
      line.insert(*at, word.color);
      break;
    }
    out += line;
  }
  return out;
}

} // namespace base
