// The checker's state, shared by check*.cc. See check.h for what it gives and check.cc for its order of work.
#pragma once

#include "lang/check.h"
#include "probe/user_values.h"
#include "spec/diagnostics.h"

#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace format {
enum class BtfKind : uint8_t;
}
namespace spec {
struct NumberNames;
}

namespace lang {

bool may_be_negative(const Expr& e); // once its type is known
__int128 value_of(const Expr& e);    // of a constant integer
uint8_t bytes_of(unsigned bits);     // of the smallest integer type with so many bits
bool is_known(const Expr& e);        // a constant, or a tuple of such
std::string hint_for_floating(const type::Type* a, const type::Type* b = nullptr);
std::string hint_for_name(std::string_view unknown, const std::vector<std::string_view>& known);

// The block hands control to nothing behind it, on every path; of a checked block.
bool leaves(const Block& block);

class Checker {
public:
  Checker(Program& program, probe::Machine& machine, const CheckOptions& options,
          base::Diagnostics& diagnostics)
      : program_(program), types_(program.types), machine_(machine), options_(options),
        diagnostics_(diagnostics) {}
  Checked run();

private:
  // check.cc: the order of work
  void prepare_c_types();
  void match_probes();
  void keep_left_out();
  // `unmatched`: of patterns that match nothing, to be judged when all probes are known.
  struct Unmatched {
    Range where;
    probe::Mismatch why;
    bool is_pattern = false;
  };
  std::vector<probe::Event*> match(const ProbeSpec& spec, std::vector<Unmatched>& unmatched);
  void report_unmatched(const std::vector<Unmatched>& unmatched, bool others_match);
  std::vector<probe::Event*> match_all(const Probe& probe, std::vector<Unmatched>& unmatched);
  void round();
  void infer_types();
  void check_probe(Probe& probe);
  void check_function(Function& function);
  void refuse_recursion();
  void finish_maps();

  // split_probes.cc: blocks whose events see different things
  void split_by_arguments();
  std::vector<std::unique_ptr<Probe>> split(std::unique_ptr<Probe> p);
  std::vector<std::vector<probe::Event*>> group_events(Probe& p);

  // entry_values.cc: entry(e)
  void keep_entry_values();
  std::unique_ptr<Probe> entry_probe(const Probe& of, Map* kept, const std::vector<Expr*>& values);
  std::vector<Expr*> take_entry_values(Probe& p, Map* kept);

  // tail_calls.cc: returns of other functions, where one ends with a jump to them
  void follow_tail_calls();
  std::unique_ptr<Probe> tail_probe(const Probe& of, Map* map, const probe::Event& at, const std::vector<uint64_t>& offsets, int64_t value,
                                    std::optional<BinaryOp> op);

  // check_program.cc: values and types of the traced program
  probe::Event* user_event() const;
  const type::Type* program_type(std::string_view keyword, std::string_view name);
  std::optional<std::pair<const type::Type*, int64_t>> program_enumerator(std::string_view name);
  void offer_program_types();
  std::vector<symbol::Binary*> programs_here() const;
  const type::Type* use_value(const probe::UserValue& v, std::string_view what, Range where,
                              const probe::Recipe*& recipe, std::string hint = {});
  const type::Type* finish_value(FieldRef& e, const type::Type* t);
  const type::Type* check_parameter_value(FieldRef& e);
  bool check_parameters_whole(const Name& e);
  const type::Type* check_local(FieldRef& e);
  const type::Type* check_language_variable(FieldRef& e, bool is_argument);
  symbol::Binary* target_binary(const Expr& target);
  symbol::Binary* stopped_program(Range where);
  const type::Type* check_global(FieldRef& e);
  const type::Type* check_result(Name& e);
  const type::Type* check_kernel_result(const Name& e);
  const type::Type* check_user_address(Call& e);
  const type::Type* type_of_text(std::string_view text);
  static bool has_member(const type::Type* t, std::string_view path);
  void check_has_type(Call& e);
  void check_has_field(Call& e);
  void check_has_function(Call& e);
  void check_has_variable(Call& e);
  void answer_has(Call& e, format::BtfKind kind, const std::function<bool(symbol::Binary&)>& has);

  // check_speculation.cc: speculate, commit, discard, limit
  void at_exit_of_threads(const Probe& serves, Stmt* what);
  void forget_exited_threads();
  void check_speculate(Speculate& s);
  void check_limit(Limit& l);
  void refuse_in_speculation(const Call& e, const Function& f);
  const type::Type* check_decision(Call& e);
  void warn_of_idle_decisions();

  // request_context.cc: ctx NAME = …, carry, resume
  void keep_request_contexts();
  const type::Type* check_misplaced_carry(Expr& e);

  // infer.cc: what values have in common
  bool join(Inferred& into, const type::Type* type, const Expr* e, const Inferred* known = nullptr);
  bool merge(Inferred& into, const type::Type* type, const Expr* e, const Inferred* known);
  bool merge_parts(Inferred& into, const type::Type* type, const Expr* e, const Inferred* known);
  void note_change(const Inferred& of, bool is_other);
  void ask(Inferred& i);
  void grow(Inferred& i);
  void join_step(Inferred& into, UnaryOp op, const type::Type* type); // of `++` and `--`
  bool join_result(Inferred& into, BinaryOp op, const type::Type* type, const Expr* value);
  const type::Type* unify(const type::Type* a, const Expr* ea, const type::Type* b, const Expr* eb);
  void name_probes_by_text();
  uint32_t longest_probe_name();                // with its NUL
  const type::Type* integer_type(const IntegerNeed& need);
  const type::Type* settled(const Inferred& i);
  void warn_of_mixed_signs(Range where);

  // check_fit.cc: values and the types that are written for them
  bool fits_declared(const type::Type& wanted, const Expr& value);
  bool check_range(const type::Type& wanted, const Expr& value);

  // check_statement.cc
  void check(Block& block, bool new_scope = true);
  void check(Stmt& stmt);
  void check_let(Let& let);
  void check_assign(Assign& assign);
  void assign_variable(VariableRef& target, Expr& value, const type::Type* type);
  void assign_map(MapRef& target, Expr& value, const type::Type* type, std::optional<BinaryOp> compound);
  void check_if(Expr*& condition, Block* then, Block* otherwise);
  void learn_from_skipped(Block* block);
  bool find_unassigned();
  void check_loop(Block& body);
  void check_expression_statement(ExprStmt& s);
  void check_for_range(ForRange& f);
  void check_for_map(ForMap& loop);
  void check_sorted(ForMap& loop);
  void check_return(Return& stmt);
  void learn_pointer(Variable& v, const type::Type& value);
  Variable* declare(Variable*& slot, std::string_view name, Range where, uint32_t expansion = 0);
  Variable* lookup(std::string_view name, uint32_t expansion);
  void use(Variable& v);
  void start_at_zero(const VariableRef& e, const Expr* added);

  // check_expression.cc: each sets e.type and gives it back; never nullptr (none() after a mistake)
  const type::Type* check(Expr& e);
  const type::Type* check_value(Expr& e); // as a value: aggregations become numbers, void is a mistake
  void refuse_without_value(const Expr& e);
  const type::Type* check_for_type(Expr& e);
  const type::Type* check_truth(Expr*& e);
  bool check_condition(Expr*& e);
  bool check_integer(Expr& e, std::string_view what);
  std::optional<std::pair<const type::Type*, int64_t>> enumerator(std::string_view name);
  const type::Type* check_name(Name& e);
  const type::Type* check_argument_name(Name& e, std::string_view name);
  const type::Type* check_variable(VariableRef& e);
  void use_map(MapRef& e);
  const type::Type* check_map(MapRef& e, bool written);
  void check_key(MapRef& e);
  void check_key(Map& map, Expr& key);
  const type::Type* check_positional(Positional& e);
  const type::Type* check_unary(Unary& e);
  const type::Type* check_increment(Unary& e);
  const type::Type* check_binary(Binary& e);
  const type::Type* check_comparison(Binary& e, const type::Type* l, const type::Type* r);
  const type::Type* check_arithmetic(Binary& e, const type::Type* l, const type::Type* r);
  const type::Type* common_in_memory(const Binary& e);
  const type::Type* check_choice(Ternary& e);
  const type::Type* choice_type(const Expr& choice, const type::Type* a, const Expr* ea, const type::Type* b, const Expr* eb);
  const type::Type* check_sides(Expr& e, Expr* condition, Expr* then, Expr* otherwise);
  const type::Type* check_tuple(Tuple& e);
  const type::Type* check_block(Block& block);
  const type::Type* check_block_expression(BlockExpr& e);
  void set_integer(Expr& e, int64_t value);
  const type::Type* set_literal(Expr& e, int64_t value, bool is_signed);
  void set_text(Expr& e, std::string_view value);
  const type::Type* literal(Expr& e, std::string_view text); // the type of what is this text

  // check_constants.cc
  void fold(Unary& e);
  void fold(Binary& e);
  const type::Type* fold_literal(Unary& e);
  const type::Type* fold_literals(Binary& e);
  const type::Type* set_number(Expr& e, __int128 n);

  // check_members.cc
  type::Space space_of_numbers() const;
  void learn_space(type::Space& known, const type::Type& given, Range where);
  void settle_spaces(bool at_start);
  const type::Type* in_learned_space(const type::Type* t, type::Space space);
  const type::Type* check_arguments_field(FieldRef& e);
  const type::Type* check_arguments(Name& e);
  void read_argument(std::string_view name);
  const type::Type* completed(const type::Type* t);
  [[gnu::cold]] void unknown_member(const type::Type& of, std::string_view name, Range where);
  void take_element(Expr& e, const Expr& tuple, std::string_view name);
  [[gnu::cold]] const type::Type* unknown_key(const FieldRef& e);
  const type::Type* check_field(FieldRef& e);
  const type::Type* check_part(const type::Type* t, type::Space space);
  const type::Type* check_index(Index& e);
  const type::Type* check_pointee(const Expr& e, const type::Type* pointer, std::string_view what);
  const type::Type* address_in_memory(const Expr& e);
  const type::Type* check_address(Unary& e);
  const type::Type* check_offset_of(OffsetOf& e);
  const type::Type* check_container_of(Call& e);
  void name_in_sizeof(SizeOf& e);
  const type::Type* check_cast(Cast& e);
  const type::Type* fold_cast(Cast& e, const type::Type* to);

  // check_types.cc
  const type::Type* resolve(TypeName& name);
  const type::Type* array_of(const type::Type& element, const TypeSuffix& suffix, bool is_name);
  const type::Type* base_type(const TypeName& name);
  std::string type_hint(const TypeName& name);

  // check_calls.cc
  const type::Type* check_call(Call& e);
  const type::Type* check_user_call(Call& e, Function& f);
  const spec::Builtin* builtin_named(std::string_view name, Range where, bool called);
  bool check_parameters(Call& e, const spec::Builtin& row);
  bool check_parameter(Call& e, Expr& argument, spec::Takes takes);
  const type::Type* declared_type(const spec::Builtin& row);
  const type::Type* builtin_type(Expr& e, const spec::Builtin& row);

  // check_builtins.cc: the checks of builtins, a row for each; a check is called when the parameters are as spec/builtins.h
  // has them.
  struct BuiltinCheck {
    std::string_view name;
    const type::Type* (*result)(Checker&, Expr&) = nullptr;     // the type of its value; nullptr: as spec/builtins.h has it
    const type::Type* (*whole)(Checker&, Call&) = nullptr; // of a call whose parameters differ from those; nullptr: they don't
  };
  struct Builtins;
  const type::Type* special_type(Expr& e, const spec::Builtin& row);
  const type::Type* check_whole(Call& e, const spec::Builtin& row);

  // check_stack.cc, check_map_calls.cc, check_output.cc, check_aggregation.cc
  const type::Type* check_stack(type::Kind kind, List<Expr*> arguments);
  bool names_map(const MapRef& e);
  const type::Type* check_delete(Call& e);
  const type::Type* check_has_key(Call& e);
  const type::Type* check_find(Call& e);
  const type::Type* check_len(Call& e);
  const type::Type* check_percentile(Call& e); // check_percentile.cc
  const type::Type* check_match(Call& e);      // check_match.cc
  void check_is_scalar(Call& e);
  const type::Type* check_print(Call& e);
  const type::Type* check_format(Call& e);
  const type::Type* check_hist(Call& e);
  const type::Type* check_lhist(Call& e);
  const type::Type* check_series(Call& e);

  // check_compile_time.cc
  const type::Type* check_getopt(Call& e);
  const type::Type* check_cgroup_id(Call& e);
  const type::Type* check_in_cgroup(Call& e);
  void ask_for_groups(spec::GroupSet set);
  const type::Type* check_config(Expr& e);
  const type::Type* check_type_text(TypeText& e);
  const type::Type* check_comptime(Comptime& e);
  bool decide(Comptime& e);
  void check_static_assert(Call& e);
  void check_fail(Call& e);

  // check_text.cc: text and bytes
  Expr* in_call(std::string_view builtin, Expr& e, Expr* more = nullptr);
  Expr* as_text(Expr& e);
  void compare_address_bytes(Binary& e);
  bool check_text_parameter(Call& e, Expr*& argument);
  const type::Type* check_str_call(Call& e);
  const type::Type* cut_text(Expr& e, std::string_view value, uint64_t length, bool marks);
  const type::Type* check_str(Call& e);
  const type::Type* check_buf(Call& e);
  const type::Type* check_str_concat(Call& e);
  const type::Type* check_substr(Call& e);
  const type::Type* check_strcap(Call& e);
  void check_assert_str(Call& e);
  const type::Type* check_strncmp(Call& e);
  const type::Type* check_memcmp(Call& e);

  // check_names.cc
  const type::Type* check_number_name(Call& e, const spec::NumberNames& names);
  const type::Type* check_ntop(Call& e);
  const type::Type* check_pton(Call& e);
  const type::Type* check_macaddr(Call& e);

  // check_map.cc
  // Something whose use the configuration key `unstable_…` allows, warns of or forbids.
  void use_unstable(std::string_view key, Range where, std::string_view what);
  // A mistake between two places of the script.
  [[gnu::cold]] void conflict(std::string_view tag, Range where, std::string message, std::string hint, Range other,
                std::string note);
  void check_storage(Map& map);
  void finish_map(Map& map);

  // check_context.cc: the event, tasks, the kernel
  bool require(uint16_t ability, std::string_view name, Range where);
  bool check_place(const Expr& e, const spec::Builtin& row);
  const type::Type* check_argument_number(Name& e);
  const type::Type* check_marked_argument(Name& e, const probe::Event& event, const type::Field& as);
  const type::Type* context_type();
  bool has_function_name() const;
  bool mixes_functions_with_symbols() const;
  const type::Type* function_name_type(Expr& e);
  bool is_pointer_to(const type::Type* t, std::string_view name) const;
  void check_task(Expr& argument, std::string_view name);
  static bool is_vouched(const Expr& e);
  void check_vouched(const Expr& e, std::string_view name);
  void check_signal(Expr& argument);
  static std::optional<int64_t> signal_number(std::string_view name);
  const type::Type* check_path(Call& e);
  const type::Type* check_write_user(Call& e);
  const type::Type* check_cpu_variable(Call& e);
  uint32_t find_kfunc(std::string_view name);
  void check_kfunc_exist(Call& e);
  void check_kfunc_allowed(Call& e);
  const type::Type* check_probe_name(Expr& e);
  const type::Type* check_probe_type(Expr& e);
  const type::Type* check_current_task(Expr& e);
  const type::Type* check_without_member(Expr& e, std::string_view name);
  const type::Type* check_misplaced_entry(Expr& e);
  const type::Type* check_namespace(Expr& e);
  const type::Type* check_register(Call& e);
  const type::Type* check_socket_cookie(Call& e);
  const type::Type* check_skboutput(Call& e);

  // Whether mistakes are told in this round. Types that are not settled yet give some that are none.
  bool tells() {
    kept_silent_ |= !report_;
    return report_;
  }
  [[gnu::cold]] void error(std::string_view tag, Range where, std::string message, std::string hint = {});
  [[gnu::cold]] void warning(std::string_view tag, Range where, std::string message, std::string hint = {});
  [[gnu::cold]] const type::Type* mistake(std::string_view tag, Range where, std::string message, std::string hint = {});
  std::string text(const type::Type* t) const { return type::to_string(*t); }

  Program& program_;
  type::Table& types_;
  probe::Machine& machine_;
  const CheckOptions& options_;
  base::Diagnostics& diagnostics_;
  std::vector<NamedParameter> parameters_;

  std::vector<std::string_view> told_unstable_; // keys that were told of
  std::set<uint64_t> told_parameters_;          // that were not given
  bool told_old_delete_ = false;                // once is enough: old scripts are full of it
  bool blocks_are_missing_ = false;             // a probe was not found: its block is not checked
  std::optional<Unmatched> ignored_;            // the first missing probe that the script allows
  bool report_ = false;        // the last round: mistakes are told
  bool kept_silent_ = false;   // this round would have told something
  bool changed_ = false;       // this round learned a type after it was asked for
  bool learned_ = false;       // this round learned a type
  bool guessed_ = false;       // this round asked for a type that was unknown
  bool decides_ = false;       // this round decides which branches of `comptime` are taken
  bool waits_ = false;         // this round left some of them alone
  std::optional<bool> function_is_symbol_; // `func` of the kernel is an address, as of ksym(): once asked for
  uint32_t longest_probe_name_ = 0; // once asked for
  bool probe_as_text_ = false; // `probe` of many events is text, not a number that stands for it
  std::set<Map*> unassigned_; // maps that are used, and assigned only where nothing is reached: in one round
  std::set<Variable*> never_given_; // `let $x;`, which is read and has no value yet
  Probe* probe_ = nullptr;
  Function* function_ = nullptr;
  std::vector<std::vector<Variable*>> scopes_;
  uint32_t loop_depth_ = 0; // loops whose bodies are called back
  uint32_t unroll_depth_ = 0;
  const BlockExpr* macro_use_ = nullptr; // the outermost use of a macro that is being checked
  std::set<std::tuple<std::string_view, uint32_t, uint32_t>> told_; // in blocks of user probes: tag and place
  std::vector<symbol::Binary*> programs_; // that the script probes
  bool all_of_programs_ = false;          // it probes nothing else
  uint32_t entry_maps_ = 0; // made for entry()
  unsigned tail_maps_ = 0;
  // old_scripts.cc: variables that are seen in the whole probe (CheckOptions::accepts_old_scripts)
  bool widen(const VariableRef& e);
  void declare_widened();
  std::map<Probe*, std::set<std::string_view>> widened_, assigned_; // by probe: to be declared, assigned in some block

  const Speculate* speculation_ = nullptr; // that is being checked
  bool speculates_by_thread_ = false, speculates_by_key_ = false;
  std::map<uint32_t, const Call*> decisions_; // commit() and discard() of the script, by location

  bool wants_type_only_ = false; // of an operand that is not evaluated
  bool wants_aggregation_ = false; // the value of a map assignment is being checked
  bool has_mixed_signs_ = false;   // a uint64 has met a number that may be negative, of which nothing was said yet

  std::vector<std::unique_ptr<Probe>> left_out_;         // blocks without events: they tell the types of maps that nothing else assigns
  std::vector<std::unique_ptr<probe::Event>> stand_ins_; // for those
  std::set<const Map*> only_left_out_;                   // maps that are assigned only in such blocks, or where nothing is reached, and their type is not known
};

} // namespace lang
