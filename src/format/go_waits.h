// How goroutines wait, as the runtime of a Go program has it in its code and data, also when the program is stripped:
// the functions through which a goroutine stops and goes on, the names of the reasons, and where the list of all
// goroutines and the fields of one are.
//
// A goroutine waits by runtime.gopark(unlock, lock, reason, …) and goes on when runtime.execute(g, …) gives it a thread. Both have
// their arguments in registers since Go 1.17 (internal/abi: rax, rbx, rcx, …; r14 is the running goroutine) and begin by comparing the
// stack pointer with the limit of the stack at g+16: programs in which they do not are refused. Nothing depends on the version beyond
// that: the field of the reason is the one in which gopark stores its argument, the fields beside it follow from it, and the list is what
// runtime.forEachG goes over. Specification: the source of Go, src/runtime/proc.go and runtime2.go, from 1.17 to 1.24.
#pragma once

#include "format/elf_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace format {

struct GoWaits {
  static constexpr uint64_t branch = 4; // place in gopark of the branch behind the comparison
  uint64_t park = 0, execute = 0;    // addresses of the functions
  std::vector<std::string> reasons;  // by number ("chan receive"); empty: they were not found
  uint64_t goroutines = 0;           // address of runtime.allgs: address of the first element, how many; 0: not found
  uint32_t reason_at = 0;            // place of the reason in struct g, one byte; 0: not found
};

// Places in struct g that are the same since Go 1.17. The saved registers are a struct: sp, pc, g, …
namespace go_goroutine {
inline constexpr uint32_t stack_begin = 0, stack_end = 8, stack_limit = 16, thread = 48, saved_sp = 56, saved_pc = 64, saved_g = 72;
inline constexpr uint32_t saved_bp[] = {104, 96}; // with and without a field before it
inline constexpr uint32_t status_before_reason = 32; // bytes
} // namespace go_goroutine

// Whether a file is a Go program or library, by the names of its sections.
bool looks_like_go(const ElfFile& file);

// Failure: why the waits of goroutines of this file cannot be followed, such as a version of Go that is not known.
base::Result<GoWaits> find_go_waits(const ElfFile& file);

} // namespace format
