#include "ir/liveness.h"

#include <algorithm>

namespace ir {

Liveness::Liveness(const Function& function, const Flow& flow, const std::vector<bool>& asked)
    : numbers_(function.registers, none) {
  uint32_t count = 0;
  for (Reg r = 1; r < function.registers; r++)
    if (asked[r]) numbers_[r] = count++;
  words_ = (count + 63) / 64;
  at_head_.assign(function.blocks.size() * words_, 0);
  // Of each block: what it reads before it sets it, and what it does not set.
  std::vector<uint64_t> read(at_head_), kept(at_head_.size(), ~0ull);
  for (const BlockId b : flow.order)
    for (const Inst& i : function.blocks[b].insts) {
      for_each_use(i, [&](Reg r) {
        if (const uint32_t n = numbers_[r]; n != none)
          read[b * words_ + n / 64] |= kept[b * words_ + n / 64] & 1ull << n % 64;
      });
      if (const uint32_t n = defines(i) ? numbers_[i.dst] : none; n != none)
        kept[b * words_ + n / 64] &= ~(1ull << n % 64);
    }
  Set live(words_);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t n = flow.order.size(); n-- > 0;) {
      const BlockId b = flow.order[n];
      start_at_end(function.blocks[b], live);
      for (size_t w = 0; w < words_; w++) {
        const uint64_t now = read[b * words_ + w] | (live[w] & kept[b * words_ + w]);
        changed |= now != head(b)[w];
        head(b)[w] = now;
      }
    }
  }
}

void Liveness::start_at_end(const Block& block, Set& live) const {
  std::fill(live.begin(), live.end(), 0);
  for (const BlockId to : successors(block))
    for (size_t w = 0; w < words_; w++) live[w] |= head(to)[w];
}

} // namespace ir
