// Statements and blocks.
//
// A block may be wanted for its effect or for its value. In the second case a last expression without `;` is
// its value; an `if` or a block that ends such a block may be either, and is read as a value and turned back
// into a statement when something follows it.
#include "lang/parser.h"

#include "spec/diagnostics.h"
#include "spec/durations.h"

#include <algorithm>

namespace lang {

namespace tag = spec::tag;

namespace {

struct AssignOp {
  TokenKind token;
  BinaryOp op;
};
constexpr AssignOp assign_ops[] = {
    {TokenKind::plus_assign, BinaryOp::add},       {TokenKind::minus_assign, BinaryOp::sub},
    {TokenKind::star_assign, BinaryOp::mul},       {TokenKind::slash_assign, BinaryOp::div},
    {TokenKind::percent_assign, BinaryOp::mod},    {TokenKind::ampersand_assign, BinaryOp::bit_and},
    {TokenKind::pipe_assign, BinaryOp::bit_or},    {TokenKind::caret_assign, BinaryOp::bit_xor},
    {TokenKind::shift_left_assign, BinaryOp::shl}, {TokenKind::shift_right_assign, BinaryOp::shr},
};

bool ends_in_block(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::conditional:
  case StmtKind::loop_while:
  case StmtKind::loop_range:
  case StmtKind::loop_map:
  case StmtKind::unroll:
  case StmtKind::speculate:
  case StmtKind::limit:
  case StmtKind::block: return true;
  default: return false;
  }
}

} // namespace

// block     := '{' { statement } [ expression ] '}'
Block* Parser::parse_block(bool wants_value) {
  Level level(*this);
  Bracket bracket(*this);
  uint32_t begin = peek().where.begin;
  Block* block = program_->arena.make<Block>();
  expect(TokenKind::left_brace, "`{`");
  std::vector<Stmt*> statements;
  while (!at(TokenKind::end) && !at(TokenKind::right_brace)) {
    if (accept(TokenKind::semicolon)) continue;
    if (at_word("import") && peek(1).kind == TokenKind::string) {
      parse_import(peek().where.begin);
      continue;
    }
    bool may_be_value = wants_value && (at_word("if") || at(TokenKind::left_brace));
    if (may_be_value) {
      Expr* e = parse_primary();
      if (at(TokenKind::right_brace))
        block->value = e;
      else
        statements.push_back(as_statement(e));
    } else {
      Stmt* s = parse_statement();
      bool is_value = wants_value && s->kind == StmtKind::expression && at(TokenKind::right_brace);
      if (is_value)
        block->value = as<ExprStmt>(*s).value;
      else
        statements.push_back(s);
      if (!is_value) end_statement(*s);
    }
    if (panic_ && !stopped_) recover_statement();
  }
  if (!at(TokenKind::right_brace)) {
    std::string line = std::to_string(source_.position(begin).line);
    unexpected("`}`", "the block that begins in line " + line + " is not closed");
  }
  accept(TokenKind::right_brace);
  block->statements = program_->arena.copy(statements);
  block->where = since(begin);
  return block;
}

// Statements are separated by `;`; after a block, and before `}`, it may be left out.
void Parser::end_statement(const Stmt& s) {
  if (ends_in_block(s) || accept(TokenKind::semicolon)) return;
  if (at(TokenKind::right_brace) || at(TokenKind::end)) return; // the end is told by the block
  uint32_t end = last_end_;
  bool next_line = source_.text({end, peek().where.begin}).find('\n') != std::string_view::npos;
  if (!next_line) return unexpected("`;` or `}`");
  // Forgotten at the end of a line: the place is there, and the next line is whole.
  error(tag::syntax, {end - 1, end}, "syntax error, expected `;` between statements");
}

// statement := if | while | for | unroll | speculate | limit | leave | return | let | block | simple
Stmt* Parser::parse_statement() {
  if (expression_depth_ == 0) operators_ = 0;
  if (at_speculate()) return parse_speculate();
  if (at_limit()) return parse_limit();
  const Token& t = peek();
  if (t.kind == TokenKind::left_brace) {
    auto* s = make<BlockStmt>(t.where);
    s->block = parse_block(false);
    s->where = s->block->where;
    return s;
  }
  if (t.kind != TokenKind::keyword) return parse_simple();
  if (t.text == "if") return parse_if();
  if (t.text == "while") return parse_while();
  if (t.text == "for") return parse_for();
  if (t.text == "unroll") return parse_unroll();
  if (t.text == "break" || t.text == "continue") return parse_leave();
  if (t.text == "return") return parse_return();
  if (t.text == "let") return parse_let();
  return parse_simple();
}

// if        := 'if' expression block [ 'else' ( if | block ) ]
Stmt* Parser::parse_if() { return as_statement(parse_conditional(false)); }

Conditional* Parser::parse_conditional(bool wants_value) {
  uint32_t begin = take().where.begin;
  auto* c = make<Conditional>({begin, begin});
  c->condition = parse_expression();
  c->then = parse_block(wants_value);
  if (accept_word("else")) {
    if (at_word("if")) {
      Level level(*this);
      c->otherwise = program_->arena.make<Block>();
      c->otherwise->value = parse_conditional(wants_value);
      c->otherwise->where = c->otherwise->value->where;
    } else {
      c->otherwise = parse_block(wants_value);
    }
  }
  c->where = since(begin);
  return c;
}

// An `if` or block that was read as a value but stands where nobody takes it.
Stmt* Parser::as_statement(Expr* e) {
  if (Conditional* c = if_a<Conditional>(e)) {
    auto* s = make<If>(c->where);
    s->condition = c->condition;
    s->then = as_statements(c->then);
    s->otherwise = c->otherwise ? as_statements(c->otherwise) : nullptr;
    return s;
  }
  if (BlockExpr* b = if_a<BlockExpr>(e)) {
    auto* s = make<BlockStmt>(b->where);
    s->block = as_statements(b->block);
    return s;
  }
  auto* s = make<ExprStmt>(e->where);
  s->value = e;
  return s;
}

Block* Parser::as_statements(Block* b) {
  if (!b->value) return b;
  std::vector<Stmt*> statements(b->statements.begin(), b->statements.end());
  statements.push_back(as_statement(b->value));
  b->statements = program_->arena.copy(statements);
  b->value = nullptr;
  return b;
}

// while     := 'while' expression block
Stmt* Parser::parse_while() {
  uint32_t begin = take().where.begin;
  auto* s = make<While>({begin, begin});
  s->condition = parse_expression();
  s->body = parse_block(false);
  s->where = since(begin);
  return s;
}

// for       := 'for' ( for-head | '(' for-head ')' ) block
// for-head  := VARIABLE ':' ( MAP | 'sorted' '(' MAP [ ',' expression ] ')' | expression '..' expression | list '(' expression ',' path ')' )
Stmt* Parser::parse_for() {
  uint32_t begin = take().where.begin;
  bool parentheses = accept(TokenKind::left_paren);
  if (parentheses && (at(TokenKind::semicolon) || peek(1).kind != TokenKind::colon)) return parse_for_c(begin);
  Token name =
      expect(TokenKind::variable, "a loop variable", "write `for ($i : 0..10)` or `for ($kv : @map)`");
  expect(TokenKind::colon, "`:`");
  Expr* first = parse_expression();
  Expr* last = accept(TokenKind::dot_dot) ? parse_expression() : nullptr;
  MapRef* map = if_a<MapRef>(first);
  Call* list = last ? nullptr : if_a<Call>(first);
  Call* sorted = list && list->name == "sorted" ? list : nullptr;
  if (sorted) map = sorted->arguments.empty() ? nullptr : if_a<MapRef>(sorted->arguments[0]);
  if (sorted && (!map || map->key || sorted->arguments.size() > 2))
    panic(tag::syntax, sorted->where, "`sorted` takes a map, and optionally the number of entries", "write `for ($kv : sorted(@map, 10))`");
  if (list && list->name != "list") list = nullptr;
  if (!last && !list && (!map || map->key))
    panic(tag::syntax, first->where, "a loop goes over a map, over a range of numbers or over a list",
          "write `for ($i : 0..10)`, `for ($kv : @map)` or `for ($n : list(head, next))`");
  if (parentheses) expect(TokenKind::right_paren, "`)`");
  Block* body = parse_block(false);
  if (list) return make_list_loop(begin, name, *list, body);
  if (last || !map) {
    auto* s = make<ForRange>(since(begin));
    s->name = name.text, s->name_where = name.where;
    s->first = first, s->last = last ? last : first;
    s->body = body;
    return s;
  }
  auto* s = make<ForMap>(since(begin));
  s->name = name.text, s->name_where = name.where;
  s->map = map, s->body = body;
  s->is_sorted = sorted != nullptr;
  if (sorted && sorted->arguments.size() == 2) s->most = sorted->arguments[1];
  return s;
}

// for       := 'for' '(' [ simples ] ';' [ expression ] ';' [ simples ] ')' block
// simples   := ( let | simple ) { ',' ( let | simple ) }
//
// A block of the first statements and a `while` that knows the last ones.
Stmt* Parser::parse_for_c(uint32_t begin) {
  auto list = [&](TokenKind close) {
    std::vector<Stmt*> all;
    if (at(close)) return all;
    do {
      all.push_back(at_word("let") ? parse_let() : parse_simple());
    } while (accept(TokenKind::comma));
    return all;
  };
  Bracket bracket(*this);
  std::vector<Stmt*> statements = list(TokenKind::semicolon);
  expect(TokenKind::semicolon, "`;`", "write `for (init; condition; step)`, `for ($i : 0..10)` or `for ($kv : @map)`");
  auto* loop = make<While>({begin, begin});
  if (!at(TokenKind::semicolon)) {
    loop->condition = parse_expression();
  } else {
    auto* always = make<Boolean>(peek().where);
    always->value = true;
    loop->condition = always;
  }
  expect(TokenKind::semicolon, "`;`");
  uint32_t step_begin = peek().where.begin;
  if (std::vector<Stmt*> steps = list(TokenKind::right_paren); !steps.empty()) {
    loop->step = program_->arena.make<Block>();
    loop->step->statements = program_->arena.copy(steps);
    loop->step->where = since(step_begin);
  }
  expect(TokenKind::right_paren, "`)`");
  loop->body = parse_block(false);
  loop->where = since(begin);
  statements.push_back(loop);
  auto* s = make<BlockStmt>(loop->where);
  s->block = program_->arena.make<Block>();
  s->block->statements = program_->arena.copy(statements);
  s->block->where = s->where;
  return s;
}

// unroll    := 'unroll' expression block
Stmt* Parser::parse_unroll() {
  uint32_t begin = take().where.begin;
  auto* s = make<Unroll>({begin, begin});
  s->count = parse_expression();
  s->body = parse_block(false);
  s->where = since(begin);
  return s;
}

// `speculate` and `limit` are names elsewhere.
bool Parser::at_speculate() {
  return at_word("speculate") && (peek(1).kind == TokenKind::left_brace || peek(1).kind == TokenKind::left_paren);
}
bool Parser::at_limit() {
  return at_word("limit") && peek(1).kind == TokenKind::left_paren && peek(3).kind == TokenKind::slash &&
         peek(5).kind == TokenKind::right_paren && peek(6).kind == TokenKind::left_brace;
}

// speculate := 'speculate' [ '(' expression ')' ] block
Stmt* Parser::parse_speculate() {
  uint32_t begin = take().where.begin;
  auto* s = make<Speculate>({begin, begin});
  if (accept(TokenKind::left_paren)) {
    s->key = parse_expression();
    expect(TokenKind::right_paren, "`)`");
  }
  s->body = parse_block(false);
  s->where = since(begin);
  return s;
}

// limit     := 'limit' '(' primary '/' unit ')' block
Stmt* Parser::parse_limit() {
  uint32_t begin = take().where.begin;
  auto* s = make<Limit>({begin, begin});
  expect(TokenKind::left_paren, "`(`");
  s->count = parse_primary();
  expect(TokenKind::slash, "`/`");
  const Token unit = take();
  s->unit = spec::find_duration_unit(unit.text);
  if (!s->unit)
    panic(tag::bad_argument, unit.where, "`limit` counts per unit of time, and " + shown(unit) + " is none",
          "write `limit(10/s) { … }`; units are ns, us, ms, s, m, h and d");
  expect(TokenKind::right_paren, "`)`");
  s->id = program_->limits++;
  s->body = parse_block(false);
  s->where = since(begin);
  return s;
}

// leave     := 'break' | 'continue'
Stmt* Parser::parse_leave() {
  Token t = take();
  auto* s = make<Leave>(t.where);
  s->is_continue = t.text == "continue";
  return s;
}

// return    := 'return' [ expression ]
Stmt* Parser::parse_return() {
  uint32_t begin = take().where.begin;
  auto* s = make<Return>({begin, begin});
  if (!at(TokenKind::semicolon) && !at(TokenKind::right_brace)) s->value = parse_expression();
  s->where = since(begin);
  return s;
}

// let       := 'let' VARIABLE [ ':' type ] [ '=' expression ]
Stmt* Parser::parse_let() {
  uint32_t begin = take().where.begin;
  auto* s = make<Let>({begin, begin});
  std::string hint =
      at(TokenKind::map) ? "maps are declared outside of probes; within, they need no declaration" : "";
  Token name = expect(TokenKind::variable, "a variable", std::move(hint));
  s->name = name.text;
  s->name_where = name.where;
  if (accept(TokenKind::colon)) s->type = parse_type();
  if (accept(TokenKind::assign)) s->value = parse_expression();
  s->where = since(begin);
  return s;
}

// `ctx NAME = …`; elsewhere `ctx` is a value by itself.
bool Parser::at_context_value() {
  return at_word("ctx") && peek(1).kind == TokenKind::identifier && peek(2).kind == TokenKind::assign;
}

// A value of the request; it is read as `ctx.NAME`.
Expr* Parser::parse_context_value() {
  auto* whole = make<Name>(peek().where);
  whole->name = take().text;
  const Token name = take();
  auto* value = make<FieldRef>(whole->where.to(name.where));
  value->operand = whole;
  value->name = name.text;
  value->name_where = name.where;
  auto& names = program_->context_names;
  if (std::ranges::find(names, name.text) == names.end()) names.push_back(name.text);
  return value;
}

// simple    := '_' '=' expression
//            | target [ ( '=' | '+=' | '-=' | … ) expression ]
// target    := 'ctx' NAME | expression
Stmt* Parser::parse_simple() {
  uint32_t begin = peek().where.begin;
  if (at_word("_") && peek(1).kind == TokenKind::assign) {
    take(), take();
    auto* s = make<Discard>({begin, begin});
    s->value = parse_expression();
    s->where = since(begin);
    return s;
  }
  Expr* target = at_context_value() ? parse_context_value() : parse_expression();
  std::optional<BinaryOp> compound;
  for (const AssignOp& a : assign_ops)
    if (at(a.token)) compound = a.op;
  if (!compound && !at(TokenKind::assign)) {
    auto* s = make<ExprStmt>(target->where);
    s->value = target;
    return s;
  }
  take();
  auto* s = make<Assign>({begin, begin});
  s->target = target;
  s->compound = compound;
  s->value = parse_expression();
  s->where = since(begin);
  return s;
}

} // namespace lang
