// The intermediate representation: typed three-address code over 64-bit virtual registers, with explicit
// memory, explicit address spaces and explicit fault edges. Both engines implement exactly these operations;
// neither knows a builtin of the language.
//
// A Function is a list of basic blocks. Registers may be assigned more than once (no SSA). Whatever does not
// fit a register (strings, tuples, keys) lives in Objects of the function's Frame and is handled by address.
// Bodies of loops are Functions of their own (the kernel calls them back), but share the Frame of the function
// they stand in; registers are never shared, so a variable used on both sides is an Object.
#pragma once

#include "base/source.h"
#include "probe/probe.h"
#include "type/type.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ir {

using Reg = uint32_t; // virtual register; 0 is "none"
using BlockId = uint32_t;
inline constexpr BlockId no_block = ~0u;

// A register or a constant. Packed, because programs consist of them: memory that is touched for the first time is
// most of what a short compilation costs.
struct [[gnu::packed]] Operand {
  enum Kind : uint8_t { none, reg, constant } kind = none;
  int64_t value = 0;
  static Operand of(Reg r) { return {reg, r}; }
  static Operand number(int64_t n) { return {constant, n}; }
  bool is_reg() const { return kind == reg; }
  bool is_constant() const { return kind == constant; }
  Reg as_reg() const { return static_cast<Reg>(value); }
  bool operator==(const Operand&) const = default;
};

// Conditions of `branch` and `set`.
enum class Cond : uint8_t { eq, ne, ult, ule, ugt, uge, slt, sle, sgt, sge };

// Values that one helper of the kernel gives, without arguments but the context. Except `random` and `ktime_now`, each is the
// same during one run of a probe and may be asked once (`reuse_calls`).
enum class Query : uint8_t {
  pid_tgid,     // tgid << 32 | tid, in the initial pid namespace
  uid_gid,      // gid << 32 | uid
  cpu,
  numa_node,
  ktime,        // CLOCK_MONOTONIC
  ktime_boot,   // CLOCK_BOOTTIME
  ktime_tai,
  jiffies,
  cgroup_id,
  task,         // struct task_struct *; loads through it are Space::task
  namespace_pid_tgid, // as pid_tgid, in the pid namespace Program::pid_namespace; 0 for threads outside it
  cookie,       // what the attachment tells of the event: Probe::cookies
  is_return,    // in a probe that is_session: 1 where the function returns, 0 where it is entered
  random,
  ktime_now,    // CLOCK_MONOTONIC, asked again each time
  user_registers, // struct pt_regs *: with which the current task entered the kernel; loads through it are Space::task
};
inline constexpr int64_t bench_turns = 256; // of the block of a bench probe in one run

enum class Space : uint8_t {
  script,  // frame objects, event records, map keys and values: cannot fault, but for loads and reads that have a fault
           // edge: they go through a pointer that the script made, which may point anywhere
  context, // the probe's context at a constant offset: cannot fault
  kernel,  // any kernel address: may fault
  user,    // any user address of the current process: may fault
  task,    // through a pointer the kernel vouches for (Query::task, typed raw arguments): faults read as 0; with a fault edge
           // also through one that was loaded so, which may be NULL
};

// Of Op::memory_map; 0: nothing is there.
enum class MemoryQuestion : uint8_t {
  chunk,      // the address of the used chunk of malloc that holds it
  chunk_size, // its bytes
  next_chunk, // the address of the first used chunk behind it
  next_area,  // the begin of the first area of variables that ends behind it
  area_end,   // the end of the area of variables that holds it
};

enum class Op : uint8_t {
  // dst = a                         numbers. All are 64-bit.
  mov,
  add, sub, mul, udiv, umod, and_, or_, xor_, shl, lshr, ashr, // dst = a op b; udiv/umod: b is not 0
  zext, sext,  // dst = low `size` bytes of a, extended
  bswap,       // dst = low `size` bytes of a, reversed, zero-extended
  number_of,   // dst = a, an address, as a number: a verifier follows it no further
  log2,        // dst = index of the highest set bit of a; a is not 0
  set,         // dst = a cond b ? 1 : 0
  blur,        // dst = a, as a number nobody may reason about: a verifier that knows a counter's start would follow
               // its loop turn by turn

  // Memory.
  object,      // dst = address of object `index` of the frame, plus imm
  load,        // dst = `size` bytes at a + imm in `space`, extended by `is_signed`; faults go to `other`
  store,       // `size` bytes at a + imm (script) = b
  copy,        // imm2 bytes: to a + imm from b + imm3; both script, not overlapping
  zero,        // imm2 bytes at a + imm (script) = 0
  read,        // imm2 bytes at a (script) from address b of `space` (kernel, user); faults go to `other`
  read_string, // text at address b of `space` (script: without faults) to a (script), at most imm2 bytes with the NUL; `c`, if there, is
               // another limit. dst = bytes with the NUL, 0 … imm2. A string that was cut fills all imm2 bytes without a NUL,
               // unless `c` is a constant that is no larger. Bytes behind the NUL are not written. faults go to `other`
  read_bytes,  // min(c, imm2) bytes from address b of `space` (also script) to a (script); dst = their number; faults go to `other`
  equal,       // dst = 1 if imm2 bytes at a and b (script) are the same, else 0
  context_address, // dst = address of the context (only for reading it as kernel memory)
  name,        // 16 bytes at a (script) = name of the current thread and a NUL; what follows is cleared before

  // An object of a function, used by pieces that were cut from it for the kernel's verifier (bpf/pieces.h); no other function has these.
  lend,        // dst = a number that stands for object `index` of the frame while the function runs
  borrow,      // dst = address of the object that was lent under number a

  // Questions to the machine.
  query,       // dst = `query`
  task_name,   // 16 bytes at a (script) = name of the process with id b, and NULs; all NUL where there is none.
               // Kernel symbols `index` (finds the task) and imm (lets go of it). dst = 1 if there is one, else 0
  cpu_variable, // dst = address of the kernel's per-CPU variable Program::kernel_symbols[index] on CPU a (none: the
               // current one), or 0 if there is no such CPU
  socket_cookie, // dst = the kernel's cookie of the socket at a (a pointer it vouches for, or 0)
  path,        // at most imm2 bytes at a (script) = the path of the struct path at b (a pointer the kernel vouches for)
               // and a NUL; dst = bytes with the NUL, or a negative errno
  stack,       // dst = id of the current kernel (index 0) or user (index 1: by frame pointers, 2: by tables) stack, of at
               // most imm2 frames, an odd number; 0: none, or lost. a: of a kernel stack, a task on no CPU whose it is; of
               // a user stack, a number that is another in another process; equal stacks of one number have one id. imm:
               // whether a user stack that is new is told (process_seen). imm3: of a user stack, whether a function was
               // just entered, which has no frame of its own yet
  stack_depth, // dst = number of frames of the stack with id a, 0 if it was not kept
  cpu_count,   // dst = number of possible CPUs
  memory_map,  // dst = what is known of the memory of a stopped program at address a: index is a MemoryQuestion
  table,       // dst = Program::tables[index][a], or 0 where a is behind its end

  // Maps. Keys are addresses in script space; scalar maps have none.
  map_find,    // dst = address of the value of key a in map `index`, or 0. Of a percpu_hash: of a part of what this CPU has
  map_find_cpu, // the same for the value on CPU b; of a percpu_hash for part b of parts_of_cpu times as many as there are CPUs
  map_slot,    // as map_find, made (all zero) if not there; of a percpu_hash with b: of its word b, to add to. 0: full (counted)
  map_store,   // value at address b to key a, of no percpu_hash; dst = 1, or 0 when the map is full
  map_remove,  // dst = 1 if key a was there and is gone, else 0
  map_size,    // dst = number of keys
  exchange,    // dst = 8 bytes at a + imm (a value of map `index`); where they are b, they become c. Of several writers one succeeds
  add_memory,  // `size` (8) bytes at a + imm (a value of map `index`) += b; `atomic` where other writers may interrupt

  // Events to the consumer, in order.
  event,       // dst = room for a record of action `index`, imm2 bytes with its header, or 0 when the ring is full
               // (counted). The header is written: u32 action, u32 0.
  send,        // hands the record at a over
  hold,        // as event, in the speculation at a, a value of map Program::speculations: dst = room there, or 0 when it is full (not
               // counted). The second word of the header is 1 until lowering clears it: the record is complete
  commit,      // hands over all records in the speculation at a
  print,       // adds text to the file that an iterator makes, a (struct seq_file *): imm2 bytes at b (script) are its format
               // with a NUL, as bpf_seq_printf() takes it, imm3 bytes at c (script) its values of 8 bytes; dst = 0, or a
               // negative errno
  packet,      // sends a record of action `index`: imm2 bytes at c (script), then b bytes of the packet at a (struct
               // sk_buff, a pointer the kernel vouches for). dst = 0, or a negative errno
  count_fault, // counts one fault at site `index` (Program::sites)

  // Effects on what is traced. dst = 0, or a negative errno.
  signal,      // signal a to the current process (index 0) or thread (index 1)
  write_user,  // imm2 bytes at b (script) to address a of the current process
  override,    // the traced function does not run, and returns a

  // Control. Only the last four end a block.
  call,        // dst = function `index` of arguments a, b, c, d, e (script addresses or numbers)
  loop,        // runs function `index` at most a times with argument 0, 1, …: until it returns not 0;
               // dst = turns taken. Reaching imm turns while a is larger is counted at site imm2.
  for_each,    // runs function imm(index of function) for each entry of map `index` with (key address, value address)
               // until it returns not 0
  jump,        // to target
  branch,      // a cond b ? target : other
  give_back,   // return a
  unreachable,
};

struct Inst {
  Op op = Op::unreachable;
  uint8_t size = 8;
  bool is_signed = false;
  bool atomic = false;
  Cond cond = Cond::eq;
  Space space = Space::script;
  Query query = Query::cpu;
  Reg dst = 0;
  Operand a, b, c, d, e;
  int64_t imm = 0;
  uint32_t imm2 = 0;
  int32_t imm3 = 0;
  uint32_t index = 0;
  BlockId target = no_block;
  BlockId other = no_block; // fault edge of loads and reads (where not no_block they end their block), else-edge of branch
  base::Range where;
};
static_assert(sizeof(Inst) == 104);

// Memory of a function: `size` bytes, 8-aligned. Its content is undefined until written.
struct Object {
  uint32_t size = 0;
  std::string name;
};

// Objects shared by a function and the loop bodies in it.
struct Frame {
  std::vector<Object> objects;
};

struct Block {
  std::vector<Inst> insts; // the last one ends the block: jump, branch, give_back, unreachable, or a load or read with a
                           // fault edge, which goes on at `target`
};

enum class Role : uint8_t {
  probe,    // no parameters but the context; returns 0
  function, // called by `call`; parameters are registers 1 … n
  body,     // called by `loop` (parameter: index) or `for_each` (key address, value address); returns 0 to go on
};

struct Function {
  std::string name;
  Role role = Role::probe;
  uint32_t frame = 0;
  uint32_t parameters = 0; // registers 1 … parameters
  uint32_t registers = 1;  // one more than the highest register used
  uint32_t parent = ~0u;   // of a body: the function it stands in; of a piece: the one that it was cut from
  std::vector<Block> blocks; // block 0 is the entry; it has no predecessors
};

enum class MapKind : uint8_t {
  array,        // scalar: one value, seen by all CPUs
  percpu_array, // scalar: one value a CPU
  hash,
  percpu_hash,
  lru_hash,
  percpu_lru_hash,
  task, // keyed by the current thread; key operands are ignored
};
inline bool is_percpu(MapKind k) {
  return k == MapKind::percpu_array || k == MapKind::percpu_hash || k == MapKind::percpu_lru_hash;
}
inline constexpr uint32_t parts_of_cpu = 2; // of a value in a percpu_hash, at most: an engine may keep it in two places
inline bool is_scalar(MapKind k) { return k == MapKind::array || k == MapKind::percpu_array; }

// A map of the script. Scalar and task values carry a flag of 8 bytes behind the value, at `present_offset`: not 0
// once the value was assigned. Without it the map prints nothing.
struct Map {
  std::string name; // without `@`
  MapKind kind = MapKind::hash;
  const type::Type* key = nullptr; // nullptr: scalar
  const type::Type* value = nullptr;
  uint32_t key_size = 0;   // bytes, multiple of 8
  uint32_t value_size = 0; // bytes with the flag, multiple of 8
  uint32_t present_offset = ~0u;
  uint64_t max_entries = 1;
  bool is_own = false; // made by acu, not by the script: it is not printed
  bool reads_buckets = false; // of histograms: programs read all buckets of all CPUs
  bool has_room_at_once = false; // for all its entries, so that making one costs little and cannot fail
  std::vector<std::string> key_names; // of the parts of its key, as the script calls them where it first uses one; empty: it has no name
  bool sums = false; // value prints as a plain integer but is kept as one addend a CPU
  base::Range where; // of its first use in the script
};

enum class ActionKind : uint8_t {
  printf, errorf, warnf, debugf, cat, system, // payload: tuple of the arguments; text: the format
  print_value,                        // payload: tuple of the value
  print_map,                          // map; payload: tuple (top, div), 0 where not given
  print_entry,                        // one value of a map that only the engine can put together; payload: tuple (key)
  flame,                              // map; text: title, then the unit behind a NUL
  clear, zero,                        // map
  time,                               // text: the format
  join,                               // payload: u32 count, then 4 zero bytes, then `items` strings of string_size; text: separator
  exit,                               // payload: tuple (int64 status)
  packet,                             // payload: tuple (nsecs, offset), then a packet; text: the file
  unwatch,                            // payload: tuple (uint64 address)
  assert_failed,                      // text: the message
};

inline bool has_map(ActionKind k) { return k >= ActionKind::print_map && k <= ActionKind::zero; }

// Behind the values of Action::is_users, the last fields of the payload: time (ns of CLOCK_MONOTONIC), thread (pid << 32 | tid in the initial namespace), CPU.
enum OutputStamp : uint32_t { stamp_time, stamp_thread, stamp_cpu, stamp_fields };

// What an event asks for. A record is: u32 index of the action, u32 0, then the payload.
struct Action {
  ActionKind kind = ActionKind::printf;
  std::string text;
  const type::Type* payload = nullptr; // a tuple, or nullptr
  uint32_t map = 0;
  uint32_t items = 0, string_size = 0; // join
  bool overwrites = false; // the record takes the place of old ones, and is there until somebody asks for it (bpf/flight_ring.h)
  bool is_users = false;   // printf and print_value of a user's script beside acu's own: behind the values, the payload has an OutputStamp
  int64_t status = 0; // exit: where it is known, for an engine that finds no room for the record
  base::Range where;
  std::vector<base::Range> expanded_at; // uses of macros around it, innermost first
  uint32_t record_size() const { return 8 + (payload ? (payload->size + 7) / 8 * 8 : 0) + (items ? 8 + items * string_size : 0); }
};

// Something that can go wrong while a probe runs, at one place of the script.
enum class Fault : uint8_t {
  read_kernel, read_user, // an address that is not mapped (or not resident); the value is 0
  division_by_zero,       // the result is 1
  index_out_of_range,     // the value is 0
  loop_limit,
  map_full,
  delete_missing,         // delete of a key that is not there
  element_missing,        // a map was read at a key that is not there; the value is 0
  cpid_missing,
  depth_unknown,          // of a user stack that is walked outside of the kernel; the value is 0
  entry_missing,          // of a call that returns nothing was kept when it was entered
  speculation_full,       // a record found no room in its speculation
  limited,                // a `limit` block did not run
};
struct Site {
  Fault fault = Fault::read_kernel;
  base::Range where;
  std::string detail; // map or probe name; of reads: "_str" where text is read
};

// A function or variable of the kernel that programs refer to by the id of its type information.
struct KernelSymbol {
  std::string name;
  uint32_t btf_id = 0;
};

// Of namespace_pid_tgid: as stat(2) tells of /proc/self/ns/pid.
struct PidNamespace {
  uint64_t device = 0, inode = 0;
};

// One program for the kernel, attached to each of its events.
struct Probe {
  std::string name; // as printed: of the first event
  uint32_t function = 0;
  probe::Context context = probe::Context::none;
  std::vector<uint32_t> events;  // indices of Program::events
  uint32_t stands_for = 1;       // how many probes of the script it serves
  uint32_t attach_btf_id = 0;    // btf_tracepoint: the kernel's type of the tracepoint
  bool calls_kernel = false;     // calls functions of the kernel that are no helpers
  bool is_session = false;       // registers: it runs at the entry of its functions and at their return
  std::vector<uint64_t> cookies; // registers: by event, for Query::cookie; or none
  base::Range where;
};

// What the kernel's types say of tasks, for programs with user stacks; nothing where it has none.
struct TaskLayout {
  std::optional<uint32_t> self_exec_id; // offset in struct task_struct: u32, another one after each exec of the thread
  uint32_t stack = 0;                   // offset in struct task_struct: void *, the lowest byte of its kernel stack
  uint32_t pid = 0, tgid = 0;           // offsets in struct task_struct: u32, those of Query::pid_tgid; 0: not known
  uint32_t utask = 0;                   // offset in struct task_struct: struct uprobe_task *; 0: not known
  uint32_t registers_id = 0;            // type id of struct pt_regs
  uint32_t cast_id = 0;                 // of the function bpf_rdonly_cast (6.2); 0: not there
};

// Instead of the index of an action: { u32 this, u32 pid, u64 first frame, u64 id of the stack, u64 CLOCK_MONOTONIC time },
// sent by an engine when a process shows a user stack for the first time. What names its addresses can be read while it
// lives, and is that of this time: the process may run another program later.
inline constexpr uint32_t process_seen = ~0u;

// Instead of the index of an action: { u32 this, u32 0, complete records one after the other }, sent by an engine for Op::commit.
inline constexpr uint32_t committed = ~0u - 1;
// The value of a speculation, filled from its begin: { u64 bytes of records, u64 number of records, u32 committed, u32 0, records }
inline constexpr uint32_t speculation_header = 24;

// Which stack an Op::stack takes: its index.
#if defined(__x86_64__)
inline constexpr bool knows_walking = true; // by tables
#else
inline constexpr bool knows_walking = false;
#endif
enum : uint32_t { kernel_stack, user_stack /* by frame pointers */, walked_stack /* the user's, by tables */ };

struct Program {
  std::vector<Frame> frames;
  std::vector<Function> functions;
  std::vector<Map> maps;
  std::vector<Action> actions;
  std::vector<Site> sites;
  std::vector<Probe> probes;
  std::vector<probe::Event> events;
  std::vector<std::string> strings;     // formats of strftime, filters of cgroup_path
  std::vector<std::string> probe_names; // by index, for type::Kind::probe_name
  std::vector<std::vector<uint32_t>> tables; // constants, for Op::table
  std::vector<KernelSymbol> kernel_symbols;
  uint32_t session_is_return = 0; // type id of the kernel's function, for Query::is_return
  uint32_t speculations = ~0u; // the map of them, if there are any
  // A map with one number n, a power of two, which whoever runs the program sets: of the events of probes that only count, one of n counts, chosen at random, and adds n
  // times as much (0: as 1). ~0u: there are no such probes.
  uint32_t one_of = ~0u;
  uint32_t thread_contexts = ~0u; // the map of processes that publish what their threads work on: PID, spec::ThreadVariable; ~0u: nobody asks
  PidNamespace pid_namespace;
  TaskLayout task;
  uint32_t max_stacks = 16384; // different ones that are kept
  bool uses_stacks = false;
  bool walks_stacks = false; // some Op::stack walks by tables
  bool uses_user_symbols = false;
};

// One line an instruction; functions, maps and actions by name (--dump ir).
std::string to_string(const Program& program);
std::string to_string(const Function& function, const Program& program);
std::string_view to_string(Op op);

// What is wrong with the program, one sentence each; empty when it is well formed. Lowering and every pass end with it.
std::vector<std::string> verify(const Program& program);

// Folding of constants, dead code, and reuse of queries that cannot change during a run.
void optimize(Program& program);

} // namespace ir
