// A function of the IR made ready to be run: its blocks in one list, and every operand a place in one array
// of values, registers first and constants behind them, so that no instruction has to ask what its operands
// are.
#pragma once

#include "ir/ir.h"

#include <span>
#include <vector>

namespace eval {

struct Code {
  ir::Op op = ir::Op::unreachable;
  uint8_t size = 8;
  bool is_signed = false;
  bool has_fault_edge = false;
  ir::Cond cond = ir::Cond::eq;
  ir::Space space = ir::Space::script;
  uint32_t dst = 0, a = 0, b = 0; // places; of operands that are missing 0
  uint32_t target = 0, other = 0; // places in FunctionCode::code
  int64_t imm = 0;                // of `object` its offset in the frame, with everything added
  const ir::Inst* inst = nullptr; // of what is not done in a few lines
};

struct FunctionCode {
  std::vector<Code> code;      // empty: not made yet
  std::vector<int64_t> values; // to begin with: registers (0), then constants
};

// `objects`: where each object of the frame begins.
FunctionCode make_code(const ir::Function& function, std::span<const uint32_t> objects);

} // namespace eval
