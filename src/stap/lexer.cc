#include "stap/lexer.h"

#include "base/text.h"
#include "spec/diagnostics.h"

#include <cctype>

namespace stap {

using namespace spec;

namespace {

// The longest first.
constexpr std::string_view signs[] = {"<<<", "<<=", ">>=", "%{", "%}", "%(", "%)", "%?", "%:", "<<", ">>", "<=", ">=", "==", "!=", "=~", "!~", "&&", "||", "++", "--", "+=", "-=",
                                      "*=",  "/=",  "%=",  "&=", "|=", "^=", ".=", "->", "(",  ")",  "[",  "]",  "{",  "}",  ";",  ",",  ":",  "?",  "!",  "~",  "=",  "<",  ">",
                                      "+",   "-",   "*",   "/",  "%",  "&",  "|",  "^",  "."};

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)); }

class Lexer {
public:
  Lexer(std::string_view text, std::vector<Comment>& comments, base::Diagnostics& diagnostics) : text_(text), comments_(comments), diagnostics_(diagnostics) {}
  std::vector<Token> run();

private:
  void skip_blanks();
  Token next();
  Token number(uint32_t begin);
  Token string(uint32_t begin);
  Token marked(uint32_t begin);
  Token sign(uint32_t begin);
  std::string escape();
  std::string word();
  Token error(std::string_view tag, Range where, std::string message, std::string hint = {}) {
    diagnostics_.error(tag, where, std::move(message), std::move(hint));
    at_ = static_cast<uint32_t>(text_.size());
    return {.kind = TokenKind::end, .where = where, .text = {}};
  }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view text_;
  std::vector<Comment>& comments_;
  base::Diagnostics& diagnostics_;
  uint32_t at_ = 0;
};

// Blanks and the three kinds of comments.
void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const uint32_t begin = at_;
    if (std::isspace(static_cast<unsigned char>(peek()))) {
      at_++;
    } else if (peek() == '#' || (peek() == '/' && peek(1) == '/')) {
      const size_t mark = peek() == '#' ? 1 : 2;
      at_ = static_cast<uint32_t>(std::min(text_.find('\n', at_), text_.size()));
      const bool is_first_line = begin == 0 && text_.starts_with("#!");
      if (!is_first_line) comments_.push_back({{begin, at_}, std::string(base::trim(text_.substr(begin + mark, at_ - begin - mark)))});
    } else if (peek() == '/' && peek(1) == '*') {
      const size_t end = text_.find("*/", at_ + 2);
      if (end == text_.npos) {
        error(tag::unterminated_comment, {begin, begin + 2}, "this comment does not end", "end it with `*/`");
        return;
      }
      at_ = static_cast<uint32_t>(end + 2);
      for (std::string_view line : base::split(text_.substr(begin + 2, end - begin - 2), '\n')) {
        line = base::trim(line);
        while (line.starts_with('*')) line.remove_prefix(1);
        if (line = base::trim(line); !line.empty()) comments_.push_back({{begin, at_}, std::string(line)});
      }
    } else {
      return;
    }
  }
}

std::string Lexer::word() {
  const uint32_t begin = at_;
  while (continues_name(peek())) at_++;
  return std::string(text_.substr(begin, at_ - begin));
}

Token Lexer::number(uint32_t begin) {
  while (continues_name(peek())) at_++;
  const std::string_view digits = text_.substr(begin, at_ - begin);
  const auto value = base::parse_integer(digits);
  if (!value) return error(tag::bad_number, {begin, at_}, base::quoted(digits) + " is no number of 64 bits", "write it in decimal, 0x… or 0…");
  return {.kind = TokenKind::integer, .where = {begin, at_}, .text = std::string(digits), .value = *value};
}

// Behind the backslash.
std::string Lexer::escape() {
  const char c = peek();
  at_++;
  switch (c) {
  case 'n': return "\n";
  case 't': return "\t";
  case 'r': return "\r";
  case 'a': return "\a";
  case 'b': return "\b";
  case 'f': return "\f";
  case 'v': return "\v";
  default: break;
  }
  unsigned value = 0;
  if (c == 'x') {
    int digits = 0;
    for (; digits < 2 && std::isxdigit(static_cast<unsigned char>(peek())); digits++, at_++)
      value = value * 16 + static_cast<unsigned>(std::isdigit(static_cast<unsigned char>(peek())) ? peek() - '0' : std::tolower(peek()) - 'a' + 10);
    return digits ? std::string(1, static_cast<char>(value)) : "x";
  }
  if (c < '0' || c > '7') return std::string(1, c);
  value = static_cast<unsigned>(c - '0');
  for (int i = 0; i < 2 && peek() >= '0' && peek() <= '7'; i++, at_++) value = value * 8 + static_cast<unsigned>(peek() - '0');
  return std::string(1, static_cast<char>(value));
}

Token Lexer::string(uint32_t begin) {
  Token out{.kind = TokenKind::text, .where = {begin, begin}, .text = {}};
  at_++;
  while (peek() != '"') {
    if (at_ >= text_.size() || peek() == '\n') return error(tag::unterminated_string, {begin, std::max(begin + 1, at_)}, "this string does not end on its line", "end it with `\"`");
    if (peek() == '\\' && at_ + 1 < text_.size()) {
      at_++;
      if (peek() == '\n')
        at_++; // a string that is continued
      else
        out.text += escape();
    } else {
      out.text += text_[at_++];
    }
  }
  at_++;
  out.where.end = at_;
  return out;
}

// $name, $$name, $1, $#, @name, @1, @#
Token Lexer::marked(uint32_t begin) {
  const bool is_at = peek() == '@';
  at_++;
  Token out{.kind = is_at ? TokenKind::operation : TokenKind::target, .where = {begin, begin}, .text = {}, .is_text = is_at};
  if (peek() == '#' || std::isdigit(static_cast<unsigned char>(peek()))) {
    out.kind = TokenKind::argument;
    if (peek() == '#')
      at_++, out.text = "#";
    else
      out.text = word();
    if (const auto number = base::parse_integer(out.text)) out.value = *number;
  } else {
    if (!is_at && peek() == '$') at_++, out.text = "$";
    const std::string name = word();
    if (name.empty()) return error(tag::bad_character, {begin, at_}, base::quoted(text_.substr(begin, at_ - begin)) + " has no name behind it", "write `$name`, `$1` or `@count(x)`");
    out.text += name;
    if (!is_at)
      while (peek() == '$') at_++, out.text += '$'; // $name$$: with its members
  }
  out.where.end = at_;
  return out;
}

Token Lexer::sign(uint32_t begin) {
  for (std::string_view s : signs) {
    if (!text_.substr(at_).starts_with(s)) continue;
    at_ += static_cast<uint32_t>(s.size());
    if (s == "%{") return error(tag::syntax, {begin, at_}, "C code in `%{ … %}` can't be converted", "write what it does in the script; `acu info` and the reference list acu's functions");
    return {.kind = TokenKind::sign, .where = {begin, at_}, .text = std::string(s)};
  }
  return error(tag::bad_character, {begin, begin + 1}, base::quoted(base::printable(text_.substr(begin, 1))) + " is no part of the language", "remove it");
}

Token Lexer::next() {
  const uint32_t begin = at_;
  const char c = peek();
  if (begins_name(c)) {
    std::string name = word();
    // Behind the name of a member: it is printed with its own members.
    while (peek() == '$' && at_ + 1 < text_.size() && !begins_name(text_[at_ + 1]) && text_[at_ + 1] != '#' && !std::isdigit(static_cast<unsigned char>(text_[at_ + 1]))) at_++;
    return {.kind = TokenKind::name, .where = {begin, at_}, .text = std::move(name)};
  }
  if (std::isdigit(static_cast<unsigned char>(c))) return number(begin);
  if (c == '"') return string(begin);
  if (c == '$' || c == '@') return marked(begin);
  return sign(begin);
}

std::vector<Token> Lexer::run() {
  std::vector<Token> out;
  for (skip_blanks(); at_ < text_.size(); skip_blanks()) out.push_back(next());
  const auto size = static_cast<uint32_t>(text_.size());
  out.push_back({.kind = TokenKind::end, .where = {size, size}, .text = {}});
  return out;
}

} // namespace

std::vector<Token> read_tokens(std::string_view text, std::vector<Comment>& comments, base::Diagnostics& diagnostics) { return Lexer(text, comments, diagnostics).run(); }

} // namespace stap
