// Statements of SystemTap.
#include "base/text.h"
#include "spec/diagnostics.h"
#include "stap/parser.h"

namespace stap {

using namespace spec;

Statement* Parser::make(StatementKind kind, Range where) {
  Statement& s = script_.statements.emplace_back();
  s.kind = kind;
  s.where = where;
  return &s;
}

// "{" { statement } "}"
Statement* Parser::parse_block() {
  Statement* out = make(StatementKind::block, peek().where);
  expect("{", "at the begin of a block");
  while (!failed() && !peek().is("}")) {
    if (peek().kind == TokenKind::end) {
      unexpected("`}` at the end of a block");
      break;
    }
    if (Statement* s = parse_statement(); s->kind != StatementKind::empty) out->list.push_back(s);
  }
  expect("}", "at the end of a block");
  out->where.end = last_end_;
  return out;
}

// if "(" expression ")" statement [ else statement ]
Statement* Parser::parse_if() {
  Statement* out = make(StatementKind::conditional, take().where);
  expect("(", "behind `if`");
  out->value = parse_expression();
  expect(")", "behind the condition");
  out->where.end = last_end_;
  out->body = parse_statement();
  if (peek().is(";") && peek(1).is_word("else")) take();
  if (accept_word("else")) out->otherwise = parse_statement();
  return out;
}

// for "(" [expression] ";" [expression] ";" [expression] ")" statement
Statement* Parser::parse_for() {
  Statement* out = make(StatementKind::loop_for, take().where);
  expect("(", "behind `for`");
  if (!peek().is(";")) out->first = parse_expression();
  expect(";", "in `for`");
  if (!peek().is(";")) out->value = parse_expression();
  expect(";", "in `for`");
  if (!peek().is(")")) out->step = parse_expression();
  expect(")", "behind the head of `for`");
  out->where.end = last_end_;
  out->body = parse_statement();
  return out;
}

// `+` or `-` behind what is sorted by
int Parser::parse_sort() {
  if (accept("+")) return 1;
  if (accept("-")) return -1;
  return 0;
}

// [name =] (name | "[" name ["+"|"-"], … "]") in [@op "("] array [")"] ["+"|"-"] [limit expression]
void Parser::parse_each(Each& each) {
  if (peek().kind == TokenKind::name && peek(1).is("=")) {
    each.value = take().text;
    take();
  }
  const bool is_list = accept("[");
  do {
    Node* key = make(NodeKind::name, peek().where);
    key->text = take_name("the name of a key");
    each.keys.push_back(key);
    if (const int sort = parse_sort()) each.sort = sort, each.sort_key = static_cast<int>(each.keys.size()) - 1;
  } while (!failed() && is_list && accept(","));
  if (is_list) expect("]", "behind the keys");
  if (!accept_word("in")) return unexpected("`in` behind the keys");
  if (peek().kind == TokenKind::operation) {
    each.sort_by = take().text;
    expect("(", "behind what is sorted by");
  }
  each.array = make(NodeKind::name, peek().where);
  each.array->text = take_name("the name of an array");
  if (!each.sort_by.empty()) expect(")", "behind the array");
  if (accept("[")) {
    Node* index = make(NodeKind::index, each.array->where);
    index->parts.push_back(each.array);
    parse_list(*index, "]");
    each.array = index;
  }
  if (peek().kind == TokenKind::operation && each.sort_by.empty()) each.sort_by = take().text; // array @sum-
  if (const int sort = parse_sort()) each.sort = sort, each.sort_key = -1;
  if (accept_word("limit")) each.limit = parse_expression();
}

Statement* Parser::parse_foreach() {
  Statement* out = make(StatementKind::loop_each, take().where);
  expect("(", "behind `foreach`");
  parse_each(out->each);
  expect(")", "behind the head of `foreach`");
  out->where.end = last_end_;
  out->body = parse_statement();
  return out;
}

// try block catch ["(" name ")"] block
Statement* Parser::parse_try() {
  Statement* out = make(StatementKind::attempt, take().where);
  out->where.end = last_end_;
  out->body = parse_statement();
  if (!accept_word("catch")) {
    unexpected("`catch` behind the block of `try`");
    return out;
  }
  if (accept("(")) {
    if (peek().kind == TokenKind::name) out->name = take().text;
    expect(")", "behind the name");
  }
  out->otherwise = parse_statement();
  return out;
}

Statement* Parser::parse_statement() {
  struct Words {
    std::string_view word;
    StatementKind kind;
  };
  constexpr Words words[] = {{"break", StatementKind::leave_loop}, {"continue", StatementKind::continue_loop}, {"next", StatementKind::next}, {"return", StatementKind::give_back}, {"delete", StatementKind::remove}};
  Statement* out = make(StatementKind::empty, peek().where);
  if (!enter()) return out;
  const Token& t = peek();
  if (accept(";")) {
  } else if (t.is("{")) {
    out = parse_block();
  } else if (t.is_word("if")) {
    out = parse_if();
  } else if (t.is_word("while")) {
    out = make(StatementKind::loop_while, take().where);
    expect("(", "behind `while`");
    out->value = parse_expression();
    expect(")", "behind the condition");
    out->where.end = last_end_;
    out->body = parse_statement();
  } else if (t.is_word("for")) {
    out = parse_for();
  } else if (t.is_word("foreach")) {
    out = parse_foreach();
  } else if (t.is_word("try")) {
    out = parse_try();
  } else {
    out->kind = StatementKind::expression;
    for (const Words& w : words)
      if (t.is_word(w.word)) out->kind = w.kind;
    if (out->kind != StatementKind::expression) take();
    const bool has_value = out->kind == StatementKind::expression || out->kind == StatementKind::remove || (out->kind == StatementKind::give_back && !peek().is(";") && !peek().is("}"));
    if (has_value) out->value = parse_expression();
    accept(";");
    out->where.end = last_end_;
  }
  depth_--;
  return out;
}

} // namespace stap
