// Expansion of macros. What a macro gives lies on a stack of contexts and is read again from there, so that
// macros in it are found; while a context lasts, the name of its macro stays as it is ("painted", for good).
// Arguments are expanded by themselves, behind a barrier. All tokens of an expansion bear the place of the
// macro's use.
//
// What would grow without bound is cut off by the number of tokens that one use may give.
#include "lang/preprocess.h"

#include "base/text.h"
#include "spec/builtins.h"
#include "spec/diagnostics.h"

#include <algorithm>

namespace lang {

namespace tag = spec::tag;
using base::quoted;

namespace {

std::string count(size_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

// Whether the word before is the name of a member of a record: (errno=5).
bool names_member(std::string_view after) {
  size_t sign = after.find_first_not_of(" \t\r\n");
  return sign != after.npos && after[sign] == '=' && !after.substr(sign).starts_with("==");
}

} // namespace

// Whether the name of a macro means the macro here. Headers of the system define what scripts use as words of
// the language (assert, offsetof, bool) and as names of members (errno): there the script's meaning comes
// first. A member may be another name of a member, though: `#define st_atime st_atim.tv_sec`.
bool Preprocessor::applies(const CMacro& macro, const Token& name) {
  if (macro.is_operator) return false;
  if (!macro.is_foreign || name.is_foreign || !frames_.back().is_script) return true;
  if (is_keyword(name.text) || name.text == "bool" || spec::find_builtin(name.text)) return false;
  if (isolated_ > 0 || !contexts_.empty()) return true;
  bool is_member = previous_ == TokenKind::dot || previous_ == TokenKind::arrow || names_member(rest());
  return !is_member || (!macro.is_function && !macro.pieces.empty() && is_word(macro.pieces[0].token));
}

// At a name: puts its expansion in its place. False: it is none of a macro, or one that stays.
bool Preprocessor::expand(Token& name) {
  CMacro* macro = macros_->find(name.text);
  if (!macro) return false;
  if (macro->is_busy) {
    name.painted = true;
    return false;
  }
  if (isolated_ == 0 && !name.from_macro) use_ = name.where;
  read_body(*macro);
  if (!applies(*macro, name)) return false;
  if (macro->special != CMacro::none) {
    push(macro, {special(*macro, name)}, name, name.where);
    return true;
  }
  Range use = name.where;
  std::vector<Tokens> arguments;
  if (macro->is_function) {
    Token open = pull();
    if (open.kind != TokenKind::left_paren) {
      push_back(open);
      return false;
    }
    if (!collect(*macro, arguments, use) || !check_count(*macro, arguments, use)) return true;
  }
  std::vector<std::optional<Tokens>> expanded(arguments.size());
  push(macro, substitute(*macro, macro->pieces, arguments, expanded), name, use);
  return true;
}

// The tokens of the body, with the parameters marked.
void Preprocessor::read_body(CMacro& macro) {
  if (macro.is_read) return;
  macro.is_read = true;
  Lexer lexer(macro.text, arena_, mistakes_, macro.text_begin, Dialect::c);
  std::vector<CMacro::Piece> pieces;
  for (Token t = lexer.next(); t.kind != TokenKind::end; t = lexer.next()) {
    auto parameter = std::find(macro.parameters.begin(), macro.parameters.end(), t.text);
    bool is_parameter = is_word(t) && parameter != macro.parameters.end();
    t.is_foreign = macro.is_foreign;
    pieces.push_back({t, is_parameter ? static_cast<int>(parameter - macro.parameters.begin()) : -1});
  }
  macro.pieces = arena_.copy(pieces);
  if (pieces.empty()) return;
  for (const CMacro::Piece* p : {&pieces.front(), &pieces.back()})
    if (p->token.kind == TokenKind::hash_hash) {
      mistakes_.tell(tag::bad_directive, p->token.where, "`##` stands between two tokens");
      macro.pieces = {};
      return;
    }
  for (size_t i = 0; macro.is_function && i < pieces.size(); i++)
    if (pieces[i].token.kind == TokenKind::hash && (i + 1 == pieces.size() || pieces[i + 1].parameter < 0) &&
        !(i + 1 < pieces.size() && pieces[i + 1].token.text == "__VA_OPT__"))
      mistakes_.tell(tag::bad_directive, pieces[i].token.where,
                     "`#` stands before a parameter of macro " + quoted(macro.name));
}

void Preprocessor::push(CMacro* macro, Tokens tokens, const Token& name, Range use) {
  tokens_ += tokens.size() + 1;
  all_tokens_ += tokens.size() + 1;
  if (tokens_ > max_tokens)
    return overrun(tag::too_large, "has more than " + std::to_string(max_tokens) + " tokens");
  if (all_tokens_ > max_all_tokens) return overrun(tag::too_large, "makes all expansions together too large");
  for (Token& t : tokens) {
    t.where = use;
    t.from_macro = true;
  }
  if (!tokens.empty()) tokens[0].spaced = name.spaced;
  macro->is_busy = true;
  contexts_.push_back({.macro = macro, .tokens = std::move(tokens)});
}

// A token that was read to see whether it is a `(`.
void Preprocessor::push_back(const Token& token) {
  if (token.kind != TokenKind::end) contexts_.push_back({.tokens = {token}});
}

// The expansion at hand is given up; what follows would only seem wrong because of that.
void Preprocessor::overrun(std::string_view tag, std::string why) {
  if (std::exchange(overrun_, true)) return;
  mistakes_.tell_last(tag, use_, "the expansion of " + quoted(source_.text(use_)) + " " + std::move(why));
}

Token Preprocessor::special(const CMacro& macro, const Token& name) {
  Token t = name;
  t.kind = macro.special == CMacro::file ? TokenKind::string : TokenKind::integer;
  if (macro.special == CMacro::line) t.value = source_.position(name.where.begin).line;
  if (macro.special == CMacro::counter) t.value = counter_++;
  std::string spelled =
      macro.special == CMacro::file ? source_.name(name.where.begin) : std::to_string(t.value);
  t.text = arena_.copy(spelled);
  t.spelled = macro.special == CMacro::file ? arena_.copy("\"" + spelled + "\"") : t.text;
  return t;
}

// Behind `(`: the arguments, up to the `)` that closes it. Their macros are not expanded yet.
bool Preprocessor::collect(const CMacro& macro, std::vector<Tokens>& arguments, Range& use) {
  arguments.emplace_back();
  for (int open = 0;;) {
    Token t = pull();
    if (t.kind == TokenKind::end) {
      std::string message = "the arguments of macro " + quoted(macro.name) + " have no `)`";
      if (!overrun_ && isolated_ > 0) mistakes_.tell(tag::bad_directive, use, std::move(message));
      if (!overrun_ && isolated_ == 0) mistakes_.tell_last(tag::bad_directive, use, std::move(message));
      return false;
    }
    if (t.kind == TokenKind::right_paren && open-- == 0) {
      if (!t.from_macro && t.where.end > use.end) use.end = t.where.end;
      return true;
    }
    open += t.kind == TokenKind::left_paren;
    bool is_last = macro.is_variadic && arguments.size() == macro.parameters.size();
    if (t.kind == TokenKind::comma && open == 0 && !is_last)
      arguments.emplace_back();
    else
      arguments.back().push_back(t);
    if (arguments.back().size() > max_tokens) {
      overrun(tag::too_large, "has arguments of more than " + std::to_string(max_tokens) + " tokens");
      return false;
    }
  }
}

bool Preprocessor::check_count(const CMacro& macro, std::vector<Tokens>& arguments, Range use) {
  size_t wanted = macro.parameters.size();
  if (wanted == 0 && arguments.size() == 1 && arguments[0].empty()) arguments.clear();
  if (macro.is_variadic && arguments.size() + 1 == wanted) arguments.emplace_back();
  if (arguments.size() == wanted) return true;
  std::string need = count(macro.is_variadic ? wanted - 1 : wanted, "argument");
  std::string hint;
  if (arguments.size() > wanted)
    hint = "a comma between [ ] or { } separates arguments too: put ( ) around it";
  mistakes_.tell(tag::bad_directive, use,
                 "macro " + quoted(macro.name) + " takes " + (macro.is_variadic ? "at least " : "") + need +
                     ", not " + std::to_string(arguments.size()),
                 std::move(hint));
  return false;
}

// Tokens with all macros in them expanded, as if nothing followed.
Preprocessor::Tokens Preprocessor::isolate(const Tokens& tokens) {
  Tokens out;
  size_t under = contexts_.size();
  if (++isolated_ > max_depth)
    overrun(tag::too_deep, "is nested more than " + std::to_string(max_depth) + " levels deep");
  contexts_.push_back({.tokens = tokens, .is_barrier = true});
  for (Token t = next(); t.kind != TokenKind::end; t = next()) out.push_back(t);
  pop_contexts(under);
  isolated_--;
  return out;
}

// The body with the arguments in it. `expanded`: what isolate gives for each of them, found when it is
// needed.
Preprocessor::Tokens Preprocessor::substitute(const CMacro& macro, std::span<const CMacro::Piece> pieces,
                                              const std::vector<Tokens>& arguments,
                                              std::vector<std::optional<Tokens>>& expanded) {
  Tokens out;
  bool pastes = false, left_is_empty = true;
  bool is_optional = pieces.size() < macro.pieces.size(); // what stands in __VA_OPT__, which holds no other
  for (size_t i = 0; i < pieces.size() && !overrun_; i++) {
    const CMacro::Piece& p = pieces[i];
    if (p.token.kind == TokenKind::hash_hash) {
      pastes = true;
      continue;
    }
    Tokens part;
    bool pasted_next = i + 1 < pieces.size() && pieces[i + 1].token.kind == TokenKind::hash_hash;
    bool is_rest = macro.is_variadic && p.parameter + 1 == static_cast<int>(macro.parameters.size());
    bool after_comma = pastes && is_rest && !out.empty() && out.back().kind == TokenKind::comma;
    if (macro.is_function && p.token.kind == TokenKind::hash && i + 1 < pieces.size() &&
        pieces[i + 1].parameter >= 0) {
      part = {stringify(arguments[static_cast<size_t>(pieces[++i].parameter)])};
      pasted_next = i + 1 < pieces.size() && pieces[i + 1].token.kind == TokenKind::hash_hash;
    } else if (p.parameter >= 0 && (pastes || pasted_next) && !after_comma) {
      part = arguments[static_cast<size_t>(p.parameter)];
    } else if (p.parameter >= 0) {
      auto n = static_cast<size_t>(p.parameter);
      if (!expanded[n]) expanded[n] = isolate(arguments[n]);
      part = *expanded[n];
    } else if (macro.is_variadic && !is_optional && p.token.text == "__VA_OPT__" && i + 1 < pieces.size() &&
               pieces[i + 1].token.kind == TokenKind::left_paren) {
      size_t end = i + 2;
      for (int open = 1; end < pieces.size(); end++) {
        open += pieces[end].token.kind == TokenKind::left_paren;
        if (pieces[end].token.kind == TokenKind::right_paren && --open == 0) break;
      }
      if (!arguments.back().empty())
        part = substitute(macro, pieces.subspan(i + 2, end - i - 2), arguments, expanded);
      i = end;
    } else {
      part = {p.token};
    }
    if (!part.empty() && !pastes) part[0].spaced = p.token.spaced;
    if (tokens_ + out.size() + part.size() > max_tokens) {
      overrun(tag::too_large, "has more than " + std::to_string(max_tokens) + " tokens");
      break;
    }
    if (after_comma && part.empty()) // GNU: the comma goes with the arguments
      out.pop_back();
    else if (pastes && !after_comma && !left_is_empty && !part.empty())
      paste(out, part, macro.where);
    else
      out.insert(out.end(), part.begin(), part.end());
    left_is_empty = part.empty() && (!pastes || left_is_empty);
    pastes = false;
  }
  return out;
}

bool Preprocessor::is_too_long(const std::string& spelling) {
  if (spelling.size() <= max_spelling) return false;
  overrun(tag::too_large, "makes a text of more than " + std::to_string(max_spelling) + " bytes");
  return true;
}

// #x: the spelling of an argument as a string.
Token Preprocessor::stringify(const Tokens& tokens) {
  std::string spelled = "\"";
  for (const Token& t : tokens) {
    if (t.spaced && spelled.size() > 1) spelled += ' ';
    bool is_literal = t.spelled.starts_with('"') || t.spelled.starts_with('\'');
    for (char c : t.spelled) {
      if (is_literal && (c == '"' || c == '\\')) spelled += '\\';
      spelled += c;
    }
    if (is_too_long(spelled)) return {};
  }
  spelled += '"';
  return Lexer(arena_.copy(spelled), arena_, mistakes_, 0, Dialect::c).next();
}

// a ## b: the last token of the one and the first of the other become one.
void Preprocessor::paste(Tokens& onto, const Tokens& what, Range use) {
  std::string joined = std::string(onto.back().spelled) + std::string(what[0].spelled);
  if (is_too_long(joined)) return;
  Lexer lexer(arena_.copy(joined), arena_, mistakes_, use.begin, Dialect::c);
  Token made = lexer.next();
  if (made.kind != TokenKind::end && lexer.rest().empty()) {
    made.spaced = onto.back().spaced;
    made.is_foreign = onto.back().is_foreign;
    onto.back() = made;
  } else {
    mistakes_.tell(tag::bad_directive, use,
                   "`##` makes no token of " + quoted(onto.back().spelled) + " and " +
                       quoted(what[0].spelled));
    onto.push_back(what[0]);
  }
  onto.insert(onto.end(), what.begin() + 1, what.end());
}

} // namespace lang
