// Clauses, declarations, directives. Expressions: parse_expression.cc.
#include "base/text.h"
#include "dlang/parser.h"
#include "spec/diagnostics.h"

#include <cctype>
#include <unistd.h>

namespace dlang {

using namespace spec;
using base::quoted;

Script parse(const base::Source& source, const MacroValues& values, base::Diagnostics& diagnostics) {
  return Parser(source, values, diagnostics).run();
}

void Parser::error(std::string_view tag, Range where, std::string message, std::string hint) {
  if (failed()) return;
  diagnostics_.error(tag, where, std::move(message), std::move(hint));
}

void Parser::unexpected(std::string_view wanted) {
  const Token& t = peek();
  const std::string found = t.kind == TokenKind::end ? "the end of the script" : quoted(source_.text(t.where));
  error(tag::syntax, t.where, "expected " + std::string(wanted) + ", found " + found);
}

void Parser::expect(std::string_view sign, std::string_view where) {
  if (!accept(sign)) unexpected("`" + std::string(sign) + "` " + std::string(where));
}

// script = { directive | declaration | inline | clause }
Script Parser::run() {
  while (!failed()) {
    lexer_.skip_blanks();
    const std::string_view rest = lexer_.rest();
    if (rest.empty()) break;
    if (rest.starts_with('#'))
      parse_directive();
    else if (rest.starts_with(';'))
      lexer_.seek(lexer_.offset() + 1);
    else if (at_declaration())
      parse_declaration();
    else
      parse_clause();
  }
  if (script_.clauses.empty()) error(tag::empty_program, {0, 0}, "this script has no probes");
  return std::move(script_);
}

// Directives of the C preprocessor would need its headers, which describe another system.
void Parser::parse_directive() {
  const uint32_t begin = lexer_.offset();
  const std::string_view text = lexer_.line();
  const Range where = {begin, lexer_.offset()};
  std::string_view words = base::trim(text.substr(1));
  if (words.starts_with("pragma")) return parse_pragma(base::trim(words.substr(6)), where);
  if (words.empty() || words.starts_with("line") || std::isdigit(static_cast<unsigned char>(words[0]))) return;
  const std::string name(words.substr(0, words.find_first_of(" \t<\"")));
  error(tag::bad_directive, where, "`#" + name + "` is not supported: acu runs no C preprocessor over D scripts",
        name == "include" ? "types of the kernel are known without a header; remove the line"
        : name == "define" ? "write `inline int NAME = VALUE;`"
                           : "remove the line");
}

// #pragma D option NAME[=VALUE]; #pragma D depends_on …, attributes and binding say nothing here.
void Parser::parse_pragma(std::string_view text, Range where) {
  if (!text.starts_with("D ") && !text.starts_with("D\t")) return;
  text = base::trim(text.substr(1));
  if (!text.starts_with("option")) return;
  for (std::string_view setting : base::split(base::trim(text.substr(6)), ',')) {
    const size_t sign = setting.find('=');
    const std::string name(base::trim(setting.substr(0, sign)));
    const std::string value(sign == setting.npos ? std::string_view() : base::trim(setting.substr(sign + 1)));
    if (name.empty()) return error(tag::bad_directive, where, "`#pragma D option` needs the name of an option");
    script_.settings.push_back({where, name, value});
  }
}

bool Parser::at_declaration() {
  constexpr std::string_view words[] = {"self", "this", "inline", "extern", "static", "const", "volatile", "struct", "union", "enum", "typedef", "translator",
                                        "provider", "char", "short", "int", "long", "signed", "unsigned", "string", "void", "size_t", "int8_t", "int16_t",
                                        "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uintptr_t", "intptr_t", "hrtime_t", "id_t",
                                        "pid_t", "uid_t", "zoneid_t"};
  const std::string_view rest = lexer_.rest();
  size_t end = 0;
  while (end < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[end])) || rest[end] == '_')) end++;
  return end && end < rest.size() && rest[end] != ':' && rest[end] != '$' && rest[end] != '*' && base::is_one_of(words, rest.substr(0, end));
}

// declaration = [ "self" | "this" ] type name [ "[" types "]" ] ";"
void Parser::parse_declaration() {
  Declaration d{.where = peek().where};
  if (accept_word("inline")) return parse_inline();
  for (std::string_view word : {"struct", "union", "enum", "typedef", "translator", "provider"})
    if (peek().is_word(word))
      return error(tag::syntax, peek().where, "definitions with `" + std::string(word) + "` are not supported in D scripts",
                   "structures of the kernel are known by their names");
  if (accept_word("self"))
    d.scope = Scope::self;
  else if (accept_word("this"))
    d.scope = Scope::clause;
  while (peek().is_word("extern") || peek().is_word("static") || peek().is_word("volatile")) take();
  if (!at_type()) return unexpected("a type");
  d.type = parse_type();
  do {
    Declaration one = d;
    while (accept("*")) one.type.pointers++;
    one.where = peek().where;
    if (peek().kind != TokenKind::name) return unexpected("the name of a variable");
    one.name = take().text;
    if (accept("[")) { // the types of keys: those of the first use count
      while (!failed() && !peek().is("]") && peek().kind != TokenKind::end) take();
      expect("]", "after the types of keys");
    }
    script_.declarations.push_back(one);
  } while (!failed() && accept(","));
  expect(";", "at the end of the declaration");
}

// inline = "inline" type name "=" expression ";"
void Parser::parse_inline() {
  if (!at_type()) return unexpected("a type");
  (void)parse_type();
  if (peek().kind != TokenKind::name) return unexpected("a name");
  std::string name = take().text;
  expect("=", "and the value of the constant");
  Node* value = parse_expression();
  expect(";", "at the end of the constant");
  script_.inlines.emplace_back(std::move(name), value);
}

// The text of a macro variable: a number, a word or, of $$N, text.
std::string Parser::macro_word(const Token& macro, bool as_text) {
  const std::string& name = macro.text;
  if (auto index = base::parse_integer(name); index && std::isdigit(static_cast<unsigned char>(name[0]))) {
    if (*index == 0) return values_.script_name;
    if (*index <= values_.words.size()) return values_.words[*index - 1];
    if (values_.has_defaults) return as_text ? "" : "0";
    error(tag::bad_parameter, macro.where, "macro argument $" + name + " is missing",
          "give it after the script's name; `-x defaultargs` makes missing ones 0 or \"\"");
    return {};
  }
  const std::pair<std::string_view, long> numbers[] = {{"pid", ::getpid()},   {"ppid", ::getppid()}, {"uid", ::getuid()},      {"euid", ::geteuid()},
                                                       {"gid", ::getgid()},   {"egid", ::getegid()}, {"pgid", ::getpgid(0)},   {"sid", ::getsid(0)},
                                                       {"tid", ::gettid()}};
  for (const auto& [known, value] : numbers)
    if (name == known) return std::to_string(value);
  if (name == "target") {
    if (values_.target >= 0) return std::to_string(values_.target);
    if (values_.has_command) return std::string(command_pid);
    error(tag::bad_parameter, macro.where, "$target is the process of -p or -c, and there is none", "add `-p PID` or `-c COMMAND`");
    return {};
  }
  error(tag::bad_parameter, macro.where, "there is no macro variable $" + name, "known are $1 …, $target, $pid, $ppid, $tid, $uid, $euid, $gid, $egid, $pgid, $sid");
  return {};
}

// Macro variables in a description: `pid$target`, `syscall::$$1:entry`.
std::string Parser::expand_macros(std::string_view text, Range where) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      out += text[at++];
      continue;
    }
    size_t name = at + 1;
    const bool as_text = name < text.size() && text[name] == '$';
    name += as_text;
    size_t end = name;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) end++;
    Token macro{.kind = TokenKind::macro, .where = where, .text = std::string(text.substr(name, end - name))};
    out += macro_word(macro, as_text);
    at = end;
  }
  return out;
}

// description = [[[ provider ":" ] module ":" ] function ":" ] name
Description Parser::parse_description() {
  lexer_.skip_blanks();
  const uint32_t begin = lexer_.offset();
  const std::string_view raw = lexer_.description();
  Description d{.where = {begin, lexer_.offset()}};
  if (raw.empty()) {
    lexer_.seek(begin);
    has_next_ = false;
    unexpected("a probe description");
    return d;
  }
  const std::string text = expand_macros(raw, d.where);
  const std::vector<std::string_view> parts = base::split(text, ':');
  if (parts.size() > 4) {
    error(tag::bad_probe, d.where, quoted(text) + " has more than four parts", "a description is PROVIDER:MODULE:FUNCTION:NAME");
    return d;
  }
  std::string* const into[] = {&d.name, &d.function, &d.module, &d.provider};
  for (size_t i = 0; i < parts.size(); i++) *into[i] = std::string(parts[parts.size() - 1 - i]);
  return d;
}

// clause = description { "," description } [ "/" expression "/" ] [ "{" actions "}" ]
void Parser::parse_clause() {
  Clause clause;
  const uint32_t begin = lexer_.offset();
  do {
    clause.probes.push_back(parse_description());
    lexer_.skip_blanks();
  } while (!failed() && lexer_.rest().starts_with(',') && (lexer_.seek(lexer_.offset() + 1), true));
  last_end_ = clause.probes.back().where.end;
  has_next_ = false;
  if (!failed() && lexer_.rest().starts_with('/')) {
    take();
    in_predicate_ = true;
    clause.predicate = parse_expression();
    in_predicate_ = false;
    expect("/", "at the end of the predicate");
    if (failed()) return;
    lexer_.skip_blanks();
  }
  if (!failed() && lexer_.rest().starts_with('{')) parse_body(clause);
  clause.where = {begin, last_end_};
  script_.clauses.push_back(std::move(clause));
  has_next_ = false;
}

// actions = { expression ";" }, the last one also without `;`
void Parser::parse_body(Clause& clause) {
  take();
  clause.has_body = true;
  while (!failed() && !peek().is("}")) {
    if (accept(";")) continue;
    if (peek().kind == TokenKind::end) return unexpected("`}` at the end of the clause");
    for (std::string_view word : {"if", "while", "for", "do", "switch", "return", "goto"})
      if (peek().is_word(word))
        return error(tag::syntax, peek().where, "D has no `" + std::string(word) + "`", "write a clause with a predicate, or `CONDITION ? A : B`");
    clause.actions.push_back(parse_expression());
    if (!peek().is("}")) expect(";", "between actions");
  }
  expect("}", "at the end of the clause");
}

} // namespace dlang
