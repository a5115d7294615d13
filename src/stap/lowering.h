// The state of a conversion, shared by lower*.cc.
#pragma once

#include "lang/tree_maker.h"
#include "stap/helpers.h"
#include "stap/lower.h"
#include "stap/parse.h"
#include "stap/probes.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace stap {

enum class ContextKind : uint8_t { none, syscall, raw_syscall, kernel_function, user_function, user_line, mark, trace, tapset };

// What names mean in the blocks of a probe.
struct Context {
  ContextKind kind = ContextKind::none;
  bool is_return = false;
  std::string name; // of the system call, or of the row of the tapset's probe; "*": functions of a pattern
  bool operator==(const Context&) const = default;
};

// Variables of one function, or of one probe with the blocks of its aliases.
struct Scope {
  std::set<std::string> locals, parameters;
  std::map<std::string, Kind> kinds;
  const Function* function = nullptr;
  Context context;
};

// What runs at the same places.
struct Unit {
  Range where;
  std::vector<std::string> places; // acu's probes
  std::string program;             // the name that the process must have; empty: any
  const Node* process = nullptr;   // its number, or a parameter: a number or a name
  Scope scope;
  std::vector<const Statement*> bodies;
  const Node* condition = nullptr;
  int64_t order = 0; // of begin(N) and end(N)
  bool exits = false; // oneshot: the script ends behind it
};

// How a statistic is kept: a map for each operation.
struct Statistic {
  std::set<std::string> operations; // count, sum, min, max, avg, hist_log, hist_linear, squares, stats
  std::vector<const Node*> linear;  // low, high and width of hist_linear
};

struct Value {
  lang::Expr* e = nullptr;
  Kind kind = Kind::number;
};

// A part of what is printed: a format with its arguments, or a histogram.
struct Piece {
  std::string format;
  std::vector<lang::Expr*> arguments;
  lang::Expr* histogram = nullptr;
  bool has_numbers = false, has_symbols = false;
};

class Lowering {
public:
  Lowering(const base::Source& source, const std::vector<std::string>& words, base::Diagnostics& diagnostics);
  Converted run();

private:
  using Statements = std::vector<lang::Stmt*>;

  // lower.cc
  void make_macros();
  void collect_globals();
  void collect_units();
  void lower_functions();
  void lower_units();
  void lower_unit(const Unit& unit);
  void add_entry_probe(const Unit& unit, Statements& body);
  void finish_maps();
  std::vector<std::string> comments_above(Range where);
  uint32_t item_before(uint32_t at) const;
  std::string head();
  lang::Expr* expand(const std::string& macro, const std::vector<lang::Expr*>& arguments, Range where);
  lang::TreeMaker at(Range where) const { return {*program_, where}; }
  std::string_view keep(std::string_view text) { return program_->arena.copy(text); }
  void error(std::string_view tag, Range where, std::string message, std::string hint = {}) { diagnostics_.error(tag, where, std::move(message), std::move(hint)); }
  void remark(std::string text, Range where);
  lang::Map* map_named(const std::string& name, Range where);
  bool is_global(std::string_view name) const { return globals_.contains(std::string(name)); }
  std::string fresh(std::string_view name);
  std::string function_name(std::string_view name) const;
  lang::Expr* help(std::string_view helper, const std::vector<lang::Expr*>& arguments, Range where);
  std::string_view helper_name(std::string_view helper);
  void add_helpers();

  // lower_places.cc
  void add_units(const Probe& p, const Point& point, std::vector<const Statement*> before, std::vector<const Statement*> behind, std::vector<Unit>& to, int depth);
  bool place(const Point& p, Unit& u);
  bool place_simple(const Point& p, Unit& u);
  bool place_timer(const Point& p, Unit& u);
  bool place_syscall(const Point& p, Unit& u);
  bool place_kernel(const Point& p, Unit& u);
  bool place_process(const Point& p, Unit& u);
  bool place_process_event(const Point& p, Unit& u, const std::string& path);
  bool place_perf(const Point& p, Unit& u);
  bool place_tapset(const Point& p, Unit& u);
  bool refuse(const Point& p, std::string message, std::string hint);
  std::string words_of(const Point& p, const Component& c, std::string_view what);
  std::string function_pattern(const Point& p, const std::string& text);
  bool uses_context(const Unit& u) const;
  bool uses_arguments(const Unit& u) const;
  bool uses_result(const Unit& u) const;

  // signs.cc
  void find_signs();
  bool may_be_negative(const Node& n) const;

  // infer.cc
  void infer();
  bool infer_scope(Scope& scope, const std::vector<const Statement*>& bodies);
  void collect_locals(Scope& scope, const std::vector<const Statement*>& bodies);
  Kind kind_of(const Node& n, const Scope& scope) const;
  Kind kind_of_call(const Node& n, const Scope& scope) const;
  std::optional<size_t> variable_row(std::string_view name, const Context& context) const;

  // lower_expression.cc
  Value lower(const Node& n);
  lang::Expr* number(const Node& n); // of truth values: 0 or 1
  lang::Expr* condition(const Node& n) { return lower(n).e; }
  Value lower_binary(const Node& n);
  Value lower_index(const Node& n);
  Value lower_contained(const Node& n);
  bool is_defined(const Node& n);
  Value lower_operation(const Node& n);
  Value lower_entry(const Node& n);
  Value lower_cast(const Node& n);
  lang::Expr* keys_of(const std::vector<Node*>& parts, size_t from, size_t to, Range where);
  lang::Expr* as_number(const Value& v, Range where);
  lang::Expr* divide(const Node& left, const Node& right, bool is_remainder, Range where);
  lang::Expr* field(lang::Expr* of, std::string_view name, Range where);
  Value wrong(Range where) { return {at(where).number(0), Kind::number}; }
  lang::Expr* name(std::string_view text, Range where);
  lang::Expr* variable(std::string_view name, Range where);
  lang::Expr* text(std::string_view value, Range where);

  // lower_names.cc
  Value lower_name(const Node& n);
  Value lower_target(const Node& n);
  lang::Expr* signed_result(Range where);
  Value lower_argument(const Node& n);
  Value syscall_variable(const Node& n);
  Value unknown_name(const Node& n);

  // lower_calls.cc
  Value lower_call(const Node& n);
  Value lower_function_call(const Node& n, const Function& f);
  Value lower_numbered(const Node& n);
  Value lower_time_text(const Node& n);
  lang::Expr* text_value(const Node& n);
  lang::Expr* number_text(std::string_view conversion, lang::Expr* of);
  lang::Expr* bounded(lang::Expr* e);

  // lower_output.cc
  bool is_output(std::string_view name) const;
  void lower_output(const Node& n, Statements& to);
  std::vector<Piece> pieces_of_call(const Node& n);
  void add_text(const Node& n, std::vector<Piece>& to);
  void add_format(const Node& n, size_t format, std::vector<Piece>& to);
  void print_pieces(const std::vector<Piece>& pieces, std::string_view function, Range where, Statements& to);

  // lower_statement.cc
  lang::Block* block(const Statement* s);
  lang::Block* block_of(const Statements& all, Range where);
  void lower(const Statement& s, Statements& to);
  void lower_expression_statement(const Node& n, Statements& to);
  void lower_assign(const Node& n, Statements& to);
  void lower_while(const Statement& s, Statements& to);
  void lower_for(const Statement& s, Statements& to);
  void lower_each(const Statement& s, Statements& to);
  void lower_remove(const Statement& s, Statements& to);
  lang::Stmt* remove_all(lang::Map* map, Range where);
  void lower_if(const Statement& s, Statements& to);
  void lower_return(const Statement& s, Statements& to);
  lang::Stmt* assign(lang::Expr* target, lang::Expr* value, Range where);
  lang::Stmt* let(std::string_view name, lang::Expr* value, Range where);
  void declare_locals(lang::Block* b, const Scope& scope);
  void declare(lang::Block* b, const std::string& name, Kind kind);

  // lower_statistics.cc
  void collect_statistics(const Statement* s);
  void add_value(const Node& n, Statements& to);
  Value statistic_value(const Node& n);
  lang::MapRef* statistic_map(const Node& of, std::string_view operation);
  std::string statistic_name(const std::string& name, std::string_view operation) const;

  const base::Source& source_;
  const std::vector<std::string>& words_;
  base::Diagnostics& diagnostics_;
  Script script_;
  std::unique_ptr<lang::Program> program_;
  std::unique_ptr<base::Source> table_source_;
  std::unique_ptr<lang::Program> table_;
  std::map<std::string, const lang::Macro*> macros_;
  std::map<std::string, const Global*> globals_;
  std::map<std::string, Kind> global_kinds_, function_kinds_;
  std::map<std::string, std::vector<Kind>> key_kinds_; // of arrays
  std::map<std::string, Statistic> statistics_;
  std::set<std::string> sorted_, looped_; // arrays that are sorted by their values, and that foreach visits
  std::map<std::string, lang::Map*> maps_;
  std::map<const Function*, Scope> function_scopes_;
  std::set<std::string> read_, written_; // globals
  std::set<std::string> signed_;         // variables and arrays that may have values below 0, whatever their scope
  std::set<std::string> scope_names_;    // local variables of all scopes
  std::set<std::string> helped_;         // names of helpers that the script needs
  std::vector<Unit> units_;
  Scope* scope_ = nullptr;
  Statements* hoist_ = nullptr; // where assignments in the expression that is being lowered become statements; nullptr: nowhere
  std::vector<std::pair<std::string, lang::Expr*>> entries_; // of the unit that is being converted: names and values of @entry()
  size_t entry_count_ = 0;
  Range statement_; // that is being converted: where remarks are put
  std::set<std::string> fresh_;
  std::set<const Comment*> told_;
  std::set<const Remark*> told_remarks_;
  size_t remark_count_ = 0;
  int depth_ = 0;
};

// "x" of `x` and `x[…]`; nullptr: neither.
const Node* array_of(const Node& n);

} // namespace stap
