// Instructions of programs, as far as probes care: where each begins, and which of them the kernel carries
// out by itself when a probe is on them. All others it has the processor execute elsewhere, one alone, with
// two more traps: 20 times as dear. (Linux: arch/x86/kernel/uprobes.c. Intel's manual, volume 2, chapter 2
// and appendix A, for the encodings.)
#pragma once

#include "base/reader.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace symbol {

class Binary;

// The address of the instruction that holds the byte at `address`, read from `begin` on, where one begins.
// By a disassembler that is loaded at the first call; failure: it is not installed, or the bytes are none.
base::Result<uint64_t> find_instruction(const Binary& binary, uint64_t begin, uint64_t address);

// Where an instruction leads to.
enum class Flow : uint8_t {
  next,     // the instruction behind it
  calls,    // a function, and back
  jumps,    // elsewhere
  branches, // elsewhere or the instruction behind it
  returns,  // the caller
  stops,    // nowhere: a trap
};

struct Instruction {
  uint64_t address = 0, length = 0;
  Flow flow = Flow::next;
  std::optional<uint64_t> target; // of calls, jumps and branches; nothing: a register or memory has it
};

// Calls `take` with each instruction in [begin, end), until it returns false. Failure as above.
base::Status for_each_instruction(const Binary& binary, uint64_t begin, uint64_t end,
                                  const std::function<bool(const Instruction&)>& take);

// Whether the kernel carries out the first instruction of `code` itself. `with_nops`: also long ones (Linux
// 6.18).
bool is_emulated(base::ByteSpan code, bool with_nops);
// Whether a kernel of this release ("6.18.2-amd64") does that.
bool emulates_nops(const std::string& release);
// There must be no probe on the first instruction of `code`: the kernel refuses it (a prefix for locking or
// for segments that mean nothing, what ordinary programs must not execute), or carries it out wrongly.
bool is_refused(base::ByteSpan code);
// A nop of 5 bytes, in place of which newer kernels put a call, which writes below the stack pointer.
bool is_nop5(base::ByteSpan code);

// Whether some direct branch in `code` may lead to one of the bytes `first` to `last` of it.
bool is_branched_to(base::ByteSpan code, unsigned first, unsigned last);

// The length of the first instruction if a probe behind it sees all that one on it does: it changes no
// memory, no stack pointer, none of the registers that hold arguments or belong to the caller, and is no
// branch. 0: it does, or is not known.
unsigned passable_length(base::ByteSpan code);

// Where a probe at the entry of a function is best put: `code` is all of the function. Bytes from its start
// to the first instruction that the kernel carries out itself, past passable ones that no branch leads
// behind; 0 where there is none.
unsigned best_entry(base::ByteSpan code, bool with_nops);

} // namespace symbol
