// The state of the translation, shared by lower*.cc. D's types are followed as far as they decide what is computed: numbers have a size and
// a sign (values are computed with 64 bits, and cut where they are stored or printed, as DTrace does); of what comes from the kernel the
// checker knows the type.
#pragma once

#include "dlang/error_tags.h"
#include "dlang/format.h"
#include "dlang/lower.h"
#include "dlang/options.h"
#include "dlang/parse.h"
#include "dlang/plan.h"
#include "dlang/providers.h"
#include "dlang/rate.h"
#include "dlang/script.h"
#include "lang/tree_maker.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace lang {
struct CType;
}

namespace dlang {

struct Type {
  enum Kind : uint8_t {
    unknown, // the checker's
    number,  // size, is_signed
    text,
    pointer,    // to a number of `size` bytes, or (0) to something the checker knows
    other,      // stacks, symbols, buffers, addresses: printed and used as keys
    translated, // what a translator describes: it only has members
  } kind = unknown;
  uint8_t size = 0;
  bool is_signed = true;
  std::string_view translator = {};
  uint32_t translation = 0; // of a translator of the script: from 1
  SymbolForm symbol = SymbolForm::none; // of other: an address whose name is printed
  bool is_number() const { return kind == number; }
};

inline constexpr Type int32_type = {Type::number, 4, true}, int64_type = {Type::number, 8, true}, uint64_type = {Type::number, 8, false},
                      uint32_type = {Type::number, 4, false}, text_type = {Type::text};

struct Value {
  lang::Expr* e = nullptr;
  Type type;
};

// What strtok() has left of its text: a variable of the clauses of a probe, whose name no script can have.
inline constexpr std::string_view token_rest = "this->strtok()";

// A variable of the script, or a part of one: `x`, `self->a[k]`, `calls[pid].total`.
struct Part {
  std::string name; // "x", "self->a", "calls.total"
  const Node* root = nullptr;
  std::vector<Node*> keys = {};
  const TypeName* type = nullptr; // as declared
  size_t taken = 0;               // dimensions of an array that have their index
  bool is_associative = false;    // declared so, and without its keys
  bool is_number_of_union = false, in_union = false;
  unsigned bits = 0;              // of a bit-field
};

// What the names of a probe mean in its clauses.
enum class ContextKind : uint8_t { special, error, syscall_entry, syscall_return, profile, tick, function_entry, function_return, usdt, tracepoint, raw_tracepoint, fixed };

struct Context {
  ContextKind kind = ContextKind::special;
  std::string_view translators = {};      // of args[], as FixedProbe has them
  std::string provider, module, function, name; // of the probe; the function may be a pattern
  bool varies = false;                    // the function is known when the probe runs
};

// Probes that run the same clauses.
struct Group {
  uint32_t id = 0;
  Context context;
  std::vector<std::string> places;   // acu's probes
  std::vector<int> calls;            // system calls; empty: all
  std::string condition;             // a macro, or empty
  std::string process;               // a number or `cpid`; empty: all processes
  Range where;
  std::vector<const Clause*> clauses;
};

// A variable of the script.
struct Variable {
  Type type;
  bool is_typed = false;   // declared, or assigned before
  bool has_value = false;  // it is declared or assigned somewhere
  Range where;
  lang::Map* map = nullptr;
  bool is_array = false;
  std::set<uint32_t> used, assigned; // clause-local: the groups
};

class Lowering {
public:
  Lowering(const base::Source& source, const TranslateOptions& options, base::Diagnostics& diagnostics);
  Translated run();

private:
  // lower.cc
  void apply(const Setting& setting);
  std::optional<ScriptOption> option_of(const std::string& name, Range where);
  void make_macros();
  void collect_variables();
  void note_uses(const Node& n, uint32_t group, bool is_target);
  void enter(const Group& group);
  void learn_types();
  void emit_group(const Group& group);
  std::unique_ptr<lang::Probe> probe_at(const std::vector<std::string>& places, Range where);
  lang::Block* group_body(const Group& group);
  std::vector<lang::Stmt*> clause_statements(const Clause& clause);
  lang::Expr* condition_of(const Group& group);
  lang::Expr* calls_condition(const Group& group);

  // lower_probes.cc
  void place_clause(const Clause& clause);
  void place(const Description& d, const Clause& clause);
  bool place_fixed(const Description& d, const Clause& clause);
  void place_timer(const Description& d, const Clause& clause);
  void place_syscall(const Description& d);
  void add_syscalls(const Clause& clause);
  void place_function(const Description& d, const Clause& clause);
  void place_code(const Description& d, const Clause& clause);
  void place_pid(const Description& d, std::string_view process, const Clause& clause);
  void place_usdt(const Description& d, std::string_view name, std::string_view process, const Clause& clause);
  void place_tracepoint(const Description& d, const Clause& clause);
  void place_raw_tracepoint(const Description& d, const Clause& clause);
  void unknown_provider(const Description& d);
  void no_probe(std::string_view tag, const Description& d, std::string message, std::string hint);
  std::vector<std::string> files_of(const Description& d, std::string_view process);
  void add(Group group, const Clause& clause);

  // lower_expression.cc
  Value lower(const Node& n);
  lang::Expr* number(const Node& n) { return lower(n).e; }
  Value lower_integer(const Node& n);
  Value lower_unary(const Node& n);
  Value lower_binary(const Node& n);
  Value lower_ternary(const Node& n);
  Value lower_increment(const Node& n);
  Value lower_assignment_value(const Node& n);
  Value lower_cast(const Node& n);
  Value lower_size(const Node& n);
  lang::Expr* size_of(const TypeName& of, Range where);
  Value lower_index(const Node& n);
  Value lower_member(const Node& n);
  lang::Expr* condition(const Node& n, std::string_view tag = d_tag::op_scalar);
  lang::Expr* as_sign(Value v, bool is_signed);
  lang::Expr* cast(lang::Expr* e, const Type& to);
  lang::Expr* coerce(const Value& v, const Type& to);
  lang::Expr* divide(lang::BinaryOp op, Value a, Value b, bool is_signed, Range where);
  static Type type_of(const TypeName& t);
  lang::TypeName* type_name(std::string_view name, Range where, int pointers = 0, std::string_view keyword = {});
  std::optional<int64_t> constant(const Node& n) const { return constant_of(script_, n); }

  // lower_types.cc
  void define_types();
  const lang::CType* c_type(const TypeName& t);
  const Declaration* declaration_of(const std::string& name) const;
  std::optional<Part> place_of(const Node& n, size_t bindings = ~size_t{0}) const;
  bool is_whole(const Part& p) const;
  static bool is_allocation(const Node& value);
  void note_scratch();
  Node* node_of(NodeKind kind, Range where, std::vector<Node*> parts);
  Value fit(Value v, const Part& p);
  lang::Expr* stored_in_union(lang::Expr* old, lang::Expr* value, const Type& member);
  const Node* member_node(const Node& of, const StructMember& m);
  void assign_whole(const Node& n, const Part& target, std::vector<lang::Stmt*>& into);
  const Node* bound_to(std::string_view name) const;
  Value lower_translation(const Node& n);
  Value member_of_translation(const Type& t, const Node& n);
  Value lower_bound(const std::vector<std::pair<std::string, const Node*>>& names, const Node& value, Range where);

  // lower_names.cc
  Value lower_name(const Node& n);
  Value lower_argument(size_t index, Range where);
  Value lower_args(size_t index, const Node& n);
  std::optional<Member> single_value(size_t index) const;
  Value probe_part(std::string_view part, Range where);
  Value member_value(const Member& m, Range where, const std::vector<lang::Expr*>& of = {});
  Value lower_caller(bool is_user, const Node& n);
  Value unknown_name(const Node& n);
  lang::Expr* expand(std::string_view macro, const std::vector<lang::Expr*>& arguments, Range where);

  // lower_variables.cc
  Variable* variable_of(const Node& n);
  lang::Expr* target_of(const Node& n, Variable& v);
  lang::Expr* key_of(const std::vector<Node*>& keys, size_t first, bool by_thread, Range where, std::vector<KeyPart>* as = nullptr);
  Value lower_variable(const Node& n);
  void assign(const Node& n, std::vector<lang::Stmt*>& into);
  void increment(const Node& n, std::vector<lang::Stmt*>& into);
  bool end_text(const Node& n, std::vector<lang::Stmt*>& into);
  void fill_scratch(const Node& n, std::vector<lang::Stmt*>& into);
  Node compound_of(const Node& increment);
  bool deletes(const Node& value, const Variable& v) const;
  // Whether each group that uses it assigns it, too: then nothing comes from another one.
  static bool is_local(const Variable& v) { return !v.is_array && std::includes(v.assigned.begin(), v.assigned.end(), v.used.begin(), v.used.end()); }

  // lower_calls.cc
  Value lower_call(const Node& n);
  Value lower_text_call(const Node& n);
  Value lower_substr(const Node& n);
  static SymbolForm symbol_form(std::string_view function);
  Value symbol_of(lang::Expr* address, bool is_kernel, SymbolForm form, Range where);
  Value lower_number_text(const Node& n);
  Value lower_token(const Node& n);
  Value lower_json(const Node& n);
  Value lower_memory_call(const Node& n);
  Value lower_stack(const Node& n);
  Value found_in(const Node& n, bool as_offset);
  bool has_arguments(const Node& n, size_t least, size_t most);

  // lower_aggregation.cc
  void aggregate(const Node& n, std::vector<lang::Stmt*>& into);
  size_t aggregation_of(const Node& target, const Node* call, std::string_view action = {});
  void add_to_buckets(const Node& target, const Node& call, size_t index, std::vector<lang::Stmt*>& into);
  void widen_keys(size_t aggregation, const std::vector<KeyPart>& parts);
  lang::Expr* bucket_of(const Aggregation& a, lang::Expr* value, Range where);
  lang::Expr* log_linear_bucket(const Aggregation& a, lang::Expr* value, Range where);
  bool read_shape(const Node& call, Aggregation& a);
  lang::MapRef* aggregation_map(const Aggregation& a, std::string_view suffix, lang::Expr* key, Range where);

  // lower_faults.cc
  std::vector<lang::Stmt*> fault_variables(Range where);
  lang::Stmt* note_action(size_t number, Range where);
  lang::Expr* in_action(lang::Expr* e);
  lang::Expr* never_failing(lang::Expr* e, Range where);
  lang::Stmt* attempt(const std::vector<lang::Stmt*>& first, const std::vector<lang::Stmt*>& second, Range where);
  lang::Stmt* guarded(const Clause& clause, const std::vector<lang::Stmt*>& body);
  std::vector<lang::Stmt*> fault_handler(Range where);
  Value fault_argument(size_t index, Range where);

  // lower_clause.cc
  std::vector<lang::Stmt*> lower_clause(const Clause& clause);
  void lower_action(const Node& n, std::vector<lang::Stmt*>& into);
  bool add_item(const Node& n);
  void add_printf(const Node& n, ItemKind kind);
  void add_print(const Node& n);
  void add_option(const Node& n);
  void add_printa(const Node& n);
  void add_aggregation_action(const Node& n, ItemKind kind);
  void add_argument(Value v);
  void add_checked(const Piece& piece, const Node& value);
  void keep_values(std::vector<lang::Stmt*>& into);
  void end_record(std::vector<lang::Stmt*>& into);
  lang::Expr* function_value(Range where);
  void lower_signal(const Node& n, std::vector<lang::Stmt*>& into);
  bool may_change(const Node& n);
  lang::Expr* numeric(const Node& n, std::string_view tag = d_tag::proto_arg);

  lang::TreeMaker at(Range where) const { return {*program_, where}; }
  lang::Expr* text(std::string_view value, Range where);
  lang::Expr* name(std::string_view name, Range where);
  lang::Expr* scratch(std::string_view name, Range where);
  lang::Stmt* let(std::string_view name, lang::Expr* value, Range where);
  lang::Stmt* set(lang::Expr* target, lang::Expr* value, Range where);
  lang::Expr* copy(const lang::Expr* e) const;
  lang::Map* map_named(const std::string& name, Range where);
  bool is_reported(Range where, std::string_view message) const;
  void error(std::string_view tag, Range where, std::string message, std::string hint = {});
  void warn(std::string_view tag, Range where, std::string message);
  Value wrong(Range where);
  static std::string with_underscores(std::string_view text);
  static bool is_builtin(std::string_view name);

  const base::Source& source_;
  const TranslateOptions& options_;
  base::Diagnostics& diagnostics_;
  Script script_;
  std::unique_ptr<lang::Program> program_;
  std::shared_ptr<Plan> plan_;
  std::unordered_map<std::string_view, lang::Macro*> macros_;
  std::map<std::string, lang::Map*> maps_;
  std::map<std::string, Variable> variables_; // "x", "self->x", "this->x"
  std::set<std::string> valued_; // variables that anything but 0 is assigned to
  std::map<std::string, size_t> key_counts_; // of variables, at their first use
  std::set<std::string> assigned_whole_; // those that are assigned without keys
  std::map<std::string, TypeName> allocated_; // variables that alloca() gives memory to: what they point to
  std::set<std::string> filled_;              // those of them that copyinto() or bcopy() fill
  std::vector<std::pair<std::string, const Node*>> bindings_; // parameters of translators and inline definitions
  std::vector<std::pair<const Translator*, const Node*>> translations_;
  std::map<std::string, size_t> aggregations_;
  std::vector<Group> groups_;
  std::vector<Group> calls_; // of the clause that is being placed: system calls, which make one group for each end
  const Group* group_ = nullptr; // being lowered
  const Group* faulting_ = nullptr; // whose fault the clauses of ERROR that are being lowered handle
  size_t action_number_ = 0;        // of the clause that is being lowered, from 1; 0: it has one only
  Record record_;                // of the clause that is being lowered, and the values it prints
  std::vector<lang::Expr*> printed_;
  bool has_record_ = false;
  std::map<std::string, std::string> text_ends_; // variables whose text the clause has cut, and where it ends: a scratch variable
  lang::Expr* speculation_ = nullptr;
  lang::Stmt* exit_ = nullptr;
  std::set<std::string> locals_; // this->x of the group, kept in scratch variables
  uint32_t expansions_ = 1 << 20, kept_ = 0;
  int depth_ = 0;
  int64_t strsize_ = 0; // of -x strsize; 0: not given
  size_t frames_ = 0, user_frames_ = 0; // of stacks without a depth; 0: all
  bool is_committed_ = false;           // the clause has a commit()
  bool allows_no_probes_ = false;       // -Z
  bool allows_unused_ = false;          // -x argref: words that the script does not use are no mistake
};

} // namespace dlang
