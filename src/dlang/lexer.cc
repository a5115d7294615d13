#include "dlang/lexer.h"
#include "dlang/error_tags.h"

#include "base/text.h"

#include <cctype>

namespace dlang {

using namespace spec;
using base::Range;

namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Longer ones first.
constexpr std::string_view signs[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "^^",
                                      "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "+",  "-",  "*",  "/",  "%",  "&",  "|",
                                      "^",   "~",   "!",   "<",  ">",  "=",  "?",  ":",  ";",  ",",  ".",  "(",  ")",  "[",  "]",
                                      "{",   "}"};

} // namespace

void Lexer::error(std::string_view tag, Range where, std::string message, std::string hint) {
  diagnostics_.error(tag, where, std::move(message), std::move(hint));
}

void Lexer::skip_blanks() {
  for (;;) {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) at_++;
    if (rest().starts_with("/*")) {
      const size_t end = text_.find("*/", at_ + 2);
      if (end == text_.npos) {
        error(tag::unterminated_comment, {at_, at_ + 2}, "this comment has no end", "close it with `*/`");
        at_ = static_cast<uint32_t>(text_.size());
        return;
      }
      at_ = static_cast<uint32_t>(end) + 2;
    } else if (rest().starts_with("//") || (at_ == 0 && rest().starts_with("#!"))) {
      while (at_ < text_.size() && text_[at_] != '\n') at_++;
    } else {
      return;
    }
  }
}

bool Lexer::ends_predicate() {
  const uint32_t was = at_;
  skip_blanks();
  const char c = peek();
  const bool ends = c == '{' || c == '\0' || c == ';' || c == '#';
  at_ = was;
  return ends;
}

std::string_view Lexer::description() {
  const uint32_t begin = at_;
  while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_])) &&
         std::string_view(",/{};").find(text_[at_]) == std::string_view::npos)
    at_++;
  return text_.substr(begin, at_ - begin);
}

std::string_view Lexer::line() {
  const uint32_t begin = at_;
  while (at_ < text_.size() && text_[at_] != '\n') at_++;
  return text_.substr(begin, at_ - begin);
}

std::string_view Lexer::word() {
  const uint32_t begin = at_;
  while (is_name(peek())) at_++;
  return text_.substr(begin, at_ - begin);
}

Token Lexer::number(uint32_t begin) {
  std::string digits(word());
  Token t{.kind = TokenKind::integer, .where = {begin, at_}};
  t.text = digits;
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  while (!digits.empty() && std::string_view("uUlL").find(digits.back()) != std::string_view::npos) {
    (digits.back() == 'u' || digits.back() == 'U' ? t.is_unsigned : t.is_long) = true;
    digits.pop_back();
  }
  const int base = is_hex ? 16 : digits.size() > 1 && digits[0] == '0' ? 8 : 10;
  std::string_view rest = digits;
  if (is_hex) rest.remove_prefix(2);
  bool fits = !rest.empty();
  for (char c : rest) {
    const int digit = is_digit(c) ? c - '0' : std::isxdigit(static_cast<unsigned char>(c)) ? std::tolower(c) - 'a' + 10 : 99;
    if (digit >= base) {
      error(d_tag::int_digit, t.where, base::quoted(t.text) + " is not a number");
      return t;
    }
    fits &= t.value <= (UINT64_MAX - static_cast<uint64_t>(digit)) / static_cast<uint64_t>(base);
    t.value = t.value * static_cast<uint64_t>(base) + static_cast<uint64_t>(digit);
  }
  if (!fits) error(d_tag::int_oflow, t.where, base::quoted(t.text) + " does not fit in 64 bits");
  if (t.value > INT64_MAX) t.is_unsigned = true;
  return t;
}

// Behind the backslash.
char Lexer::escape() {
  const char c = peek();
  at_++;
  switch (c) {
  case 'n': return '\n';
  case 't': return '\t';
  case 'r': return '\r';
  case 'a': return '\a';
  case 'b': return '\b';
  case 'f': return '\f';
  case 'v': return '\v';
  case 'x': {
    int value = 0, digits = 0;
    for (; digits < 2 && std::isxdigit(static_cast<unsigned char>(peek())); digits++, at_++)
      value = value * 16 + (is_digit(peek()) ? peek() - '0' : std::tolower(peek()) - 'a' + 10);
    if (digits == 0) error(tag::bad_escape, {at_ - 2, at_}, "`\\x` needs hexadecimal digits");
    return static_cast<char>(value);
  }
  default: break;
  }
  if (c < '0' || c > '7') return c;
  int value = c - '0';
  for (int digits = 1; digits < 3 && peek() >= '0' && peek() <= '7'; digits++, at_++) value = value * 8 + (peek() - '0');
  return static_cast<char>(value);
}

Token Lexer::string(uint32_t begin) {
  Token t{.kind = TokenKind::text};
  at_++;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    if (text_[at_] != '\\') {
      t.text += text_[at_++];
    } else {
      at_++;
      if (at_ < text_.size()) t.text += escape();
    }
  }
  t.where = {begin, at_};
  if (peek() != '"')
    error(d_tag::str_nl, {begin, at_}, "this string has no end", "close it with `\"`; a line break in it is `\\n`");
  else
    at_++;
  t.where.end = at_;
  return t;
}

// 'a', '\n', and 'ab', whose characters are bytes of a number, the first one the highest.
Token Lexer::character(uint32_t begin) {
  Token t{.kind = TokenKind::integer};
  at_++;
  size_t count = 0;
  while (at_ < text_.size() && text_[at_] != '\'' && text_[at_] != '\n') {
    char c = text_[at_++];
    if (c == '\\' && at_ < text_.size()) c = escape();
    t.value = t.value << 8 | static_cast<unsigned char>(c);
    count++;
  }
  t.where = {begin, at_};
  if (peek() != '\'')
    error(d_tag::chr_nl, t.where, "this character constant has no end", "close it with `'`");
  else if (count == 0 || count > 8)
    error(count ? d_tag::chr_oflow : d_tag::chr_null, t.where, "a character constant has 1 to 8 characters");
  if (peek() == '\'') at_++;
  t.where.end = at_;
  return t;
}

// $1, $$1, $target, $pid.
Token Lexer::macro(uint32_t begin) {
  Token t{.kind = TokenKind::macro};
  at_++;
  if (peek() == '$') at_++, t.kind = TokenKind::macro_text;
  t.text = std::string(word());
  t.where = {begin, at_};
  if (t.text.empty()) error(tag::bad_character, t.where, "`$` needs the name of a macro variable", "$1, $$1, $target, $pid, …");
  return t;
}

Token Lexer::sign(uint32_t begin) {
  for (std::string_view s : signs)
    if (rest().starts_with(s)) {
      at_ += static_cast<uint32_t>(s.size());
      return {.kind = TokenKind::sign, .where = {begin, at_}, .text = std::string(s)};
    }
  at_++;
  while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xc0) == 0x80) at_++; // the rest of a character
  error(tag::bad_character, {begin, at_}, "a script cannot contain " + base::quoted(base::printable(text_.substr(begin, at_ - begin))) + " here");
  at_ = static_cast<uint32_t>(text_.size()); // more of the kind would follow
  return {.kind = TokenKind::end, .where = {at_, at_}};
}

Token Lexer::next() {
  skip_blanks();
  const uint32_t begin = at_;
  if (at_ >= text_.size()) return {.kind = TokenKind::end, .where = {begin, begin}};
  const char c = peek();
  if (is_digit(c)) return number(begin);
  if (c == '"') return string(begin);
  if (c == '\'') return character(begin);
  if (c == '$') return macro(begin);
  if (is_name(c)) {
    std::string text(word());
    return {.kind = TokenKind::name, .where = {begin, at_}, .text = std::move(text)};
  }
  if (c == '@' || c == '`') {
    at_++;
    std::string text(word());
    return {.kind = c == '@' ? TokenKind::aggregation : TokenKind::kernel_name, .where = {begin, at_}, .text = std::move(text)};
  }
  return sign(begin);
}

} // namespace dlang
