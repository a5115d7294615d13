// remove_dead_code: needed are the registers read by instructions with an effect, and those read to compute
// needed ones. An instruction that only computes what is not needed goes; one with an effect loses its dst. A
// copy right behind the only computation of what it copies is merged with it.
#include "ir/passes.h"

#include <algorithm>

namespace ir {
namespace {

std::vector<bool> find_needed(const Function& function) {
  std::vector<bool> needed(function.registers);
  std::vector<Reg> work;
  const auto need = [&](Reg r) {
    if (needed[r]) return;
    needed[r] = true;
    work.push_back(r);
  };
  // The removable instructions that assign each register, as lists in one array.
  constexpr uint32_t end = ~0u;
  std::vector<uint32_t> first(function.registers, end), next;
  std::vector<const Inst*> makers;
  for (const Block& b : function.blocks) {
    for (const Inst& i : b.insts) {
      if (!is_removable(i)) {
        for_each_use(i, need);
        continue;
      }
      next.push_back(first[i.dst]);
      first[i.dst] = static_cast<uint32_t>(makers.size());
      makers.push_back(&i);
    }
  }
  while (!work.empty()) {
    const Reg r = work.back();
    work.pop_back();
    for (uint32_t m = first[r]; m != end; m = next[m]) for_each_use(*makers[m], need);
  }
  return needed;
}

bool remove_unneeded(Function& function) {
  const std::vector<bool> needed = find_needed(function);
  bool changed = false;
  for (Block& b : function.blocks) {
    for (Inst& i : b.insts) {
      if (!defines(i) || needed[i.dst] || is_removable(i)) continue;
      i.dst = 0;
      changed = true;
    }
    changed |= std::erase_if(b.insts, [&](const Inst& i) {
                 const bool to_itself = i.op == Op::mov && i.a == Operand::of(i.dst);
                 return is_removable(i) && (!needed[i.dst] || to_itself);
               }) != 0;
  }
  return changed;
}

// Registers that are assigned several times, numbered from 0; and which of them are read later, by block.
class Liveness {
public:
  using Set = std::vector<uint64_t>; // bits by number

  explicit Liveness(const Function& function) : numbers_(function.registers, none) {
    const Definitions definitions(function);
    uint32_t count = 0;
    for (Reg r = 1; r < function.registers; r++)
      if (definitions.count[r] > 1) numbers_[r] = count++;
    words_ = (count + 63) / 64;
    if (is_empty()) return;
    at_head_.assign(function.blocks.size() * words_, 0);
    const Flow flow(function);
    // Of each block: what it reads before it sets it, and what it does not set.
    std::vector<uint64_t> read(at_head_), kept(at_head_.size(), ~0ull);
    for (const BlockId b : flow.order)
      for (const Inst& i : function.blocks[b].insts) summarize(i, &read[b * words_], &kept[b * words_]);
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
  bool is_empty() const { return words_ == 0; }
  size_t words() const { return words_; }
  void start_at_end(const Block& block, Set& live) {
    std::fill(live.begin(), live.end(), 0);
    for (const BlockId to : successors(block))
      for (size_t w = 0; w < words_; w++) live[w] |= head(to)[w];
  }
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

private:
  void summarize(const Inst& i, uint64_t* read, uint64_t* kept) const {
    for_each_use(i, [&](Reg r) {
      if (const uint32_t n = numbers_[r]; n != none) read[n / 64] |= kept[n / 64] & 1ull << n % 64;
    });
    if (const uint32_t n = defines(i) ? numbers_[i.dst] : none; n != none) kept[n / 64] &= ~(1ull << n % 64);
  }
  uint64_t* head(BlockId b) { return &at_head_[b * words_]; }

  static constexpr uint32_t none = ~0u;
  std::vector<uint32_t> numbers_; // by register
  size_t words_ = 0;
  std::vector<uint64_t> at_head_;
};

bool remove_overwritten(Function& function) {
  Liveness liveness(function);
  if (liveness.is_empty()) return false;
  bool changed = false;
  Liveness::Set live(liveness.words());
  for (Block& b : function.blocks) {
    liveness.start_at_end(b, live);
    for (size_t n = b.insts.size(); n-- > 0;) {
      Inst& i = b.insts[n];
      if (liveness.is_dead(i, live)) {
        changed = true;
        if (is_removable(i)) {
          b.insts.erase(b.insts.begin() + static_cast<ptrdiff_t>(n));
          continue;
        }
        i.dst = 0;
      }
      liveness.step_over(i, live);
    }
  }
  return changed;
}

// t = …; r = mov t, with no other use of t: r = …
bool merge_copies(Function& function) {
  std::vector<uint32_t> uses(function.registers);
  for (const Block& b : function.blocks)
    for (const Inst& i : b.insts) for_each_use(i, [&](Reg r) { uses[r]++; });
  const std::vector<uint32_t> assigned = Definitions(function).count;
  bool changed = false;
  for (Block& b : function.blocks) {
    size_t kept = 0;
    for (size_t n = 0; n < b.insts.size(); n++) {
      const Inst& i = b.insts[n];
      Inst* before = kept ? &b.insts[kept - 1] : nullptr;
      if (before && i.op == Op::mov && i.a.is_reg() && defines(*before) && before->dst == i.a.as_reg() &&
          uses[before->dst] == 1 && assigned[before->dst] == 1) {
        before->dst = i.dst;
        changed = true;
        continue;
      }
      if (kept != n) b.insts[kept] = i;
      kept++;
    }
    b.insts.resize(kept);
  }
  return changed;
}

} // namespace

bool remove_dead_code(Function& function, const Program&) {
  bool changed = remove_unneeded(function);
  changed |= remove_overwritten(function);
  changed |= merge_copies(function);
  return changed;
}

} // namespace ir
