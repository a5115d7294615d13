// Types and what declares them: structures, unions, enumerations, typedefs, variables, inline definitions, translators.
#include "base/text.h"
#include "dlang/error_tags.h"
#include "dlang/parser.h"

#include <algorithm>
#include <cctype>

namespace dlang {

using namespace spec;
using base::quoted;

namespace {

constexpr std::string_view integer_words[] = {"char", "short", "int", "long", "signed", "unsigned"};
constexpr std::string_view type_words[] = {"char",     "short",    "int",      "long",      "signed",   "unsigned", "string", "void",  "struct",  "union",    "enum",    "const",
                                           "volatile", "float",    "double",   "int8_t",    "int16_t",  "int32_t",  "int64_t",   "uint8_t",  "uint16_t", "uint32_t", "uint64_t",
                                           "uintptr_t", "intptr_t", "size_t",  "ssize_t",   "off_t",    "hrtime_t", "id_t",      "pid_t",    "uid_t",    "gid_t",  "zoneid_t",
                                           "caddr_t",  "char_t",   "uint_t",   "ushort_t",  "ulong_t",  "uchar_t",  "longlong_t", "u_longlong_t", "dev_t", "mode_t", "lwpid_t",
                                           "psinfo_t", "lwpsinfo_t", "bufinfo_t", "devinfo_t", "fileinfo_t", "kthread_t", "proc_t",   "ipaddr_t", "in_addr_t", "in_port_t", "sa_family_t", "socklen_t",
                                           "time_t",    "boolean_t", "processorid_t", "u_int",  "u_long",   "u_short",  "u_char"};
constexpr std::string_view declaring_words[] = {"self", "this", "inline", "extern", "static", "auto", "register", "typedef", "translator", "provider"};
constexpr size_t most_members = 4096;

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string_view word_at(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && is_letter(text[end])) end++;
  return text.substr(0, end);
}

} // namespace

bool Parser::is_type_word(std::string_view word) const {
  for (const auto& [name, type] : script_.typedefs)
    if (name == word) return true;
  return base::is_one_of(type_words, word);
}

bool Parser::at_type() { return peek().kind == TokenKind::name && is_type_word(peek().text); }

// Whether the bracket that comes next opens a cast. Names that are not known here are those of types where nothing else can be meant:
// `(NAME *)`, `(NAME) x`.
bool Parser::at_cast() {
  const uint32_t was = lexer_.offset();
  const bool is_cast = [&] {
    const Token t = lexer_.next();
    if (t.kind != TokenKind::name) return false;
    if (is_type_word(t.text)) return true;
    Token after = lexer_.next();
    const bool is_pointer = after.is("*");
    while (after.is("*")) after = lexer_.next();
    if (!after.is(")")) return false;
    if (is_pointer) return true;
    after = lexer_.next();
    return after.kind == TokenKind::name || after.kind == TokenKind::integer || after.kind == TokenKind::macro;
  }();
  lexer_.seek(was);
  return is_cast;
}

bool Parser::at_declaration() {
  const std::string_view rest = lexer_.rest(), word = word_at(rest);
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) || word.size() >= rest.size()) return false;
  const char next = rest[word.size()];
  if (next == ':' || next == '$' || next == '*' || next == '-') return false;
  if (is_type_word(word) || base::is_one_of(declaring_words, word)) return true;
  // NAME NAME ;  where the first one is a type that is not known here
  std::string_view behind = base::trim(rest.substr(word.size()));
  while (behind.starts_with('*')) behind = base::trim(behind.substr(1));
  const std::string_view name = word_at(behind);
  if (name.empty()) return false;
  behind = base::trim(behind.substr(name.size()));
  return behind.starts_with(';') || behind.starts_with('[');
}

// declaration = [ "self" | "this" | "extern" ] type [ declarator { "," declarator } ] ";"
void Parser::parse_declaration() {
  if (accept_word("inline")) return parse_inline();
  if (accept_word("typedef")) return parse_typedef();
  if (accept_word("translator")) return parse_translator();
  for (std::string_view word : {"static", "auto", "register", "provider"})
    if (peek().is_word(word))
      return error(d_tag::decl_badclass, peek().where, "`" + std::string(word) + "` is not supported in D scripts",
                   word != "provider" ? "variables of a script are global; write the declaration without it" : "programs get their probes from sys/sdt.h");
  Declaration d{.where = peek().where};
  if (accept_word("self"))
    d.scope = Scope::self;
  else if (accept_word("this"))
    d.scope = Scope::clause;
  bool is_extern = false;
  while (accept_word("extern")) is_extern = true;
  const TypeName type = parse_type();
  if (accept(";")) return; // struct s { … };
  do {
    Declaration one = d;
    one.type = type;
    key_types_.clear();
    parse_declarator(one.type, one.name, one.where, &one.is_associative);
    one.keys = key_types_;
    if (failed()) return;
    if (peek().is("(")) { // a function, as headers have them
      skip_brackets();
      continue;
    }
    if (peek().is("=")) return error(tag::syntax, peek().where, "a declaration cannot have a value", "assign it in a clause: `BEGIN { " + one.name + " = …; }`");
    if (one.type.name == "void" && one.type.pointers == 0) return error(d_tag::decl_voidobj, one.where, quoted(one.name) + " cannot be of the type `void`", "a pointer can: `void *" + one.name + ";`");
    if (!is_extern && std::ranges::find(one.type.counts, nullptr) != one.type.counts.end()) return error(d_tag::decl_arrnull, one.where, "the array " + quoted(one.name) + " needs a size, or the types of its keys");
    if (one.scope == Scope::clause && one.is_associative) return error(d_tag::decl_locassc, one.where, "this->" + one.name + " cannot be an associative array", "self->" + one.name + " can");
    for (const Declaration& other : script_.declarations)
      if (other.name == one.name && other.scope == one.scope && (other.type.name != one.type.name || other.type.pointers != one.type.pointers))
        return error(d_tag::decl_idred, one.where, quoted(one.name) + " is declared with another type before");
    script_.declarations.push_back(one);
  } while (!failed() && accept(","));
  expect(";", "at the end of the declaration");
}

// declarator = { "*" } ( name | "(" "*" name ")" "(" … ")" ) { "[" [ expression | types ] "]" }
void Parser::parse_declarator(TypeName& type, std::string& name, Range& where, bool* is_associative) {
  while (accept("*")) {
    type.pointers++;
    while (accept_word("const") || accept_word("volatile")) {}
  }
  if (accept("(")) { // a pointer to a function
    expect("*", "of a pointer to a function");
    if (peek().kind != TokenKind::name) return unexpected("a name");
    where = peek().where;
    name = take().text;
    expect(")", "behind the name");
    if (failed()) return;
    type = {.where = type.where, .name = "void", .pointers = 1};
    return skip_brackets();
  }
  where = peek().where;
  if (peek().kind != TokenKind::name) return unexpected("a name");
  name = take().text;
  while (!failed() && accept("[")) {
    if (is_associative && at_type()) { // the types of keys: those of the first use count
      *is_associative = true;
      do key_types_.push_back(parse_type());
      while (!failed() && accept(",") && at_type());
    } else {
      type.counts.push_back(peek().is("]") ? nullptr : parse_expression());
      if (const Node* count = type.counts.back(); count && !failed()) {
        const auto n = constant_of(script_, *count);
        if (!n || *n < 0 || *n > INT32_MAX) return error(d_tag::decl_arrsub, count->where, "the size of an array is a positive constant");
      }
    }
    expect("]", "of the array");
  }
}

// From an opening bracket to behind the closing one.
void Parser::skip_brackets() {
  int depth = 0;
  do {
    const Token t = take();
    depth += t.is("(") ? 1 : t.is(")") ? -1 : 0;
    if (t.kind == TokenKind::end) return unexpected("`)`");
  } while (!failed() && depth > 0);
}

// typedef = "typedef" type declarator { "," declarator } ";"
void Parser::parse_typedef() {
  const TypeName type = parse_type();
  do {
    TypeName one = type;
    std::string name;
    Range where;
    parse_declarator(one, name, where, nullptr);
    if (failed()) return;
    if (peek().is("(")) skip_brackets(); // of a function
    script_.typedefs.emplace_back(std::move(name), std::move(one));
  } while (!failed() && accept(","));
  expect(";", "at the end of the typedef");
}

// inline = "inline" type name [ "[" type name { "," type name } "]" ] "=" expression ";"
void Parser::parse_inline() {
  if (!at_type()) return unexpected("a type");
  TypeName type = parse_type();
  Inline i{.where = peek().where, .name = {}, .parameters = {}};
  while (accept("*")) {}
  if (peek().kind != TokenKind::name) return unexpected("a name");
  i.name = take().text;
  if (accept("[")) {
    do {
      (void)parse_type();
      if (peek().kind == TokenKind::name) i.parameters.push_back(take().text);
      else return unexpected("the name of a parameter");
    } while (!failed() && accept(","));
    expect("]", "behind the parameters");
  }
  expect("=", "and the value of the constant");
  i.value = parse_expression();
  expect(";", "at the end of the constant");
  if (script_.inline_named(i.name)) return error(d_tag::decl_idred, i.where, quoted(i.name) + " is defined twice");
  script_.inlines.push_back(std::move(i));
}

// translator = "translator" type "<" type name ">" "{" { name "=" expression ";" } "}" ";"
void Parser::parse_translator() {
  Translator t{.where = peek().where, .output = {}, .parameter = {}, .members = {}};
  const TypeName output = parse_type();
  t.output = output.keyword + " " + output.name;
  expect("<", "and the type that is translated");
  if (failed()) return;
  (void)parse_type();
  if (peek().kind != TokenKind::name) return unexpected("a name");
  t.parameter = take().text;
  expect(">", "behind the name");
  expect("{", "and the members");
  while (!failed() && !accept("}")) {
    if (peek().kind != TokenKind::name) return unexpected("the name of a member");
    const Range where = peek().where;
    std::string name = take().text;
    if (const Definition* d = script_.definition(output); d && !member_of(*d, name))
      return error(d_tag::xlate_memb, where, quoted(t.output) + " has no member " + quoted(name));
    for (const auto& [other, value] : t.members)
      if (other == name) return error(tag::redeclared, where, "the member " + quoted(name) + " is translated twice");
    expect("=", "and the value of the member");
    const Node* value = parse_expression();
    expect(";", "behind the member");
    t.members.emplace_back(std::move(name), value);
  }
  expect(";", "at the end of the translator");
  for (const Translator& other : script_.translators)
    if (other.output == t.output) return error(d_tag::xlate_redecl, t.where, "there is another translator for " + quoted(t.output));
  script_.translators.push_back(std::move(t));
}

const StructMember* Parser::member_of(const Definition& d, std::string_view name) const {
  for (const StructMember& m : d.members)
    if (m.name == name) return &m;
  return nullptr;
}

// type = [ "const" ] ( ( "struct" | "union" ) [ name ] [ members ] | "enum" [ name ] [ enumerators ] | words ) { "*" }
TypeName Parser::parse_type() {
  TypeName out;
  out.where = peek().where;
  if (++depth_ > max_depth) error(tag::too_deep, out.where, "this is nested too deeply");
  while (accept_word("const") || accept_word("volatile")) {}
  for (std::string_view word : {"struct", "union", "enum"})
    if (out.keyword.empty() && accept_word(word)) out.keyword = word;
  if (!out.keyword.empty()) {
    const bool has_name = peek().kind == TokenKind::name;
    out.name = has_name ? take().text : "d_anonymous_" + std::to_string(++anonymous_);
    if (!has_name && !peek().is("{")) unexpected("the name of a type");
    if (!failed() && peek().is("{")) out.keyword == "enum" ? parse_enumerators() : parse_members(out);
  } else if (base::is_one_of(integer_words, peek().text)) {
    while (peek().kind == TokenKind::name && base::is_one_of(integer_words, peek().text)) out.name += (out.name.empty() ? "" : " ") + take().text;
    out.where.end = last_end_;
    check_words(out, peek().kind == TokenKind::name ? std::string_view(peek().text) : std::string_view());
  } else if (peek().kind == TokenKind::name) {
    const Token word = take();
    if (word.text == "float" || word.text == "double") error(tag::unknown_type, word.where, "D scripts have no floating point", "values are integers");
    out.name = word.text;
    for (const auto& [name, type] : script_.typedefs)
      if (name == word.text) {
        const Range where = out.where;
        out = type;
        out.where = where;
        break;
      }
  } else {
    unexpected("a type");
  }
  while (accept_word("const") || accept_word("volatile")) {}
  while (!failed() && accept("*")) {
    out.pointers++;
    while (accept_word("const") || accept_word("volatile")) {}
  }
  out.where.end = last_end_;
  depth_--;
  return out;
}

// Words of an integer type that cannot be together, as `unsigned string` and `long char`. `next` is the word behind them.
void Parser::check_words(const TypeName& type, std::string_view next) {
  const std::vector<std::string_view> words = base::split(type.name, ' ');
  auto count = [&](std::string_view word) { return std::ranges::count(words, word); };
  auto refuse = [&](std::string_view tag) { error(tag, type.where, quoted(type.name + (next.empty() ? "" : " " + std::string(next))) + " is not a type"); };
  const bool has_sign = count("signed") + count("unsigned") > 0, has_size = count("short") + count("long") > 0;
  constexpr std::string_view others[] = {"string", "void", "struct", "union", "enum", "float", "double"};
  const bool is_other = base::is_one_of(others, next);
  if (!is_other) next = {};
  if (count("signed") + count("unsigned") > 1 || (count("short") && count("long")) || count("short") > 1 || count("long") > 2 || (count("char") && count("int"))) return refuse(d_tag::decl_combo);
  if (count("char") && has_size) return refuse(d_tag::decl_charattr);
  if (!is_other) return;
  if (next == "void") return refuse(d_tag::decl_voidattr);
  if (has_sign) return refuse(d_tag::decl_signint);
  refuse(has_size ? d_tag::decl_longint : d_tag::decl_combo);
}

// members = "{" { type [ declarator [ ":" width ] { "," … } ] ";" } "}"
void Parser::parse_members(const TypeName& of) {
  expect("{", "and the members");
  Definition d{.where = of.where, .keyword = of.keyword, .name = of.name, .members = {}};
  if (script_.definition(of)) return error(d_tag::decl_idred, of.where, quoted(of.keyword + " " + of.name) + " is defined twice");
  while (!failed() && !accept("}")) {
    const TypeName type = parse_type();
    do {
      StructMember m{.where = peek().where, .type = type, .name = {}};
      if (!peek().is(":")) parse_declarator(m.type, m.name, m.where, nullptr);
      if (failed()) return;
      if (accept(":")) {
        m.bits = parse_ternary();
        const auto bits = failed() ? std::nullopt : constant_of(script_, *m.bits);
        if (failed()) return;
        if (!bits || *bits < 0 || *bits > 64) return error(d_tag::decl_bfconst, m.bits->where, "the width of a bit-field is a constant from 1 to the bits of its type");
      }
      if (const Definition* inner = script_.definition(m.type); m.type.keyword == of.keyword && m.type.name == of.name && m.type.pointers == 0 && !inner)
        return error(d_tag::decl_incomplete, m.where, "a structure cannot contain itself", "a pointer to it can be a member");
      if (!m.name.empty() && member_of(d, m.name)) return error(tag::redeclared, m.where, "the member " + quoted(m.name) + " is declared twice");
      if (d.members.size() >= most_members) return error(tag::too_large, m.where, "this structure has too many members");
      d.members.push_back(std::move(m));
    } while (!failed() && accept(","));
    expect(";", "behind the member");
  }
  if (!failed()) script_.definitions.push_back(std::move(d));
}

// enumerators = "{" name [ "=" expression ] { "," name [ "=" expression ] } [ "," ] "}"
void Parser::parse_enumerators() {
  expect("{", "and the enumerators");
  int64_t next = 0;
  while (!failed() && !accept("}")) {
    if (peek().kind != TokenKind::name) return unexpected("the name of an enumerator");
    const Token name = take();
    if (accept("=")) {
      const Node* value = parse_ternary();
      if (failed()) return;
      const auto n = constant_of(script_, *value);
      if (!n || *n < INT32_MIN || *n > INT32_MAX) return error(d_tag::decl_enconst, value->where, "the value of an enumerator is a constant of 32 bits");
      next = *n;
    }
    for (const auto& [other, value] : script_.enumerators)
      if (other == name.text) return error(d_tag::decl_idred, name.where, quoted(name.text) + " is defined twice");
    script_.enumerators.emplace_back(name.text, next++);
    if (!peek().is("}")) expect(",", "between enumerators");
  }
}

} // namespace dlang
