// How many turns of a loop a kernel without bpf_loop can be made to walk: its verifier follows each turn, and
// gives up after a million instructions, so long bodies get fewer turns.
#pragma once

#include "ir/ir.h"

#include <cstdint>

namespace bpf {

// Instructions that a verifier follows in one run of a function, as a rough guess from its IR, with what it
// calls.
int64_t guess_cost(const ir::Program& program, uint32_t function);

// The most turns of an Op::loop; at least one.
int64_t most_turns_walked(const ir::Program& program, const ir::Inst& loop);

// The turns that are known from the code: a constant, also one that was blurred. Negative: not known.
int64_t known_turns(const ir::Function& function, const ir::Operand& turns);

} // namespace bpf
