#include "stap/preprocess.h"

#include "base/counted.h"
#include "base/text.h"
#include "spec/diagnostics.h"

#include <map>

namespace stap {

using namespace spec;

namespace {

constexpr size_t max_tokens = 1'000'000; // macros that use each other grow quickly
constexpr int max_depth = 50;

struct Macro {
  std::vector<std::string> parameters;
  std::vector<Token> body;
};

class Preprocessor {
public:
  Preprocessor(std::vector<Token> tokens, std::vector<Remark>& remarks, base::Diagnostics& diagnostics) : tokens_(std::move(tokens)), remarks_(remarks), diagnostics_(diagnostics) {}
  std::vector<Token> run();

private:
  void part(const std::vector<Token>& from, size_t begin, size_t end, int depth);
  size_t conditional(const std::vector<Token>& from, size_t at, size_t end, int depth);
  size_t definition(const std::vector<Token>& from, size_t at, size_t end);
  size_t use(const Macro& macro, const std::vector<Token>& from, size_t at, size_t end, int depth);
  size_t closing(const std::vector<Token>& from, size_t at, size_t end);
  bool decide(const std::vector<Token>& from, size_t begin, size_t end);
  bool compare(const std::vector<Token>& from, size_t begin, size_t end);
  void error(Range where, std::string message, std::string hint) { diagnostics_.error(tag::syntax, where, std::move(message), std::move(hint)); }

  std::vector<Token> tokens_, out_;
  std::vector<Remark>& remarks_;
  base::Diagnostics& diagnostics_;
  std::map<std::string, Macro, std::less<>> macros_;
};

// The `%)` of the `%(` at `at`.
size_t Preprocessor::closing(const std::vector<Token>& from, size_t at, size_t end) {
  int depth = 0;
  for (size_t i = at; i < end; i++) {
    if (from[i].is("%(")) depth++;
    if (from[i].is("%)") && --depth == 0) return i;
  }
  error(from[at].where, "this `%(` has no `%)`", "end it with `%)`");
  return end;
}

// NAME OPERATOR VALUE. Versions are compared as if the kernel were the newest.
bool Preprocessor::compare(const std::vector<Token>& from, size_t begin, size_t end) {
  if (end - begin == 1) return true;
  if (end - begin < 3) return true;
  const std::string &name = from[begin].text, &sign = from[begin + 1].text, &value = from[begin + 2].text;
  const bool is_same = sign == "==", is_other = sign == "!=";
  if (from[begin].kind == TokenKind::integer && from[begin + 2].kind == TokenKind::integer) { // $# > 1
    const uint64_t a = from[begin].value, b = from[begin + 2].value;
    return sign == "<" ? a < b : sign == "<=" ? a <= b : sign == ">" ? a > b : sign == ">=" ? a >= b : (a == b) == is_same;
  }
  if (name == "arch") return (value == "x86_64") == is_same;
  if (name.starts_with("CONFIG_")) return is_same || (is_other && value != "y");
  if (name == "kernel_v" || name == "kernel_vr" || name == "systemtap_v") return sign.starts_with('>') || is_other;
  return true;
}

bool Preprocessor::decide(const std::vector<Token>& from, size_t begin, size_t end) {
  bool any = false, all = true;
  size_t first = begin;
  for (size_t i = begin; i <= end; i++) {
    const bool is_or = i < end && from[i].is("||");
    if (i < end && !is_or && !from[i].is("&&")) continue;
    all &= compare(from, first, i);
    first = i + 1;
    if (is_or || i == end) any |= all, all = true;
  }
  return any;
}

size_t Preprocessor::conditional(const std::vector<Token>& from, size_t at, size_t end, int depth) {
  const size_t last = closing(from, at, end);
  size_t then = last, otherwise = last;
  int inner = 0;
  for (size_t i = at; i < last; i++) {
    if (from[i].is("%(")) inner++;
    if (from[i].is("%)")) inner--;
    if (inner == 1 && from[i].is("%?") && then == last) then = i;
    if (inner == 1 && from[i].is("%:") && otherwise == last) otherwise = i;
  }
  if (then == last) {
    error(from[at].where, "this `%(` has no `%?`", "write `%( kernel_v >= \"5.0\" %? … %: … %)`");
    return end;
  }
  const bool is_true = decide(from, at + 1, then);
  remarks_.push_back({from[at].where, std::string("the condition of `%(` is taken as ") + (is_true ? "true" : "false") + ": for a new kernel on x86-64"});
  if (is_true)
    part(from, then + 1, otherwise, depth);
  else if (otherwise < last)
    part(from, otherwise + 1, last, depth);
  return last;
}

// @define name(a, b) %( … %)
size_t Preprocessor::definition(const std::vector<Token>& from, size_t at, size_t end) {
  size_t i = at + 1;
  Macro macro;
  if (i >= end || from[i].kind != TokenKind::name) return error(from[at].where, "`@define` has no name", "write `@define name(a) %( … %)`"), end;
  const std::string name = from[i++].text;
  if (i < end && from[i].is("(")) {
    for (i++; i < end && !from[i].is(")"); i++)
      if (from[i].kind == TokenKind::name) macro.parameters.push_back(from[i].text);
    i++;
  }
  if (i >= end || !from[i].is("%(")) return error(from[at].where, "the body of `@define` is missing", "write `@define name(a) %( … %)`"), end;
  const size_t last = closing(from, i, end);
  if (last >= end) return end;
  macro.body.assign(from.begin() + static_cast<long>(i) + 1, from.begin() + static_cast<long>(last));
  macros_[name] = std::move(macro);
  return last;
}

size_t Preprocessor::use(const Macro& macro, const std::vector<Token>& from, size_t at, size_t end, int depth) {
  size_t i = at;
  std::vector<std::vector<Token>> arguments;
  if (i + 1 < end && from[i + 1].is("(") ) {
    int inner = 0;
    arguments.emplace_back();
    for (i++; i < end; i++) {
      const Token& t = from[i];
      if ((t.is("(") || t.is("[")) && ++inner == 1) continue;
      if ((t.is(")") || t.is("]")) && --inner == 0) break;
      if (t.is(",") && inner == 1)
        arguments.emplace_back();
      else
        arguments.back().push_back(t);
    }
  }
  if (arguments.size() == 1 && arguments[0].empty()) arguments.clear();
  if (arguments.size() != macro.parameters.size()) {
    error(from[at].where, "the macro takes " + base::counted(macro.parameters.size(), "argument") + ", not " + std::to_string(arguments.size()), "see its `@define`");
    return end;
  }
  std::vector<Token> body;
  for (const Token& t : macro.body) {
    size_t parameter = macro.parameters.size();
    for (size_t p = 0; p < macro.parameters.size(); p++)
      if (t.kind == TokenKind::operation && t.text == macro.parameters[p]) parameter = p;
    if (parameter < macro.parameters.size())
      body.insert(body.end(), arguments[parameter].begin(), arguments[parameter].end());
    else
      body.push_back(t);
    if (body.size() > max_tokens) break;
  }
  for (Token& t : body) t.where = from[at].where;
  part(body, 0, body.size(), depth + 1);
  return std::min(i, end);
}

void Preprocessor::part(const std::vector<Token>& from, size_t begin, size_t end, int depth) {
  if (depth > max_depth) return error(begin < end ? from[begin].where : Range{}, "macros are nested too deep", "a macro must not use itself");
  for (size_t i = begin; i < end && !diagnostics_.has_errors(); i++) {
    const Token& t = from[i];
    if (out_.size() > max_tokens) return error(t.where, "the script becomes too large", "use fewer macros");
    if (t.is("%(")) {
      i = conditional(from, i, end, depth + 1);
    } else if (t.kind == TokenKind::operation && t.text == "define") {
      i = definition(from, i, end);
    } else if (const auto macro = macros_.find(t.text); t.kind == TokenKind::operation && macro != macros_.end()) {
      const Macro copy = macro->second;
      i = use(copy, from, i, end, depth);
    } else {
      out_.push_back(t);
    }
  }
}

std::vector<Token> Preprocessor::run() {
  const Token last = tokens_.back();
  part(tokens_, 0, tokens_.size() - 1, 0);
  out_.push_back(last);
  return std::move(out_);
}

} // namespace

std::vector<Token> preprocess(std::vector<Token> tokens, std::vector<Remark>& remarks, base::Diagnostics& diagnostics) {
  return Preprocessor(std::move(tokens), remarks, diagnostics).run();
}

std::vector<Token> insert_arguments(std::vector<Token> tokens, const std::vector<std::string>& words, base::Diagnostics& diagnostics) {
  if (words.empty()) return tokens;
  std::vector<Token> out;
  for (Token& t : tokens) {
    const bool is_count = t.text == "#";
    if (t.kind != TokenKind::argument || (!is_count && (t.value == 0 || t.value > words.size()))) {
      out.push_back(std::move(t));
      continue;
    }
    const std::string word = is_count ? std::to_string(words.size()) : words[t.value - 1];
    if (t.is_text) {
      out.push_back({.kind = TokenKind::text, .where = t.where, .text = word});
      continue;
    }
    std::vector<Comment> comments;
    base::Diagnostics own;
    std::vector<Token> inside = read_tokens(word, comments, own);
    if (own.has_errors()) diagnostics.error(tag::bad_parameter, t.where, "the argument " + base::quoted(base::printable(word)) + " is no part of a script", "a text is @" + t.text);
    inside.pop_back(); // the end
    for (Token& part : inside) part.where = t.where, out.push_back(std::move(part));
  }
  return out;
}

} // namespace stap
