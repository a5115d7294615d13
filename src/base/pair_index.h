// Numbers of pairs of numbers, in an open hash: for what there is much of, and nothing is removed. A look-up touches one place in memory, and it is
// freed in one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace base {

class PairIndex {
public:
  // The number of (a, b), and whether it is new; then it is `next`, below 2^32 - 1.
  std::pair<uint32_t, bool> find_or_add(uint64_t a, uint64_t b, uint32_t next) {
    if (3 * (used_ + 1) > 2 * slots_.size()) grow();
    Slot& slot = slot_of(a, b);
    if (slot.after) return {slot.after - 1, false};
    slot = {a, b, next + 1};
    used_++;
    return {next, true};
  }
  void clear() { slots_.clear(), used_ = 0; }

private:
  struct Slot {
    uint64_t a = 0, b = 0;
    uint32_t after = 0; // the number and one; 0: free
  };

  Slot& slot_of(uint64_t a, uint64_t b) {
    size_t at = ((a * 0x9e3779b97f4a7c15 ^ b) * 0xff51afd7ed558ccd) >> 20 & (slots_.size() - 1);
    while (slots_[at].after && (slots_[at].a != a || slots_[at].b != b)) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : 2 * slots_.size()));
    for (const Slot& s : before)
      if (s.after) slot_of(s.a, s.b) = s;
  }

  std::vector<Slot> slots_; // a power of two, at most two thirds of them used
  size_t used_ = 0;
};

} // namespace base
