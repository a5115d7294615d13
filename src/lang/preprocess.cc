#include "lang/preprocess.h"

#include "spec/diagnostics.h"

#include <algorithm>

namespace lang {

namespace tag = spec::tag;

bool is_word(const Token& token) {
  return token.kind == TokenKind::identifier || token.kind == TokenKind::keyword;
}

Preprocessor::Preprocessor(base::Source& source, base::Arena& arena, Mistakes& mistakes, const ParseOptions& options)
    : source_(source), arena_(arena), mistakes_(mistakes), files_(source, arena, options.include_dirs),
      tables_{{arena, options.host ? *options.host : host::this_host()}, {arena, options.host ? *options.host : host::this_host()}}, options_(options) {
  push_file(*files_.script(), Dialect::script, true);
}

void Preprocessor::push_file(SourceFile& file, Dialect dialect, bool stops) {
  frames_.push_back({.file = &file,
                     .lexer = Lexer(file.text, arena_, mistakes_, file.begin, dialect),
                     .is_script = dialect == Dialect::script,
                     .stops = stops,
                     .was_quiet = mistakes_.quiet});
  mistakes_.quiet |= file.is_system;
}

void Preprocessor::pop_file() {
  Frame& f = frames_.back();
  mistakes_.quiet = f.was_quiet;
  frames_.pop_back();
}

void Preprocessor::enter(SourceFile& file, Dialect dialect, bool has_directives) {
  push_file(file, dialect, true);
  frames_.back().has_directives = has_directives;
}

void Preprocessor::leave() {
  pop_contexts(0);
  while (!frames_.back().stops) pop_file();
  pop_file();
}

// At the end of the file on top: its groups must be closed.
void Preprocessor::end_file() {
  Frame& f = frames_.back();
  for (const Conditional& c : f.conditionals)
    mistakes_.tell(tag::bad_directive, c.where, "`" + std::string(source_.text(c.where)) + "` has no #endif");
  f.conditionals.clear();
  if (!f.guard.empty()) f.file->guard = f.guard;
}

// Whether the next character is the `#` of a directive: only blanks and comments stand before it in its line.
bool Preprocessor::at_directive() {
  const Lexer& lexer = frames_.back().lexer;
  if (!lexer.rest().starts_with('#')) return false;
  std::string_view before = frames_.back().file->text;
  before = before.substr(0, before.size() - lexer.rest().size());
  while (!before.empty() && before.back() != '\n') {
    size_t comment = before.ends_with("*/") ? before.rfind("/*", before.size() - 3) : before.npos;
    if (comment != before.npos)
      before = before.substr(0, comment);
    else if (before.back() == ' ' || (before.back() >= '\t' && before.back() <= '\r'))
      before.remove_suffix(1);
    else
      return before == "\xEF\xBB\xBF";
  }
  return true;
}

void Preprocessor::skip_blanks() {
  for (;;) {
    frames_.back().lexer.skip_blanks();
    if (!at_directive()) break;
    directive();
  }
  if (rest().empty()) end_file();
}

bool Preprocessor::is_expanding() const {
  return std::any_of(contexts_.begin(), contexts_.end(),
                     [](const Context& c) { return c.at < c.tokens.size(); });
}

void Preprocessor::seek(uint32_t offset) {
  pop_contexts(0);
  Frame& f = frames_.back();
  if (offset < f.file->begin || offset > f.file->begin + f.file->text.size()) return;
  f.lexer.seek(std::max(offset, f.directives_end));
}

// The next token of the file on top, or of the one that included it.
Token Preprocessor::read() {
  for (;;) {
    Frame& f = frames_.back();
    uint32_t before = f.lexer.offset();
    f.lexer.skip_blanks();
    if (at_directive()) {
      directive();
      continue;
    }
    if (f.lexer.rest().empty()) {
      end_file();
      if (f.stops) return f.lexer.next();
      pop_file();
      continue;
    }
    f.is_fresh = false;
    if (f.conditionals.empty()) f.guard = {};
    bool spaced = f.lexer.offset() != before;
    Token t = f.lexer.next();
    t.spaced |= spaced;
    return t;
  }
}

// The next token as it stands: of an expansion, else of the file.
Token Preprocessor::pull() {
  while (!contexts_.empty()) {
    Context& c = contexts_.back();
    if (overrun_ || (c.at == c.tokens.size() && c.is_barrier)) return {};
    if (c.at < c.tokens.size()) return c.tokens[c.at++];
    pop_context();
  }
  return read();
}

void Preprocessor::pop_context() {
  if (contexts_.back().macro) contexts_.back().macro->is_busy = false;
  contexts_.pop_back();
}

void Preprocessor::pop_contexts(size_t left) {
  while (contexts_.size() > left) pop_context();
}

Token Preprocessor::next() {
  for (;;) {
    if (overrun_ && isolated_ == 0) { // given up: the text goes on behind the use
      pop_contexts(0);
      overrun_ = false;
    }
    if (overrun_) return {};
    if (contexts_.empty()) tokens_ = 0;
    Token t = pull();
    if (is_word(t) && !t.painted && expand(t)) continue;
    if (isolated_ == 0) previous_ = t.kind;
    return t;
  }
}

} // namespace lang
