#include "dlang/bars.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace dlang {

namespace {

constexpr int bar_columns = 40;
constexpr long double largest_of_zoom = 0.95L; // of the columns

long double size_of(int64_t n) { return n < 0 ? -static_cast<long double>(n) : static_cast<long double>(n); }

// Characters of three bytes.
std::string utf8(unsigned code) {
  return {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3f)), static_cast<char>(0x80 | (code & 0x3f))};
}

// Blocks, the last of which may be some eighths of one.
std::string block_bar(long double columns) {
  constexpr unsigned full = 0x2588, eighth = 0x258f;
  const int whole = std::min(static_cast<int>(columns), bar_columns);
  const auto eighths = whole < bar_columns ? static_cast<unsigned>((columns - whole) * 8) : 0;
  std::string out;
  for (int i = 0; i < whole; i++) out += utf8(full);
  if (eighths) out += utf8(eighth - (eighths - 1));
  return out + std::string(static_cast<size_t>(bar_columns - whole - (eighths ? 1 : 0)), ' ');
}

bool shows_blocks(Encoding encoding) {
  if (encoding != Encoding::by_terminal) return encoding == Encoding::utf8;
  const char* terminal = std::getenv("TERM");
  constexpr std::string_view simple[] = {"dumb", "sun", "sun-color"};
  return !terminal || std::ranges::find(simple, std::string_view(terminal)) == std::end(simple);
}

} // namespace

void Scale::add(int64_t n) {
  has_positive |= n > 0, has_negative |= n < 0;
  total = zoom ? std::max(total, size_of(n) / largest_of_zoom) : total + size_of(n);
}

std::string bar_heading(std::string_view title, size_t columns) {
  char text[160];
  std::snprintf(text, sizeof text, "\n%*.*s  %s %-9s\n", static_cast<int>(columns), static_cast<int>(title.size()), title.data(), "------------- Distribution -------------", "count");
  return text;
}

std::string bar_line(int64_t n, int64_t normal, const Scale& scale, Encoding encoding) {
  const int columns = scale.has_positive && scale.has_negative ? bar_columns / 2 : bar_columns;
  const long double exact = scale.total > 0 ? size_of(n) * columns / scale.total : 0;
  const auto size = static_cast<size_t>(std::min(static_cast<int>(exact + 0.5L), columns)), rest = static_cast<size_t>(columns) - size;
  const std::string bar(size, '@'), space(rest, ' '), half(bar_columns / 2, ' ');
  std::string drawn;
  if (!scale.has_negative)
    drawn = "|" + (encoding == Encoding::utf8 && scale.has_positive ? block_bar(exact) : bar + space);
  else if (!scale.has_positive)
    drawn = space + bar + "|";
  else
    drawn = n > 0 ? half + "|" + bar + space : space + bar + "|" + half;
  char number[32];
  std::snprintf(number, sizeof number, " %-9lld\n", static_cast<long long>(n / (normal ? normal : 1)));
  return drawn + number;
}

std::string bar_cell(int64_t n, const Scale& scale, Encoding encoding) {
  constexpr std::string_view up = "__xxxxXX", down = "vvvvVV";
  constexpr unsigned lowest_block = 0x2581;
  if (n == 0 || scale.total <= 0) return " ";
  auto level = [&](size_t levels) { return static_cast<size_t>(size_of(n) * static_cast<long double>(levels - 1) / scale.total + 0.5L); };
  if (n < 0) return {down[level(down.size())]};
  if (shows_blocks(encoding)) return utf8(lowest_block + static_cast<unsigned>(level(up.size())));
  return {up[level(up.size())]};
}

} // namespace dlang
