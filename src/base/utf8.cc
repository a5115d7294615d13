#include "base/utf8.h"

#include <algorithm>

namespace base {

size_t utf8_length(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  unsigned first = byte(0);
  size_t length = first < 0x80                    ? 1
                  : first >= 0xc2 && first < 0xe0 ? 2
                  : first >= 0xe0 && first < 0xf0 ? 3
                  : first >= 0xf0 && first < 0xf5 ? 4
                                                  : 0;
  for (size_t i = 1; i < length; i++)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Too long forms, surrogates, and what lies behind the last character.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

std::string right(std::string_view text, size_t columns) {
  const auto width = static_cast<size_t>(std::ranges::count_if(text, begins_character));
  return std::string(columns - std::min(columns, width), ' ').append(text);
}

std::string_view first_characters(std::string_view text, size_t count) {
  size_t end = 0;
  for (; count && end < text.size(); count--) end += std::max<size_t>(utf8_length(text.substr(end)), 1);
  return text.substr(0, end);
}

std::string shortened(std::string_view text, size_t count) {
  if (first_characters(text, count).size() == text.size()) return std::string(text);
  return std::string(first_characters(text, count - 1)) + "…";
}

} // namespace base
