#include "ir/liveness.h"

namespace ir {

Liveness::Liveness(const Function& function, const Flow& flow, const std::vector<bool>& asked)
    : numbers_(function.registers, none), at_head_(function.blocks.size()) {
  uint32_t count = 0;
  for (Reg r = 1; r < function.registers; r++)
    if (asked[r]) numbers_[r] = count++;
  words_ = (count + 63) / 64;
  std::vector<BlockValue> reads, sets;
  std::vector<BlockId> set_in(count, no_block); // by number: the last block that set it
  for (const BlockId b : flow.order)
    for (const Inst& i : function.blocks[b].insts) {
      for_each_use(i, [&](Reg r) {
        if (const uint32_t n = numbers_[r]; n != none && set_in[n] != b) reads.push_back({n, b});
      });
      if (const uint32_t n = defines(i) ? numbers_[i.dst] : none; n != none && set_in[n] != b) {
        set_in[n] = b;
        sets.push_back({n, b});
      }
    }
  const Predecessors from(function, flow);
  for_each_live(
      function.blocks.size(), std::move(reads), std::move(sets),
      [&](BlockId b, uint32_t, const auto& go) {
        for (const BlockId p : from.of(b)) go(p);
      },
      [&](uint32_t n, BlockId b) { at_head_[b].push_back(n); });
}

void Liveness::start_at_end(const Block& block, Set& live) const {
  std::fill(live.begin(), live.end(), 0);
  for (const BlockId to : successors(block))
    for (const uint32_t n : at_head_[to]) live[n / 64] |= 1ull << n % 64;
}

} // namespace ir
