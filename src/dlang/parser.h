// The state of the parser. One function per rule of the grammar, which stands above it in parse.cc, parse_types.cc and parse_expression.cc. The first
// mistake ends reading: a D script is short, and what follows a mistake is rarely meant as it is read.
#pragma once

#include "dlang/lexer.h"
#include "dlang/parse.h"

#include <array>
#include <string>

namespace dlang {

class Parser {
public:
  Parser(const base::Source& source, const MacroValues& values, base::Diagnostics& diagnostics)
      : source_(source), values_(values), diagnostics_(diagnostics), lexer_(source.text(), diagnostics) {}
  Script run();

private:
  static constexpr int max_depth = 100;

  // parse.cc
  bool failed() const { return diagnostics_.has_errors(); }
  const Token& peek() {
    if (!has_next_) next_ = lexer_.next(), has_next_ = true;
    return next_;
  }
  Token take() {
    Token t = peek();
    has_next_ = false;
    last_end_ = t.where.end;
    return t;
  }
  bool accept(std::string_view sign) { return peek().is(sign) && (take(), true); }
  bool accept_word(std::string_view word) { return peek().is_word(word) && (take(), true); }
  void expect(std::string_view sign, std::string_view where);
  void error(std::string_view tag, Range where, std::string message, std::string hint = {});
  void unexpected(std::string_view wanted);
  void parse_directive();
  void parse_pragma(std::string_view text, Range where);
  void parse_clause();
  Description parse_description();
  std::string expand_macros(std::string_view text, Range where);
  void parse_body(Clause clause, bool is_branch);
  void parse_branches(Clause& clause);
  bool add_action(Clause& clause, Node* action);
  std::array<std::string, 2> divide(Clause& clause, Node* condition, Range where);
  Clause branch_of(const Clause& clause, const std::string& name, Range where);
  Node* condition_name(const std::string& name, Range where);
  Node* kept_condition(const std::string& name, Node* condition);
  std::string macro_word(const Token& macro, bool as_text);

  // parse_expression.cc
  Node* make(NodeKind kind, Range where);
  Node* parse_expression();
  Node* parse_ternary();
  Node* parse_binary(int lowest);
  Node* parse_unary();
  Node* parse_postfix();
  Node* parse_primary();
  Node* parse_name();
  Node* parse_keys(NodeKind kind, const Token& name);
  Node* parse_macro();
  void parse_list(Node& into, std::string_view close);

  // parse_types.cc
  bool is_type_word(std::string_view word) const;
  bool at_type();
  bool at_cast();
  bool at_declaration();
  void parse_declaration();
  void parse_declarator(TypeName& type, std::string& name, Range& where, bool* is_associative);
  void parse_inline();
  void parse_typedef();
  void parse_translator();
  void check_words(const TypeName& type, std::string_view next);
  TypeName parse_type();
  void parse_members(const TypeName& of);
  void parse_enumerators();
  void skip_brackets();
  const StructMember* member_of(const Definition& d, std::string_view name) const;
  Range since(const Node& n) const { return {n.where.begin, last_end_}; }

  const base::Source& source_;
  const MacroValues& values_;
  base::Diagnostics& diagnostics_;
  Lexer lexer_;
  Token next_;
  bool has_next_ = false;
  bool in_predicate_ = false;
  int brackets_ = 0;
  int depth_ = 0;
  int anonymous_ = 0, conditions_ = 0;
  uint32_t last_end_ = 0;
  std::vector<TypeName> key_types_; // of the array whose declarator was read last
  Script script_;
};

} // namespace dlang
