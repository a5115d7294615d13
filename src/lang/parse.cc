// The parser's ground: tokens ahead, what to say about an unexpected one, and how to go on after a mistake.
// The order of the grammar's files: parse_program, parse_probe, parse_statement, parse_expression,
// parse_type.
#include "lang/parser.h"

#include "spec/diagnostics.h"

#include <algorithm>

namespace lang {

namespace tag = spec::tag;

std::unique_ptr<Program> parse(base::Source& source, const ParseOptions& options,
                               base::Diagnostics& diagnostics) {
  return Parser(source, options, diagnostics).run();
}

Parser::Parser(base::Source& source, const ParseOptions& options, base::Diagnostics& diagnostics)
    : source_(source), options_(options), program_(std::make_unique<Program>()), mistakes_(diagnostics),
      input_(source, program_->arena, mistakes_, options) {
  input_.read_header = [this](SourceFile& file) { read_header(file); };
}

Parser::Level::Level(Parser& p) : parser_(p) {
  if (++p.depth_ <= max_depth) return;
  p.panic(tag::too_deep, p.peek().where,
          "this is nested more than " + std::to_string(max_depth) + " levels deep");
  p.stopped_ = true;
}

void Parser::count_operator(Range where) {
  if (++operators_ <= max_operators) return;
  panic(tag::too_deep, where, "this statement has more than " + std::to_string(max_operators) + " operators");
  stopped_ = true;
}

const Token& Parser::read_ahead(size_t ahead) {
  if (panic_ || stopped_) return stop_;
  while (ahead_.size() <= first_ + ahead) {
    ahead_.push_back(input_.next());
    if (mistakes_.full()) {
      stopped_ = true;
      return stop_;
    }
  }
  return ahead_[first_ + ahead];
}

Token Parser::take() {
  Token t = peek();
  if (panic_ || stopped_ || t.kind == TokenKind::end) return t;
  last_end_ = t.where.end;
  taken_++;
  if (++first_ == ahead_.size()) {
    ahead_.clear();
    first_ = 0;
  }
  return t;
}

bool Parser::at_word(std::string_view word, size_t ahead) {
  const Token& t = peek(ahead);
  return (t.kind == TokenKind::identifier || t.kind == TokenKind::keyword) && t.text == word;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

bool Parser::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  take();
  return true;
}

Token Parser::expect(TokenKind kind, std::string_view what, std::string hint) {
  if (at(kind)) return take();
  unexpected(what, std::move(hint));
  return {kind, {last_end_, last_end_}, {}, 0};
}

void Parser::expect_word(std::string_view word) {
  if (!accept_word(word)) unexpected("`" + std::string(word) + "`");
}

std::string Parser::shown(const Token& token) const {
  if (token.kind == TokenKind::end) return "end of the script";
  constexpr size_t longest = 30;
  std::string_view spelled = token.from_macro ? token.spelled : source_.text(token.where);
  std::string text(spelled.substr(0, longest));
  if (spelled.size() > longest) text += "…";
  return (token.kind == TokenKind::keyword ? "keyword `" : "`") + text + "`";
}

// The next token can't stand here.
void Parser::unexpected(std::string_view expected, std::string hint) {
  if (panic_ || stopped_) return;
  Token t = peek();
  if (t.kind == TokenKind::end) t.where.begin = t.where.end = std::max(t.where.end, last_end_);
  if (t.kind == TokenKind::assign && hint.empty())
    hint = "`==` compares; an assignment is a statement of its own";
  if (t.from_macro && hint.empty()) hint = "it comes from the macro that is used here";
  panic(tag::syntax, t.where, "syntax error, unexpected " + shown(t) + ", expected " + std::string(expected),
        std::move(hint));
  // What is missing at the end is missing for every open block: once is enough.
  if (t.kind == TokenKind::end) stopped_ = true;
}

// A mistake that leaves the parser where it is.
void Parser::error(std::string_view tag, Range where, std::string message, std::string hint) {
  if (panic_ || stopped_) return;
  mistakes_.tell(tag, where, std::move(message), std::move(hint));
  if (mistakes_.full()) stopped_ = true;
}

void Parser::panic(std::string_view tag, Range where, std::string message, std::string hint) {
  error(tag, where, std::move(message), std::move(hint));
  if (!panic_) stop_ = {TokenKind::end, {last_end_, last_end_}, {}, 0};
  panic_ = true;
}

// Ends panic: past the next `;`, past a block that ends here, or up to the `}` of the enclosing block.
void Parser::recover_statement() {
  panic_ = false;
  bool was_quiet = std::exchange(mistakes_.quiet, true);
  for (int open = 0; !at(TokenKind::end);) {
    if (open == 0 && at(TokenKind::right_brace)) break;
    Token t = take();
    if (t.kind == TokenKind::left_brace) open++;
    if (t.kind == TokenKind::right_brace && --open == 0 && !at_word("else")) break;
    // `f(1;)`: what goes on with `)` is no statement of its own.
    if (t.kind == TokenKind::semicolon && open == 0 && !t.from_macro && !at(TokenKind::right_paren)) break;
  }
  // The token after is read already: its own mistakes are not those of the skipped text.
  mistakes_.quiet = was_quiet;
  bool is_plain = first_ < ahead_.size() && !ahead_[first_].from_macro && !input_.is_expanding();
  if (is_plain) to_raw();
}

// Ends panic: up to the `{` that begins the body of a probe or function.
void Parser::skip_to_body() {
  panic_ = false;
  bool was_quiet = std::exchange(mistakes_.quiet, true);
  while (!at(TokenKind::end) && !at(TokenKind::left_brace)) take();
  mistakes_.quiet = was_quiet;
  if (at(TokenKind::end)) stopped_ = true;
}

// At an opening brace or parenthesis: past the one that closes it.
void Parser::skip_balanced() {
  bool was = std::exchange(mistakes_.quiet, true);
  int open = 0;
  do {
    Token t = take();
    if (t.kind == TokenKind::left_brace || t.kind == TokenKind::left_paren) open++;
    if (t.kind == TokenKind::right_brace || t.kind == TokenKind::right_paren) open--;
  } while (open > 0 && !at(TokenKind::end));
  mistakes_.quiet = was;
}

void Parser::to_raw() {
  uint32_t at = input_.offset();
  if (first_ < ahead_.size()) {
    const Token& t = ahead_[first_];
    at = t.from_macro ? t.where.end : t.where.begin;
  }
  input_.seek(at);
  ahead_.clear();
  first_ = 0;
}

} // namespace lang
