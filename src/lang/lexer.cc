// Characters to tokens. Numbers follow C with additions: `_` between digits, 2e6, and durations (10ms) that
// become nanoseconds. A run of letters and digits is read as one number and judged as a whole, so that
// `12abc` is one mistake and not a number followed by a name.
#include "lang/lexer.h"

#include "spec/diagnostics.h"
#include "spec/durations.h"
#include "spec/name_index.h"

#include <algorithm>
#include <optional>

namespace lang {

namespace tag = spec::tag;

namespace {

constexpr std::string_view keywords[] = {"break",  "config", "continue", "else",   "false", "fn",
                                         "for",    "if",     "import",   "let",    "macro", "offsetof",
                                         "return", "sizeof", "true",     "unroll", "while"};

struct Punctuation {
  std::string_view text;
  TokenKind kind;
};

// Longer ones stand before their beginnings.
constexpr Punctuation punctuations[] = {
    {"<<=", TokenKind::shift_left_assign},
    {">>=", TokenKind::shift_right_assign},
    {"...", TokenKind::ellipsis},
    {"..", TokenKind::dot_dot},
    {"->", TokenKind::arrow},
    {"<=", TokenKind::less_equal},
    {">=", TokenKind::greater_equal},
    {"==", TokenKind::equal_equal},
    {"!=", TokenKind::not_equal},
    {"&&", TokenKind::and_and},
    {"||", TokenKind::or_or},
    {"<<", TokenKind::shift_left},
    {">>", TokenKind::shift_right},
    {"++", TokenKind::plus_plus},
    {"--", TokenKind::minus_minus},
    {"+=", TokenKind::plus_assign},
    {"-=", TokenKind::minus_assign},
    {"*=", TokenKind::star_assign},
    {"/=", TokenKind::slash_assign},
    {"%=", TokenKind::percent_assign},
    {"&=", TokenKind::ampersand_assign},
    {"|=", TokenKind::pipe_assign},
    {"^=", TokenKind::caret_assign},
    {"{", TokenKind::left_brace},
    {"}", TokenKind::right_brace},
    {"(", TokenKind::left_paren},
    {")", TokenKind::right_paren},
    {"[", TokenKind::left_bracket},
    {"]", TokenKind::right_bracket},
    {";", TokenKind::semicolon},
    {",", TokenKind::comma},
    {":", TokenKind::colon},
    {"?", TokenKind::question},
    {".", TokenKind::dot},
    {"+", TokenKind::plus},
    {"-", TokenKind::minus},
    {"*", TokenKind::star},
    {"/", TokenKind::slash},
    {"%", TokenKind::percent},
    {"&", TokenKind::ampersand},
    {"|", TokenKind::pipe},
    {"^", TokenKind::caret},
    {"~", TokenKind::tilde},
    {"!", TokenKind::exclamation},
    {"<", TokenKind::less},
    {">", TokenKind::greater},
    {"=", TokenKind::assign},
};

// The rows of `punctuations` by their first character, as lists in the order of the table; 0 is no row.
struct PunctuationIndex {
  uint8_t first[128] = {}, next[std::size(punctuations) + 1] = {};
  consteval PunctuationIndex() {
    for (size_t row = std::size(punctuations); row > 0; row--) {
      uint8_t& head = first[static_cast<unsigned char>(punctuations[row - 1].text[0])];
      next[row] = head;
      head = static_cast<uint8_t>(row);
    }
  }
};
constexpr PunctuationIndex punctuation_index;

// C's suffixes of sizes, which mean nothing here.
constexpr std::string_view size_suffixes[] = {"u", "l", "ul", "lu", "ll", "ull", "llu"};

// What a character may be part of, as bits.
enum CharacterClass : uint8_t { digit = 1, letter = 2, blank = 4 };
struct CharacterClasses {
  uint8_t of[256] = {};
  consteval CharacterClasses() {
    for (int c = 0; c < 256; c++) {
      if (c >= '0' && c <= '9') of[c] = digit;
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') of[c] = letter;
      if (c == ' ' || (c >= '\t' && c <= '\r')) of[c] = blank;
    }
  }
};
constexpr CharacterClasses character_classes;
bool is_any_of(char c, unsigned classes) { return character_classes.of[static_cast<unsigned char>(c)] & classes; }

bool is_digit(char c) { return is_any_of(c, digit); }
bool is_letter(char c) { return is_any_of(c, letter); }
bool is_word(char c) { return is_any_of(c, letter | digit); }
bool is_blank(char c) { return is_any_of(c, blank); }
unsigned digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

size_t word_length(std::string_view text) {
  return std::find_if_not(text.begin(), text.end(), is_word) - text.begin();
}

// The factor of a suffix; none if there is no such suffix.
std::optional<uint64_t> suffix_factor(std::string_view suffix, unsigned base) {
  if (base != 16)
    if (const spec::DurationUnit* unit = spec::find_duration_unit(suffix)) return unit->nanoseconds;
  if (suffix.empty()) return 1;
  std::string lower(suffix);
  for (char& c : lower) c = static_cast<char>(c | 0x20);
  if (std::find(std::begin(size_suffixes), std::end(size_suffixes), lower) != std::end(size_suffixes))
    return 1;
  return std::nullopt;
}

// 10^exponent times value; false if that is too large.
bool scale(uint64_t& value, uint64_t exponent) {
  if (value == 0) return true;
  for (; exponent; exponent--)
    if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return false;
  return true;
}

// Reads digits and the underscores between them; false if the value is too large or a `_` stands at an end.
struct Digits {
  uint64_t value = 0;
  size_t length = 0;
  bool overflow = false;
  bool misplaced_underscore = false;
};
Digits read_digits(std::string_view text, unsigned base) {
  Digits d;
  for (char last = '_'; d.length < text.size(); d.length++) {
    char c = text[d.length];
    if (c == '_') {
      d.misplaced_underscore |= last == '_';
    } else {
      unsigned digit = digit_value(c);
      if (digit >= base) break;
      d.overflow |= __builtin_mul_overflow(d.value, uint64_t{base}, &d.value) ||
                    __builtin_add_overflow(d.value, uint64_t{digit}, &d.value);
    }
    last = c;
  }
  d.misplaced_underscore |= d.length && text[d.length - 1] == '_';
  return d;
}

// The value of a run that begins with a digit, or what is wrong with it.
struct Number {
  uint64_t value = 0;
  std::string_view mistake;
};
Number read_number(std::string_view text) {
  constexpr std::string_view too_large = "does not fit into 64 bits", malformed = "is not a number";
  unsigned base = text.starts_with("0x") || text.starts_with("0X")                             ? 16
                  : text.size() > 1 && text[0] == '0' && (is_digit(text[1]) || text[1] == '_') ? 8
                                                                                               : 10;
  if (base == 16) text.remove_prefix(2);
  if (base == 8) text.remove_prefix(1);
  if (base == 8 && text[0] == '_') text.remove_prefix(1);
  Digits d = read_digits(text, base);
  std::string_view suffix = text.substr(d.length);
  if (d.length == 0 || d.misplaced_underscore) return {0, malformed};
  if (base == 8 && !suffix.empty() && is_digit(suffix[0])) return {0, "is octal and holds a digit above 7"};
  if (base == 10 && suffix.size() > 1 && (suffix[0] | 0x20) == 'e' && is_digit(suffix[1])) {
    Digits exponent = read_digits(suffix.substr(1), 10);
    suffix.remove_prefix(1 + exponent.length);
    if (exponent.overflow || !scale(d.value, exponent.value)) d.overflow = true;
  }
  auto factor = suffix_factor(suffix, base);
  if (!factor) return {0, malformed};
  if (d.overflow || __builtin_mul_overflow(d.value, *factor, &d.value)) return {0, too_large};
  return {d.value, {}};
}

std::string quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

} // namespace

bool is_keyword(std::string_view word) {
  constexpr auto name_of = [](std::string_view name) { return name; };
  static constexpr spec::NameIndex<64> by_name(keywords, name_of);
  return by_name.find(keywords, name_of, word) >= 0;
}

std::optional<uint64_t> integer_value(std::string_view text) {
  if (text.empty() || !is_digit(text[0]) || word_length(text) != text.size()) return std::nullopt;
  bool is_duration = std::any_of(
      std::begin(spec::duration_units), std::end(spec::duration_units), [&](const spec::DurationUnit& u) {
        return text.ends_with(u.name) && text.size() > u.name.size() && is_digit(text[text.size() - u.name.size() - 1]);
      });
  Number n = read_number(text);
  bool is_hex = text.starts_with("0x") || text.starts_with("0X"); // whose digits look like suffixes
  if (!n.mistake.empty() || (is_duration && !is_hex)) return std::nullopt;
  return n.value;
}

void Mistakes::tell(std::string_view tag, Range where, std::string message, std::string hint) {
  if (quiet || full()) return;
  told_++;
  to_.error(tag, where, std::move(message), std::move(hint));
}

void Mistakes::warn(std::string_view tag, Range where, std::string message, std::string hint) {
  if (!quiet) to_.warning(tag, where, std::move(message), std::move(hint));
}

void Mistakes::tell_last(std::string_view tag, Range where, std::string message, std::string hint) {
  tell(tag, where, std::move(message), std::move(hint));
  ended_ |= !quiet;
}

Lexer::Lexer(std::string_view text, base::Arena& arena, Mistakes& mistakes, uint32_t base, Dialect in)
    : dialect(in), text_(text), arena_(arena), mistakes_(mistakes), base_(base) {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3; // byte order mark
  if (rest().starts_with("#!")) at_ += static_cast<uint32_t>(std::min(rest().find('\n'), rest().size()));
}

Token Lexer::token(TokenKind kind, uint32_t begin, std::string_view text, uint64_t value) const {
  return {kind, place(begin, at_), text, value, text_.substr(begin, at_ - begin)};
}

// At `//` or `/*`: reads the comment.
bool Lexer::skip_comment() {
  if (rest().starts_with("//")) {
    at_ += static_cast<uint32_t>(std::min(rest().find('\n'), rest().size()));
    return true;
  }
  if (!rest().starts_with("/*")) return false;
  size_t close = rest().find("*/", 2);
  if (close == std::string_view::npos) {
    mistakes_.tell_last(tag::unterminated_comment, place(at_, at_ + 2), "this comment has no end",
                        "close it with `*/`");
    at_ = static_cast<uint32_t>(text_.size());
  } else {
    at_ += static_cast<uint32_t>(close + 2);
  }
  return true;
}

// At `\` that ends a line: the next line belongs to this one.
bool Lexer::skip_continuation() {
  if (!rest().starts_with('\\')) return false;
  size_t newline = rest().starts_with("\\\r") ? 2 : 1;
  if (!rest().substr(newline).starts_with('\n')) return false;
  at_ += static_cast<uint32_t>(newline + 1);
  return true;
}

void Lexer::skip_blanks() {
  do {
    while (at_ < text_.size() && is_blank(text_[at_])) at_++;
    if (at_ == text_.size() || (text_[at_] != '/' && text_[at_] != '\\')) return;
  } while (skip_comment() || skip_continuation());
}

Token Lexer::next() {
  bool spaced = false;
  for (;;) {
    uint32_t before = at_;
    skip_blanks();
    spaced |= at_ != before;
    if (at_ == text_.size()) return {TokenKind::end, place(last_, last_), {}, 0};
    uint32_t begin = at_;
    Token t;
    char c = text_[at_];
    if (is_letter(c)) {
      std::string_view word = rest().substr(0, word_length(rest()));
      at_ += static_cast<uint32_t>(word.size());
      t = token(is_keyword(word) ? TokenKind::keyword : TokenKind::identifier, begin, word);
    } else if (is_digit(c)) {
      t = number();
    } else if (c == '"') {
      t = string();
    } else if (c == '\'' && dialect == Dialect::c) {
      t = character();
    } else if (c == '$') {
      t = dollar();
    } else if (c == '@') {
      at_++;
      size_t length = at_ < text_.size() && is_letter(text_[at_]) ? word_length(rest()) : 0;
      at_ += static_cast<uint32_t>(length);
      t = token(TokenKind::map, begin, text_.substr(begin + 1, length));
    } else {
      t = punctuation();
    }
    last_ = at_;
    t.spaced = spaced;
    if (t.kind != TokenKind::end) return t;
  }
}

Token Lexer::number() {
  uint32_t begin = at_;
  std::string_view text = rest().substr(0, word_length(rest()));
  at_ += static_cast<uint32_t>(text.size());
  Number n = read_number(text);
  if (!n.mistake.empty() && dialect == Dialect::c) return token(TokenKind::other, begin, text);
  if (!n.mistake.empty())
    mistakes_.tell(tag::bad_number, place(begin, at_),
                   quoted(text.size() > 40 ? text.substr(0, 40) : text) + " " + std::string(n.mistake));
  return token(TokenKind::integer, begin, text, n.value);
}

// `$x`, `$1`, `$#`
Token Lexer::dollar() {
  uint32_t begin = at_++;
  if (rest().starts_with('#')) {
    at_++;
    return token(TokenKind::positional_count, begin, "#");
  }
  std::string_view word = rest().substr(0, word_length(rest()));
  at_ += static_cast<uint32_t>(word.size());
  if (word.empty() && dialect == Dialect::c) return token(TokenKind::other, begin, "$");
  if (word.empty()) {
    mistakes_.tell(tag::bad_character, place(begin, at_), "`$` without a name", "variables are written `$name`");
    return {};
  }
  if (!is_digit(word[0])) return token(TokenKind::variable, begin, word);
  Digits number = read_digits(word, 10);
  if (number.length != word.size() || number.misplaced_underscore || number.value == 0 ||
      number.value > 9999) {
    mistakes_.tell(tag::bad_number, place(begin, at_),
                   quoted("$" + std::string(word.substr(0, 40))) + " is no positional parameter",
                   "they are numbered from $1; names of variables begin with a letter");
    number.value = 1;
  }
  return token(TokenKind::positional, begin, word, number.value);
}

Token Lexer::punctuation() {
  const auto character = static_cast<unsigned char>(text_[at_]);
  for (uint8_t row = character < 128 ? punctuation_index.first[character] : 0; row; row = punctuation_index.next[row]) {
    const Punctuation& p = punctuations[row - 1];
    if (p.text.size() > 1 && !rest().starts_with(p.text)) continue; // the first character is the same
    uint32_t begin = at_;
    at_ += static_cast<uint32_t>(p.text.size());
    return token(p.kind, begin, p.text);
  }
  if (dialect == Dialect::script) {
    bad_characters();
    return {};
  }
  uint32_t begin = at_;
  bool twice = rest().starts_with("##");
  bool hash = rest().starts_with('#');
  at_ += twice ? 2 : 1;
  return token(twice ? TokenKind::hash_hash : hash ? TokenKind::hash : TokenKind::other, begin,
               text_.substr(begin, at_ - begin));
}

// A run of characters that begin no token, told as one mistake.
void Lexer::bad_characters() {
  auto begins_token = [](char c) {
    return is_word(c) || is_blank(c) ||
           std::string_view("\"$@{}()[];,:?.+-*/%&|^~!<>=").find(c) != std::string_view::npos;
  };
  uint32_t begin = at_;
  while (at_ < text_.size() && !begins_token(text_[at_])) at_++;
  std::string_view run = text_.substr(begin, at_ - begin);
  bool printable = std::all_of(run.begin(), run.end(), [](char c) { return c > ' ' && c < 127; });
  std::string hint;
  if (run[0] == '\'') hint = "strings are written in double quotes";
  if (run[0] == '#')
    hint = "directives such as #include begin a line, and comments begin with //";
  if (run.starts_with("\xE2\x80")) hint = "strings are written in plain double quotes"; // typographic ones
  std::string message =
      printable ? "unexpected " + quoted(run.substr(0, 20)) : "this is not part of the language";
  mistakes_.tell(tag::bad_character, place(begin, at_), std::move(message), std::move(hint));
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out + "\"";
}

Token Lexer::string() {
  uint32_t begin = at_++;
  auto line_end = static_cast<uint32_t>(std::min(text_.find('\n', at_), text_.size()));
  std::string value;
  while (at_ < line_end && text_[at_] != '"') {
    if (text_[at_] == '\\')
      escape(value, line_end);
    else
      value += text_[at_++];
  }
  if (at_ == line_end && dialect == Dialect::c) return token(TokenKind::other, begin, "\"");
  if (at_ == line_end)
    mistakes_.tell_last(tag::unterminated_string, place(begin, at_), "this string has no closing quote");
  else
    at_++;
  return token(TokenKind::string, begin, arena_.copy(value));
}

// 'a', '\n', '\0': the value of the character.
Token Lexer::character() {
  uint32_t begin = at_++;
  auto line_end = static_cast<uint32_t>(std::min(text_.find('\n', at_), text_.size()));
  std::string value;
  while (at_ < line_end && text_[at_] != '\'') {
    if (text_[at_] == '\\')
      escape(value, line_end);
    else
      value += text_[at_++];
  }
  bool closed = at_ < line_end;
  at_ = closed ? at_ + 1 : begin + 1;
  if (!closed || value.empty() || value.size() > 4) return token(TokenKind::other, begin, "'");
  int64_t number = value.size() == 1 ? static_cast<signed char>(value[0]) : 0;
  if (value.size() > 1)
    for (char c : value) number = number << 8 | static_cast<unsigned char>(c);
  return token(TokenKind::integer, begin, text_.substr(begin, at_ - begin), static_cast<uint64_t>(number));
}

// Behind a `\` and a character that the language's own escapes do not have. A letter that stands for nothing is
// itself.
bool Lexer::escape_of_c(std::string& into) {
  constexpr std::string_view names = "abefv'?", values = "\a\b\x1b\f\v'?";
  char c = text_[at_ - 1];
  if (is_digit(c) || c == 'x') return false;
  size_t i = names.find(c);
  into += i == names.npos ? c : values[i];
  return true;
}

// escape := '\' ('n' | 't' | 'r' | '"' | '\' | octal{1,3} | 'x' hex{1,2})
void Lexer::escape(std::string& into, uint32_t line_end) {
  uint32_t begin = at_++;
  char c = at_ < line_end ? text_[at_++] : '\0';
  constexpr std::string_view names = "ntr\"\\", values = "\n\t\r\"\\";
  if (size_t i = c ? names.find(c) : names.npos; i != names.npos) {
    into += values[i];
    return;
  }
  if (dialect == Dialect::c && escape_of_c(into)) return;
  unsigned base = c == 'x' ? 16 : 8;
  uint32_t digits_end = std::min(line_end, at_ + 2);
  if (base == 8) at_--;
  uint32_t first = at_;
  unsigned value = 0;
  while (at_ < digits_end && digit_value(text_[at_]) < base) value = value * base + digit_value(text_[at_++]);
  if (at_ > first && value <= 255) {
    into += static_cast<char>(value);
    return;
  }
  if (dialect == Dialect::c) return;
  if (at_ == first && base == 8) at_ = std::min(first + 1, line_end);
  mistakes_.tell(tag::bad_escape, place(begin, at_), "unknown escape in a string",
                 "known are \\n \\t \\r \\\" \\\\, octal \\0 to \\377, and \\xHH");
}

} // namespace lang
