// Formats of printf() and printa() in D: parsed once, checked when the script is translated, used when records are printed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlang {

// One conversion and the text before it. Sizes (`h`, `l`, `ll`, …) say nothing: values know theirs.
struct Piece {
  std::string text;
  std::string flags;        // of "-+ #0"
  int width = -1;           // -1: none
  int precision = -1;
  bool takes_width = false, takes_precision = false; // `*`: a value before that of the conversion
  bool of_aggregation = false; // `%@d`
  char conversion = 0;      // a A c C d i k o p s S u x X Y; 0: only text (the last piece)
};

// An unknown conversion or a dangling % gives what is wrong in `error`.
std::vector<Piece> parse_format(std::string_view format, std::string& error);

// Values that the format takes; those of aggregations are not counted.
size_t values_of(const std::vector<Piece>& format);

// A number as a conversion shows it: `bits` extended to 64, `size` of the value in bytes. %d shows what has no sign without one.
std::string format_number(const Piece& p, uint64_t bits, unsigned size, bool is_signed, int width, int precision);
std::string format_text(const Piece& p, std::string_view text, int width, int precision);
// Nanoseconds since 1970 as %Y shows them: 2026 Nov 28 02:21:33.
std::string format_time(uint64_t ns);

} // namespace dlang
