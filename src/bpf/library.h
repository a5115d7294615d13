// Functions written in BPF C (lib/*.bpf.c), compiled by clang when acu is built, as pieces of machine code that are
// put into generated programs. Each has a name of its own, static ones too. Their object files are embedded in the executable; here they are
// taken apart, once, and only by programs that need it: each function with its instructions and what they refer to, maps and other functions, by
// name. Calls of functions in the same section have no relocation; so each function has a section of its own.
// Specification: ELF; Documentation/bpf/llvm_reloc.rst of the kernel.
#pragma once

#include "bpf/language_walkers.h"

#include <cstdint>
#include <linux/bpf.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bpf {

struct LibraryReference {
  uint32_t insn = 0; // a load of 64 bits, or a call
  std::string name;  // of a map, or of a function
  bool is_function = false;
};

struct LibraryFunction {
  std::string name;
  std::vector<bpf_insn> insns;
  std::vector<LibraryReference> references; // ascending
  uint32_t stack_bytes = 0;
  bool is_global = false; // takes numbers only: a verifier looks at it once
};

// All functions there are.
std::span<const LibraryFunction> library();
// The number in library() of a function of ours; it must be there.
uint32_t library_index(std::string_view name);
// Bytes of stack that it and all that it calls take.
uint32_t library_stack(uint32_t index);
// Is it one by which the walker of a runtime is called that is none of `languages`?
bool is_left_out(const LibraryFunction& function, Languages languages);
// What stands in the place of such a function.
LibraryFunction does_nothing(const LibraryFunction& function);

} // namespace bpf
