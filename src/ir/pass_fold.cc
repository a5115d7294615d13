// fold_values: what is known when the program is compiled is computed then.
//
// One walk over each function, dominators first. Operands are replaced by the value they are known to have:
// what a register assigned once was assigned, or, within a block, what one that is assigned more often was
// assigned last. Then the instruction is simplified by identities of arithmetic that hold for all 64-bit
// values; a branch whose condition is known becomes a jump, and a jump to a branch that is decided on this
// path goes on at once.
#include "ir/passes.h"

#include <bit>
#include <utility>

namespace ir {
namespace {

bool is_power_of_two(const Operand& o) {
  return o.is_constant() && std::has_single_bit(static_cast<uint64_t>(o.value));
}
int64_t exponent(const Operand& o) { return std::countr_zero(static_cast<uint64_t>(o.value)); }
bool is_number(const Operand& o, int64_t n) { return o.is_constant() && o.value == n; }

bool is_commutative(Op op) {
  return op == Op::add || op == Op::mul || op == Op::and_ || op == Op::or_ || op == Op::xor_;
}

class Folder {
public:
  Folder(PassContext& context, Function& function)
      : context_(context), function_(function), definitions_(function), local_(function.registers),
        version_(function.registers) {}

  bool run() {
    for (const BlockId b : context_.flow().order) {
      block_ = b;
      for (Inst& i : function_.blocks[b].insts) visit(i);
    }
    if (edges_changed_) context_.edges_changed();
    return changed_;
  }

private:
  // What a register was last assigned in the current block, a copy or a sum: holds as long as the register it
  // copies stays.
  struct Copy {
    BlockId block = no_block;
    Operand value;
    uint32_t version = 0;
    int32_t addend = 0;
  };
  bool is_valid(const Copy& c) const {
    return c.block == block_ && (!c.value.is_reg() || version_[c.value.as_reg()] == c.version);
  }

  void visit(Inst& i) {
    for_each_operand(i, [&](Operand& o) {
      const Operand known = value(o);
      if (known == o) return;
      o = known;
      changed_ = true;
    });
    simplify(i);
    if (i.op == Op::jump) skip_decided_branch(i);
    if (defines(i)) assign(i);
  }

  Operand value(Operand o) const {
    // A chain of copies is short; the bound is for unreached cycles of them.
    for (int hops = 0; hops < 8 && o.is_reg(); hops++) {
      const Copy& copy = local_[o.as_reg()];
      if (!copy.addend && is_valid(copy)) {
        o = copy.value;
        continue;
      }
      const Inst* made = definitions_.only(o);
      if (!made || made->op != Op::mov || !definitions_.is_stable(made->a)) break;
      o = made->a;
    }
    return o;
  }

  void assign(const Inst& i) {
    if (i.op == Op::mov && i.a == Operand::of(i.dst)) return;
    version_[i.dst]++;
    local_[i.dst] = {};
    const bool is_sum = i.op == Op::add && i.a.is_reg() && i.a != Operand::of(i.dst) && i.b.is_constant() &&
                        is_short(i.b.value);
    if (i.op == Op::mov || is_sum)
      local_[i.dst] = {block_, i.a, i.a.is_reg() ? version_[i.a.as_reg()] : 0,
                       is_sum ? static_cast<int32_t>(i.b.value) : 0};
  }

  void become(Inst& i, Op op, Operand a, Operand b = {}) {
    i.op = op;
    i.a = a;
    i.b = b;
    changed_ = true;
  }
  void become_copy(Inst& i, Operand a) { become(i, Op::mov, a); }
  void become_number(Inst& i, int64_t n) { become(i, Op::mov, Operand::number(n)); }

  void simplify(Inst& i) {
    if (i.op == Op::mov) return;
    if (is_arithmetic(i.op)) {
      const bool one = !(row(i.op).reads & in_b);
      if (i.a.is_constant() && (one || i.b.is_constant()))
        return become_number(i, compute(i, i.a.value, i.b.value));
      if (is_commutative(i.op) && i.a.is_constant()) std::swap(i.a, i.b), changed_ = true;
    }
    switch (i.op) {
    case Op::add:
    case Op::sub: return simplify_sum(i);
    case Op::mul:
    case Op::udiv:
    case Op::umod: return simplify_product(i);
    case Op::and_:
    case Op::or_:
    case Op::xor_: return simplify_bits(i);
    case Op::shl:
    case Op::lshr:
    case Op::ashr:
      if (i.b.is_constant() && (i.b.value & 63) == 0) become_copy(i, i.a);
      return;
    case Op::zext:
      if (bits(i.a) <= i.size * 8u) become_copy(i, i.a);
      return;
    case Op::sext:
      if (signed_bits(i.a) <= i.size * 8u) become_copy(i, i.a);
      return;
    case Op::loop: // kernels refuse a call back that never happens
      if (is_number(i.a, 0) && i.dst) become_number(i, 0);
      return;
    case Op::set: return simplify_set(i);
    case Op::load: return simplify_address(i);
    case Op::branch: return simplify_branch(i);
    case Op::table:
      if (const auto& t = context_.program.tables[i.index]; i.a.is_constant()) {
        const auto at = static_cast<uint64_t>(i.a.value);
        become_number(i, at < t.size() ? t[at] : 0);
      }
      return;
    default: return;
    }
  }

  // x - c is x + -c, and (x + c) + d is x + (c + d).
  void simplify_sum(Inst& i) {
    if (!i.b.is_constant()) return;
    if (i.op == Op::sub) become(i, Op::add, i.a, negated(i.b));
    if (i.b.value == 0) return become_copy(i, i.a);
    const Inst* inner = definitions_.only(i.a);
    if (!inner || inner->op != Op::add || !inner->b.is_constant() || !definitions_.is_stable(inner->a))
      return;
    become(i, Op::add, inner->a, Operand::number(compute(i, inner->b.value, i.b.value)));
    if (i.b.value == 0) become_copy(i, i.a);
  }
  // What is at (x + c) + d in foreign memory is at x + (c + d).
  void simplify_address(Inst& i) {
    if ((i.space != Space::user && i.space != Space::kernel) || !i.a.is_reg()) return;
    const Copy& sum = local_[i.a.as_reg()];
    if (!sum.addend || !is_valid(sum) || !is_short(i.imm) || !is_short(i.imm + sum.addend)) return;
    i.a = sum.value;
    i.imm += sum.addend;
    changed_ = true;
  }
  static bool is_short(int64_t n) { return n == static_cast<int32_t>(n); }
  static Operand negated(const Operand& o) {
    return Operand::number(static_cast<int64_t>(0 - static_cast<uint64_t>(o.value)));
  }

  void simplify_product(Inst& i) {
    if (i.op == Op::mul && is_number(i.b, 0)) return become_number(i, 0);
    if (!is_power_of_two(i.b)) return;
    const int64_t n = exponent(i.b);
    if (i.op == Op::umod)
      become(i, Op::and_, i.a, Operand::number(static_cast<int64_t>(static_cast<uint64_t>(i.b.value) - 1)));
    else if (n == 0)
      become_copy(i, i.a);
    else
      become(i, i.op == Op::mul ? Op::shl : Op::lshr, i.a, Operand::number(n));
  }

  void simplify_bits(Inst& i) {
    if (!i.b.is_constant()) return;
    const bool is_and = i.op == Op::and_;
    const uint64_t mask = static_cast<uint64_t>(i.b.value);
    if (is_and && mask == 0) return become_number(i, 0);
    if (i.op == Op::or_ && mask == ~0ull) return become_number(i, -1);
    if (!is_and && mask == 0) return become_copy(i, i.a);
    // The mask keeps all the bits that can be set.
    if (is_and && static_cast<unsigned>(std::countr_one(mask)) >= bits(i.a)) become_copy(i, i.a);
  }

  // How many low bits of the value can be set; 64 if nothing is known.
  unsigned bits(const Operand& o) const {
    if (o.is_constant()) return std::bit_width(static_cast<uint64_t>(o.value));
    const Inst* made = definitions_.only(o);
    if (!made) return 64;
    switch (made->op) {
    case Op::set:
    case Op::equal: return 1;
    case Op::log2: return 6;
    case Op::zext:
    case Op::bswap: return made->size * 8;
    case Op::load: return made->is_signed ? 64 : made->size * 8;
    case Op::table: return 32;
    case Op::and_: return made->b.is_constant() ? std::bit_width(static_cast<uint64_t>(made->b.value)) : 64;
    case Op::lshr: return made->b.is_constant() ? 64 - (made->b.value & 63) : 64;
    case Op::query: return made->query == Query::cpu ? 32 : 64;
    default: return 64;
    }
  }
  // How many bits hold the value with its sign.
  unsigned signed_bits(const Operand& o) const {
    if (const unsigned n = bits(o); n < 64) return n + 1;
    const Inst* made = definitions_.only(o);
    if (made && (made->op == Op::sext || (made->op == Op::load && made->is_signed))) return made->size * 8;
    return 64;
  }

  // The comparison whose result `o` is, if its operands are still what they were then.
  const Inst* comparison(const Operand& o) const {
    const Inst* made = definitions_.only(o);
    if (!made || made->op != Op::set) return nullptr;
    return definitions_.is_stable(made->a) && definitions_.is_stable(made->b) ? made : nullptr;
  }
  // (x cond y) ne 0 is x cond y. Of set and branch.
  void join_comparison(Inst& i) {
    if (i.a.is_constant() && !i.b.is_constant()) {
      std::swap(i.a, i.b);
      i.cond = swap(i.cond);
      changed_ = true;
    }
    for (;;) {
      const bool when_true =
          (i.cond == Cond::ne && is_number(i.b, 0)) || (i.cond == Cond::eq && is_number(i.b, 1));
      const bool when_false =
          (i.cond == Cond::eq && is_number(i.b, 0)) || (i.cond == Cond::ne && is_number(i.b, 1));
      const Inst* inner = when_true || when_false ? comparison(i.a) : nullptr;
      if (!inner) return;
      i.cond = when_true ? inner->cond : negate(inner->cond);
      i.a = inner->a;
      i.b = inner->b;
      changed_ = true;
    }
  }
  // Decided: both operands known, or the same register.
  static bool is_decided(const Inst& i) { return i.a == i.b || (i.a.is_constant() && i.b.is_constant()); }
  static bool outcome(const Inst& i) { return holds(i.cond, i.a.value, i.b.value); }

  void simplify_set(Inst& i) {
    join_comparison(i);
    if (is_decided(i))
      become_number(i, outcome(i));
    else if (i.cond == Cond::ne && is_number(i.b, 0) && bits(i.a) == 1)
      become_copy(i, i.a);
  }
  void simplify_branch(Inst& i) {
    join_comparison(i);
    if (!is_decided(i) && i.target != i.other) return;
    i = {.op = Op::jump, .target = !is_decided(i) || outcome(i) ? i.target : i.other, .where = i.where};
    changed_ = edges_changed_ = true;
  }

  // jump to `branch x eq 0`, with x known here.
  void skip_decided_branch(Inst& i) {
    for (int hops = 0; hops < 8; hops++) {
      const Block& to = function_.blocks[i.target];
      if (to.insts.size() != 1 || to.insts[0].op != Op::branch) return;
      Inst branch = to.insts[0];
      branch.a = value(branch.a);
      branch.b = value(branch.b);
      if (!is_decided(branch)) return;
      i.target = outcome(branch) ? branch.target : branch.other;
      changed_ = edges_changed_ = true;
    }
  }

  PassContext& context_;
  Function& function_;
  const Definitions definitions_;
  std::vector<Copy> local_;       // by register
  std::vector<uint32_t> version_; // assignments seen so far
  BlockId block_ = 0;
  bool changed_ = false, edges_changed_ = false;
};

} // namespace

bool fold_values(Function& function, PassContext& context) { return Folder(context, function).run(); }

} // namespace ir
