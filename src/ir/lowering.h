// The state of lowering, shared by lower*.cc: the function being built, where variables live, and helpers
// that append instructions. lower.cc gives the order of work; each other file lowers one family.
#pragma once

#include "ir/lower.h"
#include "lang/countable.h"
#include "lang/walk.h"
#include "probe/attach.h"
#include "spec/diagnostics.h"

#include <functional>
#include <map>
#include <unordered_map>

namespace format {
enum class BtfKind : uint8_t;
}

namespace probe {
struct CpuVariable;
}
namespace spec {
struct NumberNames;
}

namespace ir {

using type::Kind;
using type::Type;

// Where bytes stand: base + offset in an address space. Context places have no base.
struct Place {
  Space space = Space::script;
  Operand base;
  int64_t offset = 0;
  bool is_free = false; // script space: through a pointer of the script's, which may point anywhere; task space: through one in memory,
                        // which may be NULL
  Place plus(int64_t n) const { return {space, base, offset + n, is_free}; }
};

class Lowering {
  friend struct RecipeTest;

public:
  Lowering(const lang::Program& source, probe::Machine& machine, const LowerOptions& options,
           base::Diagnostics& diagnostics)
      : source_(source), types_(const_cast<type::Table&>(source.types)), machine_(machine), options_(options),
        diagnostics_(diagnostics) {}
  Program run();

private:
  // lower.cc: program, probes, functions
  const Type* as_word(const Type* t);
  void lower_maps();
  void lower_function(const lang::Function& f);
  void lower_probe(const lang::Probe& p);
  void lower_bench(const lang::Probe& p);
  void lower_syscalls(const std::vector<const lang::Probe*>& probes, bool is_exit);
  void lower_syscall_body(const lang::Probe& p, Operand number);
  void skip_compatible_call();
  void find_compatible_mark();
  void lower_probe_body(const lang::Probe& p);
  void choose_events();
  void add_probe(const lang::Probe& p, uint32_t function, probe::Context context,
                 std::vector<uint32_t> events);
  uint32_t add_event(const probe::Event& e);
  uint32_t probe_name(std::string_view name);
  void mark_instructions();
  void mark_atomic(const std::vector<std::pair<uint32_t, Inst*>>& additions);

  // building (lower.cc)
  uint32_t begin_function(std::string name, Role role, uint32_t parameters, uint32_t frame);
  Function& function() { return program_.functions[function_]; }
  Reg fresh() { return function().registers++; }
  BlockId new_block();
  void go_to(uint32_t function, BlockId block); // what is appended next stands there
  void start(BlockId b) { go_to(function_, b); }
  bool ended() const; // the current block has its last instruction
  Inst& append(Inst i);
  void jump(BlockId to);
  void branch(Cond cond, Operand a, Operand b, BlockId yes, BlockId no);
  void give_back(Operand value);
  Operand emit(Op op, Operand a = {}, Operand b = {}, uint8_t size = 8);
  void assign(Reg to, Operand from);
  Operand set(Cond cond, Operand a, Operand b);
  uint32_t add_object(uint32_t size, std::string name);
  Operand object(uint32_t index, int64_t offset = 0);
  Place scratch_place(uint32_t size, std::string name); // a new object as a place
  Operand address(const Place& p);
  uint32_t site(Fault fault, std::string detail = {});
  void count(Fault fault, std::string detail = {});
  // Of a read that has failed: goes to where that is dealt with, or counts it and goes on with this.
  bool recovers(Fault why, const Place& from);
  static Operand number(int64_t n) { return Operand::number(n); }

  // lower_memory.cc: loads, stores, copies
  Operand load(const Place& p, const Type& t);
  Operand load_word(const Place& p, uint32_t size, bool is_signed);
  Operand load_field(const Place& p, const type::Field& f);
  Operand load_bits(const Place& p, uint32_t first, uint32_t bits, bool is_signed);
  void store(const Place& to, Operand value, uint32_t size);
  void copy(const Place& to, const Place& from, uint32_t size); // from any space; faults give zeroes
  void zero(const Place& to, uint32_t size);
  void put_text(const Place& to, std::string_view text, uint32_t size);
  void read_text(const Place& to, uint32_t size, Operand from, Space space, Operand limit, bool pad,
                 bool is_free = false); // see Place
  bool has_padding(const Type& t) const;
  void convert(const Place& to, const Type& as, const Place& from, const Type& t);
  Operand ask_memory(MemoryQuestion question, const lang::Expr& address);
  Operand is_valid(const lang::Call& c);

  // lower_thread_context.cc: the trace and the span that a thread works on
  void make_thread_context_map();
  void need(Operand n, BlockId none);
  Operand in_module(Operand base, Operand module, Operand offset, Operand entry_bytes, BlockId none);
  Operand thread_variable(Operand known, BlockId none);
  Operand digits_of(Operand four_bytes);
  void thread_context_into(bool is_span, const Place& to, const Type& as);

  // lower_expression.cc
  Operand scalar(const lang::Expr& e);
  Operand scalar_of(const lang::Expr& e); // without constants
  void into(const lang::Expr& e, const Place& to, const Type& as, bool pad = true);
  void move_cut_mark(const Place& to, const Type& from, const Type& as);
  void into_aggregate(const lang::Expr& e, const Place& to, const Type& as, bool pad);
  void put_elements(const lang::Tuple& e, const Place& to, const Type& as, bool pad, uint32_t size);
  void cast_into(const lang::Cast& e, const Place& to, const Type& as, bool pad);
  Place place(const lang::Expr& e);
  static Place pointee(Space space, Operand base, int64_t offset) {
    return {space, base, offset, space == Space::script};
  }
  Place pointee(const lang::Expr& pointer, int64_t offset);
  Place temporary(const lang::Expr& e, const Type& as);
  void condition(const lang::Expr& e, BlockId yes, BlockId no);
  Operand binary(const lang::Binary& e);
  Operand divide(lang::BinaryOp op, Operand a, Operand b);
  Operand compare(const lang::Binary& e);
  Operand combine(lang::BinaryOp op, Operand a, Operand b, bool is_signed);
  Operand number_of(Operand address, const type::Type& t);
  Operand to_calculate_with(Operand v, const type::Type& t);
  Operand unary(const lang::Unary& e);
  Operand increment(const lang::Unary& e);
  Operand cast(const lang::Cast& e);
  Operand by_control_flow(const lang::Expr& e); // &&, ||, ?:, if, as a number
  void run_for_effect(const lang::Expr& e);
  Place start_element(const Place& array, const Type& of, Operand index, uint32_t size, BlockId outside);
  Place index_place(const Place& array, const Type& of, Operand index, uint32_t size);
  Operand index_scalar(const lang::Index& x);
  void attempt(const lang::Attempt* of, const std::function<void()>& first, const std::function<void()>& second);
  void choose(const lang::Expr& e, const std::function<void(const lang::Expr*)>& with);
  Place args_place(std::string_view field);
  void arguments_into(const Place& to, const Type& as);
  Space pointer_space(const lang::Expr& e);
  bool is_followed(const lang::Expr& pointer);
  Operand narrow(Operand v, const Type& t);
  Operand whole_part(Operand bits, const Type& from, const Type& to);
  Place context_place(int64_t offset) { return {Space::context, {}, offset}; }
  // Where the stack of the registers in the context is.
  Space stack_space() const {
    return context_ == probe::Context::kernel_registers ? Space::kernel : Space::user;
  }
  Operand function_result(const Type& as);
  bool is_like_trampoline(const lang::Probe& p, const probe::Event& e);

  // lower_iterator.cc: probes that the kernel runs for one object after the other
  void begin_iterator(const probe::Event& event);
  void end_iterator();
  void need_object(Operand pointer);
  void print_text(std::string_view format, lang::List<lang::Expr*> values);
  void print_text(std::string_view format, Operand values, uint32_t bytes);

  // lower_recipe.cc: values of the traced program
  Operand run_steps(const std::vector<probe::Step>& steps);
  Operand recipe_step(const probe::Step& s, Operand a, Operand b);
  Operand recipe_division(probe::Step::Op op, Operand a, Operand b);
  Operand magnitude(Operand n);
  Operand task_word(std::string_view pointer, std::string_view of, std::string_view member);
  Place recipe_place(const probe::Recipe& r, const Type& t);
  Operand recipe_scalar(const probe::Recipe& r, const Type& t);
  Operand recipe_field(const probe::Recipe& r, const type::Field& f);
  const probe::Recipe* recipe_of(const lang::Expr& e);

  // lower_statement.cc
  void lower(const lang::Block& b);
  void lower(const lang::Stmt& s);
  void lower_assign(const lang::Assign& a);
  std::vector<const lang::Variable*> find_shared(const lang::Expr* condition,
                                                 std::initializer_list<const lang::Block*> blocks) const;
  void blur(const std::vector<const lang::Variable*>& variables);
  void lower_while(const lang::While& w);
  void lower_range(const lang::ForRange& f);
  void jump_in_circles(const lang::Block& body, const std::function<void(BlockId, BlockId)>& condition,
                       const std::function<void()>& begin, const std::function<void()>& step);
  void lower_for_map(const lang::ForMap& f);

  // lower_sorted.cc
  struct Heap;
  void lower_for_sorted(const lang::ForMap& f);
  void collect_largest(const Heap& h, uint32_t map);
  void heap_up(const Heap& h);
  void heap_down(const Heap& h);
  void sort_heap(const Heap& h);
  Place heap_entry(const Heap& h, Operand index);
  void heap_set(const Heap& h, int64_t word, Operand n);
  void stop_unless_below(Operand a, Operand limit);
  void swap_if_smaller(const Heap& h, Operand a, Operand b);
  void lower_return(const lang::Return& r);
  void leave_probe();
  void body(uint32_t parameters, const std::function<void()>& fill,
            const std::function<void(uint32_t)>& call);
  void assign_variable(const lang::Variable& v, const lang::Expr& value);
  Operand changed(const lang::Variable& v, Operand n);
  void set_variable(const lang::Variable& v, Operand n);
  void define(const lang::Variable& v);
  Place variable_place(const lang::Variable& v);
  bool in_register(const lang::Variable& v) const { return v.type->is_scalar() && !v.captured; }
  Reg variable_register(const lang::Variable& v);

  // lower_speculation.cc
  void make_speculation_maps();
  void lower_speculate(const lang::Speculate& s);
  void lower_limit(const lang::Limit& l);
  uint32_t speculation_key(const lang::Expr* key);
  void hold(uint32_t action, const std::function<void(const Place&)>& fill);
  void commit(const lang::Call& c);
  void discard(const lang::Call& c);

  // lower_map.cc
  const Map& map_of(const lang::MapRef& m) const { return program_.maps[m.map->id]; }
  Operand key(const Map& m, const lang::Expr* key);
  Operand find(uint32_t map, Operand key);
  Operand slot(uint32_t map, Operand key, BlockId full, Operand word = {});
  Operand read_map(const lang::MapRef& m);
  void read_map_into(const lang::MapRef& m, const Place& to, const Type& as);
  Operand read_percpu(uint32_t map, Operand key);
  void write_map(const lang::MapRef& m, const lang::Expr& value);
  void write_scalar(const lang::MapRef& m, Operand key, Operand value);
  Operand negated(Operand v);
  Operand update_map(const lang::MapRef& m, lang::BinaryOp op, Operand value, bool wants_old);
  void add(uint32_t map, Operand slot, int64_t offset, Operand value);
  void mark_present(uint32_t map, Operand slot);
  Operand remove(const lang::Call& c, bool statement);
  Operand has_key(const lang::Call& c);
  Operand find_into(const lang::Call& c);
  Operand length(const lang::Call& c);

  // lower_aggregation.cc, lower_series.cc
  struct Aggregation { // a number that is added to the value of a key
    uint32_t map;
    const Type& type;
    Operand at;    // the value
    Operand n;     // the number
    Operand index; // its bucket, of histograms
    BlockId after; // behind the addition
  };
  void aggregate(const lang::MapRef& m, const lang::Call& call);
  Operand power_bucket(const Type& t, Operand n);
  Operand step_bucket(const Type& t, Operand n);
  void add_number(const Aggregation& a);
  void add_counted(const Aggregation& a);
  void keep_smaller(const Aggregation& a);
  void keep_larger(const Aggregation& a);
  void keep_better(const Aggregation& a, Cond better);
  Operand weighted(Operand n);
  void add_to_bucket(const Aggregation& a);
  void add_to_series(const Aggregation& a);

  // lower_percentile.cc
  Operand percentile(const lang::Call& c);
  Operand bucket_count(uint32_t map, Operand key, Operand bucket);
  Operand rank_of(Operand total, int64_t percentage);
  Operand part_of_bucket(Operand width, Operand rank, Operand count);
  Operand value_in_power_bucket(const Type& t, Operand index, Operand rank, Operand count);
  Operand value_in_step_bucket(const Type& t, Operand index, Operand rank, Operand count);

  // lower_call.cc
  Operand call(const lang::Call& c);
  Operand user_call(const lang::Call& c, const Place* result);

  // lower_builtins.cc: what becomes of builtins, a row for each. The forms that a row has are those in which the builtin is used.
  struct BuiltinLowering {
    std::string_view name;
    Operand (*value)(Lowering&, const lang::Expr&) = nullptr; // a number
    void (*into)(Lowering&, const lang::Expr&, const Place& to, const Type& as, bool pad) = nullptr; // text, bytes: written there
    void (*run)(Lowering&, const lang::Call&) = nullptr; // an effect; beside `value`: where the value is not used
    bool writes_text = false;                            // run: also in an iterator that stays when acu ends
    void (Lowering::*add)(const Aggregation&) = nullptr; // an aggregation
    Operand (Lowering::*bucket)(const Type&, Operand n) = nullptr; // … into buckets: which one
    bool is_replaced = false; // nothing of it reaches lowering
  };
  struct Builtins;
  bool run_builtin(const lang::Call& c, bool is_statement = false);
  Operand builtin(const lang::Expr& e);
  void builtin_into(const lang::Expr& e, const Place& to, const Type& as, bool pad);
  Operand bucket(const spec::Builtin& row, const Type& t, Operand n);
  void add_to(const spec::Builtin& row, const Aggregation& a);

  // lower_stack.cc
  Operand stack(const Type& type, Operand task = {});
  bool walks(const Type& type) const;
  Operand stack_depth(const lang::Expr& e);
  void user_stack_into(const Place& to, const Type& type);
  void both_stacks_into(const Place& to, const Type& all);

  // lower_time.cc
  Operand clock(lang::List<lang::Expr*> arguments);
  type::TimeClock time_clock(const lang::Expr& e) const;
  void time_text_into(const lang::Call& c, const Place& to);

  // lower_str.cc: text and bytes at an address
  void text_into(const lang::Call& c, const Place& to, const Type& as, bool pad);
  void joined_text_into(const lang::Call& c, const Place& to, const Type& as, bool pad);
  void part_of_text_into(const lang::Call& c, const Place& to, const Type& as, bool pad);
  void bytes_into(const lang::Call& c, const Place& to, const Type& as, bool pad);
  void read_by_address(const lang::Expr& from, Operand at, const std::function<void(Space)>& read);
  bool place_is_script(const lang::Expr& e) const;
  void store_bytes(const Place& to, Operand n, uint32_t size);

  // lower_names.cc: names of numbers, addresses and events
  uint32_t number_names(const spec::NumberNames& names, uint32_t words);
  void table_text_into(uint32_t first, uint32_t words, Operand index, const Place& to, const Type& as);
  void number_name_into(const spec::NumberNames& names, const lang::Call& c, const Place& to, const Type& as);
  void unknown_number_into(std::string_view start_of_text, Operand n, const Place& to, const Type& as);
  void probe_text_into(const Place& to, const Type& as, bool is_function);
  Place bytes_place(const lang::Expr& e);
  void inet_into(const lang::Call& c, const Place& to);
  void user_symbol_into(const lang::Call& c, const Place& to);
  void mac_into(const lang::Call& c, const Place& to);
  void config_into(const Place& to, const Type& as);
  void cgroup_path_into(lang::List<lang::Expr*> arguments, const Place& to);
  void container_into(lang::List<lang::Expr*> arguments, const Place& to);
  Operand group_of(const lang::Expr* id);
  Operand in_cgroup(const lang::Call& c);
  Operand is_in_set(const spec::GroupSet& set, Operand id);
  Operand compare_group(const lang::Binary& e, const lang::GroupComparison& groups);
  Operand compare_user(const lang::Binary& e);
  uint32_t string_id(std::string_view text);

  // lower_text.cc: text and bytes, searched and compared
  struct Text { // in an object, so that loops can reach it; the last bytes are NULs
    uint32_t object = 0;
    uint32_t size = 0;
  };
  Text text(const lang::Expr& e);
  uint32_t object_of(const lang::Expr& e, const Type& as);
  Operand byte_of(const Text& t, Operand index, BlockId outside);
  Operand equal_bytes(uint32_t a, uint32_t b, uint32_t size);
  Operand equal_values(const lang::Binary& e);
  Operand equal_text(const lang::Expr& a, const lang::Expr& b);
  Operand compare_order(const lang::Binary& e);
  Operand equal_literal(const Place& p, uint32_t size, std::string_view text, bool with_end);
  Operand text_length(const lang::Expr& e);
  Operand search(int64_t turns, const std::function<void(Operand turn, const Place& result)>& turn);
  void end_turn(const Place& result, Operand found, BlockId stop, BlockId next);
  Operand truth(BlockId yes, BlockId no);
  Operand find_text(const lang::Call& c);
  Operand find_last(const lang::Call& c);
  Operand find_literal(const lang::Expr& haystack, std::string_view needle);
  Operand compare_prefix(const lang::Call& c);
  Operand differ_within(const lang::Expr& a, const lang::Expr& b, Operand length);
  Operand compare_bytes(const lang::Call& c);
  uint32_t bytes_of(const lang::Expr& e, uint32_t size);
  void limited_text(const Place& to, uint32_t size, const lang::Expr& from, Operand limit, bool pad);
  Operand text_limit(const lang::Expr& length);

  // lower_regex.cc
  Operand match_regex(const lang::Call& c);
  std::pair<uint32_t, uint32_t> regex_tables(std::string_view pattern); // the first table, the first state

  // lower_glob.cc
  struct Glob;
  Operand match_glob(const lang::Call& c);
  Place glob_word(const Glob& g, uint32_t word);
  Operand glob_get(const Glob& g, uint32_t word);
  void glob_put(const Glob& g, uint32_t word, Operand value);
  void glob_advance(const Glob& g, int64_t pattern_step);
  void glob_plain_turn(const Glob& g, const Place& result);
  void glob_class_turn(const Glob& g);

  // lower_kernel.cc: the event's context, tasks, the kernel's data, effects
  Operand query(Query q);
  Operand process_ids(lang::List<lang::Expr*> arguments);
  std::optional<uint32_t> task_member(std::string_view name);
  Place task_place(lang::List<lang::Expr*> arguments);
  Operand parent_pid(lang::List<lang::Expr*> arguments);
  std::optional<uint32_t> kernel_member(std::string_view structure, std::string_view name);
  Operand innermost_upid(bool of_process);
  Operand innermost_id(bool of_process);
  Operand pid_namespace_number();
  Operand leader_tid(lang::List<lang::Expr*> arguments);
  void parent_name_into(lang::List<lang::Expr*> arguments, const Place& to);
  void leader_name_into(lang::List<lang::Expr*> arguments, const Place& to);
  void task_name_into(lang::List<lang::Expr*> arguments, std::string_view relative, const Place& to);
  uint32_t kernel_symbol(std::string_view name, format::BtfKind kind);
  void thread_name_into(lang::List<lang::Expr*> arguments, const Place& to, const Type& as);
  void other_name_into(const lang::Expr& pid, const Place& to);
  Operand command_pid();
  bool is_at_return_instruction() const; // the block's: the return address is still on the stack
  Operand machine_register(std::string_view name);
  Operand user_register(std::string_view name);
  Operand is_user_mode();
  Operand argument_by_number(int n);
  Operand stack_argument(size_t n);
  Operand event_name(bool is_function);
  std::string name_of_event(const probe::Event& e, bool is_function) const;
  Operand function_name(const lang::Expr& e);
  Operand function_address();
  std::vector<uint64_t> cookies_of(const std::vector<uint32_t>& events);
  Operand send_packet(const lang::Call& c);
  void path_into(lang::List<lang::Expr*> arguments, const Place& to, const Type& as);
  Operand kernel_address(const lang::Call& c);
  Operand kernel_variable(const lang::Call& c);
  Operand variable_of_cpu(const probe::CpuVariable& v, Operand cpu);
  void send_signal(const lang::Call& c, bool is_thread);
  void override_result(const lang::Call& c);
  Operand write_user(const lang::Call& c);
  bool wants_typed_context(const lang::Probe& p) const;
  probe::Context context_of(const lang::Probe& p, const probe::Event& e);
  void mark_kernel_calls(const std::vector<std::pair<uint32_t, uint32_t>>& calls, std::vector<bool> does);
  bool is_context(const lang::Expr& e) const;

  // lower_output.cc: builtins that send events
  uint32_t add_action(Action a);
  void send(uint32_t action, const std::function<void(const Place&)>& fill);
  bool is_users(base::Range where) const;
  void send_values(Action a, lang::List<lang::Expr*> values);
  void refuse_in_file(const lang::Call& c);
  void send_formatted(ActionKind kind, const lang::Call& c);
  void print_formatted(const lang::Call& c);
  void send_map_action(ActionKind kind, const lang::Call& c);
  void send_flame(const lang::Call& c);
  void send_time(const lang::Call& c);
  void send_assert(const lang::Call& c);
  void send_print(const lang::Call& c);
  void send_list(const lang::Call& c);
  void send_entry(const lang::MapRef& m);
  void send_exit(const lang::Call& c);
  void send_unwatch(const lang::Call& c);

  const lang::Program& source_;
  type::Table& types_;
  probe::Machine& machine_;
  const LowerOptions& options_;
  base::Diagnostics& diagnostics_;
  Program program_;

  // The function being built.
  struct Recovery {
    uint32_t function = 0;
    BlockId block = no_block; // no_block: a read that fails is counted
    const lang::Attempt* of = nullptr; // whose variables are set
  };
  Recovery recovery_;
  uint32_t function_ = 0;
  BlockId block_ = 0;
  std::vector<Inst> open_; // of the current block, behind those that are there already
  base::Range where_;
  const lang::Probe* probe_ = nullptr;
  std::vector<const lang::Probe*> countable_; // of whose events one of n may count (Program::one_of)
  Operand weight_;                            // of an event of such a probe; none: 1
  const lang::Function* fn_ = nullptr;
  probe::Context context_ = probe::Context::none;
  std::unordered_map<const lang::Variable*, Reg> registers_;
  std::unordered_map<const lang::Variable*, uint32_t> objects_;
  std::unordered_map<const lang::Variable*, type::TimeClock> time_clocks_; // of variables that hold times
  std::vector<Operand> value_parameters_;
  Place result_place_;                     // of a function that gives back an aggregate
  Operand probe_name_;                     // in a program that serves several system calls
  bool asks_cookie_ = false;               // the program uses Query::cookie
  bool is_pinned_ = false;                 // an iterator that stays and prints by itself
  std::optional<int64_t> compatible_mark_; // see find_compatible_mark()
  BlockId return_block_ = no_block;        // where `return` goes in a probe
  // Leaving loops: a body that is called back returns 1 to stop; `return` inside one also sets a flag.
  struct Loop {
    bool is_body = false;
    BlockId on_break = no_block, on_continue = no_block; // unroll
  };
  std::vector<Loop> loops_;
  uint32_t speculation_ = ~0u;          // of the `speculate` block around the statement: the object with its key
  uint32_t limits_ = 0;                 // the map with the words of `limit` blocks
  uint32_t branches_ = 0;               // `if`s around the statement
  std::vector<uint32_t> spare_objects_; // of this frame: those of blocks that have ended
  uint32_t returned_object_ = ~0u;
  uint32_t result_object_ = ~0u; // of a function that returns from inside a loop
  bool body_leaves_ = false;     // a `return` or exit() was met in the loop body being built
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> sites_;
  std::unordered_map<const probe::Event*, uint32_t> event_ids_;
  std::unordered_map<const lang::Function*, uint32_t> function_ids_;
  std::unordered_map<std::string, uint32_t> string_ids_, probe_name_ids_;
  std::unordered_map<std::string, std::pair<uint32_t, uint32_t>> regexes_; // by pattern
  std::map<std::pair<const lang::Probe*, bool>, uint32_t> probe_text_tables_; // the first of its tables
  std::unordered_map<const spec::NumberNames*, uint32_t> number_name_tables_; // the same
};

// Whether this is the builtin, written as a value or as a call.
inline bool is_builtin(const lang::Expr& e, spec::BuiltinId id) {
  const spec::Builtin* row = lang::builtin_of(e);
  return row && spec::id_of(*row) == id;
}

// By how many bytes `+ 1` goes on.
uint32_t stride(const type::Type& t);

} // namespace ir
