// remove_dead_code: needed are the registers read by instructions with an effect, and those read to compute
// needed ones. An instruction that only computes what is not needed goes; one with an effect loses its dst. A
// copy right behind the only computation of what it copies is merged with it.
#include "ir/liveness.h"

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

bool remove_overwritten(Function& function, Uses& uses, PassContext& context) {
  std::vector<bool> several(function.registers);
  for (Reg r = 1; r < function.registers; r++) several[r] = uses.assigned[r] > 1;
  if (std::ranges::find(several, true) == several.end()) return false;
  Liveness liveness(function, context.flow(), several);
  bool changed = false;
  Liveness::Set live(liveness.words());
  for (Block& b : function.blocks) {
    liveness.start_at_end(b, live);
    size_t kept = b.insts.size(); // those from here on
    for (size_t n = b.insts.size(); n-- > 0;) {
      Inst& i = b.insts[n];
      if (liveness.is_dead(i, live)) {
        changed = true;
        uses.assigned[i.dst]--;
        if (is_removable(i)) continue;
        i.dst = 0;
      }
      liveness.step_over(i, live);
      if (--kept != n) b.insts[kept] = i;
    }
    b.insts.erase(b.insts.begin(), b.insts.begin() + static_cast<ptrdiff_t>(kept));
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
