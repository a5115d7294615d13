// UTF-8 in foreign bytes: names of functions, files and threads may hold anything.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace base {

// Bytes of the UTF-8 character at the start of `text`, or 0 if it is none.
size_t utf8_length(std::string_view text);

// Whether a byte is the first of a character.
constexpr bool begins_character(char byte) { return (byte & 0xc0) != 0x80; }

// The text behind as many blanks as fill the columns; what is longer stays whole. A character takes one column.
std::string right(std::string_view text, size_t columns);

// The first characters of a text, whole ones; a byte that is no UTF-8 counts as one.
std::string_view first_characters(std::string_view text, size_t count);
// At most so many characters: of a longer text the first ones and "…".
std::string shortened(std::string_view text, size_t count);

} // namespace base
