// Characters to tokens, one at a time and on demand: the text of a probe is no sequence of tokens
// (`uprobe:/usr/lib/*:f` holds what would begin a comment), so the parser reads it raw and seeks past it.
//
// In: a file's text, which must outlive the tokens. Out: tokens with their places; mistakes in the
// spelling go to `Mistakes`, and what follows is still read.
#pragma once

#include "base/arena.h"
#include "base/diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lang {

using base::Range;

// Every mistake of lexer and parser passes here. At most `limit` are told; then reading stops.
class Mistakes {
public:
  static constexpr size_t limit = 100;
  explicit Mistakes(base::Diagnostics& to) : to_(to) {}
  [[gnu::cold]] void tell(std::string_view tag, base::Range where, std::string message, std::string hint = {});
  // The last mistake: what follows an open string or comment was meant otherwise than it can be read.
  void tell_last(std::string_view tag, base::Range where, std::string message, std::string hint = {});
  void warn(std::string_view tag, base::Range where, std::string message, std::string hint = {});
  bool full() const { return told_ >= limit || ended_; }
  size_t told() const { return told_; }
  bool quiet = false; // text that is skipped after a mistake is read, but not judged

private:
  base::Diagnostics& to_;
  size_t told_ = 0;
  bool ended_ = false;
};

enum class TokenKind : uint8_t {
  end,
  other,     // of C: no token of this language
  hash,      // # and ## stand only in bodies of macros
  hash_hash,
  integer,
  string,
  identifier,
  keyword,
  variable,         // $x
  map,              // @m, @
  positional,       // $1
  positional_count, // $#
  // Punctuation, spelled in the table of lexer.cc.
  left_brace,
  right_brace,
  left_paren,
  right_paren,
  left_bracket,
  right_bracket,
  semicolon,
  comma,
  colon,
  question,
  dot,
  dot_dot,
  ellipsis,
  arrow,
  plus,
  minus,
  star,
  slash,
  percent,
  ampersand,
  pipe,
  caret,
  tilde,
  exclamation,
  less,
  greater,
  less_equal,
  greater_equal,
  equal_equal,
  not_equal,
  and_and,
  or_or,
  shift_left,
  shift_right,
  plus_plus,
  minus_minus,
  assign,
  plus_assign,
  minus_assign,
  star_assign,
  slash_assign,
  percent_assign,
  ampersand_assign,
  pipe_assign,
  caret_assign,
  shift_left_assign,
  shift_right_assign,
};

struct Token {
  TokenKind kind = TokenKind::end;
  base::Range where;
  std::string_view text; // as spelled; variables and maps without their sign; strings with escapes resolved
  uint64_t value = 0;    // integers and positional parameters
  std::string_view spelled; // in the file, or by `##`
  bool spaced = false;      // white space stands before it
  bool from_macro = false;  // `where` is then where the macro is used
  bool is_foreign = false;  // from the body of a macro of a system's header
  bool painted = false;     // the name of a macro within its own expansion: it stays
};

// Of C are directives, headers and the script's own definitions. There 'c' is a number, strings have C's escapes,
// and what is no token of this language is one nonetheless, since it may be meant for somebody else.
enum class Dialect : uint8_t { script, c };

bool is_keyword(std::string_view word);

// A text as a literal of the language, also in probes: `"a\"b"`.
std::string in_quotes(std::string_view text);

// The value of a text that is a number as scripts write them, but no duration: 10, 0x1f, 0777, 1_000, 2e3, 5UL.
std::optional<uint64_t> integer_value(std::string_view text);

class Lexer {
public:
  // `base`: where the text begins in the Source; all places and offsets are counted from its start.
  Lexer(std::string_view text, base::Arena& arena, Mistakes& mistakes, uint32_t base = 0,
        Dialect dialect = Dialect::script);
  Token next();
  Dialect dialect;
  // To the next character that is neither white space nor comment, nor a first line `#!…`.
  void skip_blanks();
  // Raw reading: the text not yet read, and going on at another place of it.
  std::string_view rest() const { return text_.substr(at_); }
  uint32_t offset() const { return base_ + at_; }
  void seek(uint32_t offset) { at_ = offset - base_; }
  // Reads a string; the next character is its opening quote.
  Token string();

private:
  bool skip_comment();
  bool skip_continuation();
  Token number();
  Token character();
  Token dollar();
  Token punctuation();
  void escape(std::string& into, uint32_t line_end);
  bool escape_of_c(std::string& into);
  void bad_characters();
  Range place(uint32_t begin, uint32_t end) const { return {base_ + begin, base_ + end}; }
  Token token(TokenKind kind, uint32_t begin, std::string_view text, uint64_t value = 0) const;

  std::string_view text_;
  base::Arena& arena_;
  Mistakes& mistakes_;
  uint32_t base_;
  uint32_t at_ = 0; // the next character; like all offsets within the class without base_
  uint32_t last_ = 0; // end of the last token: the place of what is missing at the end of the file
};

} // namespace lang
