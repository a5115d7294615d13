// Definitions of C, in a script and in the headers it includes. What gives no type (functions, variables, assertions)
// is read over. A declarator is read from the outside in, as C has it: what `*`, `[n]` and `(…)` say of the name.
//
//   declaration := { storage | attribute } specifiers [ declarator { ',' declarator } ] ( ';' | body )
//   specifiers  := { qualifier | attribute } ( tag | word { word } | NAME | 'typeof' '(' … ')' )
//   tag         := ( 'struct' | 'union' | 'enum' ) [ attribute ] [ NAME ] [ ':' specifiers ] [ '{' … '}' ]
//   declarator  := { '*' { qualifier } } ( NAME | '(' declarator ')' | ) { '[' [ expression ] ']' | '(' … ')' }
//
// In a script a `;` may be missing behind `}`.
#include "lang/parser.h"

#include "base/text.h"
#include "spec/diagnostics.h"

namespace lang {

namespace tag = spec::tag;
using base::is_one_of;

// What stands before the declarators, and the attributes seen on the way.
struct CSpecifiers {
  const CType* type = nullptr;
  bool is_definition = false; // of a structure or enumeration, with its braces
  bool is_typedef = false;
  CAttributes attributes;
};

struct CDeclarator {
  std::string_view name; // empty: none
  Range where;
  const CType* type = nullptr;
  bool is_function = false;
};

namespace {

constexpr std::string_view ignored_words[] = {
    "const",        "volatile",     "restrict",       "__const",       "__const__",    "__volatile__",
    "__volatile",   "__restrict",   "__restrict__",   "extern",        "static",       "inline",
    "__inline",     "__inline__",   "__always_inline", "register",     "auto",         "_Noreturn",
    "__extension__", "_Thread_local", "__thread",     "constexpr",     "__user",       "__rcu",
    "__kernel",     "__iomem",      "__percpu",       "__force",       "__bitwise",    "__private",
    "__nocast",     "__must_check", "_Atomic",        "__randomize_layout", "__maybe_unused", "__signed"};

constexpr std::string_view number_words[] = {
    "unsigned", "signed",   "char",   "short",     "int",        "long",     "float",   "double",
    "_Bool",    "__int128", "_Float128", "__float128", "__signed__", "__int128_t", "__uint128_t"};

// C's number words, in any order.
struct NumberWords {
  int longs = 0;
  bool is_unsigned = false, is_signed = false, is_char = false, is_short = false, is_bool = false;
  uint32_t wide = 0; // bytes of what is no integer of a register

  void add(std::string_view word) {
    longs += word == "long";
    is_unsigned |= word == "unsigned" || word == "__uint128_t";
    is_signed |= word == "signed" || word == "__signed__";
    is_char |= word == "char";
    is_short |= word == "short";
    is_bool |= word == "_Bool";
    if (word == "float") wide = 4;
    if (word == "double") wide = 8;
    if (word.find("128") != word.npos) wide = 16;
  }
  const type::Type* type(type::Table& types) const {
    if (wide == 16) return types.array(types.integer(1, false), 16);
    if (wide) return types.floating(longs ? 16 : wide);
    if (is_bool) return types.boolean();
    if (is_char) return is_unsigned || is_signed ? types.integer(1, is_signed) : types.character();
    return types.integer(is_short ? 2 : longs ? 8 : 4, !is_unsigned);
  }
  uint32_t align() const { return wide == 16 || (wide == 8 && longs) ? 16 : 0; }
};

} // namespace

// ------------------------------------------------------------------------------------------ declarations

// One declaration, up to its end. In quiet text (a header) nothing is a mistake: what can't be read is left out.
void Parser::parse_c_declaration() {
  Level level(*this);
  operators_ = 0;
  if (accept(TokenKind::semicolon)) return;
  for (std::string_view word : {"_Static_assert", "static_assert", "asm", "__asm__", "__asm"})
    if (at_word(word)) return skip_c_declaration();
  CSpecifiers s = parse_c_specifiers();
  bool ends = !panic_ && !stopped_ && s.is_definition && !s.is_typedef && !at_c_declarator();
  if (ends) {
    accept(TokenKind::semicolon);
    return;
  }
  while (!panic_ && !stopped_) {
    CDeclarator d = parse_c_declarator(s.type);
    CAttributes attributes = parse_c_attributes();
    if (s.is_typedef && !d.name.empty()) {
      std::vector<const Expr*> aligned(s.attributes.aligned.begin(), s.attributes.aligned.end());
      aligned.insert(aligned.end(), attributes.aligned.begin(), attributes.aligned.end());
      program_->c_types->add({.name = d.name,
                              .where = d.where,
                              .type = d.type,
                              .attributes = {false, program_->arena.copy(std::span<const Expr* const>(aligned))},
                              .in_script = !mistakes_.quiet});
    } else if (s.is_typedef) {
      unexpected("the name of a type");
    }
    if (d.is_function && at(TokenKind::left_brace)) return skip_balanced();
    if (at(TokenKind::assign) || (!s.is_typedef && !at(TokenKind::comma) && !at(TokenKind::semicolon)))
      return skip_c_declaration();
    if (!accept(TokenKind::comma)) break;
  }
  if (panic_ && !stopped_) return leave_c_declaration();
  if (!accept(TokenKind::semicolon) && !s.is_definition && !mistakes_.quiet) unexpected("`;`");
}

// To the end of a declaration: its `;`, or the body of a function.
void Parser::skip_c_declaration() {
  bool has_value = false;
  while (!at(TokenKind::end) && !stopped_) {
    if (at(TokenKind::left_brace)) {
      skip_balanced();
      if (!has_value) break;
      continue;
    }
    if (at(TokenKind::left_paren)) {
      skip_balanced();
      continue;
    }
    Token t = take();
    has_value |= t.kind == TokenKind::assign;
    if (t.kind == TokenKind::semicolon || t.kind == TokenKind::right_brace) break;
  }
}

// After a mistake: past the braces that are open, or to the `;`.
void Parser::leave_c_declaration() {
  panic_ = false;
  bool was = std::exchange(mistakes_.quiet, true);
  bool in_braces = c_braces_ > 0;
  for (; c_braces_ > 0 && !at(TokenKind::end); take()) {
    if (at(TokenKind::left_brace)) c_braces_++;
    if (at(TokenKind::right_brace)) c_braces_--;
  }
  if (!in_braces || at_c_declarator())
    skip_c_declaration();
  else
    accept(TokenKind::semicolon);
  mistakes_.quiet = was;
  c_braces_ = 0;
}

// Behind `}`, where a script may have left out the `;`: whether a name of a variable follows, not a probe or `config =`.
bool Parser::at_c_declarator() {
  if (at(TokenKind::star)) return true;
  if (!is_word(peek())) return false;
  TokenKind next = peek(1).kind;
  return next == TokenKind::semicolon || next == TokenKind::comma || next == TokenKind::left_bracket ||
         (next == TokenKind::assign && !at_word("config"));
}

// -------------------------------------------------------------------------------------------- specifiers

CSpecifiers Parser::parse_c_specifiers() {
  CSpecifiers s;
  uint32_t begin = peek().where.begin;
  auto* t = program_->arena.make<CType>();
  NumberWords words;
  bool has_words = false, has_type = false;
  std::vector<const Expr*> aligned;
  while (!panic_ && !stopped_) {
    if (parse_c_attribute(s.attributes)) continue;
    if (!is_word(peek())) break;
    std::string_view word = peek().text;
    if (is_one_of(ignored_words, word)) {
      take();
    } else if (word == "typedef") {
      s.is_typedef = true;
      take();
    } else if (is_one_of(number_words, word) && !has_type) {
      words.add(take().text);
      has_words = true;
    } else if (has_type || has_words) {
      break;
    } else if (word == "struct" || word == "union" || word == "enum") {
      has_type = true;
      t->kind = CType::tag;
      t->of_tag = parse_c_tag(s.is_definition);
      if (s.is_definition) break; // in a script the `;` may be missing: what follows can be the next thing
    } else if (word == "typeof" || word == "__typeof__" || word == "__typeof") {
      has_type = true;
      take();
      t->kind = CType::same_as;
      if (at(TokenKind::left_paren)) skip_balanced();
    } else {
      has_type = true;
      t->where = peek().where;
      t->text = take().text;
      t->kind = t->text == "void" ? CType::nothing : CType::name;
    }
  }
  if (has_words) {
    t->kind = CType::known;
    t->number = words.type(program_->types);
    t->align = words.align();
  } else if (!has_type) {
    unexpected("a type");
  }
  if (t->kind != CType::name) t->where = since(begin);
  s.type = t;
  return s;
}

// At struct, union or enum.
CTag* Parser::parse_c_tag(bool& defines) {
  Level level(*this);
  std::string_view keyword = take().text;
  CAttributes attributes = parse_c_attributes();
  std::string_view name;
  Range where = {last_end_, last_end_};
  if (is_word(peek())) {
    where = peek().where;
    name = take().text;
  }
  const CType* underlying = nullptr;
  if (keyword == "enum" && accept(TokenKind::colon)) underlying = parse_c_specifiers().type;
  if (!at(TokenKind::left_brace)) {
    if (name.empty()) unexpected("`{` or a name");
    return program_->c_types->tag(keyword, name, where);
  }
  CTag* t = program_->c_types->tag(keyword, name, where);
  Bracket bracket(*this);
  if (name.empty()) t->where = peek().where;
  take();
  c_braces_++;
  defines = true;
  List<CMember> members;
  List<CEnumerator> enumerators;
  if (keyword == "enum")
    enumerators = parse_c_enumerators();
  else
    members = parse_c_members();
  expect(TokenKind::right_brace, "`}`");
  if (!panic_ && !stopped_) c_braces_--;
  if (!panic_ && !stopped_ && !program_->c_types->define(*t, members, enumerators)) {
    error(tag::redeclared, where, "`" + std::string(keyword) + " " + std::string(name) + "` is defined twice");
    return t;
  }
  t->where = name.empty() ? t->where : where;
  t->in_script = !mistakes_.quiet;
  t->underlying = underlying;
  while (parse_c_attribute(attributes)) {
  }
  t->attributes = attributes;
  return t;
}

// members   := { specifiers [ declarator [ ':' expression ] { ',' … } ] ';' }     the last `;` may be missing
List<CMember> Parser::parse_c_members() {
  std::vector<CMember> members;
  while (!at(TokenKind::end) && !at(TokenKind::right_brace)) {
    if (accept(TokenKind::semicolon)) continue;
    if (at_word("_Static_assert") || at_word("static_assert")) {
      skip_c_declaration();
      continue;
    }
    parse_c_member(members);
    if (panic_ || stopped_) break;
  }
  return program_->arena.copy(members);
}

void Parser::parse_c_member(std::vector<CMember>& into) {
  CSpecifiers s = parse_c_specifiers();
  if (at(TokenKind::semicolon) && s.type->kind == CType::tag) {
    take();
    // `struct x;` inside a structure declares nothing.
    if (s.is_definition && s.type->of_tag->keyword != "enum")
      into.push_back({.where = s.type->where, .type = s.type, .attributes = s.attributes});
    return;
  }
  do {
    CMember m{.where = s.type->where, .type = s.type, .attributes = s.attributes};
    if (!at(TokenKind::colon)) {
      CDeclarator d = parse_c_declarator(s.type);
      if (d.name.empty()) unexpected("the name of a member");
      m.name = d.name;
      m.where = d.where;
      m.type = d.type;
    }
    if (accept(TokenKind::colon)) m.bits = parse_expression();
    while (!panic_ && !stopped_ && parse_c_attribute(m.attributes)) {
    }
    into.push_back(m);
  } while (!panic_ && !stopped_ && accept(TokenKind::comma));
  if (!accept(TokenKind::semicolon) && !at(TokenKind::right_brace)) unexpected("`;` after a member");
}

// enumerators := { NAME [ '=' expression ] [ ',' ] }
List<CEnumerator> Parser::parse_c_enumerators() {
  std::vector<CEnumerator> list;
  while (!at(TokenKind::end) && !at(TokenKind::right_brace)) {
    if (!is_word(peek())) {
      unexpected("the name of an enumerator");
      break;
    }
    Token name = take();
    CEnumerator e{.name = name.text, .where = name.where};
    parse_c_attributes();
    operators_ = 0;
    if (accept(TokenKind::assign)) e.value = parse_expression();
    list.push_back(e);
    if (!accept(TokenKind::comma) && !at(TokenKind::right_brace)) {
      unexpected("`,` or `}`");
      break;
    }
  }
  return program_->arena.copy(list);
}

// ------------------------------------------------------------------------------------------- declarators

CDeclarator Parser::parse_c_declarator(const CType* base) {
  Level level(*this);
  CDeclarator d{.where = peek().where};
  CAttributes ignored;
  auto at_qualifier = [&] { return is_word(peek()) && is_one_of(ignored_words, peek().text); };
  type::Space space = type::Space::kernel;
  auto skip_qualifiers = [&] {
    while (!panic_ && !stopped_ && (at_qualifier() || at_word("__attribute__"))) {
      if (at_word("__user")) space = type::Space::user;
      if (!parse_c_attribute(ignored)) take();
    }
  };
  skip_qualifiers();
  while (accept(TokenKind::star)) {
    auto* p = program_->arena.make<CType>();
    p->kind = CType::pointer;
    p->of = base;
    p->where = d.where;
    p->space = std::exchange(space, type::Space::kernel);
    base = p;
    skip_qualifiers();
  }
  if (at(TokenKind::left_paren) && (peek(1).kind == TokenKind::star || peek(1).kind == TokenKind::left_paren ||
                                    (is_word(peek(1)) && peek(2).kind == TokenKind::right_paren))) {
    // What stands inside is about what the outside gives: it is filled in when that is known.
    take();
    auto* outside = program_->arena.make<CType>();
    d = parse_c_declarator(outside);
    expect(TokenKind::right_paren, "`)`");
    d.is_function = d.is_function || at(TokenKind::left_paren);
    *outside = *parse_c_suffixes(base);
    if (d.type != outside) d.is_function = false; // a pointer to one
    return d;
  }
  if (is_word(peek())) {
    d.where = peek().where;
    d.name = take().text;
  }
  d.is_function = at(TokenKind::left_paren);
  d.type = parse_c_suffixes(base);
  return d;
}

// The dimensions of an array, the first one outermost; the parameters of a function.
const CType* Parser::parse_c_suffixes(const CType* base) {
  std::vector<const Expr*> counts;
  std::vector<Range> places;
  while (at(TokenKind::left_bracket)) {
    Bracket bracket(*this);
    uint32_t begin = take().where.begin;
    counts.push_back(at(TokenKind::right_bracket) ? nullptr : parse_expression());
    expect(TokenKind::right_bracket, "`]`");
    places.push_back(since(begin));
    if (panic_ || stopped_) return base;
  }
  for (size_t i = counts.size(); i-- > 0;) {
    auto* a = program_->arena.make<CType>();
    a->kind = CType::array;
    a->of = base;
    a->where = places[i];
    a->count = counts[i];
    base = a;
  }
  if (!at(TokenKind::left_paren)) return base;
  skip_balanced();
  return program_->arena.make<CType>(); // a function has no value
}

// -------------------------------------------------------------------------------------------- attributes

CAttributes Parser::parse_c_attributes() {
  CAttributes a;
  while (!panic_ && !stopped_ && parse_c_attribute(a)) {
  }
  return a;
}

void Parser::add_c_alignment(CAttributes& into, const Expr* e) {
  std::vector<const Expr*> all(into.aligned.begin(), into.aligned.end());
  all.push_back(e);
  into.aligned = program_->arena.copy(std::span<const Expr* const>(all));
}

// attribute := '__attribute__' '(' '(' { NAME [ '(' … ')' ] [ ',' ] } ')' ')' | '_Alignas' '(' … ')' | 'asm' '(' … ')'
bool Parser::parse_c_attribute(CAttributes& into) {
  if (panic_ || stopped_ || !is_word(peek())) return false;
  std::string_view word = peek().text;
  if (word == "__packed") {
    take();
    into.packed = true;
    return true;
  }
  if (word == "asm" || word == "__asm__" || word == "__asm" || word == "__declspec") {
    take();
    if (at(TokenKind::left_paren)) skip_balanced();
    return true;
  }
  bool is_alignas = word == "_Alignas" || word == "alignas" || word == "__aligned";
  if (is_alignas || word == "__aligned__") {
    if (peek(1).kind != TokenKind::left_paren) return false;
    Bracket bracket(*this);
    take(), take();
    if (at_type(0, false)) {
      auto* s = make<SizeOf>(peek().where);
      s->target = parse_type();
      add_c_alignment(into, s);
    } else {
      add_c_alignment(into, parse_expression());
    }
    expect(TokenKind::right_paren, "`)`");
    return true;
  }
  if (word != "__attribute__" && word != "__attribute") return false;
  Bracket bracket(*this);
  take();
  expect(TokenKind::left_paren, "`((`");
  expect(TokenKind::left_paren, "`((`");
  while (!panic_ && !stopped_ && !at(TokenKind::right_paren) && !at(TokenKind::end)) {
    if (accept(TokenKind::comma)) continue;
    std::string_view name = take().text;
    bool aligns = name == "aligned" || name == "__aligned__";
    into.packed |= name == "packed" || name == "__packed__";
    if (aligns && accept(TokenKind::left_paren)) {
      add_c_alignment(into, parse_expression());
      expect(TokenKind::right_paren, "`)`");
    } else if (aligns) {
      add_c_alignment(into, nullptr);
    } else if (at(TokenKind::left_paren)) {
      skip_balanced();
    }
  }
  expect(TokenKind::right_paren, "`))`");
  expect(TokenKind::right_paren, "`))`");
  return true;
}

} // namespace lang
