// remove_dead_code: needed are the registers read by instructions with an effect, and those read to compute
// needed ones. An instruction that only computes what is not needed goes; one with an effect loses its dst. A
// copy right behind the only computation of what it copies is merged with it.
#include "ir/passes.h"

#include <algorithm>

namespace ir {
namespace {

// Of each register: how many instructions assign it (being a parameter counts as one), and whether anybody needs it.
struct Uses {
  std::vector<uint32_t> assigned;
  std::vector<uint8_t> needed;
};

Uses find_uses(const Function& function) {
  Uses uses{std::vector<uint32_t>(function.registers), std::vector<uint8_t>(function.registers)};
  for (Reg r = 1; r <= function.parameters; r++) uses.assigned[r] = 1;
  std::vector<Reg> work;
  const auto need = [&](Reg r) {
    if (uses.needed[r]) return;
    uses.needed[r] = true;
    work.push_back(r);
  };
  // The removable instructions that assign each register, as lists in one array.
  constexpr uint32_t end = ~0u;
  struct Maker {
    const Inst* inst;
    uint32_t next;
  };
  std::vector<uint32_t> first(function.registers, end);
  std::vector<Maker> makers;
  makers.reserve(function.registers);
  for (const Block& b : function.blocks) {
    for (const Inst& i : b.insts) {
      if (defines(i)) uses.assigned[i.dst]++;
      if (!is_removable(i)) {
        for_each_use(i, need);
        continue;
      }
      makers.push_back({&i, first[i.dst]});
      first[i.dst] = static_cast<uint32_t>(makers.size() - 1);
    }
  }
  while (!work.empty()) {
    const Reg r = work.back();
    work.pop_back();
    for (uint32_t m = first[r]; m != end; m = makers[m].next) for_each_use(*makers[m].inst, need);
  }
  return uses;
}

void remove_unneeded(Function& function, Uses& uses) {
  for (Block& b : function.blocks) {
    size_t kept = 0;
    for (size_t n = 0; n < b.insts.size(); n++) {
      Inst& i = b.insts[n];
      const bool is_copy_of_itself = i.op == Op::mov && i.a == Operand::of(i.dst);
      if (!uses.needed[i.dst] || is_copy_of_itself) { // nobody needs register 0
        const bool goes = is_removable(i);
        if (defines(i)) uses.assigned[i.dst]--;
        if (goes) continue;
        i.dst = 0;
      }
      if (kept != n) b.insts[kept] = i;
      kept++;
    }
    b.insts.resize(kept);
  }
}

// Registers that are assigned several times, numbered from 0; and which of them are read later, by block.
class Liveness {
public:
  using Set = std::vector<uint64_t>; // bits by number

  Liveness(const Function& function, const Uses& uses, PassContext& context) : numbers_(function.registers, none) {
    uint32_t count = 0;
    for (Reg r = 1; r < function.registers; r++)
      if (uses.assigned[r] > 1) numbers_[r] = count++;
    words_ = (count + 63) / 64;
    if (is_empty()) return;
    at_head_.assign(function.blocks.size() * words_, 0);
    const Flow& flow = context.flow();
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

bool remove_overwritten(Function& function, Uses& uses, PassContext& context) {
  Liveness liveness(function, uses, context);
  if (liveness.is_empty()) return false;
  bool changed = false;
  Liveness::Set live(liveness.words());
  for (Block& b : function.blocks) {
    liveness.start_at_end(b, live);
    for (size_t n = b.insts.size(); n-- > 0;) {
      Inst& i = b.insts[n];
      if (liveness.is_dead(i, live)) {
        changed = true;
        uses.assigned[i.dst]--;
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
void merge_copies(Function& function, const Uses& uses) {
  std::vector<uint32_t> read(function.registers);
  for (const Block& b : function.blocks)
    for (const Inst& i : b.insts) for_each_use(i, [&](Reg r) { read[r]++; });
  for (Block& b : function.blocks) {
    size_t kept = 0;
    for (size_t n = 0; n < b.insts.size(); n++) {
      const Inst& i = b.insts[n];
      Inst* before = kept ? &b.insts[kept - 1] : nullptr;
      if (before && i.op == Op::mov && i.a.is_reg() && defines(*before) && before->dst == i.a.as_reg() &&
          read[before->dst] == 1 && uses.assigned[before->dst] == 1) {
        before->dst = i.dst;
        continue;
      }
      if (kept != n) b.insts[kept] = i;
      kept++;
    }
    b.insts.resize(kept);
  }
}

} // namespace

bool remove_dead_code(Function& function, PassContext& context) {
  Uses uses = find_uses(function);
  remove_unneeded(function, uses);
  const bool overwritten = remove_overwritten(function, uses, context);
  merge_copies(function, uses);
  return overwritten;
}

} // namespace ir
