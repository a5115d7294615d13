// The state of the parser. One function per rule of the grammar, which stands above it in parse*.cc. The first mistake ends reading.
#pragma once

#include "stap/lexer.h"

namespace stap {

class Parser {
public:
  Parser(std::vector<Token> tokens, Script& script, base::Diagnostics& diagnostics) : tokens_(std::move(tokens)), script_(script), diagnostics_(diagnostics) {}
  void run();

private:
  static constexpr int max_depth = 100;

  // parse.cc
  bool failed() const { return diagnostics_.has_errors(); }
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() {
    const Token& t = peek();
    if (at_ + 1 < tokens_.size()) at_++;
    last_end_ = std::max(last_end_, t.where.end);
    return t;
  }
  bool accept(std::string_view sign) { return peek().is(sign) && (take(), true); }
  bool accept_word(std::string_view word) { return peek().is_word(word) && (take(), true); }
  void expect(std::string_view sign, std::string_view where);
  void error(std::string_view tag, Range where, std::string message, std::string hint = {});
  void unexpected(std::string_view wanted);
  std::string take_name(std::string_view what);
  Range since(uint32_t begin) const { return {begin, std::max(begin, last_end_)}; }
  bool enter(); // one level deeper; false: too deep
  void parse_global();
  void parse_function();
  void parse_probe();
  std::vector<Point> parse_points();
  Component parse_component();
  std::vector<Point> parse_point();
  std::string parse_component_name();

  // parse_statement.cc
  Statement* make(StatementKind kind, Range where);
  Statement* parse_statement();
  Statement* parse_block();
  Statement* parse_if();
  Statement* parse_for();
  Statement* parse_foreach();
  Statement* parse_try();
  void parse_each(Each& each);
  int parse_sort();

  // parse_expression.cc
  Node* make(NodeKind kind, Range where);
  Node* parse_expression();
  Node* parse_assignment();
  Node* parse_ternary();
  Node* parse_binary(int lowest);
  Node* parse_unary();
  Node* parse_postfix();
  Node* parse_primary();
  Node* parse_operation();
  Node* parse_bracket();
  void parse_list(Node& into, std::string_view close);

  std::vector<Token> tokens_;
  Script& script_;
  base::Diagnostics& diagnostics_;
  size_t at_ = 0;
  uint32_t last_end_ = 0;
  int depth_ = 0;
  bool is_key_list_ = false; // `in` belongs to foreach
};

} // namespace stap
