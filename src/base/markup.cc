#include "base/markup.h"

#include "base/utf8.h"

#include <algorithm>

namespace base {

void append_markup(std::string& out, std::string_view text) {
  constexpr std::string_view replacement = "\xef\xbf\xbd", no_character = "\xef\xbf"; // U+FFFD; U+FFFE and U+FFFF
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    if (character == "<")
      out += "&lt;";
    else if (character == ">")
      out += "&gt;";
    else if (character == "&")
      out += "&amp;";
    else if (character == "\"")
      out += "&quot;";
    else if (length == 0 || (character.starts_with(no_character) && static_cast<unsigned char>(character[2]) >= 0xbe))
      out += replacement;
    else if (length == 1 && static_cast<unsigned char>(character[0]) < ' ' && character[0] != '\n')
      out += ' ';
    else
      out += character;
  }
}

std::string markup(std::string_view text) {
  std::string out;
  append_markup(out, text);
  return out;
}

} // namespace base
