#include "stap/parse.h"

#include "base/text.h"
#include "spec/diagnostics.h"
#include "stap/parser.h"
#include "stap/preprocess.h"

#include <set>

namespace stap {

using namespace spec;
using base::quoted;

std::string Point::text() const {
  std::string out;
  for (const Component& c : components) {
    out += (out.empty() ? "" : ".") + c.name;
    if (!c.argument) continue;
    const Node& a = *c.argument;
    out += a.kind == NodeKind::text ? "(\"" + a.text + "\")" : a.kind == NodeKind::integer ? "(" + std::to_string(a.value) + ")" : std::string("(") + (a.is_text ? "@" : "$") + a.text + ")";
  }
  return out;
}

void Parser::error(std::string_view tag, Range where, std::string message, std::string hint) {
  if (!failed()) diagnostics_.error(tag, where, std::move(message), std::move(hint));
  at_ = tokens_.size() - 1;
}

void Parser::unexpected(std::string_view wanted) {
  const Token& t = peek();
  const std::string found = t.kind == TokenKind::end ? "the script ends" : t.kind == TokenKind::text ? "a string is" : quoted(t.text) + " is";
  error(tag::syntax, t.where, t.kind == TokenKind::end ? "the script ends where " + std::string(wanted) + " is expected" : found + " where " + std::string(wanted) + " is expected",
        "`stap -p1 FILE` checks the syntax");
}

void Parser::expect(std::string_view sign, std::string_view where) {
  if (!accept(sign)) unexpected("`" + std::string(sign) + "` " + std::string(where));
}

std::string Parser::take_name(std::string_view what) {
  if (peek().kind == TokenKind::name) return take().text;
  unexpected(what);
  return {};
}

bool Parser::enter() {
  if (++depth_ <= max_depth) return true;
  error(tag::too_deep, peek().where, "the script is nested too deep: " + std::to_string(max_depth) + " levels at most", "split it into functions");
  return false;
}

// global NAME [ "[" size "]" ] [ "%" ] [ "=" literal ], …
void Parser::parse_global() {
  take();
  do {
    Global g;
    g.where = peek().where;
    g.name = take_name("the name of a variable");
    if (accept("%")) g.wraps = true;
    if (accept("[")) g.size = parse_expression(), expect("]", "behind the size");
    if (accept("%")) g.wraps = true;
    if (accept("=")) g.initial = parse_unary();
    script_.globals.push_back(std::move(g));
  } while (!failed() && accept(","));
  accept(";");
}

// function NAME [":" type] "(" name [":" type], … ")" block
void Parser::parse_function() {
  Function f;
  f.where = take().where;
  f.name = take_name("the name of a function");
  if (accept(":")) f.type = take_name("a type");
  expect("(", "behind the name of the function");
  while (!failed() && !peek().is(")")) {
    Parameter p;
    p.where = peek().where;
    p.name = take_name("the name of a parameter");
    if (accept(":")) p.type = take_name("a type");
    f.parameters.push_back(std::move(p));
    if (!accept(",")) break;
  }
  expect(")", "behind the parameters");
  if (accept(":")) f.type = take_name("a type"); // also found there
  if (accept_word("priority")) accept(":"), take();
  f.body = parse_block();
  f.where.end = last_end_;
  for (const Function& other : script_.functions)
    if (other.name == f.name && other.parameters.size() == f.parameters.size())
      error(tag::redeclared, f.where, "there are several functions " + quoted(f.name) + " with as many parameters", "acu chooses functions by the number of parameters: give each a name of its own");
  script_.functions.push_back(std::move(f));
}

// Words and `*`, without blanks between them.
std::string Parser::parse_component_name() {
  std::string out;
  const uint32_t begin = peek().where.begin;
  uint32_t end = begin;
  while ((peek().kind == TokenKind::name || peek().kind == TokenKind::integer || peek().is("*")) && (out.empty() || peek().where.begin == end)) {
    end = peek().where.end;
    out += take().text;
  }
  if (out.empty()) unexpected("the name of a probe");
  return out;
}

// name ["(" literal ")"]
Component Parser::parse_component() {
  Component c;
  c.name = parse_component_name();
  if (!accept("(")) return c;
  if (!peek().is(")")) c.argument = parse_unary();
  if (c.argument && c.argument->kind == NodeKind::unary && !c.argument->parts.empty() && c.argument->parts[0]->kind == NodeKind::integer)
    c.argument->kind = NodeKind::integer, c.argument->value = -c.argument->parts[0]->value;
  expect(")", "behind the argument of the probe");
  return c;
}

// { component | "{" point, … "}" } "." … ["?" | "!"] [ "if" "(" expression ")" ]: a group stands for each of what is in it
std::vector<Point> Parser::parse_point() {
  constexpr size_t max_points = 1000;
  std::vector<Point> out(1);
  const Range begin = peek().where;
  if (!enter()) return out;
  if (peek().kind == TokenKind::argument) error(tag::bad_probe, begin, "the probe is a parameter of the script", "give it behind the script's name: `acu convert FILE 'kernel.function(\"f\")'`");
  do {
    std::vector<Point> ends;
    if (accept("{")) {
      do {
        for (Point& p : parse_point()) ends.push_back(std::move(p));
      } while (!failed() && accept(","));
      expect("}", "behind the group of probes");
    } else {
      ends.emplace_back().components.push_back(parse_component());
    }
    std::vector<Point> joined;
    for (const Point& front : out)
      for (const Point& back : ends) {
        Point& p = joined.emplace_back(front);
        p.components.insert(p.components.end(), back.components.begin(), back.components.end());
      }
    out = std::move(joined);
    if (out.size() > max_points) error(tag::too_many_probes, begin, "these are more than " + std::to_string(max_points) + " probes", "use `*`");
    if (accept("?") || accept("!"))
      for (Point& p : out) p.is_optional = true;
  } while (!failed() && accept("."));
  Node* condition = nullptr;
  if (accept_word("if")) expect("(", "behind `if`"), condition = parse_expression(), expect(")", "behind the condition");
  for (Point& p : out) p.where = since(begin.begin), p.condition = condition;
  depth_--;
  return out;
}

std::vector<Point> Parser::parse_points() {
  std::vector<Point> out;
  do
    for (Point& p : parse_point()) out.push_back(std::move(p));
  while (!failed() && accept(","));
  return out;
}

// probe point, … block; probe name = point, … block; probe name += point, … block
void Parser::parse_probe() {
  const uint32_t begin = take().where.begin;
  std::vector<Point> points = parse_points();
  if (peek().is("=") || peek().is("+=")) {
    Alias a;
    a.is_behind = take().text == "+=";
    if (!points.empty()) a.name = points[0].text();
    a.points = parse_points();
    a.body = parse_block();
    a.where = since(begin);
    script_.aliases.push_back(std::move(a));
    return;
  }
  Probe p;
  p.points = std::move(points);
  p.body = parse_block();
  p.where = since(begin);
  script_.probes.push_back(std::move(p));
}

void Parser::run() {
  while (!failed() && peek().kind != TokenKind::end) {
    accept_word("private");
    if (peek().is_word("global"))
      parse_global();
    else if (peek().is_word("function"))
      parse_function();
    else if (peek().is_word("probe"))
      parse_probe();
    else if (!accept(";"))
      unexpected("`probe`, `function` or `global`");
  }
}

// Functions of one name that differ in the number of their parameters get that number behind their names, and so do calls.
static void rename_overloads(Script& script) {
  std::set<std::string> overloaded, names;
  for (const Function& f : script.functions)
    if (!names.insert(f.name).second) overloaded.insert(f.name);
  auto rename = [&](std::string& name, size_t parameters) {
    if (overloaded.contains(name)) name += "_" + std::to_string(parameters);
  };
  for (Node& n : script.nodes)
    if (n.kind == NodeKind::call) rename(n.text, n.parts.size());
  for (Function& f : script.functions) rename(f.name, f.parameters.size());
}

Script parse(std::string_view text, const std::vector<std::string>& words, base::Diagnostics& diagnostics) {
  Script out;
  std::vector<Token> tokens = insert_arguments(read_tokens(text, out.comments, diagnostics), words, diagnostics);
  if (!diagnostics.has_errors()) tokens = preprocess(std::move(tokens), out.remarks, diagnostics);
  if (!diagnostics.has_errors()) Parser(std::move(tokens), out, diagnostics).run();
  rename_overloads(out);
  return out;
}

} // namespace stap
