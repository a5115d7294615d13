// The guess counts operations, each as a few instructions, and the branches that a verifier has to come back to, of
// which it keeps 8,192 at most. Stacks, whose hash goes over each frame, and inner loops count for what they take. It need
// not be exact: half of the million is left for what the guess does not see.
#include "bpf/turns.h"

#include "bpf/emit.h"

#include <algorithm>

namespace bpf {

struct Effort {
  int64_t instructions = 0, branches = 0;
  void add(const Effort& other, int64_t times) {
    constexpr int64_t most = INT32_MAX;
    instructions = std::min(most, instructions + std::min(most, other.instructions) * times);
    branches = std::min(most, branches + std::min(most, other.branches) * times);
  }
};

static constexpr Effort budget{500'000, 6'000}; // for a loop with all in it
static constexpr Effort of_an_operation{4, 0};
static constexpr Effort of_a_frame{24, 1}; // of a stack: hashed, and left at each frame's place
static constexpr Effort of_a_stack{100, 6};
static constexpr Effort of_a_turn{10, 2};
// By how many loops are within each other: the inner ones must leave something to the outer ones.
static constexpr int64_t most_turns[] = {1000, 24, 9, 5, 3};

static Effort guess(const ir::Program& program, uint32_t index);

int64_t known_turns(const ir::Function& function, const ir::Operand& turns) {
  const auto few = [](int64_t n) { return n > most_turns[0] ? -1 : std::max<int64_t>(0, n); };
  if (turns.is_constant()) return few(turns.value);
  if (!turns.is_reg()) return -1;
  int64_t found = -1; // none yet
  for (const ir::Block& block : function.blocks)
    for (const ir::Inst& inst : block.insts) {
      if (!ir::defines(inst) || inst.dst != turns.as_reg()) continue;
      if (found >= 0 || inst.op != ir::Op::blur || !inst.a.is_constant()) return -1;
      found = inst.a.value;
    }
  return few(found);
}

// How many loops a function is in.
static size_t depth_of(const ir::Program& program, uint32_t index) {
  size_t depth = 0;
  while (program.functions[index].role == ir::Role::body) {
    index = program.functions[index].parent;
    depth++;
  }
  return depth;
}

// How many loops are within each other in a function.
static size_t height_of(const ir::Program& program, uint32_t index) {
  size_t height = 0;
  for (const ir::Block& block : program.functions[index].blocks)
    for (const ir::Inst& inst : block.insts)
      if (inst.op == ir::Op::loop || inst.op == ir::Op::call)
        height = std::max(height, (inst.op == ir::Op::loop) + height_of(program, inst.index));
  return height;
}

static bool may_branch(const ir::Inst& inst) {
  return inst.op == ir::Op::branch || ir::has_fault_edge(inst) || ir::is_call(inst);
}

static Effort guess(const ir::Program& program, uint32_t index) {
  Effort effort;
  const ir::Function& function = program.functions[index];
  for (const ir::Block& block : function.blocks)
    for (const ir::Inst& inst : block.insts) {
      effort.add(of_an_operation, 1);
      effort.branches += may_branch(inst);
      if (inst.op == ir::Op::stack) effort.add(of_a_stack, 1), effort.add(of_a_frame, stack_frames(inst));
      if (inst.op == ir::Op::call) effort.add(guess(program, inst.index), 1);
      if (inst.op != ir::Op::loop) continue;
      const int64_t most = most_turns_walked(program, index, inst), known = known_turns(function, inst.a);
      const int64_t turns = known < 0 ? most : std::min(known, most);
      effort.add(guess(program, inst.index), turns);
      effort.add(of_a_turn, turns);
    }
  return effort;
}

int64_t most_turns_walked(const ir::Program& program, uint32_t function, const ir::Inst& loop) {
  Effort turn = of_a_turn;
  turn.add(guess(program, loop.index), 1);
  const int64_t most = std::min(budget.instructions / turn.instructions, budget.branches / turn.branches);
  const int64_t known = known_turns(program.functions[function], loop.a);
  // Of a loop whose turns are known all are wanted: to be cut is of no use.
  const size_t around = std::min(depth_of(program, function) + height_of(program, loop.index), std::size(most_turns) - 1);
  return std::clamp<int64_t>(most, 1, most_turns[known >= 0 ? 0 : around]);
}

} // namespace bpf
