// Which registers are read later, without being set before, at each place of a function.
#pragma once

#include "ir/passes.h"

#include <algorithm>

namespace ir {

// A value that a block reads before it sets it, or sets. Values and blocks are numbered from 0.
struct BlockValue {
  uint32_t value, block;
};

// Calls visit(value, block) for each block that a value is live into, value by value. Method: from each read against the edges, until
// a block sets the value; what this costs is the sum of the lengths of the live ranges. `predecessors(block, value, go)` calls go(b) for
// each block that hands the value on to it.
template<class Predecessors, class Visit>
void for_each_live(size_t blocks, std::vector<BlockValue> reads, std::vector<BlockValue> sets, const Predecessors& predecessors,
                   const Visit& visit) {
  const auto by_value = [](const BlockValue& a, const BlockValue& b) { return a.value < b.value; };
  std::stable_sort(reads.begin(), reads.end(), by_value);
  std::stable_sort(sets.begin(), sets.end(), by_value);
  constexpr uint32_t none = ~0u;
  std::vector<uint32_t> live(blocks, none), set(blocks, none); // by block: the last value for which that is so
  std::vector<uint32_t> work;
  size_t next_set = 0;
  for (size_t n = 0; n < reads.size();) {
    const uint32_t value = reads[n].value;
    for (; next_set < sets.size() && sets[next_set].value <= value; next_set++)
      if (sets[next_set].value == value) set[sets[next_set].block] = value;
    const auto enter = [&](uint32_t b) {
      if (live[b] == value) return;
      live[b] = value;
      work.push_back(b);
    };
    for (; n < reads.size() && reads[n].value == value; n++) enter(reads[n].block);
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      visit(value, b);
      predecessors(b, value, [&](uint32_t from) {
        if (set[from] != value) enter(from);
      });
    }
  }
}

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
  std::vector<uint32_t> numbers_; // by register
  size_t words_ = 0;
  std::vector<std::vector<uint32_t>> at_head_; // by block: the numbers that are live where it begins
};

} // namespace ir
