#include "symbol/jump_targets.h"

#include <cstring>

namespace symbol {

// Calls `take` with each place of a byte. Most bytes of code are none of those that matter, and memchr passes
// over many at once.
template<class Take> static void for_each_byte(base::ByteSpan code, uint8_t wanted, Take take) {
  const auto* begin = reinterpret_cast<const uint8_t*>(code.data());
  const uint8_t* end = begin + code.size();
  for (const uint8_t* at = begin; at < end; at++) {
    at = static_cast<const uint8_t*>(std::memchr(at, wanted, static_cast<size_t>(end - at)));
    if (!at) return;
    take(static_cast<size_t>(at - begin));
  }
}

JumpTargets::JumpTargets(base::ByteSpan code, uint64_t begin) : begin_(begin), bits_(code.size() / 64 + 1) {
  constexpr size_t jump_size = 5; // opcode (of two bytes the second one) and distance
  auto add = [&](size_t i) {
    if (i + jump_size > code.size()) return;
    int32_t distance;
    std::memcpy(&distance, code.data() + i + 1, sizeof distance);
    uint64_t target = i + jump_size + static_cast<uint64_t>(int64_t{distance}); // wraps around below 0
    if (target < code.size()) bits_[target / 64] |= uint64_t{1} << target % 64;
  };
  for_each_byte(code, 0xe9, add);
  for_each_byte(code, 0x0f, [&](size_t i) {
    if (i + 1 < code.size() && (static_cast<uint8_t>(code[i + 1]) & 0xf0) == 0x80) add(i + 1);
  });
}

bool JumpTargets::any(uint64_t first, uint64_t last) const {
  for (uint64_t address = first; address <= last; address++) {
    uint64_t at = address - begin_;
    if (at / 64 < bits_.size() && (bits_[at / 64] >> at % 64 & 1)) return true;
  }
  return false;
}

} // namespace symbol
