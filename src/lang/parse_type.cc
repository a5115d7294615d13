// Written types, and telling a cast from an expression in parentheses.
//
// C needs the list of all typedefs for that. Here the words of the language's own types decide at once; of
// other names, `(name *)` is a cast, and `(name)` is one where an operand follows and no builtin has that
// name.
#include "lang/parser.h"

#include "base/text.h"
#include "spec/builtins.h"
#include "spec/diagnostics.h"

#include <algorithm>

namespace lang {

namespace tag = spec::tag;
using base::is_one_of;

namespace {

constexpr size_t max_suffixes = 16;

constexpr std::string_view integer_words[] = {"unsigned", "signed", "char", "short", "int", "long"};

constexpr std::string_view type_words[] = {
    "bool",   "void",      "string", "count_t", "sum_t",    "min_t",    "max_t", "avg_t", "stats_t", "hist_t",
    "lhist_t", "tseries_t", "ksym_t", "usym_t", "kstack_t", "ustack_t", "stack_t", "struct", "union", "enum",   "typeof",
    "const",  "volatile"};

bool is_builtin(std::string_view word) {
  word = spec::without_builtin_prefix(word);
  return spec::find_builtin(word) || argument_number(word);
}

} // namespace

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

namespace {

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
// before `)` or `,` counts as one, also with `[n]` behind it.
bool Parser::at_type(size_t ahead, bool also_unknown) {
  Token t = peek(ahead);
  if (t.kind != TokenKind::identifier) return false;
  if (peek(ahead + 1).kind == TokenKind::left_paren && t.text != "typeof") return false; // a call
  if (is_one_of(integer_words, t.text) || is_one_of(type_words, t.text) || type::is_number_name(t.text)) return true;
  if (program_->c_types->is_typedef(t.text)) return true;
  size_t after = after_type_name(ahead);
  bool is_cpp = after > ahead + 1;
  bool is_name = !is_cpp && (is_builtin(t.text) || is_macro_parameter(t.text)); // of a value, if it stands alone
  if (is_name && !is_macro_parameter(t.text)) return false;
  bool ends_in_star = false;
  size_t end = after_suffixes(after, ends_in_star);
  bool has_suffix = end > after;
  bool closes = peek(end).kind == TokenKind::right_paren || (!ends_in_star && peek(end).kind == TokenKind::comma);
  return closes && (ends_in_star || (!is_name && is_cpp) || (also_unknown && (has_suffix || !is_name)));
}

// Where `*` and `[…]` behind the name of a type end, which begin `ahead` tokens from here.
size_t Parser::after_suffixes(size_t ahead, bool& ends_in_star) {
  constexpr size_t most = 64; // tokens
  size_t at = ahead;
  while (at < ahead + most) {
    if (peek(at).kind == TokenKind::star) {
      ends_in_star = true;
      at++;
      continue;
    }
    if (peek(at).kind != TokenKind::left_bracket) break;
    size_t end = at + 1;
    for (int depth = 1; depth > 0 && end < ahead + most; end++) {
      TokenKind kind = peek(end).kind;
      if (kind == TokenKind::end || kind == TokenKind::semicolon) return ahead;
      depth += (kind == TokenKind::left_bracket) - (kind == TokenKind::right_bracket);
    }
    ends_in_star = false;
    at = end;
  }
  return at;
}

// Where the name of a type of C++ ends, which begins `ahead` tokens from here: `ns::Foo`, `Foo<int, ns::Bar<4> >`. Of a
// plain name that is the next token; so it is where `<` turns out to compare.
size_t Parser::after_type_name(size_t ahead) {
  constexpr size_t most = 256; // tokens
  size_t at = ahead + 1;
  for (;;) {
    if (is_scope(at) && peek(at + 2).kind == TokenKind::identifier) {
      at += 3;
    } else if (peek(at).kind == TokenKind::less) {
      size_t end = at;
      int depth = 0;
      do {
        switch (peek(end).kind) {
        case TokenKind::less: depth++; break;
        case TokenKind::greater: depth--; break;
        case TokenKind::shift_right: depth -= 2; break;
        case TokenKind::identifier:
        case TokenKind::keyword:
        case TokenKind::integer:
        case TokenKind::colon:
        case TokenKind::comma:
        case TokenKind::star:
        case TokenKind::minus:
        case TokenKind::ampersand:
        case TokenKind::and_and: break;
        default: return at;
        }
        end++;
      } while (depth > 0 && end < ahead + most);
      TokenKind next = peek(end).kind;
      bool closes = next == TokenKind::right_paren || next == TokenKind::comma || next == TokenKind::star ||
                    next == TokenKind::left_bracket || is_scope(end);
      // `a < b > * c` multiplies.
      size_t behind = end;
      while (peek(behind).kind == TokenKind::star) behind++;
      closes &= behind == end || peek(behind).kind == TokenKind::right_paren || peek(behind).kind == TokenKind::comma;
      if (depth != 0 || !closes) return at;
      at = end;
    } else {
      return at;
    }
  }
}

// `::`, which the lexer takes for two tokens.
bool Parser::is_scope(size_t ahead) {
  return peek(ahead).kind == TokenKind::colon && peek(ahead + 1).kind == TokenKind::colon &&
         peek(ahead).where.end == peek(ahead + 1).where.begin;
}

// Takes the name up to there. Blanks are where GCC's debug information has them: "ns::Map<int, ns::Pair<int> >".
std::string_view Parser::parse_cpp_name() {
  size_t tokens = after_type_name(0);
  if (tokens == 1) return expect(TokenKind::identifier, "a type").text;
  std::string out;
  bool after_word = false;
  auto put = [&](std::string_view text, bool is_word) {
    bool separate = (is_word && after_word) || (text == ">" && out.ends_with('>'));
    if (separate) out += ' ';
    out += text;
    after_word = is_word;
  };
  for (; tokens > 0; tokens--) {
    Token t = take();
    switch (t.kind) {
    case TokenKind::shift_right: put(">", false), put(">", false); break;
    case TokenKind::comma: out += ", ", after_word = false; break;
    default:
      put(t.spelled.empty() ? t.text : t.spelled,
          t.kind == TokenKind::identifier || t.kind == TokenKind::keyword || t.kind == TokenKind::integer);
    }
  }
  return program_->arena.copy(std::string_view(out));
}

// At `(`: whether it begins a cast. `(name)` does where an operand follows; `(name) * x` too, unless the name is that of a
// value. A parameter of a macro may be either: `(t) * x` becomes a cast when the macro is used (expand_macro.h).
bool Parser::at_cast() {
  if (at_type(1, false)) return true;
  Token name = peek(1);
  if (name.kind != TokenKind::identifier || is_builtin(name.text)) return false;
  bool ends_in_star = false;
  size_t end = after_suffixes(2, ends_in_star);
  if (peek(end).kind != TokenKind::right_paren) return false;
  const Token& next = peek(end + 1);
  if (begins_operand(next)) return true;
  return end == 2 && begins_operand_or_continues(next) && !is_macro_parameter(name.text) && !is_value(name.text);
}

// A name that the script gives to a value, or one in capitals, as constants have.
bool Parser::is_value(std::string_view name) const {
  const bool is_type_name = name.ends_with("_t");
  const bool has_small = std::any_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  return (!is_type_name && !has_small) || program_->c_types->is_enumerator(name) ||
         std::any_of(program_->macros.begin(), program_->macros.end(), [&](const Macro* m) { return m->name == name; });
}

// type      := { 'const' | 'volatile' } base { '*' | 'const' | '[' [ expression ] ']' }
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
  std::vector<TypeSuffix> suffixes(t->suffixes.begin(), t->suffixes.end()); // of a type in typeof()
  while (at(TokenKind::star) || at(TokenKind::left_bracket)) {
    if (suffixes.size() >= max_suffixes)
      panic(tag::too_deep, since(begin), "a pointer to a pointer to a …, too often");
    TypeSuffix suffix{.is_array = take().kind == TokenKind::left_bracket};
    if (suffix.is_array) {
      Bracket bracket(*this);
      if (!at(TokenKind::right_bracket)) suffix.count = parse_expression();
      expect(TokenKind::right_bracket, "`]`");
    }
    suffixes.push_back(suffix);
    skip_qualifiers();
  }
  if (!suffixes.empty()) t->suffixes = program_->arena.copy(suffixes);
  t->where = since(begin);
  return t;
}

// base      := ( 'struct' | 'union' | 'enum' ) name | C integer words | name | 'typeof' '(' ( type |
// expression ) ')'
void Parser::parse_type_words(TypeName& into) {
  Token t = peek();
  if (t.text == "long" && peek(1).text == "double") {
    take(), take();
    into.name = "long double";
    return;
  }
  if (t.kind == TokenKind::identifier && is_one_of(integer_words, t.text)) {
    IntegerWords words;
    while (at(TokenKind::identifier) && is_one_of(integer_words, peek().text)) words.add(take().text);
    into.name = words.name();
    return;
  }
  if (t.text == "typeof" && peek(1).kind == TokenKind::left_paren) {
    Bracket bracket(*this);
    take(), take();
    if (at_type(0, true))
      into = *parse_type(), into.in_typeof = true;
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
  into.name = parse_cpp_name();
}

} // namespace lang
