// Rules for the code that linkers write themselves: jumps to functions of other files (PLT). GNU ld and gold
// write tables for them, lld and mold do not. Each linker has forms of its own, with and without lazy
// binding, branch targets (IBT) and protection against speculation (retpolines); they all consist of a few
// instructions, which are followed. Specification: System V ABI for x86-64, sections 5.2 (PLT) and 13.1
// (IBT).
#pragma once

#include "unwind/compile_tables.h"

namespace unwind {

// `code`: that of a section with jumps, which begins at `address`. From the first instruction that no linker
// writes, the rest up to the next multiple of 16 has no rule.
std::vector<KnownCode> rules_of_stubs(uint64_t address, base::ByteSpan code);

} // namespace unwind
