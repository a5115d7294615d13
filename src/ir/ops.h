// What each operation of the IR is, as one table: the operands it reads, whether it gives a value, whether it
// ends its block, whether it may be dropped when nobody reads its value, and whether the kernel implements it
// by a call. Verifier, printer, passes, evaluator and the BPF register allocator ask this table instead of
// listing operations.
//
// Rules that hold for all operations:
//   - an operand is a register or a constant; `none` only where the table says `optional`;
//   - a value may be ignored: dst 0;
//   - where a load or read takes its fault edge, its dst is undefined there.
#pragma once

#include "ir/ir.h"

#include <array>
#include <string_view>

namespace ir {

// Operands as bits of OpRow::reads and OpRow::optional.
inline constexpr uint8_t in_a = 1, in_b = 2, in_c = 4, in_d = 8, in_e = 16, in_all = 31;

enum class Ends : uint8_t {
  never,
  always,
  with_fault, // if `other` is set
};

// Does the operation become a call of a helper or subprogram, which clobbers the caller-saved registers
// (r0-r5)? Loads do only outside script memory: ask is_call(). What is answered without a call by a certain
// engine (a scalar map by its address) is that engine's refinement.
enum class Calls : uint8_t { never, always, outside_script };

struct OpRow {
  Op op;
  std::string_view name;
  uint8_t reads = 0;    // operands it has
  uint8_t optional = 0; // of those, the ones that may be `none`
  bool has_dst = false; // may set dst
  Ends ends = Ends::never;
  bool has_effect = false; // writes memory, maps, events or counters, or moves control
  bool removable = false;  // may go when its value is not used (and it ends no block)
  bool is_pure = false;    // its value depends on its operands and immediates alone, not on memory or time
  Calls calls = Calls::never;
};

// clang-format off
inline constexpr std::array op_rows{
    OpRow{.op = Op::mov, .name = "mov", .reads = in_a, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::add, .name = "add", .reads = in_a | in_b, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::sub, .name = "sub", .reads = in_a | in_b, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::mul, .name = "mul", .reads = in_a | in_b, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::udiv, .name = "udiv", .reads = in_a | in_b, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::umod, .name = "umod", .reads = in_a | in_b, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::and_, .name = "and", .reads = in_a | in_b, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::or_, .name = "or", .reads = in_a | in_b, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::xor_, .name = "xor", .reads = in_a | in_b, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::shl, .name = "shl", .reads = in_a | in_b, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::lshr, .name = "lshr", .reads = in_a | in_b, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::ashr, .name = "ashr", .reads = in_a | in_b, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::zext, .name = "zext", .reads = in_a, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::sext, .name = "sext", .reads = in_a, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::bswap, .name = "bswap", .reads = in_a, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::number_of, .name = "number_of", .reads = in_a, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::log2, .name = "log2", .reads = in_a, .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::set, .name = "set", .reads = in_a | in_b, .has_dst = true, .removable = true, .is_pure = true},

    OpRow{.op = Op::blur, .name = "blur", .reads = in_a, .has_dst = true, .removable = true},

    OpRow{.op = Op::object, .name = "object", .has_dst = true, .removable = true, .is_pure = true},
    // Of context loads, `a` says nothing and may be missing.
    OpRow{.op = Op::load, .name = "load", .reads = in_a, .optional = in_a, .has_dst = true, .ends = Ends::with_fault, .removable = true, .calls = Calls::outside_script},
    OpRow{.op = Op::store, .name = "store", .reads = in_a | in_b, .has_effect = true},
    OpRow{.op = Op::copy, .name = "copy", .reads = in_a | in_b, .has_effect = true},
    OpRow{.op = Op::zero, .name = "zero", .reads = in_a, .has_effect = true},
    OpRow{.op = Op::read, .name = "read", .reads = in_a | in_b, .ends = Ends::with_fault, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::read_string, .name = "read_string", .reads = in_a | in_b | in_c, .optional = in_c, .has_dst = true, .ends = Ends::with_fault, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::read_bytes, .name = "read_bytes", .reads = in_a | in_b | in_c, .has_dst = true, .ends = Ends::with_fault, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::equal, .name = "equal", .reads = in_a | in_b, .has_dst = true, .removable = true},
    OpRow{.op = Op::context_address, .name = "context_address", .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::name, .name = "name", .reads = in_a, .has_effect = true, .calls = Calls::always},

    OpRow{.op = Op::lend, .name = "lend", .has_dst = true, .removable = true},
    OpRow{.op = Op::borrow, .name = "borrow", .reads = in_a, .has_dst = true, .removable = true, .calls = Calls::always},

    OpRow{.op = Op::query, .name = "query", .has_dst = true, .removable = true, .calls = Calls::always},
    OpRow{.op = Op::task_name, .name = "task_name", .reads = in_a | in_b, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::cpu_variable, .name = "cpu_variable", .reads = in_a, .optional = in_a, .has_dst = true, .removable = true, .calls = Calls::always},
    OpRow{.op = Op::socket_cookie, .name = "socket_cookie", .reads = in_a, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::path, .name = "path", .reads = in_a | in_b, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::stack, .name = "stack", .reads = in_a, .optional = in_a, .has_dst = true, .removable = true, .calls = Calls::always},
    OpRow{.op = Op::stack_depth, .name = "stack_depth", .reads = in_a, .has_dst = true, .removable = true, .calls = Calls::always},
    OpRow{.op = Op::cpu_count, .name = "cpu_count", .has_dst = true, .removable = true, .is_pure = true},
    OpRow{.op = Op::memory_map, .name = "memory_map", .reads = in_a, .has_dst = true, .removable = true, .calls = Calls::always},
    OpRow{.op = Op::table, .name = "table", .reads = in_a, .has_dst = true, .removable = true, .is_pure = true},

    OpRow{.op = Op::map_find, .name = "map_find", .reads = in_a, .optional = in_a, .has_dst = true, .removable = true, .calls = Calls::always},
    OpRow{.op = Op::map_find_cpu, .name = "map_find_cpu", .reads = in_a | in_b, .optional = in_a, .has_dst = true, .removable = true, .calls = Calls::always},
    OpRow{.op = Op::map_slot, .name = "map_slot", .reads = in_a | in_b, .optional = in_a | in_b, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::map_store, .name = "map_store", .reads = in_a | in_b, .optional = in_a, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::map_remove, .name = "map_remove", .reads = in_a, .optional = in_a, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::map_size, .name = "map_size", .has_dst = true, .removable = true, .calls = Calls::always},
    OpRow{.op = Op::exchange, .name = "exchange", .reads = in_a | in_b | in_c, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::add_memory, .name = "add_memory", .reads = in_a | in_b, .has_effect = true},

    OpRow{.op = Op::event, .name = "event", .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::send, .name = "send", .reads = in_a, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::hold, .name = "hold", .reads = in_a, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::commit, .name = "commit", .reads = in_a, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::print, .name = "print", .reads = in_a | in_b | in_c, .optional = in_c, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::packet, .name = "packet", .reads = in_a | in_b | in_c, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::count_fault, .name = "count_fault", .has_effect = true, .calls = Calls::always},

    OpRow{.op = Op::signal, .name = "signal", .reads = in_a, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::write_user, .name = "write_user", .reads = in_a | in_b, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::override, .name = "override", .reads = in_a, .has_dst = true, .has_effect = true, .calls = Calls::always},

    OpRow{.op = Op::call, .name = "call", .reads = in_all, .optional = in_all, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::loop, .name = "loop", .reads = in_a, .has_dst = true, .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::for_each, .name = "for_each", .has_effect = true, .calls = Calls::always},
    OpRow{.op = Op::jump, .name = "jump", .ends = Ends::always, .has_effect = true},
    OpRow{.op = Op::branch, .name = "branch", .reads = in_a | in_b, .ends = Ends::always, .has_effect = true},
    OpRow{.op = Op::give_back, .name = "give_back", .reads = in_a, .optional = in_a, .ends = Ends::always, .has_effect = true},
    OpRow{.op = Op::unreachable, .name = "unreachable", .ends = Ends::always, .has_effect = true},
};
// clang-format on
inline constexpr size_t op_count = static_cast<size_t>(Op::unreachable) + 1;

consteval bool op_rows_in_order() {
  for (size_t i = 0; i < op_rows.size(); i++)
    if (static_cast<size_t>(op_rows[i].op) != i) return false;
  return op_rows.size() == op_count;
}
static_assert(op_rows_in_order(), "op_rows must hold each Op once, in the order of the enumeration");

inline constexpr const OpRow& row(Op op) { return op_rows[static_cast<size_t>(op)]; }

// What is asked of each instruction again and again, taken from the rows: these few bytes stay in the caches.
template<class T> using ByOp = std::array<T, op_count>;
template<class F> consteval auto by_op(F&& of) {
  ByOp<decltype(of(op_rows[0]))> out{};
  for (size_t i = 0; i < op_count; i++) out[i] = of(op_rows[i]);
  return out;
}
inline constexpr auto reads_of_op = by_op([](const OpRow& r) { return r.reads; });
inline constexpr auto ends_of_op = by_op([](const OpRow& r) { return r.ends; });
inline constexpr auto is_removable_op = by_op([](const OpRow& r) { return r.removable; });

// Calls fn(operand) for each operand the operation has, also constants; `inst` may be const.
template<class I, class F> void for_each_operand(I& inst, F&& fn) {
  const uint8_t reads = reads_of_op[static_cast<size_t>(inst.op)];
  if (reads & in_a) fn(inst.a);
  if (reads < in_b) return;
  if (reads & in_b) fn(inst.b);
  if (reads < in_c) return;
  if (reads & in_c) fn(inst.c);
  if (reads & in_d) fn(inst.d);
  if (reads & in_e) fn(inst.e);
}

// Calls fn(Reg) for each register the instruction reads; twice for one that is read twice.
template<class F> void for_each_use(const Inst& inst, F&& fn) {
  for_each_operand(inst, [&](const Operand& o) {
    if (o.is_reg()) fn(o.as_reg());
  });
}

// Does it assign inst.dst? (Operations that give no value have none: verify().)
inline bool defines(const Inst& inst) { return inst.dst != 0; }

inline bool ends_block(const Inst& inst) {
  const Ends ends = ends_of_op[static_cast<size_t>(inst.op)];
  return ends == Ends::always || (ends == Ends::with_fault && inst.other != no_block);
}

// A load or read that ends its block: goes on at `target`, or at `other` on a fault.
inline bool has_fault_edge(const Inst& inst) {
  return ends_of_op[static_cast<size_t>(inst.op)] == Ends::with_fault && inst.other != no_block;
}

// Is it a call in BPF terms? Loads are only in Space::kernel and Space::user; the others are plain load
// instructions.
bool is_call(const Inst& inst);

// May it go when nobody reads inst.dst?
inline bool is_removable(const Inst& inst) {
  if (inst.op == Op::loop) return inst.a == Operand::number(0); // of no turns
  return is_removable_op[static_cast<size_t>(inst.op)] && !ends_block(inst);
}

// The blocks an instruction may go on at: none for one that does not end its block, or that leaves the
// function.
struct Successors {
  BlockId ids[2] = {no_block, no_block};
  uint32_t count = 0;
  const BlockId* begin() const { return ids; }
  const BlockId* end() const { return ids + count; }
};
inline Successors successors(const Inst& inst) {
  switch (inst.op) {
  case Op::jump: return {{inst.target, no_block}, 1};
  case Op::branch: return {{inst.target, inst.other}, 2};
  default: break;
  }
  if (has_fault_edge(inst)) return {{inst.target, inst.other}, 2};
  return {};
}
inline Successors successors(const Block& block) {
  return block.insts.empty() ? Successors{} : successors(block.insts.back());
}

// One instruction, without its indent.
std::string to_string(const Inst& inst, const Program& program);
std::string_view to_string(Cond cond);
std::string_view to_string(Query query);
std::string_view to_string(Space space);
Cond negate(Cond cond); // eq -> ne, ult -> uge, …
Cond swap(Cond cond);   // of exchanged operands: ult -> ugt, …

// The arithmetic of the IR on constants, shared by folding and the evaluator. Shift counts are taken modulo
// 64; udiv by 0 gives 0 and umod by 0 the dividend, as in BPF (lowering guards both); log2 of 0 gives 0.
int64_t compute(const Inst& inst, int64_t a, int64_t b); // mov … set
bool holds(Cond cond, int64_t a, int64_t b);
bool is_arithmetic(Op op); // mov … set: what compute() knows

} // namespace ir
