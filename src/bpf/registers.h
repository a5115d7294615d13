// Register allocation: which machine register or stack slot holds each value of a function.
//
// Method: liveness by data flow over the blocks, one interval from the first to the last place where a value
// is needed, then linear scan (Poletto and Sarkar, 1999). Values that live across a call get r6-r9; others
// r1-r3 first. r0, r4 and r5 stay free for the code of single operations. What finds no register gets a slot
// of 8 bytes; slots are shared by values that do not live at the same time.
#pragma once

#include "bpf/assembler.h"
#include "ir/ir.h"

#include <vector>

namespace bpf {

// One operation, as far as registers go.
struct Step {
  uint32_t first = 0; // of its uses, in Steps::uses
  uint8_t count = 0;
  uint8_t late = 0;  // bits: the use is needed until the operation is complete, not only when it starts
  bool call = false; // r0-r5 are lost
  ir::Reg def = 0;
  ir::Reg same_as = 0; // def best stands where this value stood
};

struct StepBlock {
  uint32_t first = 0, last = 0;                       // steps, inclusive
  ir::BlockId next[2] = {ir::no_block, ir::no_block}; // indices into Steps::blocks
  bool def_only_on_first = false; // the last step sets its `def` only when control goes to next[0]
};

struct Steps {
  uint32_t registers = 0;          // one more than the highest value used
  std::vector<ir::Reg> parameters; // set before the first step
  std::vector<Register> arrives;   // where each of them arrives
  std::vector<Step> steps;         // in the order of emission
  std::vector<ir::Reg> uses;       // of all steps
  std::vector<StepBlock> blocks;   // in the order of emission; 0 is the entry

  void begin_step() { steps.push_back({.first = static_cast<uint32_t>(uses.size())}); }
  void use(ir::Reg r, bool until_end = false) { // by the last step
    Step& s = steps.back();
    if (until_end) s.late |= static_cast<uint8_t>(1 << s.count);
    s.count++;
    uses.push_back(r);
  }
};

struct Location {
  enum Kind : uint8_t { unused, in_register, in_slot } kind = unused;
  Register reg = r0;
  uint32_t slot = 0;
};

struct Allocation {
  std::vector<Location> at; // by value; `unused`: never read or written
  uint32_t slots = 0;
};

Allocation allocate_registers(const Steps& steps);

} // namespace bpf
