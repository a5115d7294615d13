// Programs: what stands outside the action blocks.
//
//   program    := ['#!' line] { item }
//   item       := definition | import | config | map-decl | macro | function | probe
//
// Directives of C may stand between any of them and within; the preprocessor carries them out.
#include "lang/parser.h"

#include "base/text.h"
#include "spec/diagnostics.h"

#include <algorithm>

namespace lang {

namespace tag = spec::tag;

namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, std::find_if_not(text.begin(), text.end(), is_word) - text.begin());
}

// Whether every branch of it ends in an expression.
bool gives_value(const Expr& e) {
  if (const BlockExpr* b = if_a<BlockExpr>(&e)) return b->block->value && gives_value(*b->block->value);
  const Conditional* c = if_a<Conditional>(&e);
  if (!c) return true;
  return c->then->value && gives_value(*c->then->value) && c->otherwise && c->otherwise->value &&
         gives_value(*c->otherwise->value);
}

} // namespace

std::unique_ptr<Program> Parser::run() {
  if (!is_text()) return std::move(program_);
  size_t before = mistakes_.told();
  imported_.insert(input_.files().script());
  include_given_files();
  parse_items();
  if (!stopped_) input_.tell_unknown_parameters();
  if (program_->probes.empty() && mistakes_.told() == before)
    mistakes_.tell(tag::empty_program, {0, 0}, "the script has no probe",
                   "for example: begin { print(\"hello\") }");
  return std::move(program_);
}

// All items of the file that is read.
void Parser::parse_items() {
  while (!stopped_) {
    panic_ = false;
    if (input_.is_expanding() || (first_ < ahead_.size() && ahead_[first_].from_macro)) {
      parse_expanded_item();
    } else {
      to_raw();
      input_.skip_blanks();
      if (stopped_ || input_.rest().empty()) break;
      parse_item();
    }
    if (!panic_ || stopped_) continue;
    recover_statement();
    if (first_ == ahead_.size() && input_.rest().starts_with('}')) take();
  }
}

// Binary files are told as such, once.
bool Parser::is_text() {
  if (source_.text().size() > max_bytes) {
    mistakes_.tell(tag::too_large, {0, 0}, "the script is larger than 16 MiB");
    return false;
  }
  size_t zero = source_.text().find('\0');
  if (zero == std::string_view::npos) return true;
  auto at = static_cast<uint32_t>(zero);
  mistakes_.tell(tag::not_text, {at, at + 1}, "this is not a script: it holds a zero byte",
                 "scripts are text files in UTF-8");
  return false;
}

// The input stands at the first character of an item.
void Parser::parse_item() {
  std::string_view rest = input_.rest();
  uint32_t begin = input_.offset();
  std::string_view word = first_word(rest);
  if (!word.empty() && input_.is_macro(word) && parse_macro_item(word)) return;
  if (word == "config") return parse_config();
  if (word == "let") return parse_map_declaration();
  if (word == "fn") return parse_function();
  if (word == "macro") return parse_macro();
  if (word == "import") return parse_import(begin);
  for (std::string_view w : {"struct", "union", "enum", "typedef"})
    if (word == w) return parse_c_item();
  if (rest[0] == '}' || rest[0] == ';') {
    Token t = take();
    // A `;` after a block is a habit from C that harms nobody.
    if (t.kind == TokenKind::right_brace)
      error(tag::syntax, t.where, "syntax error, unexpected `}`, expected a probe",
            "this `}` closes nothing");
    return;
  }
  parse_probe();
}

// definition := a declaration of C, in its own spelling
void Parser::parse_c_item() {
  input_.set_dialect(Dialect::c);
  parse_c_declaration();
  input_.set_dialect(Dialect::script);
}

// config := 'config' '=' '{' { NAME '=' (NAME | INTEGER | STRING | 'true' | 'false') ';' } '}'
void Parser::parse_config() {
  Token word = take();
  if (&input_.file() != input_.files().script())
    error(tag::bad_config, word.where, is_users_ ? "a script that runs beside acu's own can have no config block: acu's settings apply"
                                                      : "only the script itself may have a config block, not a file that it imports");
  else if (std::exchange(seen_config_, true))
    error(tag::bad_config, word.where, "a script has one config block");
  else if (!program_->probes.empty())
    error(tag::bad_config, word.where, "the config block stands before the probes");
  expect(TokenKind::assign, "`=`");
  expect(TokenKind::left_brace, "`{`");
  while (!at(TokenKind::end) && !at(TokenKind::right_brace)) {
    Token key = expect(TokenKind::identifier, "a configuration key");
    expect(TokenKind::assign, "`=`");
    bool negative = accept(TokenKind::minus); // no key takes such a number; its own sentence says so best
    Token value = peek();
    std::string text((negative ? "-" : "") + std::string(value.text));
    if (value.kind == TokenKind::integer && !negative) text = std::to_string(value.value);
    bool is_value = value.kind == TokenKind::integer || value.kind == TokenKind::string ||
                    value.kind == TokenKind::identifier || at_word("true") || at_word("false");
    if (!is_value) unexpected("a word, a number or a string");
    take();
    if (!panic_) {
      std::string wrong = program_->config.set(key.text, text);
      if (!wrong.empty()) error(tag::bad_config, key.where.to(value.where), std::move(wrong));
    }
    if (!at(TokenKind::right_brace)) expect(TokenKind::semicolon, "`;` or `}`");
    while (accept(TokenKind::semicolon)) {
    }
    if (panic_ && !stopped_) recover_statement();
  }
  expect(TokenKind::right_brace, "`}`");
}

// map-decl := 'let' MAP '=' ('hash' | 'lruhash' | 'percpuhash' | 'percpulruhash') '(' (INTEGER | POSITIONAL) ')' ';'
void Parser::parse_map_declaration() {
  take();
  Token name = expect(TokenKind::map, "a map", "outside of probes, `let` declares maps: let @m = hash(100);");
  expect(TokenKind::assign, "`=`");
  Token kind = expect(TokenKind::identifier, "`hash`, `lruhash`, `percpuhash` or `percpulruhash`");
  expect(TokenKind::left_paren, "`(`");
  Token size = at(TokenKind::positional) ? size_parameter() : expect(TokenKind::integer, "the number of keys");
  expect(TokenKind::right_paren, "`)`");
  if (panic_ || stopped_) return;
  if (!accept(TokenKind::semicolon))
    error(tag::syntax, {last_end_ - 1, last_end_},
          "syntax error, expected `;` after the declaration of a map");
  auto* storage = std::find(std::begin(storage_names) + 1, std::end(storage_names), kind.text);
  if (storage == std::end(storage_names))
    return error(tag::unknown_type, kind.where, "unknown kind of map `" + std::string(kind.text) + "`",
                 "known are hash, lruhash, percpuhash and percpulruhash");
  if (size.value == 0 || size.value > UINT32_MAX)
    return error(tag::too_large, size.where, "a map holds from 1 to 4294967295 keys");
  Map* map = map_named(name.text, name.where);
  if (map->declared)
    return error(tag::redeclared, name.where, "map `@" + std::string(name.text) + "` is already declared");
  map->declared = true;
  map->storage = static_cast<Storage>(storage - std::begin(storage_names));
  map->max_entries = size.value;
}

// At `$1`: the number that it is.
Token Parser::size_parameter() {
  Token t = take();
  bool given = t.value <= options_.positional.size();
  auto number = given ? integer_value(options_.positional[t.value - 1]) : std::nullopt;
  if (!number)
    panic(tag::bad_parameter, t.where, "parameter $" + std::to_string(t.value) + (given ? " is no number" : " is not given"),
          "this map needs it for the number of its keys: acu run FILE VALUE …");
  t.value = number.value_or(0);
  return t;
}

// function  := 'fn' NAME '(' [ parameter { ',' parameter } ] ')' [ ':' type ] block
void Parser::parse_function() {
  Token word = take();
  auto* f = program_->arena.make<Function>();
  Token name = expect(TokenKind::identifier, "the name of a function");
  f->name = name.text;
  f->name_where = name.where;
  std::vector<Parameter> parameters;
  parse_parameters([&] { parameters.push_back(parse_parameter()); });
  f->parameters = program_->arena.copy(parameters);
  if (accept(TokenKind::colon)) f->result = parse_type();
  if (panic_ && !stopped_) skip_to_body();
  f->body = parse_block(f->result != nullptr);
  if (f->body->value) return_value(*f->body);
  f->where = since(word.where.begin);
  f->id = static_cast<uint32_t>(program_->functions.size());
  program_->functions.push_back(f);
}

// A function gives back what its last expression gives.
void Parser::return_value(Block& body) {
  Expr* value = std::exchange(body.value, nullptr);
  Stmt* last = gives_value(*value) ? nullptr : as_statement(value);
  if (!last) {
    auto* s = make<Return>(value->where);
    s->value = value;
    last = s;
  }
  std::vector<Stmt*> statements(body.statements.begin(), body.statements.end());
  statements.push_back(last);
  body.statements = program_->arena.copy(statements);
}

// parameter := VARIABLE ':' type
Parameter Parser::parse_parameter() {
  Parameter p;
  Token name = expect(TokenKind::variable, "a parameter such as `$a : uint64`");
  p.name = name.text;
  p.where = name.where;
  expect(TokenKind::colon, "`:` and the type of the parameter");
  p.type = parse_type();
  return p;
}

// The map of that name; makes it at its first use. One of acu's own and a user's are never the same.
Map* Parser::map_named(std::string_view name, Range where) {
  if (!is_users_ && !options_.parts.own_maps.empty()) name = program_->arena.copy(std::string_view(options_.parts.own_maps + std::string(name)));
  Map*& map = maps_[name];
  if (!map) {
    map = program_->arena.make<Map>();
    map->name = name;
    map->where = where;
    map->id = static_cast<uint32_t>(program_->maps.size());
    program_->maps.push_back(map);
  }
  return map;
}

} // namespace lang
