// Two registers are in each other's way where one is set while the other is live (but for a copy of it, which changes
// nothing). Method: Chaitin, Register allocation and spilling via graph coloring (1982), its coalescing alone.
#include "ir/join_registers.h"

#include "ir/liveness.h"

#include <numeric>

namespace ir {
namespace {

constexpr uint32_t most_registers = 2048; // of a function that is worth it: the table below has a bit for each pair

class Joiner {
public:
  explicit Joiner(Function& function)
      : function_(function), words_((function.registers + 63) / 64),
        conflicts_(words_ * function.registers), stands_for_(function.registers) {
    std::iota(stands_for_.begin(), stands_for_.end(), 0);
  }

  void run() {
    find_conflicts();
    for (const Block& b : function_.blocks)
      for (const Inst& i : b.insts)
        if (i.op == Op::mov && i.a.is_reg() && defines(i)) join(find(i.dst), find(i.a.as_reg()));
    rename();
  }

private:
  bool is_in_way(Reg a, Reg b) const { return conflicts_[a * words_ + b / 64] >> b % 64 & 1; }
  void keep_apart(Reg a, Reg b) {
    if (a == b) return;
    conflicts_[a * words_ + b / 64] |= 1ull << b % 64;
    conflicts_[b * words_ + a / 64] |= 1ull << a % 64;
  }

  void find_conflicts() {
    for (Reg a = 1; a <= function_.parameters; a++) // all are set at once
      for (Reg b = a + 1; b <= function_.parameters; b++) keep_apart(a, b);
    const Flow flow(function_);
    std::vector<bool> all(function_.registers, true);
    const Liveness liveness(function_, flow, all); // the number of register r is r - 1
    Liveness::Set live(liveness.words());
    for (const BlockId b : flow.order) {
      const auto& insts = function_.blocks[b].insts;
      liveness.start_at_end(function_.blocks[b], live);
      for (size_t n = insts.size(); n-- > 0;) {
        const Inst& i = insts[n];
        if (defines(i)) {
          const Reg copied = i.op == Op::mov && i.a.is_reg() ? i.a.as_reg() : 0;
          for (size_t w = 0; w < live.size(); w++)
            for (uint64_t bits = live[w]; bits; bits &= bits - 1) {
              const Reg r = static_cast<Reg>(w * 64 + static_cast<size_t>(__builtin_ctzll(bits)) + 1);
              if (r != copied) keep_apart(i.dst, r);
            }
        }
        liveness.step_over(i, live);
      }
    }
  }

  Reg find(Reg r) {
    while (stands_for_[r] != r) r = stands_for_[r] = stands_for_[stands_for_[r]];
    return r;
  }

  // The lower number stays: parameters have the lowest.
  void join(Reg a, Reg b) {
    if (a == b || is_in_way(a, b)) return;
    if (a > b) std::swap(a, b);
    stands_for_[b] = a;
    for (size_t w = 0; w < words_; w++)
      for (uint64_t bits = conflicts_[b * words_ + w]; bits; bits &= bits - 1)
        keep_apart(a, static_cast<Reg>(w * 64 + static_cast<size_t>(__builtin_ctzll(bits))));
  }

  void rename() {
    std::vector<Reg> named(function_.registers);
    Reg next = 1;
    for (; next <= function_.parameters; next++) named[next] = next;
    const auto name = [&](Reg r) {
      Reg& n = named[find(r)];
      if (!n) n = next++;
      return n;
    };
    for (Block& b : function_.blocks) {
      for (Inst& i : b.insts) {
        for_each_operand(i, [&](Operand& o) {
          if (o.is_reg()) o = Operand::of(name(o.as_reg()));
        });
        if (defines(i)) i.dst = name(i.dst);
      }
      std::erase_if(b.insts, [](const Inst& i) { return i.op == Op::mov && i.a == Operand::of(i.dst); });
    }
    function_.registers = next;
  }

  Function& function_;
  const size_t words_;
  std::vector<uint64_t> conflicts_; // a row of bits for each register
  std::vector<Reg> stands_for_;
};

} // namespace

void join_registers(Function& function) {
  if (function.registers <= most_registers) Joiner(function).run();
}

} // namespace ir
