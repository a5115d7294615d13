// One row of .eh_frame or .debug_frame to a rule of eight bytes.
#pragma once

#include "dwarf/frame_rules.h"
#include "unwind/rule.h"

#include <bit>
#include <cstdint>

namespace unwind {

// A rule with UNWIND_CFA_NOT_HELD where eight bytes cannot say what the row does.
unwind_rule compile_rule(const dwarf::FrameRow& row);

// All bytes of a rule as one number: what identifies it, and how one is put together at once (field by field,
// the processor would have to wait for its own stores).
inline uint64_t bits_of(const unwind_rule& rule) { return std::bit_cast<uint64_t>(rule); }
constexpr uint64_t rule_bits(uint8_t cfa, int32_t offset, uint8_t rbp = UNWIND_RBP_SAME,
                             int16_t rbp_offset = 0) {
  return uint64_t{cfa} | uint64_t{rbp} << 8 | uint64_t{static_cast<uint16_t>(rbp_offset)} << 16 |
         uint64_t{static_cast<uint32_t>(offset)} << 32;
}
// The offset of those with two parts.
constexpr int32_t join_parts(int16_t offset, int16_t extra) {
  return static_cast<int32_t>(uint32_t{static_cast<uint16_t>(offset)} | uint32_t{static_cast<uint16_t>(extra)}
                                                                            << 16);
}

inline unwind_rule rule_of(uint8_t cfa, int32_t offset = 0) {
  return std::bit_cast<unwind_rule>(rule_bits(cfa, offset));
}
inline unwind_rule rule_of_parts(uint8_t cfa, int16_t offset, int16_t extra) {
  return rule_of(cfa, join_parts(offset, extra));
}

} // namespace unwind
