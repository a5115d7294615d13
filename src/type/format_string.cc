// Format strings. The grammar is that of C's printf without `*` and %n, plus %r, %rx and %rh
// for buffers:
//
//   conversion := '%' flag* digits? ('.' digits?)? length? letter
//   flag       := '-' | '+' | ' ' | '#' | '0'
//   length     := "hh" | "h" | "ll" | "l" | "j" | "z" | "t" | "L"
//   letter     := one of the rows below; "r" may be followed by 'x' or 'h', "gr" is one letter
//
// What a letter takes is one row of a table.
#include "type/format_string.h"

#include <algorithm>

namespace type {

namespace {

enum class Accepts : uint8_t { number, floating, text, address, bytes };

struct Letter {
  char letter;
  Accepts accepts;
  std::string_view expects; // as told to people
};

constexpr Letter letters[] = {
    {.letter = 'd', .accepts = Accepts::number, .expects = "integer"},
    {.letter = 'i', .accepts = Accepts::number, .expects = "integer"},
    {.letter = 'u', .accepts = Accepts::number, .expects = "integer"},
    {.letter = 'x', .accepts = Accepts::number, .expects = "integer"},
    {.letter = 'X', .accepts = Accepts::number, .expects = "integer"},
    {.letter = 'o', .accepts = Accepts::number, .expects = "integer"},
    {.letter = 'c', .accepts = Accepts::number, .expects = "integer"},
    {.letter = 'f', .accepts = Accepts::floating, .expects = "float"},
    {.letter = 'F', .accepts = Accepts::floating, .expects = "float"},
    {.letter = 'e', .accepts = Accepts::floating, .expects = "float"},
    {.letter = 'E', .accepts = Accepts::floating, .expects = "float"},
    {.letter = 'g', .accepts = Accepts::floating, .expects = "float"},
    {.letter = 'G', .accepts = Accepts::floating, .expects = "float"},
    {.letter = 'a', .accepts = Accepts::floating, .expects = "float"},
    {.letter = 'A', .accepts = Accepts::floating, .expects = "float"},
    {.letter = 's', .accepts = Accepts::text, .expects = "string"},
    {.letter = 'p', .accepts = Accepts::address, .expects = "pointer"},
    {.letter = 'r', .accepts = Accepts::bytes, .expects = "buffer"},
};

const Letter* find_letter(char c) {
  for (const Letter& l : letters)
    if (l.letter == c) return &l;
  return nullptr;
}

// Numbers that print as something else than digits.
bool has_name(const Type& t) { return t.is(Kind::boolean) || t.is(Kind::enumeration); }

bool accepts(Accepts what, const Type& t) {
  bool number = t.is_integer() || t.is(Kind::pointer) || (t.is_castable_aggregation() && !t.is(Kind::stats));
  switch (what) {
  case Accepts::number:
  case Accepts::address: return number;
  case Accepts::floating: return t.is(Kind::floating);
  case Accepts::bytes: return t.is(Kind::buffer);
  case Accepts::text: return has_name(t) || !(number || t.is(Kind::none) || t.is_aggregation());
  }
  return false;
}

// Reads a format string from left to right.
class Scanner {
public:
  explicit Scanner(std::string_view format) : rest_(format) {}
  std::vector<Conversion> all(std::string& error);

private:
  bool is_sign(std::string_view before, bool is_behind_conversion) const;
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  int digits();
  // After the '%'. Empty, or what is wrong.
  std::string conversion(Conversion& c);
  std::string letter(Conversion& c, std::string_view whole);

  std::string_view rest_;
};

int Scanner::digits() {
  constexpr int limit = 100000; // wider output is a mistake, not a wish
  int value = 0;
  while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') {
    value = std::min(value * 10 + (rest_[0] - '0'), limit);
    rest_.remove_prefix(1);
  }
  return value;
}

std::string Scanner::conversion(Conversion& c) {
  std::string_view whole = rest_;
  constexpr std::string_view flags = "-+ #0";
  while (!rest_.empty() && flags.find(rest_[0]) != flags.npos) {
    c.flags += rest_[0];
    rest_.remove_prefix(1);
  }
  if (!rest_.empty() && rest_[0] >= '1' && rest_[0] <= '9') c.width = digits();
  if (take(".")) c.precision = digits();
  for (std::string_view length : {"hh", "h", "ll", "l", "j", "z", "t", "L"})
    if (take(length)) {
      c.length = length;
      break;
    }
  return letter(c, whole);
}

std::string Scanner::letter(Conversion& c, std::string_view whole) {
  if (rest_.empty()) return "the format string ends inside `%" + std::string(whole) + "`";
  if (rest_[0] == '*') return "`*` as a width is not supported";
  if (take("gr")) {
    c.conversion = 'r';
    c.variant = 'g';
    return {};
  }
  if (!find_letter(rest_[0])) {
    bool is_shown = rest_[0] > ' ' && rest_[0] < 0x7f;
    std::string shown(whole.substr(0, whole.size() - rest_.size() + is_shown));
    return "unknown conversion `%" + shown + "`";
  }
  c.conversion = rest_[0];
  rest_.remove_prefix(1);
  if (c.conversion != 'r') return {};
  if (take("x"))
    c.variant = 'x';
  else if (take("h"))
    c.variant = 'h';
  return {};
}

// Behind a `%` that is no `%%`: whether it is a percent sign all the same. So it is where no letter follows ("5%\n"), and before a
// space behind a number ("50% done", "%d% of all") or before another word ("% busy"), where nobody means the flag.
bool Scanner::is_sign(std::string_view before, bool is_behind_conversion) const {
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_behind_number = before.empty() ? is_behind_conversion : is_digit(before.back());
  const size_t end = rest_.find_first_not_of("-+ #0123456789.");
  if (end == rest_.npos) return true;
  const char c = rest_[end];
  constexpr std::string_view lengths = "hlLjzt";
  if (rest_.starts_with(' ') && (is_behind_number || !(find_letter(c) || lengths.find(c) != lengths.npos))) return true;
  return c != '*' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z');
}

std::vector<Conversion> Scanner::all(std::string& error) {
  std::vector<Conversion> pieces;
  Conversion next;
  while (!rest_.empty()) {
    size_t percent = rest_.find('%');
    next.text += rest_.substr(0, percent);
    if (percent == rest_.npos) break;
    rest_.remove_prefix(percent + 1);
    if (take("%") || is_sign(next.text, !pieces.empty())) {
      next.text += '%';
      continue;
    }
    error = conversion(next);
    if (!error.empty()) return pieces;
    pieces.push_back(std::exchange(next, {}));
  }
  if (!next.text.empty()) pieces.push_back(std::move(next));
  return pieces;
}

} // namespace

std::string_view kind_name(const Type& t) {
  switch (t.kind) {
  case Kind::none: return "none";
  case Kind::boolean: return "bool";
  case Kind::integer: return "integer";
  case Kind::floating: return name_of_floating(t.size);
  case Kind::pointer: return "pointer";
  case Kind::array: return "array";
  case Kind::string:
  case Kind::probe_name: return "string";
  case Kind::buffer: return "buffer";
  case Kind::structure: return t.is_union ? "union" : "struct";
  case Kind::tuple: return t.is_named ? "record" : "tuple";
  case Kind::enumeration: return "enum";
  case Kind::kstack: return "kstack";
  case Kind::ustack: return "ustack";
  case Kind::stack: return "stack";
  case Kind::hist: return "hist_t";
  case Kind::lhist: return "lhist_t";
  case Kind::tseries: return "tseries_t";
  default: return name_of_kind(t.kind);
  }
}

std::vector<Conversion> parse_format(std::string_view format, std::string& error) {
  error.clear();
  return Scanner(format).all(error);
}

std::string check_format(std::string_view format, std::span<const Type* const> arguments) {
  std::string error;
  std::vector<Conversion> pieces = parse_format(format, error);
  if (!error.empty()) return error;
  auto expected = static_cast<size_t>(
      std::count_if(pieces.begin(), pieces.end(), [](const Conversion& c) { return c.conversion != 0; }));
  if (expected != arguments.size())
    return std::string(expected > arguments.size() ? "not enough" : "too many") +
           " arguments for the format string (" + std::to_string(expected) + " expected, " +
           std::to_string(arguments.size()) + " supplied)";
  size_t next = 0;
  for (const Conversion& c : pieces) {
    if (!c.conversion) continue;
    const Type& given = *arguments[next++];
    const Letter& letter = *find_letter(c.variant == 'g' ? 'd' : c.conversion);
    if (accepts(letter.accepts, given)) continue;
    if (c.variant == 'g')
      return "%gr expects type integer (" + std::string(kind_name(given)) + " supplied)";
    std::string shown = std::string("%") + c.conversion + (c.variant ? std::string(1, c.variant) : "");
    return shown + " expects type " + std::string(letter.expects) + " (" + std::string(kind_name(given)) +
           " supplied)";
  }
  return {};
}

} // namespace type
