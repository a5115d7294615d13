// The code generator's parts: Pool (maps that all programs share), ProgramEmitter (one kernel program) and
// FunctionEmitter (one function; its operations are implemented family by family in emit_*.cc).
//
// Conventions: r0, r4 and r5 are free inside an operation, r1-r3 too where it is a call (Step::call). Three
// values of a function are not in its IR: the context, the address of its scratch slot, and, in bodies of
// loops, r10 of the function they stand in; they take part in register allocation behind the function's own
// registers.
#pragma once

#include "bpf/addresses.h"
#include "bpf/assembler.h"
#include "bpf/layout.h"
#include "bpf/object.h"
#include "bpf/registers.h"
#include "ir/ops.h"

#include <initializer_list>
#include <memory>
#include <string>

namespace bpf {

// Numbers of the kernel's helper functions (enum bpf_func_id in its uapi/linux/bpf.h).
enum Helper : int32_t {
  map_lookup_elem = 1,
  map_update_elem = 2,
  map_delete_elem = 3,
  ktime_get_ns = 5,
  get_prandom_u32 = 7,
  get_smp_processor_id = 8,
  tail_call = 12,
  get_current_pid_tgid = 14,
  get_current_uid_gid = 15,
  get_current_comm = 16,
  get_current_task = 35,
  get_numa_node_id = 42,
  get_stack = 67,
  get_current_cgroup_id = 80,
  probe_write_user = 36,
  get_socket_cookie = 46,
  override_return = 58,
  send_signal = 109,
  skb_output = 111,
  probe_read_user = 112,
  probe_read_kernel = 113,
  probe_read_user_str = 114,
  probe_read_kernel_str = 115,
  send_signal_thread = 117,
  jiffies64 = 118,
  get_ns_current_pid_tgid = 120,
  ktime_get_boot_ns = 125,
  seq_printf = 126,
  ringbuf_output = 130,
  ringbuf_reserve = 131,
  ringbuf_submit = 132,
  ringbuf_query = 134,
  get_task_stack = 141,
  d_path = 147,
  per_cpu_ptr = 153,
  this_cpu_ptr = 154,
  task_storage_get = 156,
  task_storage_delete = 157,
  get_current_task_btf = 158,
  get_func_ip = 173,
  get_attach_cookie = 174,
  task_pt_regs = 175,
  for_each_map_elem = 164,
  loop = 181,
  map_lookup_percpu_elem = 195,
  ktime_get_tai_ns = 208,
};

// Most frames that are taken for an Op::stack; in some contexts not all of them are the traced program's.
int64_t stack_frames(const ir::Inst& i);

// Was it cut from a long function (pieces.h)?
inline bool is_piece(const ir::Function& function) { return function.role == ir::Role::function && function.parent != ~0u; }

// The maps of an Object, made when first needed.
class Pool {
public:
  Pool(const ir::Program& program, const EmitOptions& options);
  uint32_t state() const { return static_cast<uint32_t>(object.state); }
  uint32_t zeroes() const { return zeroes_; } // offset in the state's value: bytes that stay 0
  uint32_t map_counter(uint32_t map) const { return state_first_counter + map; }
  uint32_t site_counter(uint32_t site) const;
  uint32_t ring();
  uint32_t flight_cursors(); // flight_ring.h
  uint32_t flight_ring();
  uint32_t largest_record() const { return largest_record_; } // bytes
  uint32_t scratch(uint32_t bytes);       // at least as large; slots for a CPU's programs
  uint32_t slots() const { return slots_; } // of a CPU: one for each function that waits for another, and some for programs that interrupt
  uint32_t large_scratch(uint32_t bytes); // the same for more than the kernel gives to each CPU
  uint32_t packets();
  uint32_t stacks();
  uint32_t frames(); // slots to take stacks in
  uint32_t random(); // states of random numbers, by CPU
  uint32_t most_frames() const { return stack_frames_; } // of a stack
  uint32_t known();
  uint32_t walk_map(std::string_view name); // one of walk_maps.h
  Relocation walk_reference(std::string_view name); // the same, for the library's code
  uint32_t places();
  uint32_t tables();
  uint32_t table_offset(uint32_t table) const;

  const ir::Program& program;
  const EmitOptions& options;
  Object object;

private:
  void add_script_maps();
  bool has_hot_keys(const ir::Map& map) const;
  void add_hot_map(uint32_t map, bool at_once);
  uint32_t add(MapSpec spec);

  uint32_t zeroes_ = 0;
  uint32_t stack_frames_ = 0, largest_record_ = 0;
  int tables_ = -1;
  int large_scratch_ = -1, random_ = -1;
  bool stacks_at_once_ = false;
  const bool is_cut_; // some function is a piece
  const uint32_t slots_;
  const bool has_room_for_hot_maps_;
};

// The functions that it calls itself, also as bodies of loops, each once.
std::vector<uint32_t> find_callees(const ir::Function& function);
// `function` and all that it calls, itself first.
std::vector<uint32_t> find_reached(const ir::Program& program, uint32_t function);

// One kernel program: the function of a probe and all that it calls.
class ProgramEmitter {
public:
  ProgramEmitter(Pool& pool, const ir::Probe& probe);
  base::Result<Code> emit();

  // A function that only counts (for the size of a map), made when first needed; its number.
  uint32_t counting_callback();
  // A turn of the walk along a user stack, of which that many bytes are read at once, made when first needed; its number.
  uint32_t walking_callback(int32_t bytes);
  // Hashes one frame of a stack that was taken, made when first needed; its number.
  uint32_t hashing_callback();
  bool needs_context(uint32_t function) const { return needs_context_[function]; }
  // A function of the library, which is put into this program; its number.
  uint32_t library_function(std::string_view name);
  bool may_walk(const ir::Inst& i) const; // emit_walk.cc: does this Op::stack walk?
  bool walks() const { return walks_; }   // does any?
  // May a verifier look at it once, for any numbers, instead of at each call?
  bool stands_alone(uint32_t function) const {
    return program.functions[function].role == ir::Role::function && !needs_context_[function] &&
           addresses_.numbers_only[function];
  }
  // The map of scratch memory of the functions with that frame.
  uint32_t scratch_map(uint32_t frame);
  const std::vector<KnownAddress>& known_addresses(uint32_t function) const { return addresses_.known[function]; }
  bool holds_address(uint32_t function, ir::Reg r) const { return addresses_.addresses[function][r]; }

  Pool& pool;
  const ir::Program& program;
  const ir::Probe& probe;

private:
  void find_functions();
  bool reads_context(uint32_t function) const;
  std::vector<uint32_t> find_group(uint32_t root) const;
  Needs find_needs(uint32_t root) const;
  base::Result<Code> attempt(uint32_t limit, uint32_t& deepest);
  base::Status emit_group(Assembler& out, uint32_t root, uint32_t limit, std::vector<uint32_t>& stacks);
  uint32_t deepest_chain(uint32_t function, const std::vector<uint32_t>& stacks) const;
  void emit_counting_callback(Assembler& out);
  Languages languages() const; // that are walked
  void emit_library(Assembler& out);

  std::vector<uint32_t> functions_;            // those reached, the probe's first
  std::vector<std::vector<uint32_t>> callees_; // by function
  std::vector<bool> needs_context_;            // by function
  std::vector<uint32_t> scratch_bytes_;        // by frame, once its first function was emitted
  AddressUse addresses_;
  bool counts_ = false;
  bool hashes_ = false;
  bool walks_ = false;
  int32_t walk_bytes_ = 0; // 0: no walk
  std::vector<uint32_t> library_; // functions of the library that are used
  bool leaves_out_walkers_ = false;
};

inline constexpr uint32_t largest_percpu_value = 32 << 10; // PCPU_MIN_UNIT_SIZE
inline constexpr uint32_t scratch_slots = 4; // of a CPU, where no function is called
inline constexpr uint32_t known_stacks = 4096; // a power of two

// A place in memory as instructions have it.
struct Address {
  Register base = r10;
  int32_t offset = 0;
};

// An argument of a call: what register `to` is to hold.
struct Argument {
  enum Kind : uint8_t { from_register, from_slot, constant, map, map_value, function } kind = constant;
  Register to = r1;
  Register from = r0; // from_register: from + n
  int32_t slot = 0;   // from_slot: what stands at r10 + slot, plus n
  int64_t n = 0;
  uint32_t index = 0; // map, function
};

// r3 = hash of one frame more than that in r3 (emit_stack.cc); uses r0, which `frame` may be.
void emit_mix(Assembler& out, Register frame);
// The functions that walking_callback() and hashing_callback() tell (emit_walk.cc, emit_stack.cc).
void emit_walking_callback(Assembler& out, uint32_t function, int32_t bytes);
void emit_hashing_callback(Assembler& out, uint32_t function, uint32_t most_frames);

class FunctionEmitter {
public:
  FunctionEmitter(ProgramEmitter& program, Assembler& out, uint32_t index, const Layout& layout);
  // Chooses registers; stack_bytes() is known then.
  void plan();
  base::Status emit();
  uint32_t stack_bytes() const;
  uint32_t parameters() const;

  // Words of the stack, for use inside Op::stack.
  // stack_slot: address of the slot. stack_seed: what the hash begins with. Of a walk: stack_hash, stack_walk (the frame
  // pointer), stack_left (how many frames more are wanted). stack_task is kept behind Query::pid_tgid (keeps_task()).
  enum StackWord : int32_t { stack_slot, stack_seed, last_own_word = stack_seed, stack_task, stack_hash, stack_walk,
                             stack_left, last_stack_word = stack_left };

private:
  // emit_function.cc: steps, prologue, order
  ir::BlockId find_claim(const Flow& flow) const;
  bool holds_record(const Flow& flow, ir::BlockId claim) const;
  void place_claim(Flow& flow);
  bool separate_exits(const Flow& flow, ir::BlockId claim);
  bool uses_scratch(const ir::Inst& i) const;
  void describe(const Flow& flow);
  void describe(const ir::Inst& i);
  void use(const ir::Operand& o, bool until_end = false);
  void describe_map(Step& s, const ir::Inst& i);
  bool is_elided(const ir::Inst& i) const; // its value is a known address
  void emit_prologue();
  void emit_block(size_t order);
  void emit(const ir::Inst& i);
  bool is_root() const { return function_->role != ir::Role::body; }

  // emit_operand.cc: operands, addresses, arguments
  const Location& at(ir::Reg r) const { return allocation_.at[r]; }
  int32_t slot_offset(const Location& l) const;
  Register value(const ir::Operand& o, Register spare); // a register with it; `spare` where it has none
  Register value(ir::Reg r, Register spare) { return value(ir::Operand::of(r), spare); }
  void load_into(Register to, const ir::Operand& o);
  Register target(ir::Reg dst, Register spare) const; // where to compute dst
  void finish(ir::Reg dst, Register from);            // dst = from
  void zero_at(Label from, Label back);               // out of the way: from: r0 = 0, on at back
  void finish_number(ir::Reg dst, int64_t n);
  const KnownAddress* known(const ir::Operand& o) const;
  // For accesses of `bytes` from there on, each at an offset of its own.
  Address address(const ir::Operand& o, int64_t offset, Register spare, int64_t bytes = 8);
  bool on_stack(const ir::Operand& o) const;                      // known to be
  uint32_t alignment(const ir::Operand& o, int64_t offset) const; // of that byte, at most 8
  Argument argument(Register to, const ir::Operand& o, int64_t plus = 0) const;
  Argument temporary(Register to) const {
    return {.kind = Argument::from_register, .to = to, .from = r10, .n = temp()};
  }
  static Argument number(Register to, int64_t n) { return {.to = to, .n = n}; }
  static Argument map(Register to, uint32_t index) {
    return {.kind = Argument::map, .to = to, .index = index};
  }
  Argument frame_argument(Register to) const; // r10 of the function that has the frame
  void arguments(std::vector<Argument> list);
  void move_argument(const Argument& a);
  int32_t temp() const; // a word of the stack for use inside one operation, from r10
  Label label(ir::BlockId b) { return block_labels_[b]; }
  void go(ir::BlockId to); // a jump, where it is not the next block
  const ir::Inst* null_check(const ir::Inst& i) const;
  void finish_found(const ir::Inst& i, const ir::Inst* check);
  void finish_null(const ir::Inst& i, const ir::Inst* check, Label done);
  void count(uint32_t counter); // adds 1 to a word of the state; uses r4 and r5
  void fail(std::string what);

  // emit_arithmetic.cc
  void emit_binary(const ir::Inst& i, uint8_t op, bool commutes);
  void emit_extend(const ir::Inst& i);
  void emit_number_of(const ir::Inst& i);
  void emit_log2(const ir::Inst& i);
  void emit_set(const ir::Inst& i);
  void blur(Register r);
  void emit_blur(const ir::Inst& i);
  void emit_branch(const ir::Inst& i);
  void compare(ir::Cond cond, ir::Operand a, ir::Operand b, Label yes);
  void emit_table(const ir::Inst& i);

  // emit_memory.cc
  void emit_object(const ir::Inst& i);
  void emit_load(const ir::Inst& i);
  bool loads_by_call(const ir::Inst& i) const;
  void emit_faulting_load(const ir::Inst& i);
  void load_pieces(Register to, Address from, uint8_t size, uint8_t step);
  void emit_store(const ir::Inst& i);
  void emit_copy(const ir::Inst& i);
  void copy_words(Address to, Address from, uint32_t bytes, uint32_t to_align, uint32_t from_align,
                  Register spare);
  void emit_zero(const ir::Inst& i);
  void emit_read(const ir::Inst& i);
  void emit_read_string(const ir::Inst& i);
  void emit_empty_string(const ir::Inst& i);
  void emit_read_bytes(const ir::Inst& i);
  void clamp(Register r, uint32_t most);
  void emit_equal(const ir::Inst& i);
  void emit_name(const ir::Inst& i);
  void emit_query(const ir::Inst& i);
  void after_read(const ir::Inst& i, uint8_t jump_op); // r0 tells of a fault

  // emit_map.cc
  const ir::Map& map_of(const ir::Inst& i) const;
  Argument key(Register to, const ir::Inst& i);
  void emit_find(const ir::Inst& i);
  void emit_find_cpu(const ir::Inst& i);
  void emit_slot(const ir::Inst& i);
  Argument zeroes(Register to) const;
  void emit_make(const ir::Inst& i, Label made);
  void emit_word(const ir::Inst& i, Label none);
  void emit_store_value(const ir::Inst& i);
  void emit_remove(const ir::Inst& i);
  void emit_size(const ir::Inst& i);
  void emit_exchange(const ir::Inst& i);
  void emit_add_memory(const ir::Inst& i);
  void call_task_storage(const ir::Inst& i, bool create);
  void fail_without_lookup_percpu(const ir::Inst& i);

  // emit_hot.cc: maps that are kept as two
  bool has_hot(const ir::Inst& i) const;
  Argument hot_map(Register to, const ir::Inst& i) const;
  void emit_find_shared(const ir::Inst& i, Label missing);
  void emit_part(const ir::Inst& i, Label no_such_cpu);
  void emit_find_with_hot(const ir::Inst& i);
  void emit_find_cpu_with_hot(const ir::Inst& i);
  void emit_make_hot(const ir::Inst& i);
  void emit_may_be_hot(const ir::Inst& i, Label hot, Label done);
  void emit_shared_part(const ir::Inst& i, Label hot, Label done, Label full);
  void emit_cell(const ir::Inst& i, Label hot, Label done, Label full);
  void emit_slot_with_hot(const ir::Inst& i);
  void emit_remove_with_hot(const ir::Inst& i);

  // emit_event.cc
  void emit_event(const ir::Inst& i);
  void emit_send(const ir::Inst& i);
  void emit_hold(const ir::Inst& i);
  void emit_commit(const ir::Inst& i);
  void emit_wake();

  // emit_flight.cc
  int32_t segment_slot() const;
  int32_t position_slot() const;
  void find_cursor(Label none);
  void count_flight(const ir::Inst& i, uint32_t what);
  void claim_flight(const ir::Inst& i, Label crosses, Label none);
  void write_flight_header(uint32_t action);
  void emit_flight_event(const ir::Inst& i);
  void emit_flight_send(const ir::Inst& i);

  // emit_control.cc
  void emit_call(const ir::Inst& i);
  void emit_loop(const ir::Inst& i);
  void emit_counted_loop(const ir::Inst& i);
  void emit_for_each(const ir::Inst& i);
  void emit_give_back(const ir::Inst& i);
  void emit_claim();
  void emit_lend(const ir::Inst& i);
  void emit_borrow(const ir::Inst& i);
  void take_slot(uint32_t slots, uint32_t slot_count, bool is_large, Label taken);

  // emit_kernel.cc
  void emit_namespace_ids();
  bool is_by_address() const;
  void emit_cookie_by_address();
  void emit_task_name(const ir::Inst& i);
  void emit_cpu_variable(const ir::Inst& i);
  void emit_packet(const ir::Inst& i);
  void emit_print(const ir::Inst& i);
  void emit_effect(const ir::Inst& i);

  // emit_stack.cc
  int32_t own_end() const;
  int32_t stack_word(int32_t word) const { return own_end() - 8 * (word + 1); } // for use inside Op::stack
  void emit_stack(const ir::Inst& i);
  void emit_taken_stack(const ir::Inst& i, Label done);
  void emit_call_for_stack(const ir::Inst& i, int32_t skipped);
  void emit_entry_stack(const ir::Inst& i, Label none);
  void emit_hash_of_taken(const ir::Inst& i);
  void emit_hash_by_loop();
  void emit_keep(const ir::Inst& i, Label found, Label lost);
  void emit_known(Label known);
  void emit_process_seen();
  void emit_stack_depth(const ir::Inst& i);
  uint32_t own_frames() const;

  // emit_whole_stack.cc
  void emit_whole_stack(const ir::Inst& i);
  void emit_uprobe_task();
  void emit_task_registers(bool is_known);
  void read_of_task(Register to, int32_t offset, int32_t bytes);
  void emit_user_registers();
  void emit_registers_of_task();
  void copy_registers(Register from, Label not_user);
  bool is_at_return_instruction() const;
  void emit_return();

  // emit_walk.cc
  void emit_plain_stack();
  bool keeps_task() const { return walks_ && program_.task.tgid; }
  bool finds_task(const ir::Inst& i) const;
  void emit_ids_of_task();
  void emit_random();
  int32_t walk_buffer() const { return stack_word(last_stack_word) - layout_.walk_bytes; }
  void emit_exec_id();
  void emit_seed(const ir::Inst& i);
  void emit_first_frame(const ir::Inst& i, Label ask);
  void emit_caller(Label ask);
  void emit_read_return_address();
  void emit_stack_left(int64_t n);
  void emit_walk(const ir::Inst& i, Label ask);
  // A function was just entered, and frames behind the first are wanted.
  static bool is_entry(const ir::Inst& i) { return i.imm3 && i.imm2 > 1; }

  ProgramEmitter& unit_;
  Pool& pool_;
  Assembler& out_;
  const ir::Program& program_;
  const EmitOptions& options_;
  const uint32_t index_;
  const ir::Function* function_;
  std::unique_ptr<ir::Function> own_function_; // where exits had to be doubled
  const Layout& layout_;
  const ir::Reg context_, base_, frame_; // values that are not in the IR
  const std::vector<KnownAddress>& known_;
  std::vector<uint8_t> stack_alignments_; // by register
  ir::BlockId claim_block_ = ir::no_block;
  bool claims_before_events_ = false;
  size_t claim_before_ = 0;   // instruction of that block
  std::vector<bool> claimed_; // by block: scratch memory is held at its end
  std::vector<ir::BlockId> order_;
  Steps steps_;
  Allocation allocation_;
  std::vector<Label> block_labels_;
  ir::BlockId block_ = 0, next_ = ir::no_block; // being emitted; following
  bool has_positions_ = false; // of records that overwrite others
  bool has_stacks_ = false, walks_ = false; // Op::stack; and one that walks
  bool fused_ = false; // the rest of the block is done
  base::Status status_;
};

} // namespace bpf
