// Expressions: those of C, without the comma, with `^^` (logical exclusive or) and keys in brackets.
#include "base/text.h"
#include "dlang/parser.h"
#include "spec/diagnostics.h"

#include <optional>

namespace dlang {

using namespace spec;
using base::quoted;
using lang::BinaryOp;
using lang::UnaryOp;

namespace {

struct Operator {
  std::string_view sign;
  int precedence; // larger binds tighter
  std::optional<BinaryOp> op; // none: ^^
};
constexpr Operator operators[] = {
    {"||", 1, BinaryOp::logical_or}, {"^^", 2, {}},              {"&&", 3, BinaryOp::logical_and}, {"|", 4, BinaryOp::bit_or}, {"^", 5, BinaryOp::bit_xor},
    {"&", 6, BinaryOp::bit_and},     {"==", 7, BinaryOp::eq},    {"!=", 7, BinaryOp::ne},          {"<", 8, BinaryOp::lt},     {"<=", 8, BinaryOp::le},
    {">", 8, BinaryOp::gt},          {">=", 8, BinaryOp::ge},    {"<<", 9, BinaryOp::shl},         {">>", 9, BinaryOp::shr},   {"+", 10, BinaryOp::add},
    {"-", 10, BinaryOp::sub},        {"*", 11, BinaryOp::mul},   {"/", 11, BinaryOp::div},         {"%", 11, BinaryOp::mod},
};
constexpr std::pair<std::string_view, BinaryOp> compounds[] = {
    {"+=", BinaryOp::add}, {"-=", BinaryOp::sub},     {"*=", BinaryOp::mul},    {"/=", BinaryOp::div},     {"%=", BinaryOp::mod},
    {"<<=", BinaryOp::shl}, {">>=", BinaryOp::shr}, {"&=", BinaryOp::bit_and}, {"|=", BinaryOp::bit_or}, {"^=", BinaryOp::bit_xor},
};

const Operator* operator_of(const Token& t) {
  for (const Operator& o : operators)
    if (t.is(o.sign)) return &o;
  return nullptr;
}

} // namespace

Node* Parser::make(NodeKind kind, Range where) {
  script_.nodes.emplace_back();
  Node& n = script_.nodes.back();
  n.kind = kind;
  n.where = where;
  return &n;
}

// expression = ternary [ ( "=" | "+=" | … ) expression ]
Node* Parser::parse_expression() {
  if (++depth_ > max_depth) error(tag::too_deep, peek().where, "this is nested too deeply");
  Node* left = parse_ternary();
  const Token& t = peek();
  std::optional<BinaryOp> compound;
  for (const auto& [sign, op] : compounds)
    if (t.is(sign)) compound = op;
  if (!failed() && (t.is("=") || compound)) {
    take();
    Node* right = parse_expression();
    Node* n = make(NodeKind::assign, {left->where.begin, last_end_});
    n->is_compound = compound.has_value();
    if (compound) n->op = *compound;
    n->parts = {left, right};
    left = n;
  }
  depth_--;
  return left;
}

// ternary = binary [ "?" expression ":" ternary ]
Node* Parser::parse_ternary() {
  Node* condition = parse_binary(1);
  if (failed() || !accept("?")) return condition;
  brackets_++; // a `/` divides up to the colon
  Node* then = parse_expression();
  brackets_--;
  expect(":", "of the conditional");
  if (++depth_ > max_depth) error(tag::too_deep, peek().where, "this is nested too deeply");
  Node* otherwise = failed() ? then : parse_ternary();
  depth_--;
  Node* n = make(NodeKind::ternary, {condition->where.begin, last_end_});
  n->parts = {condition, then, otherwise};
  return n;
}

// binary = unary { operator unary }, by precedence. In a predicate, outside of brackets, a `/` before the body ends it.
Node* Parser::parse_binary(int lowest) {
  Node* left = parse_unary();
  for (int count = 0; !failed(); count++) {
    if (count > 1000) error(tag::too_deep, peek().where, "this expression is too long");
    const Operator* o = operator_of(peek());
    if (!o || o->precedence < lowest) break;
    if (in_predicate_ && brackets_ == 0 && o->sign == "/" && lexer_.ends_predicate()) break;
    take();
    if (++depth_ > max_depth) error(tag::too_deep, peek().where, "this is nested too deeply");
    Node* right = parse_binary(o->precedence + 1);
    depth_--;
    Node* n = make(o->op ? NodeKind::binary : NodeKind::logical_xor, {left->where.begin, last_end_});
    if (o->op) n->op = *o->op;
    n->parts = {left, right};
    left = n;
  }
  return left;
}

// unary = { "-" | "!" | "~" | "*" | "&" | "+" | "++" | "--" | "(" type ")" } postfix
Node* Parser::parse_unary() {
  constexpr std::pair<std::string_view, UnaryOp> signs[] = {
      {"-", UnaryOp::negate}, {"!", UnaryOp::logical_not}, {"~", UnaryOp::bit_not}, {"*", UnaryOp::dereference}, {"&", UnaryOp::address_of}};
  const Range begin = peek().where;
  if (++depth_ > max_depth) error(tag::too_deep, begin, "this is nested too deeply");
  if (failed()) return depth_--, make(NodeKind::integer, begin);
  Node* n = nullptr;
  for (const auto& [sign, op] : signs) {
    if (n || !accept(sign)) continue;
    Node* operand = parse_unary();
    n = make(NodeKind::unary, {begin.begin, last_end_});
    n->unary = op;
    n->parts = {operand};
  }
  if (!n && accept("+")) n = parse_unary();
  for (std::string_view sign : {"++", "--"}) {
    if (n || !accept(sign)) continue;
    Node* operand = parse_unary();
    n = make(NodeKind::increment, {begin.begin, last_end_});
    n->is_down = sign == "--";
    n->parts = {operand};
  }
  if (!n && peek().is("(") && at_cast()) {
    take();
    TypeName type = parse_type();
    expect(")", "behind the type");
    Node* operand = parse_unary();
    n = make(NodeKind::cast, {begin.begin, last_end_});
    n->type = type;
    n->parts = {operand};
  }
  if (!n) n = parse_postfix();
  depth_--;
  return n;
}

// postfix = primary { "." name | "->" name | "[" expressions "]" | "++" | "--" }
Node* Parser::parse_postfix() {
  Node* n = parse_primary();
  for (int count = 0; !failed(); count++) {
    if (count > max_depth) error(tag::too_deep, peek().where, "this is nested too deeply");
    if (peek().is(".") || peek().is("->")) {
      take();
      if (peek().kind != TokenKind::name) return unexpected("the name of a member"), n;
      Node* m = make(NodeKind::member, n->where);
      m->text = take().text;
      m->where.end = last_end_;
      m->parts = {n};
      n = m;
    } else if (accept("[")) {
      Node* i = make(NodeKind::index, n->where);
      i->parts = {n};
      parse_list(*i, "]");
      i->where = since(*i);
      n = i;
    } else if (peek().is("++") || peek().is("--")) {
      Node* i = make(NodeKind::increment, n->where);
      i->is_post = true;
      i->is_down = take().is("--");
      i->where = since(*i);
      i->parts = {n};
      n = i;
    } else {
      break;
    }
  }
  return n;
}

// expressions up to the closing bracket, which is taken
void Parser::parse_list(Node& into, std::string_view close) {
  brackets_++;
  if (!peek().is(close)) {
    into.parts.push_back(parse_expression());
    while (!failed() && accept(",")) into.parts.push_back(parse_expression());
  }
  brackets_--;
  expect(close, "at the end of the list");
}

// primary = number | string | name | name "(" expressions ")" | "@" name [ keys ] | "(" expression ")" | macro variable
Node* Parser::parse_primary() {
  const Token& t = peek();
  switch (t.kind) {
  case TokenKind::integer: {
    Node* n = make(NodeKind::integer, t.where);
    n->value = t.value, n->is_unsigned = t.is_unsigned, n->is_long = t.is_long;
    take();
    return n;
  }
  case TokenKind::text: {
    Node* n = make(NodeKind::text, t.where);
    n->text = take().text;
    while (peek().kind == TokenKind::text) n->text += take().text; // "a" "b" is one
    n->where.end = last_end_;
    return n;
  }
  case TokenKind::macro:
  case TokenKind::macro_text: return parse_macro();
  case TokenKind::kernel_name: {
    Node* n = make(NodeKind::kernel_name, t.where);
    n->text = take().text;
    return n;
  }
  case TokenKind::aggregation: {
    Node* n = make(NodeKind::aggregation, t.where);
    n->text = take().text;
    if (accept("[")) parse_list(*n, "]");
    n->where = since(*n);
    return n;
  }
  case TokenKind::name: return parse_name();
  default: break;
  }
  if (accept("(")) {
    brackets_++;
    Node* n = parse_expression();
    brackets_--;
    expect(")", "behind the expression");
    return n;
  }
  unexpected("an expression");
  return make(NodeKind::integer, peek().where);
}

Node* Parser::parse_name() {
  const Token name = take();
  Node* n = make(NodeKind::name, name.where);
  n->text = name.text;
  if (name.text == "sizeof") {
    n->kind = NodeKind::size_of;
    const bool in_brackets = accept("(");
    if (in_brackets && at_type())
      n->type = parse_type();
    else
      n->parts = {in_brackets ? parse_expression() : parse_unary()};
    if (in_brackets) expect(")", "behind the type");
  } else if (name.text == "offsetof" && accept("(")) {
    n->kind = NodeKind::offset_of;
    n->type = parse_type();
    expect(",", "and the name of a member");
    n->text.clear();
    do {
      if (peek().kind != TokenKind::name) return unexpected("the name of a member"), n;
      n->text += (n->text.empty() ? "" : ".") + take().text;
    } while (accept("."));
    expect(")", "behind the member");
  } else if (name.text == "xlate" && accept("<")) {
    n->kind = NodeKind::translate;
    n->type = parse_type();
    expect(">", "behind the type");
    expect("(", "and what is translated");
    if (failed()) return n;
    brackets_++;
    n->parts = {parse_expression()};
    brackets_--;
    expect(")", "behind what is translated");
  } else if ((name.text == "self" || name.text == "this") && accept("->")) {
    n->kind = name.text == "self" ? NodeKind::self : NodeKind::clause;
    if (peek().kind != TokenKind::name) return unexpected("the name of a variable"), n;
    n->text = take().text;
  } else if (name.text == "self" || name.text == "this") {
    return error(tag::syntax, name.where, quoted(name.text) + " needs the name of a variable", "write `" + name.text + "->NAME`"), n;
  } else if (accept("(")) {
    n->kind = NodeKind::call;
    parse_list(*n, ")");
  } else if (name.text == "NULL") {
    n->kind = NodeKind::integer;
    n->text.clear();
  }
  n->where = since(*n);
  return n;
}

// $1 is a number or a name, $$1 text.
Node* Parser::parse_macro() {
  const Token macro = take();
  const bool as_text = macro.kind == TokenKind::macro_text;
  const std::string word = macro_word(macro, as_text);
  Node* n = make(as_text ? NodeKind::text : NodeKind::name, macro.where);
  n->text = word;
  if (as_text || failed() || word == command_pid) return n;
  const bool is_negative = word.starts_with('-');
  if (auto number = base::parse_integer(is_negative ? std::string_view(word).substr(1) : std::string_view(word))) {
    n->kind = NodeKind::integer;
    n->value = *number;
    if (!is_negative) return n;
    Node* minus = make(NodeKind::unary, macro.where);
    minus->parts = {n};
    return minus;
  }
  if (word.empty()) return error(tag::bad_parameter, macro.where, "$" + macro.text + " is empty here, neither a number nor a name", "text is $$" + macro.text), n;
  for (char c : word)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_')
      return error(tag::bad_parameter, macro.where, "$" + macro.text + " is " + quoted(word) + ", neither a number nor a name", "text is $$" + macro.text), n;
  return n;
}

} // namespace dlang
