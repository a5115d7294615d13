// Clauses and directives. Declarations: parse_types.cc; expressions: parse_expression.cc.
#include "base/text.h"
#include "dlang/error_tags.h"
#include "dlang/parser.h"

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

// script = { directive | declaration | clause }
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
  if (words.empty() || words.starts_with("line") || words.starts_with("ident") || std::isdigit(static_cast<unsigned char>(words[0]))) return;
  if (words.starts_with("error")) return error(d_tag::pragerr, where, "#error: " + std::string(base::trim(words.substr(5))));
  const std::string name(words.substr(0, words.find_first_of(" \t<\"")));
  error(d_tag::pragctl_inval, where, "`#" + name + "` is for the C preprocessor, which does not run without -C",
        name == "include" ? "types of the kernel are known without a header: remove the line, or add -C"
        : name == "define" ? "write `inline int NAME = VALUE;`, or add -C"
                           : "add -C, or remove the line");
}

// #pragma D option NAME[=VALUE]; #pragma D depends_on …, attributes and binding have no effect here.
void Parser::parse_pragma(std::string_view text, Range where) {
  if (!text.starts_with("D ") && !text.starts_with("D\t")) return;
  text = base::trim(text.substr(1));
  if (!text.starts_with("option")) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    constexpr std::string_view without_effect[] = {"attributes", "binding", "depends_on", "line", "ident"};
    if (word == "error") return error(d_tag::pragerr, where, "#pragma D error: " + std::string(base::trim(text.substr(5))));
    if (!base::is_one_of(without_effect, word)) error(d_tag::pragma_inval, where, "there is no `#pragma D " + std::string(word) + "`", "known are option, attributes, binding and depends_on");
    return;
  }
  for (std::string_view setting : base::split(base::trim(text.substr(6)), ',')) {
    const size_t sign = setting.find('=');
    const std::string name(base::trim(setting.substr(0, sign)));
    const std::string value(sign == setting.npos ? std::string_view() : base::trim(setting.substr(sign + 1)));
    if (name.empty()) return error(d_tag::pragma_malform, where, "`#pragma D option` needs the name of an option");
    script_.settings.push_back({where, name, value});
  }
}

// The text of a macro variable: a number, a word or, of $$N, text.
std::string Parser::macro_word(const Token& macro, bool as_text) {
  const std::string& name = macro.text;
  if (auto index = base::parse_integer(name); index && std::isdigit(static_cast<unsigned char>(name[0]))) {
    if (*index == 0) return values_.script_name;
    script_.used_words.insert(*index);
    if (*index <= values_.words.size()) return values_.words[*index - 1];
    if (values_.has_defaults) return as_text ? "" : "0";
    error(d_tag::macro_undef, macro.where, "macro argument $" + name + " is missing",
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
    error(d_tag::macro_undef, macro.where, "$target is the process of -p or -c, and there is none", "add `-p PID` or `-c COMMAND`");
    return {};
  }
  error(d_tag::macro_undef, macro.where, "there is no macro variable $" + name, "known are $1 …, $target, $pid, $ppid, $tid, $uid, $euid, $gid, $egid, $pgid, $sid");
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
    error(d_tag::pdesc_inval, d.where, quoted(text) + " has more than four parts", "a description is PROVIDER:MODULE:FUNCTION:NAME");
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
  clause.where = {begin, last_end_};
  has_next_ = false;
  if (!failed() && lexer_.rest().starts_with('{')) {
    take();
    parse_body(std::move(clause), false);
  } else {
    script_.clauses.push_back(std::move(clause));
  }
  has_next_ = false;
}

// actions = { expression ";" | branches }, the last one also without `;`. Behind the `{`; up to the `}`, which is taken. With branches a body becomes
// several clauses of the same probes, whose predicates are the conditions.
void Parser::parse_body(Clause clause, bool is_branch) {
  if (++depth_ > max_depth) error(tag::too_deep, peek().where, "this is nested too deeply");
  clause.has_body = true;
  bool is_divided = is_branch;
  while (!failed() && !peek().is("}")) {
    if (accept(";")) continue;
    if (peek().kind == TokenKind::end) return unexpected("`}` at the end of the clause");
    if (accept_word("if")) {
      parse_branches(clause);
      is_divided = true;
      continue;
    }
    for (std::string_view word : {"else", "while", "for", "do", "switch", "return", "goto"})
      if (peek().is_word(word))
        return error(tag::syntax, peek().where, word == "else" ? "this `else` has no `if`" : "D has no `" + std::string(word) + "`",
                     word == "else" ? "" : "write a clause with a predicate, or `if (CONDITION) { … } else { … }`");
    is_divided |= add_action(clause, parse_expression());
    if (!peek().is("}")) expect(";", "between actions");
  }
  expect("}", "at the end of the clause");
  depth_--;
  clause.where.end = last_end_;
  if (!is_divided || !clause.actions.empty()) script_.clauses.push_back(std::move(clause));
}

// branches = "if" "(" expression ")" ( "{" actions "}" | expression ";" ) [ "else" ( branches | "{" actions "}" | expression ";" ) ]
void Parser::parse_branches(Clause& clause) {
  if (++depth_ > max_depth) return error(tag::too_deep, peek().where, "this is nested too deeply");
  const Range where = peek().where;
  expect("(", "and a condition");
  if (failed()) return;
  brackets_++;
  Node* condition = parse_expression();
  brackets_--;
  expect(")", "behind the condition");
  if (failed()) return;
  const auto [yes, no] = divide(clause, condition, where);
  auto branch = [&](const std::string& name) {
    Clause one = branch_of(clause, name, where);
    if (accept("{")) return parse_body(std::move(one), true);
    if (accept_word("if")) {
      parse_branches(one);
    } else {
      add_action(one, parse_expression());
      expect(";", "behind the action");
    }
    if (!one.actions.empty()) script_.clauses.push_back(std::move(one));
  };
  branch(yes);
  if (!failed() && accept_word("else")) branch(no);
  depth_--;
}

static bool has_actions(const Node& n) {
  if (n.kind == NodeKind::call) return base::is_one_of(actions, n.text);
  return n.kind == NodeKind::ternary && (has_actions(*n.parts[1]) || has_actions(*n.parts[2]));
}

// `condition ? printf(…) : trace(…);` is such branches, too. Whether the clause was divided.
bool Parser::add_action(Clause& clause, Node* action) {
  if (failed() || action->kind != NodeKind::ternary || !has_actions(*action)) {
    clause.actions.push_back(action);
    return false;
  }
  const std::array<std::string, 2> names = divide(clause, action->parts[0], action->where);
  for (size_t i : {0, 1}) {
    Clause one = branch_of(clause, names[i], action->where);
    if (action->parts[1 + i]->kind != NodeKind::integer) add_action(one, action->parts[1 + i]); // `condition ? trace(…) : 1`
    if (!one.actions.empty()) script_.clauses.push_back(std::move(one));
  }
  return true;
}

// What the clause did until here becomes a clause; another one keeps the condition in a variable: `this->if 1 = (condition) ? 1 : 0`. The names of those for the two
// branches.
std::array<std::string, 2> Parser::divide(Clause& clause, Node* condition, Range where) {
  if (clause.predicate && !(clause.predicate->kind == NodeKind::clause && clause.predicate->text.starts_with("if "))) { // computed once, before any action
    const std::string name = "if " + std::to_string(++conditions_);
    script_.clauses.push_back({.where = clause.where, .probes = clause.probes, .predicate = nullptr, .actions = {kept_condition(name, clause.predicate)}, .has_body = true});
    clause.predicate = condition_name(name, clause.predicate->where);
  }
  const std::string yes = "if " + std::to_string(++conditions_), no = "if " + std::to_string(++conditions_);
  auto both = [&](Node* a, Node* b) {
    if (!a) return b;
    Node* n = make(NodeKind::binary, where);
    n->op = lang::BinaryOp::logical_and;
    n->parts = {a, b};
    return n;
  };
  Node* negated = make(NodeKind::unary, where);
  negated->unary = lang::UnaryOp::logical_not;
  negated->parts = {condition_name(yes, where)}; // the condition itself is computed once
  Node* outer = clause.predicate;
  // Both are known before the branches run, which may change what the condition depends on.
  Clause decides{.where = clause.where, .probes = clause.probes, .predicate = nullptr, .actions = {}, .has_body = true};
  if (!clause.actions.empty()) script_.clauses.push_back(clause);
  clause.actions.clear();
  decides.actions = {kept_condition(yes, both(outer, condition)), kept_condition(no, both(outer, negated))};
  script_.clauses.push_back(std::move(decides));
  return {yes, no};
}

Clause Parser::branch_of(const Clause& clause, const std::string& name, Range where) {
  return {.where = clause.where, .probes = clause.probes, .predicate = condition_name(name, where), .actions = {}, .has_body = true};
}

Node* Parser::condition_name(const std::string& name, Range where) {
  Node* n = make(NodeKind::clause, where);
  n->text = name;
  return n;
}

// this->NAME = (condition) ? 1 : 0
Node* Parser::kept_condition(const std::string& name, Node* condition) {
  Node* yes = make(NodeKind::integer, condition->where);
  yes->value = 1;
  Node* choice = make(NodeKind::ternary, condition->where);
  choice->parts = {condition, yes, make(NodeKind::integer, condition->where)};
  Node* n = make(NodeKind::assign, condition->where);
  n->parts = {condition_name(name, condition->where), choice};
  return n;
}

} // namespace dlang
