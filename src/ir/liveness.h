// Which registers are read later, without being set before, at each place of a function.
#pragma once

#include "ir/passes.h"

namespace ir {

// Of some registers, numbered from 0 in their order.
class Liveness {
public:
  using Set = std::vector<uint64_t>; // bits by number

  Liveness(const Function& function, const Flow& flow, const std::vector<bool>& asked);
  size_t words() const { return words_; }
  uint32_t number(Reg r) const { return numbers_[r]; } // none: it was not asked for
  void start_at_end(const Block& block, Set& live) const;
  // From what is live behind an instruction to what is before it.
  void step_over(const Inst& i, Set& live) const {
    if (const uint32_t n = defines(i) ? numbers_[i.dst] : none; n != none) live[n / 64] &= ~(1ull << n % 64);
    for_each_use(i, [&](Reg r) {
      if (const uint32_t n = numbers_[r]; n != none) live[n / 64] |= 1ull << n % 64;
    });
  }
  bool is_dead(const Inst& i, const Set& live) const {
    const uint32_t n = defines(i) ? numbers_[i.dst] : none;
    return n != none && !(live[n / 64] >> n % 64 & 1);
  }

  static constexpr uint32_t none = ~0u;

private:
  uint64_t* head(BlockId b) { return &at_head_[b * words_]; }
  const uint64_t* head(BlockId b) const { return &at_head_[b * words_]; }

  std::vector<uint32_t> numbers_; // by register
  size_t words_ = 0;
  std::vector<uint64_t> at_head_; // live where each block begins
};

} // namespace ir
