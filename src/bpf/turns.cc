// The guess counts operations, each as a few instructions, and gives stacks, whose hash goes over each frame,
// and inner loops what they take. It need not be exact: half of the verifier's million is left for what the
// guess does not see.
#include "bpf/turns.h"

#include "bpf/emit.h"

#include <algorithm>

namespace bpf {

static constexpr int64_t most_turns = 1000;
static constexpr int64_t budget = 500'000; // of the million, for one loop with all in it
static constexpr int64_t instructions = 4; // of an operation
static constexpr int64_t of_a_frame = 24;  // of a stack: hashed, and left at each frame's place
static constexpr int64_t of_a_stack = 100; // the rest

int64_t known_turns(const ir::Function& function, const ir::Operand& turns) {
  if (turns.is_constant()) return std::max<int64_t>(0, turns.value);
  if (!turns.is_reg()) return -1;
  int64_t found = -1;
  for (const ir::Block& block : function.blocks)
    for (const ir::Inst& inst : block.insts) {
      if (!ir::defines(inst) || inst.dst != turns.as_reg()) continue;
      if (found >= 0 || inst.op != ir::Op::blur || !inst.a.is_constant()) return -1;
      found = std::max<int64_t>(0, inst.a.value);
    }
  return found;
}

int64_t guess_cost(const ir::Program& program, uint32_t index) {
  const ir::Function& function = program.functions[index];
  int64_t cost = 0;
  for (const ir::Block& block : function.blocks)
    for (const ir::Inst& inst : block.insts) {
      cost += instructions;
      if (inst.op == ir::Op::stack) cost += of_a_stack + of_a_frame * stack_frames(inst);
      if (inst.op == ir::Op::call) cost += guess_cost(program, inst.index);
      if (inst.op == ir::Op::loop) {
        const int64_t most = most_turns_walked(program, inst), known = known_turns(function, inst.a);
        cost += (known < 0 ? most : std::min(known, most)) * guess_cost(program, inst.index);
      }
      cost = std::min<int64_t>(cost, INT32_MAX);
    }
  return cost;
}

int64_t most_turns_walked(const ir::Program& program, const ir::Inst& loop) {
  return std::clamp<int64_t>(budget / std::max<int64_t>(1, guess_cost(program, loop.index)), 1, most_turns);
}

} // namespace bpf
