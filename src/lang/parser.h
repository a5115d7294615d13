// The parser's state, shared by parse_*.cc. One function per rule of the grammar; the rule stands above it.
//
// Mistakes: the first one in a statement is told and starts "panic": until `recover`, every token looks like
// the end of the text and further mistakes are kept quiet, so all functions return by themselves. They never
// return nullptr: where something is missing stands a placeholder. The parser then goes on with the next
// statement.
#pragma once

#include "lang/c_types.h"
#include "lang/lexer.h"
#include "lang/parse.h"
#include "lang/preprocess.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace lang {

struct CSpecifiers;
struct CDeclarator;

bool begins_operand(const Token& t); // behind a cast

class Parser {
public:
  Parser(base::Source& source, const ParseOptions& options, base::Diagnostics& diagnostics);
  std::unique_ptr<Program> run();

private:
  static constexpr int max_depth = 200;
  // Operators in one statement. `a + b + …` and `a.b.c…` make trees as deep as they are long, which later
  // stages walk recursively.
  static constexpr int max_operators = 1000;
  static constexpr size_t max_bytes = 16 << 20;

  // One more level of nesting, as long as the object lives.
  class Level {
  public:
    explicit Level(Parser& p);
    ~Level() { parser_.depth_--; }

  private:
    Parser& parser_;
  };

  // Between brackets of any kind a `/` always divides.
  class Bracket {
  public:
    explicit Bracket(Parser& p) : parser_(p), was_(std::exchange(p.in_predicate_, false)) {}
    ~Bracket() { parser_.in_predicate_ = was_; }

  private:
    Parser& parser_;
    bool was_;
  };

  // parse.cc: tokens and mistakes
  const Token& peek(size_t ahead = 0) {
    return !panic_ && !stopped_ && ahead_.size() > first_ + ahead ? ahead_[first_ + ahead]
                                                                  : read_ahead(ahead);
  }
  const Token& read_ahead(size_t ahead);
  Token take();
  bool at(TokenKind kind) { return peek().kind == kind; }
  bool at_word(std::string_view word, size_t ahead = 0);
  bool accept(TokenKind kind);
  bool accept_word(std::string_view word);
  Token expect(TokenKind kind, std::string_view what, std::string hint = {});
  void expect_word(std::string_view word);
  [[gnu::cold]] void unexpected(std::string_view expected, std::string hint = {});
  [[gnu::cold]] void error(std::string_view tag, Range where, std::string message, std::string hint = {});
  [[gnu::cold]] void panic(std::string_view tag, Range where, std::string message, std::string hint = {});
  void count_operator(Range where);
  void recover_statement();
  void skip_to_body();
  void skip_balanced();
  std::string shown(const Token& token) const;
  Range since(uint32_t begin) const { return {begin, last_end_ > begin ? last_end_ : begin}; }
  // Raw reading, between tokens that were looked at: the lexer stands at the first token that was not taken.
  void to_raw();

  // parse_program.cc
  bool is_text();
  void parse_items();
  void parse_item();
  void parse_c_item();
  void parse_config();
  void parse_map_declaration();
  Token size_parameter();
  void parse_function();
  Parameter parse_parameter();
  // '(' [ parameter { ',' parameter } [','] ] ')', of functions and macros; `parse_one` reads one.
  template<class Parse> void parse_parameters(Parse parse_one) {
    expect(TokenKind::left_paren, "`(`");
    while (!at(TokenKind::end) && !at(TokenKind::right_paren)) {
      parse_one();
      if (!at(TokenKind::right_paren)) expect(TokenKind::comma, "`,` or `)`");
    }
    expect(TokenKind::right_paren, "`)`");
  }
  void return_value(Block& body);

  // parse_macro.cc
  void parse_macro();
  MacroParameter parse_macro_parameter();
  void check_macro_body(const Macro& macro);
  Block* parse_inserted(const Insert& expression, const Macro& macro);
  bool is_macro_parameter(std::string_view name) const;

  Map* map_named(std::string_view name, Range where);

  // parse_files.cc: other files than the script
  struct Place { // what the parser is about in the file that it leaves for another one
    std::vector<Token> ahead;
    size_t first;
    uint32_t last_end;
    bool panic, in_predicate, stopped;
    int operators, expression_depth;
    const Macro* macro;
  };
  Place set_aside();
  void take_up(Place& place);
  void include_given_files();
  void read_header(SourceFile& file);
  void parse_import(uint32_t begin);
  void import_file(SourceFile& file, Range where);
  bool read_users(bool is_users);
  bool parse_macro_item(std::string_view word);
  void parse_expanded_item();

  // parse_probe.cc
  void parse_probe();
  ProbeSpec parse_spec();
  std::vector<ProbeSpec> parse_specs();
  std::vector<ProbeSpec> parse_inserted_places(const Insert& places, Expr*& predicate);
  Expr* parse_predicate();
  void parse_frame(std::vector<std::string>& parts);
  bool is_predicate(std::string_view provider, size_t part, std::string_view run) const;
  void positional_in_probe(std::vector<std::string>& into);

  // parse_statement.cc
  Block* parse_block(bool wants_value);
  Stmt* parse_statement();
  Stmt* parse_if();
  Stmt* parse_while();
  Stmt* parse_for();
  Stmt* parse_for_c(uint32_t begin);

  // parse_list.cc
  Stmt* make_list_loop(uint32_t begin, const Token& name, Call& list, Block* body);
  Expr* make_try(const Call& call);
  Stmt* parse_unroll();
  bool at_speculate();
  bool at_limit();
  bool at_context_value();
  Expr* parse_context_value();
  Stmt* parse_speculate();
  Stmt* parse_limit();
  Stmt* parse_leave();
  Stmt* parse_return();
  Stmt* parse_let();
  Stmt* parse_simple();
  Conditional* parse_conditional(bool wants_value);
  void end_statement(const Stmt& statement);
  Stmt* as_statement(Expr* e);
  Block* as_statements(Block* b);

  // parse_expression.cc
  Expr* parse_expression();
  Expr* parse_binary(int lowest);
  Expr* parse_unary();
  Expr* parse_postfix();
  Expr* parse_field(Expr* operand);
  Expr* parse_primary();
  Expr* parse_word();
  Expr* parse_name();
  const spec::Builtin* plain_builtin(std::string_view& name);
  Expr* parse_map();
  Expr* parse_call();
  Expr* parse_parenthesised();
  Expr* parse_tuple(uint32_t begin);
  Expr* parse_unary_operator(UnaryOp op);
  Expr* parse_cast();
  Expr* parse_comptime();
  static bool begins_unary(const Token& t);
  Expr* parse_sizeof();
  Expr* parse_typeinfo();
  Expr* parse_type_argument();
  Expr* parse_offsetof();
  void parse_member_path(OffsetOf& into);
  std::vector<Expr*> parse_container_of();
  std::vector<Expr*> parse_percentile();
  std::vector<Expr*> parse_list(TokenKind close);
  void join_strings(String& into);
  Expr* missing_expression();
  bool closes_predicate();

  // parse_c.cc: definitions of C
  void parse_c_declaration();
  void skip_c_declaration();
  void leave_c_declaration();
  CTag* parse_c_tag(bool& defines);
  List<CMember> parse_c_members();
  void parse_c_member(std::vector<CMember>& into);
  List<CEnumerator> parse_c_enumerators();
  CSpecifiers parse_c_specifiers();
  CDeclarator parse_c_declarator(const CType* base);
  const CType* parse_c_suffixes(const CType* base);
  CAttributes parse_c_attributes();
  bool parse_c_attribute(CAttributes& into);
  void add_c_alignment(CAttributes& into, const Expr* e);
  bool at_c_declarator();

  // parse_type.cc
  TypeName* parse_type();
  void parse_type_words(TypeName& into);
  bool at_type(size_t ahead, bool also_unknown);
  bool at_cast();
  bool is_value(std::string_view name) const;
  size_t after_type_name(size_t ahead);
  size_t after_suffixes(size_t ahead, bool& ends_in_star);
  bool is_scope(size_t ahead);
  std::string_view parse_cpp_name();

  template<class T> T* make(Range where) { return program_->arena.make<T>(where); }

  base::Source& source_;
  const ParseOptions& options_;
  std::unique_ptr<Program> program_;
  Mistakes mistakes_;
  Preprocessor input_;       // names of the tree are parts of the texts it reads, which lie in the arena
  std::vector<Token> ahead_; // read but not taken, from first_ on
  size_t first_ = 0;
  size_t taken_ = 0;      // tokens so far
  Token stop_;            // what peek gives in panic and at the end
  uint32_t last_end_ = 0; // end of the last token taken
  bool panic_ = false;
  bool stopped_ = false; // a mistake after which nothing more is read
  int depth_ = 0;
  int expression_depth_ = 0;
  int operators_ = 0;
  int c_braces_ = 0; // of definitions of C, open
  bool in_predicate_ = false;
  bool seen_config_ = false;
  const Macro* macro_ = nullptr; // whose body is read
  bool is_inserted_ = false; // its body comes from elsewhere, and may use maps
  bool is_users_ = false;    // what is read is a user's script beside acu's own
  std::unordered_set<const SourceFile*> imported_;
  size_t imports_end_ = 0; // where in the list of probes those of the file's next import go: before its own
  int import_depth_ = 0;
  std::unordered_map<std::string_view, Map*> maps_;
};

} // namespace lang
