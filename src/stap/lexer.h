// Characters of a SystemTap script to tokens, all at once: the preprocessor (preprocess.h) works on the list.
#pragma once

#include "base/diagnostics.h"
#include "stap/script.h"

#include <string>
#include <string_view>
#include <vector>

namespace stap {

enum class TokenKind : uint8_t { end, integer, text, name, argument, target, operation, sign };

struct Token {
  TokenKind kind = TokenKind::end;
  Range where;
  std::string text; // names, signs, strings with escapes resolved, others without their marks
  uint64_t value = 0;
  bool is_text = false; // of arguments: @1
  bool is(std::string_view sign) const { return kind == TokenKind::sign && text == sign; }
  bool is_word(std::string_view word) const { return kind == TokenKind::name && text == word; }
};

// The last token is `end`. Stops at the first mistake.
std::vector<Token> read_tokens(std::string_view text, std::vector<Comment>& comments, base::Diagnostics& diagnostics);

} // namespace stap
