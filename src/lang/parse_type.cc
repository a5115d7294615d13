// Written types, and telling a cast from an expression in parentheses.
//
// C needs the list of all typedefs for that. Here the words of the language's own types decide at once; of
// other names, `(name *)` is a cast, and `(name)` is one where an operand follows and no builtin has that
// name.
#include "lang/parser.h"

#include "base/text.h"
#include "spec/builtins.h"
#include "spec/diagnostics.h"

namespace lang {

namespace tag = spec::tag;
using base::is_one_of;

namespace {

constexpr uint32_t max_pointers = 16;

constexpr std::string_view integer_words[] = {"unsigned", "signed", "char", "short", "int", "long"};

constexpr std::string_view type_words[] = {
    "bool",   "void",      "string", "count_t", "sum_t",    "min_t",    "max_t", "avg_t", "stats_t", "hist_t",
    "lhist_t", "tseries_t", "ksym_t", "usym_t", "kstack_t", "ustack_t", "struct", "union", "enum",   "typeof",
    "const",  "volatile"};

bool is_builtin(std::string_view word) {
  if (spec::find_builtin(word)) return true;
  if (word.starts_with('s')) word.remove_prefix(1);
  return word.size() == 4 && word.starts_with("arg") && word[3] >= '0' && word[3] <= '9';
}

bool begins_operand(const Token& t) {
  switch (t.kind) {
  case TokenKind::integer:
  case TokenKind::string:
  case TokenKind::identifier:
  case TokenKind::variable:
  case TokenKind::map:
  case TokenKind::positional:
  case TokenKind::positional_count:
  case TokenKind::left_paren:
  case TokenKind::exclamation:
  case TokenKind::tilde: return true;
  case TokenKind::keyword:
    return t.text == "true" || t.text == "false" || t.text == "sizeof" || t.text == "offsetof";
  default: return false;
  }
}

// What may also stand between two operands: behind the name of a type it begins one.
bool begins_operand_or_continues(const Token& t) {
  return t.kind == TokenKind::minus || t.kind == TokenKind::star || t.kind == TokenKind::ampersand;
}

// C's integer words in any order, as one of the names that the checker knows.
struct IntegerWords {
  int longs = 0;
  bool is_unsigned = false, is_signed = false, is_char = false, is_short = false;

  void add(std::string_view word) {
    longs += word == "long";
    is_unsigned |= word == "unsigned";
    is_signed |= word == "signed";
    is_char |= word == "char";
    is_short |= word == "short";
  }
  std::string_view name() const {
    if (is_char) return is_unsigned ? "unsigned char" : is_signed ? "signed char" : "char";
    if (is_short) return is_unsigned ? "unsigned short" : "short";
    if (longs > 1) return is_unsigned ? "unsigned long long" : "long long";
    if (longs) return is_unsigned ? "unsigned long" : "long";
    return is_unsigned ? "unsigned int" : "int";
  }
};

} // namespace

// Whether a type begins `ahead` tokens from here. With `also_unknown`, any other name that stands alone
// before `)` or
// `,` counts as one.
bool Parser::at_type(size_t ahead, bool also_unknown) {
  Token t = peek(ahead);
  if (t.kind != TokenKind::identifier) return false;
  if (is_one_of(integer_words, t.text) || is_one_of(type_words, t.text) || type::is_number_name(t.text)) return true;
  if (program_->c_types->is_typedef(t.text)) return true;
  if (is_builtin(t.text) || is_macro_parameter(t.text)) return false;
  size_t after = ahead + 1;
  while (peek(after).kind == TokenKind::star) after++;
  bool pointer = after > ahead + 1;
  bool closes =
      peek(after).kind == TokenKind::right_paren || (!pointer && peek(after).kind == TokenKind::comma);
  return closes && (pointer || also_unknown);
}

// At `(`: whether it begins a cast.
bool Parser::at_cast() {
  if (at_type(1, false)) return true;
  Token name = peek(1);
  return name.kind == TokenKind::identifier && !is_builtin(name.text) && !is_macro_parameter(name.text) &&
         peek(2).kind == TokenKind::right_paren &&
         (begins_operand(peek(3)) || (name.text.ends_with("_t") && begins_operand_or_continues(peek(3))));
}

// type      := { 'const' | 'volatile' } base { '*' | 'const' } [ '[' [ expression ] ']' ]
TypeName* Parser::parse_type() {
  Level level(*this);
  uint32_t begin = peek().where.begin;
  auto* t = program_->arena.make<TypeName>();
  auto skip_qualifiers = [&] {
    while (accept_word("const") || accept_word("volatile")) {
    }
  };
  skip_qualifiers();
  parse_type_words(*t);
  skip_qualifiers();
  while (accept(TokenKind::star)) {
    if (++t->pointers > max_pointers)
      panic(tag::too_deep, since(begin), "a pointer to a pointer to a …, too often");
    skip_qualifiers();
  }
  if (accept(TokenKind::left_bracket)) {
    t->is_array = true;
    if (!at(TokenKind::right_bracket)) t->count = parse_expression();
    expect(TokenKind::right_bracket, "`]`");
  }
  t->where = since(begin);
  return t;
}

// base      := ( 'struct' | 'union' | 'enum' ) NAME | C integer words | NAME | 'typeof' '(' ( type |
// expression ) ')'
void Parser::parse_type_words(TypeName& into) {
  Token t = peek();
  if (t.kind == TokenKind::identifier && is_one_of(integer_words, t.text)) {
    IntegerWords words;
    while (at(TokenKind::identifier) && is_one_of(integer_words, peek().text)) words.add(take().text);
    into.name = words.name();
    return;
  }
  if (t.text == "typeof" && peek(1).kind == TokenKind::left_paren) {
    Bracket bracket(*this);
    take(), take();
    if (at_type(0, false))
      into = *parse_type();
    else
      into.of = parse_expression();
    expect(TokenKind::right_paren, "`)`");
    return;
  }
  if (t.text == "struct" || t.text == "union" || t.text == "enum") {
    into.keyword = take().text;
    if (at(TokenKind::keyword)) { // a name like any other
      into.name = take().text;
      return;
    }
  }
  into.name = expect(TokenKind::identifier, "a type").text;
}

} // namespace lang
