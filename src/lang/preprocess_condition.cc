// The constant expressions of #if and #elif: 64-bit integers, unsigned if one side is; names that are no
// macros are 0.
#include "lang/operators.h"
#include "lang/preprocess.h"

#include "spec/diagnostics.h"

#include <utility>

namespace lang {

namespace tag = spec::tag;

bool Preprocessor::condition(Lexer& line, Range where) {
  Tokens tokens;
  for (Token t = line.next(); t.kind != TokenKind::end; t = line.next()) tokens.push_back(t);
  if (tokens.empty()) {
    mistakes_.tell(tag::bad_directive, where,
                   "`" + std::string(source_.text(where)) + "` needs an expression");
    return false;
  }
  // One directive may be met while another's macro looks for its arguments: what is under way is kept.
  auto was_ahead = std::exchange(ahead_of_condition_, Token());
  auto was_where = std::exchange(condition_where_, where.to(tokens.back().where));
  bool had_failed = std::exchange(condition_failed_, false);
  use_ = tokens[0].where;
  size_t under = contexts_.size(), was_tokens = std::exchange(tokens_, 0);
  isolated_++;
  contexts_.push_back({.tokens = tokens, .is_barrier = true});
  ahead_of_condition_ = condition_token();
  Value value = condition_expression(true);
  const Token& last = ahead_of_condition_;
  if (last.kind != TokenKind::end)
    condition_mistake(last.where,
                      "unexpected `" + std::string(last.spelled) + "` in the expression of a directive");
  pop_contexts(under);
  isolated_--;
  if (isolated_ == 0) overrun_ = false;
  bool result = value.bits != 0 && !condition_failed_;
  ahead_of_condition_ = was_ahead;
  condition_where_ = was_where;
  condition_failed_ = had_failed;
  tokens_ = was_tokens;
  return result;
}

void Preprocessor::condition_mistake(Range where, std::string message) {
  if (where.end == where.begin) where = condition_where_; // what is missing at the end
  if (!condition_failed_ && !overrun_) mistakes_.tell(tag::bad_directive, where, std::move(message));
  condition_failed_ = true;
}

// The next token with macros expanded; `defined X` and __has_include are one token, a number.
Token Preprocessor::condition_token() {
  for (;;) {
    Token t = pull();
    if (!is_word(t)) return t;
    if (t.text == "defined") return defined_operator(t);
    if (t.text.starts_with("__has_include") && macros_->find(t.text)) return has_include(t);
    if (t.painted || !expand(t)) return t;
  }
}

Token Preprocessor::defined_operator(const Token& word) {
  Token name = pull();
  bool in_parentheses = name.kind == TokenKind::left_paren;
  if (in_parentheses) name = pull();
  if (!is_word(name)) condition_mistake(word.where, "`defined` needs the name of a macro");
  Token made = word;
  made.kind = TokenKind::integer;
  made.value = is_word(name) && macros_->find(name.text) != nullptr;
  if (in_parentheses && pull().kind != TokenKind::right_paren)
    condition_mistake(word.where, "`defined(` needs a `)`");
  return made;
}

// __has_include ( "name" ) or ( <name> )
Token Preprocessor::has_include(const Token& word) {
  std::string name;
  bool quoted = false, closed = false;
  Token t = pull();
  if (t.kind == TokenKind::left_paren) {
    t = pull();
    quoted = t.kind == TokenKind::string;
    if (quoted) {
      name = t.text;
      closed = pull().kind == TokenKind::right_paren;
    } else if (t.kind == TokenKind::less) {
      for (t = pull(); t.kind != TokenKind::greater && t.kind != TokenKind::end; t = pull())
        name += t.spelled;
      closed = pull().kind == TokenKind::right_paren;
    }
  }
  if (!closed)
    condition_mistake(word.where, "`" + std::string(word.text) + "` needs a header: (<name>) or (\"name\")");
  SourceFile& from = *frames_.back().file;
  auto found =
      word.text.ends_with("next") ? files_.next_header(name, from) : files_.header(name, quoted, from);
  Token made = word;
  made.kind = TokenKind::integer;
  made.value = closed && found.ok() && *found;
  return made;
}

// expression := binary [ '?' expression ':' expression ]
Preprocessor::Value Preprocessor::condition_expression(bool evaluated) {
  Value c = condition_binary(1, evaluated);
  if (ahead_of_condition_.kind != TokenKind::question) return c;
  ahead_of_condition_ = condition_token();
  Value then = condition_expression(evaluated && c.bits);
  if (ahead_of_condition_.kind != TokenKind::colon) {
    condition_mistake(ahead_of_condition_.where, "expected `:` in the expression of a directive");
    return {};
  }
  ahead_of_condition_ = condition_token();
  Value otherwise = condition_expression(evaluated && !c.bits);
  Value v = c.bits ? then : otherwise;
  v.is_unsigned = then.is_unsigned || otherwise.is_unsigned;
  return v;
}

// binary    := unary { OPERATOR unary }
Preprocessor::Value Preprocessor::condition_binary(int lowest, bool evaluated) {
  Value left = condition_unary(evaluated);
  for (;;) {
    Token op = ahead_of_condition_;
    const Operator* row = find_operator(op.kind);
    if (!row || row->precedence < lowest || condition_failed_) return left;
    ahead_of_condition_ = condition_token();
    bool decided =
        (op.kind == TokenKind::and_and && !left.bits) || (op.kind == TokenKind::or_or && left.bits);
    Value right = condition_binary(row->precedence + 1, evaluated && !decided);
    left = apply(op.kind, left, right, evaluated, op.where);
  }
}

Preprocessor::Value Preprocessor::apply(TokenKind op, Value a, Value b, bool evaluated, Range where) {
  bool u = a.is_unsigned || b.is_unsigned;
  auto x = static_cast<int64_t>(a.bits), y = static_cast<int64_t>(b.bits);
  bool less = u ? a.bits < b.bits : x < y;
  uint64_t shift = b.bits & 63;
  switch (op) {
  case TokenKind::or_or: return {a.bits || b.bits};
  case TokenKind::and_and: return {a.bits && b.bits};
  case TokenKind::equal_equal: return {a.bits == b.bits};
  case TokenKind::not_equal: return {a.bits != b.bits};
  case TokenKind::less: return {less};
  case TokenKind::greater_equal: return {!less};
  case TokenKind::greater: return {!less && a.bits != b.bits};
  case TokenKind::less_equal: return {less || a.bits == b.bits};
  case TokenKind::pipe: return {a.bits | b.bits, u};
  case TokenKind::caret: return {a.bits ^ b.bits, u};
  case TokenKind::ampersand: return {a.bits & b.bits, u};
  case TokenKind::shift_left: return {a.bits << shift, a.is_unsigned};
  case TokenKind::shift_right:
    return {a.is_unsigned ? a.bits >> shift : static_cast<uint64_t>(x >> shift), a.is_unsigned};
  case TokenKind::plus: return {a.bits + b.bits, u};
  case TokenKind::minus: return {a.bits - b.bits, u};
  case TokenKind::star: return {a.bits * b.bits, u};
  default: break;
  }
  if (b.bits == 0) {
    if (evaluated) condition_mistake(where, "division by zero in the expression of a directive");
    return {0, u};
  }
  bool divides = op == TokenKind::slash;
  if (u) return {divides ? a.bits / b.bits : a.bits % b.bits, true};
  if (y == -1) return {divides ? 0 - a.bits : 0};
  return {static_cast<uint64_t>(divides ? x / y : x % y)};
}

// unary     := ( '-' | '+' | '!' | '~' ) unary | '(' expression ')' | INTEGER | NAME
Preprocessor::Value Preprocessor::condition_unary(bool evaluated) {
  Token t = ahead_of_condition_;
  if (condition_failed_) return {};
  if (condition_depth_ >= max_depth) {
    condition_mistake(t.where, "the expression of this directive is nested too deep");
    return {};
  }
  condition_depth_++;
  Value v;
  auto operand = [&] {
    ahead_of_condition_ = condition_token();
    return condition_unary(evaluated);
  };
  switch (t.kind) {
  case TokenKind::minus:
    v = operand();
    v.bits = 0 - v.bits;
    break;
  case TokenKind::plus: v = operand(); break;
  case TokenKind::exclamation: v = {!operand().bits}; break;
  case TokenKind::tilde:
    v = operand();
    v.bits = ~v.bits;
    break;
  case TokenKind::left_paren:
    ahead_of_condition_ = condition_token();
    v = condition_expression(evaluated);
    if (ahead_of_condition_.kind != TokenKind::right_paren)
      condition_mistake(ahead_of_condition_.where, "expected `)` in the expression of a directive");
    ahead_of_condition_ = condition_token();
    break;
  case TokenKind::integer:
    v = {t.value, t.text.find_first_of("uU") != t.text.npos || static_cast<int64_t>(t.value) < 0};
    if (t.spelled.starts_with('\'')) v.is_unsigned = false;
    ahead_of_condition_ = condition_token();
    break;
  case TokenKind::identifier:
  case TokenKind::keyword:
    v = {t.text == "true"};
    ahead_of_condition_ = condition_token();
    break;
  case TokenKind::end: condition_mistake(t.where, "the expression of this directive ends too early"); break;
  default:
    condition_mistake(t.where,
                      "unexpected `" + std::string(t.spelled) + "` in the expression of a directive");
  }
  condition_depth_--;
  return v;
}

} // namespace lang
