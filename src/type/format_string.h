// Format strings of printf and its kin: parsed once, checked against the types of the arguments when the script is
// compiled, and used by the report to print.
#pragma once

#include "type/type.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace type {

// One conversion and the text before it: "%-8.3lx" is {flags "-", width 8, precision 3, length "l", conversion 'x'}.
struct Conversion {
  std::string text;  // literal text before it
  std::string flags; // of "-+ #0"
  int width = -1;    // -1: none; `*` is not allowed
  int precision = -1;
  std::string length;   // "hh", "h", "l", "ll", "j", "z", "t", "L", ""
  char conversion = 0;  // d i u x X o c f F e E g G a A s p r; 0: only text (the last piece)
  char variant = 0;     // of %r: 'x' (%rx), 'h' (%rh), 'g' (%gr)
};

// Splits a format string. An unknown conversion or a dangling % gives what is wrong in `error`.
std::vector<Conversion> parse_format(std::string_view format, std::string& error);

// The word for a type in messages: its kind, without sizes.
std::string_view kind_name(const Type& type);

// Checks a format string against its arguments. Empty: fine; else one sentence that says what is wrong.
std::string check_format(std::string_view format, std::span<const Type* const> arguments);

} // namespace type
