// The C preprocessor, as part of the stream of tokens: it carries out the directives that stand between them
// and replaces the names of macros. The parser reads from it as from a lexer, tokens or raw text, of the file
// that is on top of a stack: the script, a script that it imports, or a header.
//
// Follows C17, 6.10, with GNU's `#include_next`, `#warning`, `, ## __VA_ARGS__` and named variadic
// parameters. preprocess.cc: the stream and its files. preprocess_directive.cc: directives and groups that
// are left out. preprocess_expand.cc: macros. preprocess_condition.cc: the expressions of #if.
#pragma once

#include "lang/c_macro.h"
#include "lang/include.h"
#include "lang/lexer.h"
#include "lang/parse.h"

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lang {

class Preprocessor {
public:
  Preprocessor(base::Source& source, base::Arena& arena, Mistakes& mistakes, const ParseOptions& options);
  // Parameters that were given, and that nothing has declared.
  void tell_unknown_parameters();

  // Tokens, and raw reading where no macro is being expanded; as in Lexer.
  Token next();
  void skip_blanks(); // also over directives, which are carried out
  std::string_view rest() const { return frames_.back().lexer.rest(); }
  uint32_t offset() const { return frames_.back().lexer.offset(); }
  Token string() { return frames_.back().lexer.string(); }
  // To an offset of the file on top, but not back over a directive; what is left of an expansion is dropped.
  void seek(uint32_t offset);
  // Whether the rest of an expansion is still to be read.
  bool is_expanding() const;
  bool is_macro(std::string_view name) { return macros_->find(name) != nullptr; }
  // From here on the macros of acu's own script are in force, or those of a user's beside it; both begin with what is defined from the start.
  enum Macros : uint8_t { own_macros, users_macros };
  void use_macros(Macros whose) { macros_ = &tables_[whose]; }
  // How the tokens of the file on top are read.
  void set_dialect(Dialect d) { frames_.back().lexer.dialect = d; }

  // Reads `file` from here on; at its end, all tokens are `end`, until `leave` goes back to the file before. A part of a line, such as an expression, has no
  // directives.
  void enter(SourceFile& file, Dialect dialect, bool has_directives = true);
  void leave();
  Files& files() { return files_; }
  SourceFile& file() { return *frames_.back().file; }
  // As an #include of that name; `where` is the place of mistakes.
  void include_header(const std::string& name, bool quoted, Range where, bool next = false);
  // Called at an #include in a script, to read the header as far as its declarations go. In a header, the
  // tokens of another one simply follow.
  std::function<void(SourceFile&)> read_header;

private:
  static constexpr size_t max_files = 64;       // one within the other
  static constexpr size_t max_headers = 10'000; // in all, each time it is read
  static constexpr size_t max_tokens = 100'000; // of one use of a macro
  static constexpr size_t max_all_tokens = 20'000'000;
  static constexpr size_t max_spelling = 1 << 16; // bytes that `#` or `##` make: each level may double them
  static constexpr int max_depth = 200;

  struct Conditional { // #if … #endif
    Range where;
    bool is_taken = false; // one of its groups was read
    bool has_else = false;
  };
  struct Frame {
    SourceFile* file;
    Lexer lexer;
    bool is_script;
    bool stops;     // left by leave()
    bool was_quiet; // the mistakes, before
    bool has_directives = true;
    std::vector<Conditional> conditionals;
    uint32_t directives_end = 0;
    // The macro of an #ifndef that encloses all so far, see SourceFile::guard.
    std::string_view guard;
    bool is_fresh = true; // nothing was read yet
  };
  // Tokens that are read before the file goes on: the expansion of a macro, or one token that was read too
  // far.
  struct Context {
    CMacro* macro = nullptr;
    std::vector<Token> tokens;
    size_t at = 0;
    bool is_barrier = false; // what is under it is not read: see isolate
  };

  // preprocess.cc
  Token pull();
  Token read();
  void push_file(SourceFile& file, Dialect dialect, bool stops);
  void pop_file();
  void end_file();
  bool at_directive();
  void pop_context();
  void pop_contexts(size_t left);

  // preprocess_directive.cc
  void directive();
  void define(Lexer& line, const Token& hash);
  void parameter(Lexer& line, const Token& directive);
  bool is_integer(Range where);
  bool parameters(Lexer& line, CMacro& macro);
  void include(Lexer& line, Range where, bool next);
  std::string included_name(Lexer& line, bool& quoted, Range& where);
  void missing(const std::string& name, bool quoted, Range where);
  void begin_group(std::string_view word, Lexer& line, Range where);
  void other_group(std::string_view word, Range where);
  void end_group(Range where);
  void skip_groups();
  bool skip_to_directive();
  bool holds(std::string_view word, Lexer& line, Range where);
  std::string_view directive_line(std::string_view from) const;
  void user_message(std::string_view word, std::string_view text, Range where);

  // preprocess_expand.cc
  using Tokens = std::vector<Token>;
  bool expand(Token& name);
  bool applies(const CMacro& macro, const Token& name);
  void read_body(CMacro& macro);
  void push(CMacro* macro, Tokens tokens, const Token& name, Range use);
  void push_back(const Token& token);
  Token special(const CMacro& macro, const Token& name);
  bool collect(const CMacro& macro, std::vector<Tokens>& arguments, Range& use);
  bool check_count(const CMacro& macro, std::vector<Tokens>& arguments, Range use);
  Tokens isolate(const Tokens& tokens);
  Tokens substitute(const CMacro& macro, std::span<const CMacro::Piece> pieces,
                    const std::vector<Tokens>& arguments, std::vector<std::optional<Tokens>>& expanded);
  Token stringify(const Tokens& tokens);
  bool is_too_long(const std::string& spelling);
  void paste(Tokens& onto, const Tokens& what, Range use);
  void overrun(std::string_view tag, std::string why);

  // preprocess_condition.cc
  struct Value {
    uint64_t bits = 0;
    bool is_unsigned = false;
  };
  bool condition(Lexer& line, Range where);
  Token condition_token();
  Token defined_operator(const Token& word);
  Token has_include(const Token& word);
  Value condition_expression(bool evaluated); // false: its value is not asked for, so it may divide by zero
  Value condition_binary(int lowest, bool evaluated);
  Value condition_unary(bool evaluated);
  Value apply(TokenKind op, Value a, Value b, bool evaluated, Range where);
  void condition_mistake(Range where, std::string message);
  base::Source& source_;
  base::Arena& arena_;
  Mistakes& mistakes_;
  Files files_;
  CMacroTable tables_[2]; // by Macros
  CMacroTable* macros_ = &tables_[own_macros];
  const ParseOptions& options_;
  std::vector<std::string_view> parameters_; // that were declared
  std::deque<Frame> frames_;
  std::vector<Context> contexts_;
  TokenKind previous_ = TokenKind::end; // the token before, to know names of members
  size_t headers_ = 0;                  // read so far
  size_t tokens_ = 0, all_tokens_ = 0;  // of the use at hand, and so far
  Range use_;                           // the name that is being expanded, in the text itself
  int isolated_ = 0;
  bool overrun_ = false; // too much: the use is given up
  uint64_t counter_ = 0;
  // The expression of an #if that is being read.
  Token ahead_of_condition_;
  Range condition_where_;
  bool condition_failed_ = false;
  int condition_depth_ = 0;
};

bool is_word(const Token& token);

} // namespace lang
