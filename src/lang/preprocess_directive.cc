// Directives, and the groups of #if that are left out: their text is searched for the directives in it, and
// not judged.
#include "lang/preprocess.h"

#include "base/text.h"
#include "spec/c_headers.h"
#include "spec/diagnostics.h"

#include <algorithm>
#include <cctype>

namespace lang {

namespace tag = spec::tag;
using base::quoted;

namespace {

constexpr std::string_view known_directives[] = {
    "define",   "undef", "include", "include_next", "if",      "ifdef",  "ifndef", "elif",   "elifdef",
    "elifndef", "else",  "endif",   "error",        "warning", "pragma", "line",   "import", "ident", "param"};

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool opens_group(std::string_view word) { return word == "if" || word == "ifdef" || word == "ifndef"; }
bool continues_group(std::string_view word) {
  return word == "else" || word == "elif" || word == "elifdef" || word == "elifndef";
}

// Of a line that is a directive, its first word.
std::string_view directive_name(std::string_view line) {
  line = base::trim(line.substr(1));
  size_t length = 0;
  while (length < line.size() &&
         (std::isalnum(static_cast<unsigned char>(line[length])) || line[length] == '_'))
    length++;
  return line.substr(0, length);
}

// At a quote: the length of the literal that begins there, if it ends in the same line.
size_t literal_length(std::string_view text) {
  for (size_t i = 1; i < text.size() && text[i] != '\n'; i++) {
    if (text[i] == text[0]) return i + 1;
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] != '\n') i++;
  }
  return 1;
}

// At `/*`: the length of the comment. In the path of a probe (`uprobe:/usr/lib/*:f`) it is none.
size_t comment_length(std::string_view text, char before) {
  bool in_path = !is_blank(before) && std::string_view(";{}(),").find(before) == std::string_view::npos;
  if (in_path) text = text.substr(0, text.find('\n'));
  size_t end = text.find("*/", 2);
  if (end == text.npos) return in_path ? 2 : text.size();
  return end + 2;
}

} // namespace

// The text of a directive, from its `#` to the end of the line, or of the last line that continues it.
std::string_view Preprocessor::directive_line(std::string_view from) const {
  size_t i = 0;
  while (i < from.size() && from[i] != '\n') {
    std::string_view rest = from.substr(i);
    if (rest.starts_with("\\\n") || rest.starts_with("\\\r\n"))
      i += rest[1] == '\n' ? 2 : 3;
    else if (rest.starts_with("/*"))
      i += std::min(rest.find("*/", 2), rest.size() - 2) + 2;
    else if (rest.starts_with("//"))
      i += std::min(rest.find('\n'), rest.size());
    else
      i += rest[0] == '"' || rest[0] == '\'' ? literal_length(rest) : 1;
  }
  return from.substr(0, std::min(i, from.size()));
}

// At the `#` of a directive: carries it out. The text goes on behind its line, or where the groups that are
// left out end.
void Preprocessor::directive() {
  Frame& f = frames_.back();
  uint32_t begin = f.lexer.offset();
  std::string_view text = directive_line(f.lexer.rest());
  f.lexer.seek(begin + static_cast<uint32_t>(text.size()));
  f.directives_end = f.lexer.offset();
  Lexer line(text.substr(1), arena_, mistakes_, begin + 1, Dialect::c);
  Token name = line.next();
  bool was_fresh = std::exchange(f.is_fresh, false);
  if (f.conditionals.empty()) f.guard = {};
  if (name.kind == TokenKind::end || name.kind == TokenKind::integer) return; // `#` alone, and marks of lines
  Range where = {begin, name.where.end};
  std::string_view word = name.text;
  if (!f.has_directives) return mistakes_.tell(tag::bad_directive, where, "there are no directives in an expression");
  if (opens_group(word)) {
    std::string_view guard = word == "ifndef" && was_fresh ? base::trim(line.rest()) : std::string_view();
    guard = guard.substr(0, guard.find_first_of(" \t/"));
    if (!guard.empty() && !macros_->find(guard)) f.guard = guard;
    return begin_group(word, line, where);
  }
  if (continues_group(word)) return other_group(word, where);
  if (word == "endif") return end_group(where);
  if (word == "define") return define(line, name);
  if (word == "param") return parameter(line, name);
  if (word == "undef") {
    Token macro = line.next();
    if (is_word(macro)) return macros_->undefine(macro.text);
    return mistakes_.tell(tag::bad_directive, where, "#undef needs the name of a macro");
  }
  if (word == "include" || word == "include_next" || word == "import")
    return include(line, where, word == "include_next");
  if (word == "error" || word == "warning") return user_message(word, line.rest(), where);
  if (word == "pragma") {
    if (line.next().text == "once") f.file->is_once = true;
    return;
  }
  if (word == "line" || word == "ident" || word == "sccs" || word == "assert" || word == "unassert") return;
  std::string_view near = base::nearest(word, {std::begin(known_directives), std::end(known_directives)});
  mistakes_.tell(tag::bad_directive, where, "unknown directive " + quoted("#" + std::string(word)),
                 near.empty() ? "comments begin with //" : "did you mean `#" + std::string(near) + "`?");
}

void Preprocessor::user_message(std::string_view word, std::string_view text, Range where) {
  std::string message = "#" + std::string(word);
  if (!base::trim(text).empty()) message += " " + std::string(base::trim(text));
  if (word == "warning") return mistakes_.warn(tag::user_warning, where, std::move(message));
  bool was = std::exchange(mistakes_.quiet, false); // also of a system's header: it is wrongly used
  mistakes_.tell(tag::user_failure, where, std::move(message));
  mistakes_.quiet = was;
}

// -------------------------------------------------------------------------------------------- #define

// define    := '#define' NAME [ '(' [ NAME { ',' NAME } [ [','] '...' ] ] ')' ] body      no blank before the
// `(`
void Preprocessor::define(Lexer& line, const Token& directive) {
  Token name = line.next();
  if (!is_word(name))
    return mistakes_.tell(tag::bad_directive, directive.where.to(name.where), "#define needs a name",
                          "for example: #define LIMIT 10");
  if (name.text == "defined" || name.text == "__VA_ARGS__")
    return mistakes_.tell(tag::bad_directive, name.where,
                          quoted(name.text) + " can't be the name of a macro");
  CMacro m;
  m.name = name.text;
  m.where = name.where;
  m.is_foreign = frames_.back().file->is_system;
  if (line.rest().starts_with('(') && !parameters(line, m)) return;
  std::string_view rest = line.rest();
  m.text = base::trim(rest);
  m.text_begin = line.offset() + static_cast<uint32_t>(m.text.empty() ? 0 : m.text.data() - rest.data());
  CMacro* old = macros_->find(m.name);
  if (old && !is_same(*old, m)) {
    std::string hint =
        old->where.end ? "it is defined in " + source_.place(old->where) : "it is defined from the start";
    mistakes_.warn(tag::redefined, name.where, "macro " + quoted(m.name) + " is defined again, differently",
                   hint + "; #undef comes first");
  }
  CMacro* made = macros_->define(m);
  if (!mistakes_.quiet) read_body(*made);
}

// --------------------------------------------------------------------------------------------- #param

// param     := '#param' NAME ( INTEGER | 'true' | 'false' | STRING )
//
// A constant that -D may give another value of the same type: as a macro it is known to #if, too. true is 1 there, and false 0.
void Preprocessor::parameter(Lexer& line, const Token& directive) {
  Token name = line.next();
  line.dialect = Dialect::script; // durations
  Token standard = line.next();
  const bool is_truth = standard.text == "true" || standard.text == "false";
  const bool is_number = standard.kind == TokenKind::integer, is_text = standard.kind == TokenKind::string;
  if (!is_word(name) || !(is_number || is_text || is_truth) || line.next().kind != TokenKind::end)
    return mistakes_.tell(tag::bad_directive, directive.where.to(name.where), "#param needs a name and a value: a number, true, false or a text",
                          "for example: #param LIMIT 10");
  if (macros_->find(name.text))
    return mistakes_.tell(tag::redeclared, name.where, quoted(name.text) + " is declared already");
  parameters_.push_back(name.text);
  CMacro m{.name = name.text, .where = name.where};
  m.text = is_truth ? standard.text == "true" ? "1" : "0" : source_.text(standard.where);
  m.text_begin = standard.where.begin;
  for (const auto& [given, value] : options_.parts.parameters) {
    if (given != name.text) continue;
    const uint32_t begin = source_.add("-D", given + "=" + value) + static_cast<uint32_t>(given.size()) + 1;
    const Range where = {begin, begin + static_cast<uint32_t>(value.size())};
    std::string text = value;
    if (is_text) text = in_quotes(value);
    if (is_truth) text = value == "true" || value == "1" ? "1" : "0";
    const bool fits = is_text || (is_truth ? value == "true" || value == "false" || value == "1" || value == "0" : is_integer(where));
    if (!fits)
      return mistakes_.tell(tag::bad_parameter, where, quoted(value) + " is no " + (is_truth ? "`true` or `false`" : "number"),
                            "the standard value of " + quoted(given) + " is " + std::string(source_.text(standard.where)));
    m.text_begin = source_.add("-D", text);
    m.text = source_.file_text(m.text_begin);
  }
  read_body(*macros_->define(m));
}

bool Preprocessor::is_integer(Range where) {
  const bool was_quiet = std::exchange(mistakes_.quiet, true);
  Lexer text(source_.text(where), arena_, mistakes_, where.begin, Dialect::script);
  const bool out = text.next().kind == TokenKind::integer && text.next().kind == TokenKind::end;
  mistakes_.quiet = was_quiet;
  return out;
}

void Preprocessor::tell_unknown_parameters() {
  for (size_t i = 0; i < options_.parts.parameters.size(); i++) {
    const auto& [name, value] = options_.parts.parameters[i];
    const auto* first = std::ranges::find(options_.parts.parameters, name, [](auto& p) -> const std::string& { return p.first; }).operator->();
    const bool is_twice = first != &options_.parts.parameters[i];
    if (!is_twice && base::is_one_of(parameters_, name)) continue;
    const uint32_t begin = source_.add("-D", name + "=" + value);
    const Range where = {begin, begin + static_cast<uint32_t>(name.size())};
    if (is_twice) {
      mistakes_.tell(tag::bad_parameter, where, "parameter " + quoted(name) + " is given twice");
      continue;
    }
    const std::string_view near = base::nearest(name, parameters_);
    std::string all;
    for (std::string_view p : parameters_) all += (all.empty() ? "" : ", ") + std::string(p);
    mistakes_.tell(tag::bad_parameter, where, "the script has no parameter " + quoted(name),
                   !near.empty() ? "did you mean " + quoted(near) + "?" : all.empty() ? "it declares none; a script does so by `#param " + name + " VALUE`" : "it has " + all);
  }
}

// At `(`: the parameters of a macro.
bool Preprocessor::parameters(Lexer& line, CMacro& macro) {
  line.next();
  macro.is_function = true;
  std::vector<std::string_view> names;
  auto wrong = [&](const Token& t, std::string message) {
    Range where = t.where.end > t.where.begin ? t.where : macro.where;
    mistakes_.tell(tag::bad_directive, where, std::move(message));
    return false;
  };
  for (Token t = line.next(); t.kind != TokenKind::right_paren; t = line.next()) {
    if (t.kind == TokenKind::ellipsis) {
      names.push_back("__VA_ARGS__");
      macro.is_variadic = true;
    } else if (is_word(t)) {
      if (std::find(names.begin(), names.end(), t.text) != names.end())
        return wrong(t, "macro " + quoted(macro.name) + " has two parameters " + quoted(t.text));
      names.push_back(t.text);
    } else {
      return wrong(t, "expected the name of a parameter of macro " + quoted(macro.name));
    }
    t = line.next();
    if (t.kind == TokenKind::ellipsis && !macro.is_variadic) { // GNU: args...
      macro.is_variadic = true;
      t = line.next();
    }
    if (t.kind == TokenKind::right_paren) break;
    if (t.kind != TokenKind::comma || macro.is_variadic)
      return wrong(t, macro.is_variadic
                          ? "`...` is the last parameter of a macro"
                          : "expected `,` or `)` behind a parameter of macro " + quoted(macro.name));
  }
  macro.parameters = arena_.copy(names);
  return true;
}

// -------------------------------------------------------------------------------------------- #include

// include   := '#include' ( '"' NAME '"' | '<' NAME '>' | macros that give one of these )
void Preprocessor::include(Lexer& line, Range where, bool next) {
  bool quoted_name = false;
  std::string name = included_name(line, quoted_name, where);
  if (!name.empty()) include_header(name, quoted_name, where, next);
}

void Preprocessor::include_header(const std::string& name, bool quoted_name, Range where, bool next) {
  SourceFile& from = *frames_.back().file;
  auto found = next ? files_.next_header(name, from) : files_.header(name, quoted_name, from);
  if (!found) return mistakes_.tell(tag::missing_file, where, "cannot include " + found.error().message);
  SourceFile* file = *found;
  if (!file) return missing(name, quoted_name, where);
  if (file->is_once || (!file->guard.empty() && macros_->find(file->guard))) return;
  if (frames_.size() >= max_files) {
    bool cycle = std::any_of(frames_.begin(), frames_.end(), [&](const Frame& f) { return f.file == file; });
    mistakes_.tell_last(tag::too_deep, where,
                        cycle ? quoted(file->path) + " includes itself without end"
                              : "headers include each other more than " + std::to_string(max_files) +
                                    " levels deep",
                        cycle ? "`#pragma once` at its start lets it be read once" : "");
    return;
  }
  // Headers without a guard that include others twice: few levels of them are more than any machine can read.
  if (mistakes_.full() || headers_ == max_headers) return;
  if (++headers_ == max_headers)
    return mistakes_.tell_last(tag::too_large, where,
                               "more than " + std::to_string(max_headers) + " headers are included",
                               "`#pragma once` at the start of a header lets it be read once");
  if (!contexts_.empty())
    return mistakes_.tell(tag::bad_directive, where, "#include among the arguments of a macro");
  if (frames_.back().is_script)
    read_header(*file);
  else
    push_file(*file, Dialect::c, false);
}

// What an #include names; `where` becomes its place. Empty: a mistake was told.
std::string Preprocessor::included_name(Lexer& line, bool& is_quoted, Range& where) {
  std::string_view all = line.rest(), text = base::trim(all);
  auto begin = line.offset() + static_cast<uint32_t>(text.empty() ? 0 : text.data() - all.data());
  std::string expanded;
  if (!text.empty() && text[0] != '"' && text[0] != '<') {
    Tokens tokens;
    for (Token t = line.next(); t.kind != TokenKind::end; t = line.next()) tokens.push_back(t);
    where = {begin, begin + static_cast<uint32_t>(text.size())};
    for (const Token& t : isolate(tokens)) expanded += t.spelled;
    text = expanded;
  }
  is_quoted = text.starts_with('"');
  size_t close = text.size() > 1 ? text.find(is_quoted ? '"' : '>', 1) : text.npos;
  if (close == text.npos || close == 1 || (!is_quoted && text[0] != '<')) {
    mistakes_.tell(tag::bad_directive, where, "#include needs the name of a header",
                   "for example: #include <linux/types.h> or #include \"my.h\"");
    return {};
  }
  if (expanded.empty()) where = {begin, begin + static_cast<uint32_t>(close + 1)};
  return std::string(text.substr(1, close - 1));
}

void Preprocessor::missing(const std::string& name, bool is_quoted, Range where) {
  if (spec::is_constants_header(name)) return; // the usual constants are known without it
  bool of_kernel = spec::is_kernel_header(name);
  if (of_kernel && macros_->find("BPFTRACE_HAVE_BTF")) return; // its types are known from the kernel itself
  mistakes_.tell(tag::missing_file, where, "'" + name + "' file not found",
                 of_kernel   ? "the kernel has no BTF: its headers must be installed, -I names their folder"
                 : is_quoted ? "it is looked for beside the script, then in the folders of -I"
                             : "-I names a folder to look in");
}

// ------------------------------------------------------------------------------------------------ #if

// The value of #if, #ifdef, … and of #elif, whose words begin with "el".
bool Preprocessor::holds(std::string_view word, Lexer& line, Range where) {
  if (word.starts_with("el")) word.remove_prefix(2);
  if (word == "if") return condition(line, where);
  Token name = line.next();
  if (!is_word(name)) {
    mistakes_.tell(tag::bad_directive, where, quoted(source_.text(where)) + " needs the name of a macro");
    return false;
  }
  return (macros_->find(name.text) != nullptr) == (word == "ifdef");
}

void Preprocessor::begin_group(std::string_view word, Lexer& line, Range where) {
  bool taken = holds(word, line, where);
  frames_.back().conditionals.push_back({where, taken});
  if (!taken) skip_groups();
}

// At #else or #elif, behind a group that was read.
void Preprocessor::other_group(std::string_view word, Range where) {
  Frame& f = frames_.back();
  if (f.conditionals.empty())
    return mistakes_.tell(tag::bad_directive, where, quoted("#" + std::string(word)) + " without #if");
  if (f.conditionals.size() == 1) f.guard = {};
  Conditional& c = f.conditionals.back();
  if (c.has_else)
    mistakes_.tell(tag::bad_directive, where, quoted("#" + std::string(word)) + " behind #else",
                   "the #if is in " + source_.place(c.where));
  c.has_else |= word == "else";
  skip_groups();
}

void Preprocessor::end_group(Range where) {
  Frame& f = frames_.back();
  if (f.conditionals.empty()) return mistakes_.tell(tag::bad_directive, where, "`#endif` without #if");
  f.conditionals.pop_back();
}

// Leaves out groups of the innermost #if, up to one that is to be read or to the #endif.
void Preprocessor::skip_groups() {
  int depth = 0;
  while (skip_to_directive()) {
    Frame& f = frames_.back();
    uint32_t begin = f.lexer.offset();
    std::string_view text = directive_line(f.lexer.rest());
    f.lexer.seek(begin + static_cast<uint32_t>(text.size()));
    f.directives_end = f.lexer.offset();
    std::string_view word = directive_name(text);
    depth += opens_group(word);
    if (word == "endif" && depth-- == 0) {
      f.conditionals.pop_back();
      return;
    }
    if (depth > 0 || !continues_group(word)) continue;
    Range where = {begin,
                   f.file->begin + static_cast<uint32_t>(word.data() + word.size() - f.file->text.data())};
    Conditional& c = f.conditionals.back();
    if (c.has_else) {
      mistakes_.tell(tag::bad_directive, where, quoted("#" + std::string(word)) + " behind #else",
                     "the #if is in " + source_.place(c.where));
      continue;
    }
    c.has_else |= word == "else";
    if (c.is_taken) continue;
    Lexer line(text.substr(1), arena_, mistakes_, begin + 1, Dialect::c);
    line.next();
    c.is_taken = word == "else" || holds(word, line, where);
    if (c.is_taken) return;
  }
}

// To the `#` of the next directive in text that is left out; false: there is none up to the end of the file.
bool Preprocessor::skip_to_directive() {
  Lexer& lexer = frames_.back().lexer;
  std::string_view text = lexer.rest();
  bool line_begins = false; // the end of the directive's own line comes first
  size_t i = 0;
  while (i < text.size()) {
    char c = text[i];
    std::string_view rest = text.substr(i);
    if (c == '#' && line_begins) break;
    size_t length = 1;
    if (rest.starts_with("/*"))
      length = comment_length(rest, i ? text[i - 1] : '\n');
    else if (rest.starts_with("//"))
      length = std::min(rest.find('\n'), rest.size());
    else if (c == '"' || c == '\'')
      length = literal_length(rest);
    if (!is_blank(c) && (length == 1 || c != '/')) line_begins = false;
    if (c == '\n') line_begins = true;
    i += length;
  }
  lexer.seek(lexer.offset() + static_cast<uint32_t>(std::min(i, text.size())));
  return i < text.size();
}

} // namespace lang
