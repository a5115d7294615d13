// Expressions of SystemTap, with the precedence of C; `.` joins texts, and binds like `+`.
#include "base/text.h"
#include "spec/diagnostics.h"
#include "stap/parser.h"

namespace stap {

using namespace spec;

namespace {

struct Operator {
  std::string_view sign;
  int precedence;
};
constexpr Operator operators[] = {{"||", 1}, {"&&", 2}, {"in", 3}, {"|", 4},  {"^", 5},  {"&", 6},  {"==", 7}, {"!=", 7}, {"<", 7}, {">", 7},
                                  {"<=", 7}, {">=", 7}, {"=~", 7}, {"!~", 7}, {".", 8},  {"<<", 9}, {">>", 9}, {"+", 10}, {"-", 10}, {"*", 11}, {"/", 11}, {"%", 11}};
constexpr std::string_view assignments[] = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ".=", "<<<"};

int precedence_of(const Token& t) {
  if (t.kind != TokenKind::sign && !t.is_word("in")) return 0;
  for (const Operator& o : operators)
    if (o.sign == t.text) return o.precedence;
  return 0;
}

} // namespace

Node* Parser::make(NodeKind kind, Range where) {
  Node& n = script_.nodes.emplace_back();
  n.kind = kind;
  n.where = where;
  return &n;
}

Node* Parser::parse_expression() { return parse_assignment(); }

// ternary [ ("=" | "+=" | … | "<<<") assignment ]
Node* Parser::parse_assignment() {
  Node* left = parse_ternary();
  if (peek().kind != TokenKind::sign || !base::is_one_of(assignments, peek().text) || !enter()) return left;
  Node* out = make(NodeKind::assign, left->where);
  out->text = take().text;
  out->parts = {left, parse_assignment()};
  out->where.end = last_end_;
  const bool is_target = left->kind == NodeKind::name || left->kind == NodeKind::index;
  if (!is_target && !failed()) {
    const bool is_programs = left->kind == NodeKind::target || left->kind == NodeKind::member || left->kind == NodeKind::operation;
    error(is_programs ? tag::unsafe : tag::bad_assignment, left->where, is_programs ? "this changes a variable of the traced program" : "only variables and array elements can be assigned to",
          is_programs ? "acu writes only memory, with write_user() and --unsafe" : "assign to a name");
  }
  depth_--;
  return out;
}

// binary [ "?" expression ":" expression ]
Node* Parser::parse_ternary() {
  Node* condition = parse_binary(1);
  if (!peek().is("?") || !enter()) return condition;
  take();
  Node* out = make(NodeKind::ternary, condition->where);
  Node* then = parse_assignment();
  expect(":", "between the values of `?`");
  out->parts = {condition, then, parse_assignment()};
  out->where.end = last_end_;
  depth_--;
  return out;
}

Node* Parser::parse_binary(int lowest) {
  Node* left = parse_unary();
  for (int p = precedence_of(peek()); p >= lowest && p > 0 && !failed(); p = precedence_of(peek())) {
    const std::string sign = take().text;
    Node* out = make(sign == "in" ? NodeKind::contained : NodeKind::binary, left->where);
    out->text = sign;
    Node* right = parse_binary(p + 1);
    // [a, b] in array
    if (out->kind == NodeKind::contained && left->kind == NodeKind::index && left->parts.size() > 1 && !left->parts[0])
      out->parts.assign(left->parts.begin() + 1, left->parts.end()), out->parts.push_back(right);
    else
      out->parts = {left, right};
    out->where.end = last_end_;
    left = out;
  }
  return left;
}

// ("-" | "!" | "~" | "+" | "&" | "++" | "--") unary | postfix
Node* Parser::parse_unary() {
  const Token& t = peek();
  constexpr std::string_view signs[] = {"-", "!", "~", "+", "&", "++", "--"};
  if (t.kind != TokenKind::sign || !base::is_one_of(signs, t.text)) return parse_postfix();
  if (!enter()) return make(NodeKind::integer, t.where);
  const bool is_step = t.is("++") || t.is("--");
  Node* out = make(is_step ? NodeKind::increment : NodeKind::unary, t.where);
  out->text = take().text;
  out->parts = {parse_unary()};
  out->where.end = last_end_;
  depth_--;
  return out;
}

// primary { "[" list "]" | "->" name | "++" | "--" }
Node* Parser::parse_postfix() {
  Node* e = parse_primary();
  while (!failed()) {
    Node* out = nullptr;
    if (peek().is("[")) {
      take();
      out = make(NodeKind::index, e->where);
      out->parts = {e};
      parse_list(*out, "]");
    } else if (accept("->")) {
      out = make(NodeKind::member, e->where);
      out->parts = {e};
      out->text = take_name("the name of a member");
      while (peek().kind == TokenKind::target) take();
    } else if (peek().is("++") || peek().is("--")) {
      out = make(NodeKind::increment, e->where);
      out->text = take().text;
      out->is_post = true;
      out->parts = {e};
      out->where.end = last_end_;
      return out; // `a++ ++b` are two statements
    } else {
      break;
    }
    out->where.end = last_end_;
    e = out;
  }
  return e;
}

// expression, … up to `close`
void Parser::parse_list(Node& into, std::string_view close) {
  while (!failed() && !peek().is(close)) {
    if (peek().is("*") && (peek(1).is(",") || peek(1).is(close)))
      into.parts.push_back(make(NodeKind::any, take().where));
    else
      into.parts.push_back(parse_expression());
    if (!accept(",")) break;
  }
  expect(close, "at the end of the list");
  into.where.end = last_end_;
}

// "[" list "]", in front of `in`: an index of nothing
Node* Parser::parse_bracket() {
  Node* out = make(NodeKind::index, take().where);
  out->parts.push_back(nullptr);
  parse_list(*out, "]");
  if (!peek().is_word("in")) unexpected("`in` behind the keys");
  return out;
}

// @name ["(" list ")"]
Node* Parser::parse_operation() {
  Node* out = make(NodeKind::operation, peek().where);
  out->text = take().text;
  if (accept("(")) parse_list(*out, ")");
  return out;
}

Node* Parser::parse_primary() {
  const Token& t = peek();
  Node* out = make(NodeKind::integer, t.where);
  if (!enter()) return out;
  switch (t.kind) {
  case TokenKind::integer:
    out->value = t.value;
    take();
    break;
  case TokenKind::text:
    out->kind = NodeKind::text;
    while (peek().kind == TokenKind::text) out->text += take().text; // neighbours are one
    break;
  case TokenKind::argument:
    out->kind = NodeKind::argument, out->text = t.text, out->value = t.value, out->is_text = t.is_text;
    take();
    break;
  case TokenKind::target:
    out->kind = NodeKind::target, out->text = t.text;
    take();
    break;
  case TokenKind::operation: out = parse_operation(); break;
  case TokenKind::name:
    out->kind = NodeKind::name, out->text = t.text;
    take();
    if (accept("(")) out->kind = NodeKind::call, parse_list(*out, ")");
    break;
  default:
    if (peek().is("[")) {
      out = parse_bracket();
    } else if (accept("(")) {
      out = parse_expression();
      expect(")", "behind the expression");
    } else {
      unexpected("an expression");
    }
  }
  out->where.end = std::max(out->where.end, last_end_);
  depth_--;
  return out;
}

} // namespace stap
