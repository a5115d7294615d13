// How many turns of a loop a kernel without bpf_loop can be made to walk: its verifier follows each turn, and
// gives up after a million instructions or when it has too many branches to come back to, so long bodies get
// fewer turns.
#pragma once

#include "ir/ir.h"

#include <cstdint>

namespace bpf {

// The most turns of an Op::loop in a function; at least one.
int64_t most_turns_walked(const ir::Program& program, uint32_t function, const ir::Inst& loop);

// The turns that are known from the code and not too many: a constant, also one that was blurred. Negative:
// not known.
int64_t known_turns(const ir::Function& function, const ir::Operand& turns);

} // namespace bpf
