#include "symbol/jump_targets.h"

namespace symbol {

JumpTargets::JumpTargets(base::ByteSpan code, uint64_t begin) : begin_(begin), bits_(code.size() / 64 + 1) {
  constexpr size_t jump_size = 5; // opcode (of two bytes the second one) and distance
  const auto* bytes = reinterpret_cast<const uint8_t*>(code.data());
  for (size_t i = 0; i + jump_size <= code.size(); i++) {
    bool is_jump = bytes[i] == 0xe9 || ((bytes[i] & 0xf0) == 0x80 && i > 0 && bytes[i - 1] == 0x0f);
    if (!is_jump) continue;
    int32_t distance;
    std::memcpy(&distance, bytes + i + 1, sizeof distance);
    uint64_t target = i + jump_size + static_cast<uint64_t>(int64_t{distance}); // wraps around below 0
    if (target < code.size()) bits_[target / 64] |= uint64_t{1} << target % 64;
  }
}

bool JumpTargets::any(uint64_t first, uint64_t last) const {
  for (uint64_t address = first; address <= last; address++) {
    uint64_t at = address - begin_;
    if (at / 64 < bits_.size() && (bits_[at / 64] >> at % 64 & 1)) return true;
  }
  return false;
}

} // namespace symbol
