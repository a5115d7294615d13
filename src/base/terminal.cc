#include "base/terminal.h"

#include "base/text.h"

#include <algorithm>

namespace base {

namespace {

bool goes_through = false;

// session/color.cc writes these.
constexpr std::string_view colors[] = {"\033[31m", "\033[33m", "\033[36m", "\033[0m"};

// The length of what may stay as it is at the front of the text; 0: nothing.
size_t kept_length(std::string_view text) {
  if (text[0] == '\n' || text[0] == '\t') return 1;
  if (text.starts_with("\r\n")) return 1;
  for (std::string_view color : colors)
    if (text.starts_with(color)) return color.size();
  return 0;
}

} // namespace

bool may_control_terminals(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f; });
}

std::string for_terminal(std::string_view text) {
  std::string out;
  size_t begin = 0, at = 0;
  while (at < text.size()) {
    const size_t kept = kept_length(text.substr(at));
    if (!kept) {
      at++;
      continue;
    }
    out += printable(text.substr(begin, at - begin));
    out += text.substr(at, kept);
    at = begin = at + kept;
  }
  return out + printable(text.substr(begin));
}

void let_escapes_through() { goes_through = true; }
bool escapes_go_through() { return goes_through; }

bool writes_escapes(std::string_view script) {
  constexpr std::string_view ways[] = {"\\e", "\\033", "\\x1b", "\\x1B"};
  return std::ranges::any_of(ways, [&](std::string_view way) { return script.find(way) != script.npos; });
}

} // namespace base
