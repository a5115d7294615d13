// A function of the IR made ready to be run: a list of steps, each with all decided that can be before it
// runs. Operands are places in one array of values, registers first and constants behind them. The way on is
// usually the step behind: blocks stand in the order in which they are gone through, and the end of a loop's
// turn asks the question of its head by itself.
#pragma once

#include "ir/ir.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace eval {

// Sizes that loads have: name, type, bytes, whether with sign.
#define ACU_EVAL_LOADS(X)                                                                                    \
  X(u8, uint8_t, 1, false)                                                                                   \
  X(u16, uint16_t, 2, false)                                                                                 \
  X(u32, uint32_t, 4, false)                                                                                 \
  X(u64, uint64_t, 8, false)                                                                                 \
  X(s8, int8_t, 1, true)                                                                                     \
  X(s16, int16_t, 2, true)                                                                                   \
  X(s32, int32_t, 4, true)
// Conditions, in the order of ir::Cond: name, type, comparison.
#define ACU_EVAL_CONDITIONS(X)                                                                               \
  X(eq, int64_t, ==)                                                                                         \
  X(ne, int64_t, !=)                                                                                         \
  X(ult, uint64_t, <)                                                                                        \
  X(ule, uint64_t, <=)                                                                                       \
  X(ugt, uint64_t, >)                                                                                        \
  X(uge, uint64_t, >=)                                                                                       \
  X(slt, int64_t, <)                                                                                         \
  X(sle, int64_t, <=)                                                                                        \
  X(sgt, int64_t, >)                                                                                         \
  X(sge, int64_t, >=)
// Arithmetic that is done without asking ir::compute: name, expression of unsigned a and b.
#define ACU_EVAL_ARITHMETIC(X)                                                                               \
  X(mov, a)                                                                                                  \
  X(number_of, a)                                                                                            \
  X(add, a + b)                                                                                              \
  X(sub, a - b)                                                                                              \
  X(mul, a* b)                                                                                               \
  X(and_, a& b)                                                                                              \
  X(or_, a | b)                                                                                              \
  X(xor_, a ^ b)                                                                                             \
  X(shl, a << (b & 63))                                                                                      \
  X(lshr, a >> (b & 63))

enum class Step : uint8_t {
#define STEP(name, ...) name,
  ACU_EVAL_ARITHMETIC(STEP)
#undef STEP
  compute, // the other arithmetic
#define STEP(name, ...) branch_##name,
  ACU_EVAL_CONDITIONS(STEP)
#undef STEP
  jump,
#define STEP(name, ...) target_##name,
  ACU_EVAL_LOADS(STEP) // of a stopped program; those that fail go to `to`
#undef STEP
#define STEP(name, ...) first_##name,
  ACU_EVAL_LOADS(STEP) // the same, of an object that was not there before: what is near it will be needed
#undef STEP
#define STEP(name, ...) own_##name,
  ACU_EVAL_LOADS(STEP) // of the script's memory
#undef STEP
  ahead,  // asks for the memory that the pointer at a + imm leads to
  fetch,  // any other load or read with a fault edge: `to`
  object,
  pass,   // argument `dst` of the call that follows is a
  call,   // of function `imm`
  give_back,
  unreachable,
  other,  // what is done by its instruction
};

// 64 bytes, a line of the processor's caches.
struct alignas(64) Code {
  Step step = Step::unreachable;
  uint32_t dst = 0, a = 0, b = 0; // places
  uint32_t to = 0;                // index of the step to go to where it is not the one behind
  int64_t imm = 0;                // of `object` its offset in the frame, with everything added
  const ir::Inst* inst = nullptr;
  // Of loads of a target: the area that was read last. 8 bytes can be read at `room` addresses from `begin`.
  uint64_t begin = 0, room = 0;
  const std::byte* bytes = nullptr;
};
static_assert(sizeof(Code) == 64);

struct FunctionCode {
  std::vector<Code> code;              // empty: not made yet
  std::vector<int64_t> constants;      // of the places from `registers` on
  uint32_t registers = 0;              // places of them, with that of register 0
  uint32_t frame = 0;                  // bytes of objects
  std::unique_ptr<ir::Function> own;   // what `inst` points into, where that is not the program's
  size_t places() const { return registers + constants.size(); }
};

// `objects`: where each object of the frame begins, and its size; `has_target`: whether memory of user and
// kernel is that of a stopped program.
FunctionCode make_code(const ir::Function& function, std::span<const uint32_t> objects, bool has_target);

} // namespace eval
