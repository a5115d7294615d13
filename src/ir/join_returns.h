// Functions whose entry and return are both probed need one attachment where the kernel can run a program at both.
#pragma once

#include "ir/ir.h"

namespace ir {

// Whose functions are joined: those of user code, or those of the kernel.
enum class Joined : uint8_t { user, kernel };

// Joins each probe at the entry of functions with the one at the return of the same functions to a program that
// is_session. `is_return`: type id of the kernel's function that tells it on which side it is. To be done behind
// optimize(), which finds out more of a function that has one side only. Returns how many were joined.
size_t join_returns(Program& program, Joined whose, uint32_t is_return);

// Whether there is something to join.
bool has_returns_to_join(const Program& program, Joined whose);

} // namespace ir
