// Characters of a D script to tokens, on demand. A probe description is no sequence of tokens (`pid$target:libc:str*:entry`), so
// the parser reads it raw.
#pragma once

#include "base/diagnostics.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace dlang {

enum class TokenKind : uint8_t { end, integer, text, name, macro, macro_text, aggregation, kernel_name, sign };

struct Token {
  TokenKind kind = TokenKind::end;
  base::Range where;
  std::string text; // names, signs ("->", "<<="), strings with escapes resolved, macro variables without `$`
  uint64_t value = 0;
  bool is_unsigned = false, is_long = false;
  bool is(std::string_view sign) const { return kind == TokenKind::sign && text == sign; }
  bool is_word(std::string_view word) const { return kind == TokenKind::name && text == word; }
};

class Lexer {
public:
  Lexer(std::string_view text, base::Diagnostics& diagnostics) : text_(text), diagnostics_(diagnostics) {}

  Token next();
  // White space and comments; a mistake in these is reported. Lines that begin with `#` are the parser's.
  void skip_blanks();
  // Whether the `/` before the place that was reached ends a predicate: a body, another clause or the end follows.
  bool ends_predicate();
  // The run of characters of one probe description.
  std::string_view description();
  // The rest of the line, from the place that was reached.
  std::string_view line();
  std::string_view rest() const { return text_.substr(at_); }
  uint32_t offset() const { return at_; }
  void seek(uint32_t offset) { at_ = offset; }

private:
  Token number(uint32_t begin);
  Token string(uint32_t begin);
  Token character(uint32_t begin);
  Token macro(uint32_t begin);
  Token sign(uint32_t begin);
  char escape();
  std::string_view word();
  void error(std::string_view tag, base::Range where, std::string message, std::string hint = {});
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view text_;
  base::Diagnostics& diagnostics_;
  uint32_t at_ = 0;
};

} // namespace dlang
