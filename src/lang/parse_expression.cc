// Expressions, with C's precedence. Assignment is a statement and not part of these rules.
#include "lang/operators.h"
#include "lang/parser.h"

#include "lang/walk.h"

#include "base/text.h"
#include "spec/builtins.h"
#include "spec/diagnostics.h"

#include <algorithm>

namespace lang {

namespace tag = spec::tag;

namespace {

struct Prefix {
  TokenKind token;
  UnaryOp op;
};
constexpr Prefix prefixes[] = {
    {TokenKind::minus, UnaryOp::negate},
    {TokenKind::exclamation, UnaryOp::logical_not},
    {TokenKind::tilde, UnaryOp::bit_not},
    {TokenKind::star, UnaryOp::dereference},
    {TokenKind::ampersand, UnaryOp::address_of},
    {TokenKind::plus_plus, UnaryOp::pre_increment},
    {TokenKind::minus_minus, UnaryOp::pre_decrement},
};

} // namespace

// expression := binary [ '?' [ expression ] ':' expression ]
Expr* Parser::parse_expression() {
  Level level(*this);
  expression_depth_++;
  Expr* e = parse_binary(1);
  if (accept(TokenKind::question)) {
    auto* t = make<Ternary>(e->where);
    t->condition = e;
    if (!at(TokenKind::colon)) {
      Bracket bracket(*this);
      t->then = parse_expression();
    }
    expect(TokenKind::colon, "`:`");
    t->otherwise = parse_expression();
    t->where = e->where.to(t->otherwise->where);
    e = t;
  }
  expression_depth_--;
  return e;
}

// binary    := unary { OPERATOR unary }      by the precedence of the table above, left to right
Expr* Parser::parse_binary(int lowest) {
  Expr* left = parse_unary();
  for (;;) {
    const Operator* row = find_operator(peek().kind);
    if (!row || row->precedence < lowest || closes_predicate()) return left;
    count_operator(take().where);
    Expr* right = parse_binary(row->precedence + 1);
    auto* b = make<Binary>(left->where.to(right->where));
    b->op = row->op;
    b->left = left;
    b->right = right;
    left = b;
  }
}

// Inside a predicate `/` divides, unless the action block follows.
bool Parser::closes_predicate() {
  if (!in_predicate_ || !at(TokenKind::slash)) return false;
  TokenKind next = peek(1).kind;
  return next == TokenKind::left_brace || next == TokenKind::end;
}

// unary     := ( '-' | '!' | '~' | '*' | '&' | '++' | '--' ) unary | 'comptime' unary | cast | postfix
Expr* Parser::parse_unary() {
  for (const Prefix& p : prefixes)
    if (at(p.token)) return parse_unary_operator(p.op);
  if (at_word("comptime") && begins_unary(peek(1))) return parse_comptime();
  if (at(TokenKind::left_paren) && at_cast()) return parse_cast();
  return parse_postfix();
}

Expr* Parser::parse_unary_operator(UnaryOp op) {
  Level level(*this);
  Range where = take().where;
  auto* u = make<Unary>(where);
  u->op = op;
  u->operand = parse_unary();
  u->where = where.to(u->operand->where);
  return u;
}

// Where `comptime` is no name.
bool Parser::begins_unary(const Token& t) {
  if (t.kind == TokenKind::keyword) return t.text != "else";
  return begins_operand(t) || t.kind == TokenKind::minus || t.kind == TokenKind::left_brace;
}

Expr* Parser::parse_comptime() {
  Level level(*this);
  uint32_t begin = take().where.begin;
  auto* c = make<Comptime>({begin, begin});
  c->operand = parse_unary();
  c->where = since(begin);
  return c;
}

// cast      := '(' type ')' unary
Expr* Parser::parse_cast() {
  Level level(*this);
  uint32_t begin = take().where.begin;
  auto* c = make<Cast>({begin, begin});
  c->target = parse_type();
  expect(TokenKind::right_paren, "`)`");
  c->operand = parse_unary();
  c->where = since(begin);
  return c;
}

// postfix   := primary { ( '.' | '->' ) ( NAME | INTEGER ) | '[' expression ']' | '++' | '--' }
Expr* Parser::parse_postfix() {
  Expr* e = parse_primary();
  for (;;) {
    Token t = peek();
    switch (t.kind) {
    case TokenKind::dot:
    case TokenKind::arrow: e = parse_field(e); break;
    case TokenKind::left_bracket: {
      Bracket bracket(*this);
      take();
      auto* i = make<Index>(e->where);
      i->operand = e;
      i->index = parse_expression();
      expect(TokenKind::right_bracket, "`]`");
      i->where = since(e->where.begin);
      e = i;
      break;
    }
    case TokenKind::plus_plus:
    case TokenKind::minus_minus: {
      take();
      auto* u = make<Unary>(e->where.to(t.where));
      u->op = t.kind == TokenKind::plus_plus ? UnaryOp::post_increment : UnaryOp::post_decrement;
      u->operand = e;
      e = u;
      break;
    }
    default: return e;
    }
    count_operator(t.where);
  }
}

Expr* Parser::parse_field(Expr* operand) {
  bool arrow = take().kind == TokenKind::arrow;
  Token name = peek();
  bool is_number = name.kind == TokenKind::integer && !arrow;
  if (is_number && operand->kind == ExprKind::integer)
    panic(tag::bad_number, operand->where.to(name.where),
          "floating-point numbers are not part of the language");
  else if (is_number && name.text.find_first_not_of("0123456789") != name.text.npos)
    panic(tag::bad_number, name.where, "`" + std::string(name.text) + "` is not the number of an element");
  else if (!is_number && name.kind != TokenKind::identifier && name.kind != TokenKind::keyword)
    unexpected("the name of a member");
  std::string_view text = name.text;
  if (name.kind == TokenKind::identifier && is_scope(1))
    text = parse_cpp_name();
  else
    take();
  auto* f = make<FieldRef>(since(operand->where.begin));
  f->operand = operand;
  f->name = text;
  f->name_where = {name.where.begin, last_end_};
  // target.file.c::NAME: the file's name is part of the variable's.
  FieldRef* file = if_a<FieldRef>(operand);
  if (file && is_target(*file->operand) && text.find("::") != text.npos) {
    f->name = program_->arena.copy(std::string_view(std::string(file->name) + "." + std::string(text)));
    f->name_where = {file->name_where.begin, last_end_};
    f->operand = file->operand;
  }
  return f;
}

bool is_target(const Expr& e) {
  const Name* n = if_a<Name>(&e);
  const Call* c = if_a<Call>(&e);
  return (n && n->name == "target") || (c && c->name == "target");
}

// primary   := INTEGER | STRING | VARIABLE | POSITIONAL | '$#' | map | word | parenthesised | block
Expr* Parser::parse_primary() {
  Token t = peek();
  switch (t.kind) {
  case TokenKind::integer: {
    auto* e = make<Integer>(take().where);
    e->value = t.value;
    return e;
  }
  case TokenKind::string: {
    auto* e = make<String>(take().where);
    e->value = t.text;
    if (at(TokenKind::string)) join_strings(*e);
    return e;
  }
  case TokenKind::variable: {
    auto* e = make<VariableRef>(take().where);
    e->name = t.text;
    return e;
  }
  case TokenKind::positional: {
    auto* e = make<Positional>(take().where);
    e->number = static_cast<uint32_t>(t.value);
    return e;
  }
  case TokenKind::positional_count: return make<PositionalCount>(take().where);
  case TokenKind::map: return parse_map();
  case TokenKind::left_paren: return parse_parenthesised();
  case TokenKind::left_brace: {
    auto* e = make<BlockExpr>(t.where);
    e->block = parse_block(true);
    e->where = e->block->where;
    return e;
  }
  case TokenKind::identifier:
  case TokenKind::keyword: return parse_word();
  default: return missing_expression();
  }
}

// Literals side by side are one, as in C.
void Parser::join_strings(String& into) {
  std::string joined(into.value);
  while (at(TokenKind::string)) joined += take().text;
  into.value = program_->arena.copy(std::string_view(joined));
  into.where = since(into.where.begin);
}

Expr* Parser::missing_expression() {
  unexpected("an expression");
  return make<Integer>({last_end_, last_end_});
}

// map       := MAP [ '[' expression { ',' expression } ']' ]      several keys are one tuple
Expr* Parser::parse_map() {
  Token name = take();
  auto* m = make<MapRef>(name.where);
  m->name = name.text;
  if (!macro_ || is_inserted_) m->map = map_named(name.text, name.where); // a macro's maps are its parameters
  if (!at(TokenKind::left_bracket)) return m;
  uint32_t begin = take().where.begin;
  std::vector<Expr*> keys = parse_list(TokenKind::right_bracket);
  if (keys.empty()) {
    unexpected("a key");
    keys.push_back(missing_expression());
  }
  expect(TokenKind::right_bracket, "`]`");
  m->where = since(name.where.begin);
  m->key = keys[0];
  if (keys.size() > 1) {
    auto* tuple = make<Tuple>(since(begin));
    tuple->elements = program_->arena.copy(keys);
    m->key = tuple;
  }
  return m;
}

// list      := [ expression { ',' expression } ]
std::vector<Expr*> Parser::parse_list(TokenKind close) {
  Bracket bracket(*this);
  std::vector<Expr*> list;
  if (at(close)) return list;
  do {
    list.push_back(parse_expression());
  } while (accept(TokenKind::comma));
  return list;
}

// word      := 'true' | 'false' | sizeof | offsetof | conditional | call | NAME
Expr* Parser::parse_word() {
  Token t = peek();
  if (t.text == "true" || t.text == "false") {
    auto* e = make<Boolean>(take().where);
    e->value = t.text == "true";
    return e;
  }
  if (t.text == "sizeof") return parse_sizeof();
  if (t.text == "offsetof") return parse_offsetof();
  if (t.text == "if") return parse_conditional(true);
  if ((t.kind == TokenKind::keyword && t.text != "config") || t.text == "_") return missing_expression();
  if (is_macro_parameter(t.text)) return parse_name();
  bool is_called = peek(1).kind == TokenKind::left_paren;
  if (is_called && t.text == "typeinfo") return parse_typeinfo();
  if (is_called && t.text == "typeof") return parse_type_argument();
  // `name!(…)` is an old way to call a macro.
  if (is_called || (peek(1).kind == TokenKind::exclamation && peek(2).kind == TokenKind::left_paren)) return parse_call();
  bool is_type = t.text == "struct" || t.text == "union" || t.text == "enum";
  if (is_type && peek(1).kind == TokenKind::identifier) {
    TypeName* type = parse_type();
    panic(tag::syntax, type->where, "a type can't be used as a value", "a cast is written `(struct x *)e`");
    return missing_expression();
  }
  return parse_name();
}

Expr* Parser::parse_name() {
  Token t = peek();
  auto* e = make<Name>(t.where);
  e->name = is_scope(1) ? parse_cpp_name() : take().text;
  e->where = since(t.where.begin);
  e->builtin = plain_builtin(e->name);
  return e;
}

// The builtin that `__builtin_NAME` is whatever macros there are; the name becomes its own.
const spec::Builtin* Parser::plain_builtin(std::string_view& name) {
  const std::string_view own = spec::without_builtin_prefix(name);
  const spec::Builtin* found = own != name ? spec::find_builtin(own) : nullptr;
  if (found || argument_number(own)) name = own;
  return found;
}

// USDT probes have the most.
std::optional<int> argument_number(std::string_view name) {
  constexpr uint64_t largest = 255;
  if (name.starts_with('s')) name.remove_prefix(1);
  if (!name.starts_with("arg") || name.size() < 4 || name.size() > 6) return std::nullopt;
  name.remove_prefix(3);
  const bool is_number = std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || (name.size() > 1 && name[0] == '0')) return std::nullopt;
  const uint64_t n = base::parse_integer(name).value_or(largest + 1);
  return n <= largest ? std::optional(static_cast<int>(n)) : std::nullopt;
}

// call      := NAME [ '!' ] '(' list ')'
Expr* Parser::parse_call() {
  Token name = take();
  auto* c = make<Call>(name.where);
  c->name = name.text;
  c->name_where = name.where;
  c->builtin = plain_builtin(c->name);
  accept(TokenKind::exclamation);
  take();
  if (c->name == "container_of") {
    c->arguments = program_->arena.copy(parse_container_of());
  } else if (c->name == "percentile") {
    c->arguments = program_->arena.copy(parse_percentile());
  } else {
    c->arguments = program_->arena.copy(parse_list(TokenKind::right_paren));
  }
  expect(TokenKind::right_paren, "`,` or `)`");
  c->where = since(name.where.begin);
  return name.text == "try" && c->arguments.size() == 2 ? make_try(*c) : c;
}

// percentile := expression ',' ( INTEGER '.' INTEGER | expression )      a fraction is kept as its text
std::vector<Expr*> Parser::parse_percentile() {
  std::vector<Expr*> arguments;
  if (at(TokenKind::right_paren)) return arguments;
  arguments.push_back(parse_expression());
  while (accept(TokenKind::comma)) {
    if (!at(TokenKind::integer) || peek(1).kind != TokenKind::dot || peek(2).kind != TokenKind::integer) {
      arguments.push_back(parse_expression());
      continue;
    }
    const Token whole = take();
    take();
    const Token decimals = take();
    auto* text = make<String>(whole.where.to(decimals.where));
    text->value = program_->arena.copy(std::string(whole.text) + "." + std::string(decimals.text));
    arguments.push_back(text);
  }
  return arguments;
}

// container-of := expression ',' type ',' path      the latter two are one argument: an offset
std::vector<Expr*> Parser::parse_container_of() {
  Bracket bracket(*this);
  std::vector<Expr*> arguments;
  if (at(TokenKind::right_paren)) return arguments;
  arguments.push_back(parse_expression());
  if (!accept(TokenKind::comma)) return arguments;
  auto* o = make<OffsetOf>(peek().where);
  o->target = parse_type();
  expect(TokenKind::comma, "`,`", "container_of(pointer, struct T, member)");
  parse_member_path(*o);
  o->where = since(o->where.begin);
  arguments.push_back(o);
  return arguments;
}

// parenthesised := '(' expression ')' | tuple
Expr* Parser::parse_parenthesised() {
  Bracket bracket(*this);
  uint32_t begin = take().where.begin;
  bool is_record = (at(TokenKind::identifier) || at(TokenKind::keyword)) && peek(1).kind == TokenKind::assign;
  if (is_record || at(TokenKind::right_paren)) return parse_tuple(begin);
  Expr* first = parse_expression();
  if (at(TokenKind::comma)) {
    std::vector<Expr*> elements{first};
    while (accept(TokenKind::comma) && !at(TokenKind::right_paren)) elements.push_back(parse_expression());
    expect(TokenKind::right_paren, "`,` or `)`");
    auto* t = make<Tuple>(since(begin));
    t->elements = program_->arena.copy(elements);
    return t;
  }
  expect(TokenKind::right_paren, "`)`");
  first->where = since(begin);
  return first;
}

// tuple     := '(' ')' | '(' expression ',' [ list [','] ] ')' | '(' NAME '=' expression { ',' NAME '='
// expression } ')'
Expr* Parser::parse_tuple(uint32_t begin) {
  std::vector<Expr*> elements;
  std::vector<std::string_view> names;
  while (!at(TokenKind::end) && !at(TokenKind::right_paren)) {
    if (!at(TokenKind::keyword) && !at(TokenKind::identifier)) unexpected("the name of a member");
    names.push_back(take().text);
    expect(TokenKind::assign, "`=`", "in a record every member has a name");
    elements.push_back(parse_expression());
    if (!accept(TokenKind::comma)) break;
  }
  expect(TokenKind::right_paren, "`,` or `)`");
  auto* t = make<Tuple>(since(begin));
  t->elements = program_->arena.copy(elements);
  t->names = program_->arena.copy(names);
  return t;
}

// sizeof    := 'sizeof' '(' ( type | expression ) ')'
Expr* Parser::parse_sizeof() {
  Bracket bracket(*this);
  uint32_t begin = take().where.begin;
  auto* s = make<SizeOf>({begin, begin});
  expect(TokenKind::left_paren, "`(`");
  if (at_type(0, true))
    s->target = parse_type();
  else
    s->operand = parse_expression();
  expect(TokenKind::right_paren, "`)`");
  s->where = since(begin);
  return s;
}

// typeinfo  := 'typeinfo' '(' ( type | expression ) ')'       a record of what is known of the type
Expr* Parser::parse_typeinfo() {
  Bracket bracket(*this);
  uint32_t begin = take().where.begin;
  expect(TokenKind::left_paren, "`(`");
  TypeName* target = at_type(0, true) ? parse_type() : nullptr;
  Expr* operand = target ? nullptr : parse_expression();
  expect(TokenKind::right_paren, "`)`");
  std::vector<Expr*> elements{make<Integer>(since(begin))};
  for (bool is_kind : {true, false}) {
    auto* t = make<TypeText>(since(begin));
    t->target = target, t->operand = operand, t->is_kind = is_kind;
    elements.push_back(is_kind ? copy(*program_, t) : t);
  }
  auto* record = make<Tuple>(since(begin));
  record->elements = program_->arena.copy(elements);
  record->names = program_->arena.copy(std::vector<std::string_view>{"btf_id", "base_ty", "full_ty"});
  return record;
}

// A type as an argument of a macro: 'typeof' '(' ( type | expression ) ')'
Expr* Parser::parse_type_argument() {
  auto* e = make<TypeExpr>(peek().where);
  e->target = parse_type();
  e->where = e->target->where;
  return e;
}

// path      := NAME { '.' NAME | '[' expression ']' }
void Parser::parse_member_path(OffsetOf& into) {
  std::vector<std::string_view> path;
  std::vector<Expr*> indexes;
  do {
    Token t = peek();
    if (t.kind != TokenKind::identifier && t.kind != TokenKind::keyword) unexpected("the name of a member");
    path.push_back(take().text);
    while (accept(TokenKind::left_bracket)) {
      path.emplace_back();
      indexes.push_back(parse_expression());
      expect(TokenKind::right_bracket, "`]`");
    }
  } while (accept(TokenKind::dot));
  into.path = program_->arena.copy(path);
  into.indexes = program_->arena.copy(indexes);
}

// offsetof  := 'offsetof' '(' ( type | expression ) ',' path ')'
Expr* Parser::parse_offsetof() {
  Bracket bracket(*this);
  uint32_t begin = take().where.begin;
  auto* o = make<OffsetOf>({begin, begin});
  expect(TokenKind::left_paren, "`(`");
  if (at_type(0, true))
    o->target = parse_type();
  else
    o->operand = parse_expression();
  expect(TokenKind::comma, "`,`");
  parse_member_path(*o);
  expect(TokenKind::right_paren, "`)`");
  o->where = since(begin);
  return o;
}

} // namespace lang
