// One row of .eh_frame or .debug_frame to a rule of eight bytes.
#pragma once

#include "dwarf/frame_rules.h"
#include "unwind/rule.h"

namespace unwind {

// A rule with UNWIND_CFA_NOT_HELD where eight bytes cannot say what the row does.
unwind_rule compile_rule(const dwarf::FrameRow& row);

// What identifies it: all its bytes.
uint64_t bits_of(const unwind_rule& rule);

constexpr unwind_rule rule_of(uint8_t cfa, int32_t offset = 0) { return {cfa, UNWIND_RBP_SAME, 0, {offset}}; }
// Of the kinds with two parts.
inline unwind_rule rule_of_parts(uint8_t cfa, int16_t offset, int16_t extra) {
  unwind_rule out = rule_of(cfa);
  out.cfa_parts = {offset, extra};
  return out;
}

} // namespace unwind
