// Walks a stack outside of the kernel, given registers and memory: of a thread that was copied by a probe, of
// a stopped one, of a core file. Where the rows of a file hold a rule it is used; where they do not, or where
// all registers are asked for, everything that the file's .eh_frame or .debug_frame says is carried out.
// Specification: DWARF 5, section 6.4; System V ABI for x86-64, section 3.
#pragma once

#include "unwind/file_frames.h"
#include "unwind/rule.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace unwind {

// Of one frame, by DWARF's numbers (spec/arch_x86_64.h), the last rip. Those that the frame's callee did not keep are not known.
class Registers {
public:
  static constexpr unsigned rbp = ARCH_RBP, rsp = ARCH_RSP, rip = ARCH_RIP, count = ARCH_REGISTERS;

  std::optional<uint64_t> get(uint64_t number) const {
    return knows(number) ? std::optional(values_[number]) : std::nullopt;
  }
  bool knows(uint64_t number) const { return number < count && (known_ >> number & 1); }
  void set(unsigned number, uint64_t value) { values_[number] = value, known_ |= 1u << number; }
  void forget(unsigned number) { known_ &= ~(1u << number); }

private:
  std::array<uint64_t, count> values_ = {};
  uint32_t known_ = 0;
};

// Fills `to` with the memory from `address` on; false: not all of it can be read.
using ReadMemory = std::function<bool(uint64_t address, std::span<std::byte> to)>;

// What is at an address of the process.
struct CodePlace {
  bool is_code = false;       // it may be executed
  FileFrames* file = nullptr; // nullptr: the code is in no file (JIT), or the file is not to be had
  uint64_t bias = 0;          // what the loader added to the file's addresses
};
using FindCode = std::function<CodePlace(uint64_t address)>;

struct Frame {
  Registers registers; // rip, and rsp as it was there
  uint64_t cfa = 0;    // the stack pointer before this frame was called; 0: not known (of the last frame)
  // The address is of an instruction that has not been carried out yet (the innermost frame, and one that a
  // signal interrupted), not where a call returns to: lines and rules are looked up at rip, else at rip - 1.
  bool is_exact = false;
  bool is_signal = false;        // made by the kernel, so that a signal's handler returns through it
  bool by_frame_pointer = false; // no table told of the caller: rbp was taken for a frame pointer
  uint64_t look_up() const { return *registers.get(Registers::rip) - (is_exact ? 0 : 1); }
};

struct WalkOptions {
  size_t most_frames = 512;
  bool all_registers = false; // of each frame all that are known; else rip, rsp, and rbp where it is known
  // Called for each frame before its caller is looked up: corrects frames of code that has no tables, or whose tables do not hold. `has_table`:
  // of the code. Needs all_registers.
  std::function<void(Frame& frame, bool has_table)> correct;
  // Asked for each frame first: the caller of code whose frames only a language runtime knows. Nothing: it is none of that. Needs all_registers.
  std::function<std::optional<Frame>(const Frame& frame)> caller;
};

struct Walk {
  std::vector<Frame> frames; // the innermost first; at least one if rip and rsp are given
  unwind_end end = UNWIND_COMPLETE;
};

Walk walk(const Registers& start, const ReadMemory& read, const FindCode& find,
          const WalkOptions& options = {});

} // namespace unwind
