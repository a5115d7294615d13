#include "dlang/format.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <ctime>
#include <utility>

namespace dlang {

std::vector<Piece> parse_format(std::string_view format, std::string& error) {
  std::vector<Piece> out;
  Piece p;
  size_t at = 0;
  auto next = [&] { return at < format.size() ? format[at] : '\0'; };
  auto number = [&](int& into, bool& taken) {
    if (next() == '*') {
      at++;
      taken = true;
      return;
    }
    while (std::isdigit(static_cast<unsigned char>(next()))) {
      into = std::min((into < 0 ? 0 : into) * 10 + (next() - '0'), 4096);
      at++;
    }
  };
  while (at < format.size()) {
    if (format[at] != '%') {
      p.text += format[at++];
      continue;
    }
    if (++at < format.size() && format[at] == '%') {
      p.text += format[at++];
      continue;
    }
    if (next() == '@') p.of_aggregation = true, at++; // before the flags, or behind the width
    while (next() && std::string_view("-+ #0'").find(next()) != std::string_view::npos) {
      if (next() != '\'') p.flags += next();
      at++;
    }
    number(p.width, p.takes_width);
    if (next() == '.') {
      at++;
      p.precision = 0;
      number(p.precision, p.takes_precision);
    }
    if (next() == '@') p.of_aggregation = true, at++;
    const size_t sizes = at;
    while (next() && std::string_view("hlLwjzt").find(next()) != std::string_view::npos) at++;
    p.conversion = next();
    if (p.conversion == '\0') {
      error = at >= format.size() && sizes == at ? "the format ends within a conversion" : "a conversion has a size and no letter";
      return out;
    }
    if (std::string_view("aAcCdikopsSuxXY").find(p.conversion) == std::string_view::npos) {
      const bool is_floating = std::string_view("eEfgG").find(p.conversion) != std::string_view::npos;
      error = std::string("%") + p.conversion + (is_floating ? " prints floating point, which D scripts do not have" : " is not a conversion");
      return out;
    }
    at++;
    out.push_back(p);
    p = {};
  }
  out.push_back(p);
  return out;
}

size_t values_of(const std::vector<Piece>& format) {
  size_t count = 0;
  for (const Piece& p : format)
    if (p.conversion && !p.of_aggregation) count += 1u + p.takes_width + p.takes_precision;
  return count;
}

static std::string print(const Piece& p, int width, int precision, std::string_view suffix, auto value) {
  std::string format = "%" + p.flags;
  if (width >= 0) format += std::to_string(width);
  if (precision >= 0) format += "." + std::to_string(precision);
  format += suffix;
  const int size = std::snprintf(nullptr, 0, format.c_str(), value);
  std::string out(static_cast<size_t>(std::max(size, 0)) + 1, '\0');
  std::snprintf(out.data(), out.size(), format.c_str(), value);
  out.pop_back();
  return out;
}

std::string format_number(const Piece& p, uint64_t bits, unsigned size, bool is_signed, int width, int precision) {
  const bool shows_sign = is_signed && (p.conversion == 'd' || p.conversion == 'i');
  if (size && size < 8) {
    const unsigned shift = 64 - 8 * size;
    bits = shows_sign ? static_cast<uint64_t>(static_cast<int64_t>(bits << shift) >> shift) : bits << shift >> shift;
  }
  switch (p.conversion) {
  case 'd':
  case 'i':
    if (shows_sign) return print(p, width, precision, "lld", static_cast<long long>(bits));
    return print(p, width, precision, "llu", static_cast<unsigned long long>(bits));
  case 'u': return print(p, width, precision, "llu", static_cast<unsigned long long>(bits));
  case 'o': return print(p, width, precision, "llo", static_cast<unsigned long long>(bits));
  case 'X': return print(p, width, precision, "llX", static_cast<unsigned long long>(bits));
  case 'c':
  case 'C': return print(p, width, -1, "c", static_cast<int>(bits & 0xff));
  case 'Y': return format_text(p, format_time(bits), width, precision);
  default: return print(p, width, precision, "llx", static_cast<unsigned long long>(bits));
  }
}

// A character as a string literal has it.
static std::string escape_of(char c) {
  constexpr std::pair<char, std::string_view> letters[] = {{'\a', "\\a"}, {'\b', "\\b"}, {'\f', "\\f"}, {'\n', "\\n"}, {'\r', "\\r"}, {'\t', "\\t"}, {'\v', "\\v"}, {'"', "\\\""}, {'\\', "\\\\"}};
  for (const auto& [letter, code] : letters)
    if (c == letter) return std::string(code);
  if (c >= ' ' && c <= '~') return std::string(1, c);
  char code[8];
  std::snprintf(code, sizeof code, "\\%03o", static_cast<unsigned char>(c));
  return code;
}

std::string format_text(const Piece& p, std::string_view text, int width, int precision) {
  std::string escaped;
  if (p.conversion == 'S') {
    for (char c : text) escaped += escape_of(c);
    text = escaped;
  }
  if (precision >= 0) text = text.substr(0, static_cast<size_t>(precision));
  const size_t pad = width > 0 && static_cast<size_t>(width) > text.size() ? static_cast<size_t>(width) - text.size() : 0;
  const bool is_left = p.flags.find('-') != std::string::npos;
  return std::string(is_left ? 0 : pad, ' ') + std::string(text) + std::string(is_left ? pad : 0, ' ');
}

std::string format_time(uint64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm parts = {};
  ::localtime_r(&seconds, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, "%Y %b %e %T", &parts));
}

} // namespace dlang
