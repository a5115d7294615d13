// Numbers: two-address arithmetic from three-address operations, comparisons, tables. All is free of branches
// where that costs little: each branch doubles what the verifier has to walk.
#include "bpf/emit.h"

namespace bpf {

using ir::Operand;

// Sums begin with the address, where there is one: IR has it on the left, and a verifier (6.18 and before) that adds
// an address of a caller's stack to a number takes the result for one of the outermost function's stack.
void FunctionEmitter::emit_binary(const ir::Inst& i, uint8_t op, bool commutes) {
  Operand a = i.a, b = i.b;
  if (commutes && ((!a.is_reg() && b.is_reg()) || (known(b) && !known(a)))) std::swap(a, b);
  auto place = [&](const Operand& o) { // its register, or r10 for none
    return o.is_reg() && !known(o) && at(o.as_reg()).kind == Location::in_register ? at(o.as_reg()).reg : r10;
  };
  Register w = target(i.dst, r0);
  if (place(b) == w && place(a) != w) {
    if (commutes && op != BPF_ADD)
      std::swap(a, b);
    else
      w = r0;
  }
  const bool is_shift = op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH;
  const bool divides = op == BPF_DIV || op == BPF_MOD;
  if (b.is_constant()) {
    const int64_t n = is_shift ? b.value & 63 : b.value;
    load_into(w, a);
    if (fits_imm(n) && !(divides && n == 0)) {
      out_.alu(op, w, static_cast<int32_t>(n));
    } else {
      out_.number(r5, n);
      out_.alu(op, w, r5);
    }
  } else {
    const Register y = value(b, r5);
    load_into(w, a);
    out_.alu(op, w, y);
  }
  finish(i.dst, w);
}

void FunctionEmitter::emit_extend(const ir::Inst& i) {
  const Register w = target(i.dst, r0);
  if (i.op == ir::Op::zext && i.size < 8) {
    out_.zero_extend(w, value(i.a, w), i.size);
  } else {
    load_into(w, i.a);
    if (i.op == ir::Op::sext)
      out_.sign_extend(w, i.size);
    else if (i.op == ir::Op::bswap && i.size == 1)
      out_.alu(BPF_AND, w, 0xff);
    else if (i.op == ir::Op::bswap)
      out_.to_big_endian(w, i.size);
  }
  finish(i.dst, w);
}

// What a verifier knows of an address it forgets where that is negated.
void FunctionEmitter::emit_number_of(const ir::Inst& i) {
  const Register w = target(i.dst, r0);
  load_into(w, i.a);
  if (i.a.is_reg() && unit_.holds_address(index_, i.a.as_reg()))
    for (int n = 0; n < 2; n++) out_.alu(BPF_NEG, w, 0);
  finish(i.dst, w);
}

// Halving: r4 is what is left of the number, r0 the bits found. Whether the upper part of r4 is empty is read
// from the sign of a difference. The last four bits come from a table in one constant.
void FunctionEmitter::emit_log2(const ir::Inst& i) {
  load_into(r4, i.a);
  out_.mov(r0, r4);
  out_.alu(BPF_RSH, r0, 32);
  out_.alu(BPF_NEG, r0, 0);
  out_.alu(BPF_RSH, r0, 58);
  out_.alu(BPF_AND, r0, 32);
  out_.alu(BPF_RSH, r4, r0);
  for (const int half : {16, 8, 4}) {
    out_.number(r5, (1 << half) - 1);
    out_.alu(BPF_SUB, r5, r4);
    out_.alu(BPF_RSH, r5, 58);
    out_.alu(BPF_AND, r5, half);
    out_.alu(BPF_RSH, r4, r5);
    out_.alu(BPF_OR, r0, r5);
  }
  out_.alu(BPF_LSH, r4, 2);
  out_.number(r5, 0x3333333322221100);
  out_.alu(BPF_RSH, r5, r4);
  out_.alu(BPF_AND, r5, 3);
  out_.alu(BPF_OR, r0, r5);
  finish(i.dst, r0);
}

static uint8_t jump_op(ir::Cond c) {
  switch (c) {
  case ir::Cond::eq: return BPF_JEQ;
  case ir::Cond::ne: return BPF_JNE;
  case ir::Cond::ult: return BPF_JLT;
  case ir::Cond::ule: return BPF_JLE;
  case ir::Cond::ugt: return BPF_JGT;
  case ir::Cond::uge: return BPF_JGE;
  case ir::Cond::slt: return BPF_JSLT;
  case ir::Cond::sle: return BPF_JSLE;
  case ir::Cond::sgt: return BPF_JSGT;
  case ir::Cond::sge: return BPF_JSGE;
  }
  return BPF_JEQ;
}

// Goes to `yes` if a cond b. Uses r4 and r5.
void FunctionEmitter::compare(ir::Cond cond, Operand a, Operand b, Label yes) {
  if (!a.is_reg() && b.is_reg()) {
    std::swap(a, b);
    cond = ir::swap(cond);
  }
  const Register x = value(a, r4);
  const bool bounds = cond != ir::Cond::eq && cond != ir::Cond::ne && !b.is_reg();
  if (bounds && a.is_reg() && !known(a) && at(a.as_reg()).kind == Location::in_slot) {
    // What the verifier learns of r4 shall hold for the slot: both must be copies of one register.
    out_.mov(r5, r4);
    out_.store(r10, slot_offset(at(a.as_reg())), r4, 8);
  }
  if (!b.is_reg() && fits_imm(b.value))
    out_.jump_if(jump_op(cond), x, static_cast<int32_t>(b.value), yes);
  else
    out_.jump_if(jump_op(cond), x, value(b, r5), yes);
}

// 0 or 1 without a constant in sight: kernels before 6.8 take a constant 0 that is kept on the stack for
// essential, and then walk what follows once for each of its values. The 0 comes from memory that is always
// 0.
void FunctionEmitter::emit_set(const ir::Inst& i) {
  const Label done = out_.label();
  out_.map_value(r0, pool_.state(), pool_.zeroes());
  out_.load(r0, r0, 0, 1);
  compare(ir::negate(i.cond), i.a, i.b, done);
  out_.alu(BPF_XOR, r0, 1);
  out_.bind(done);
  finish(i.dst, r0);
}

// The same for a 0 or 1 that is there.
void FunctionEmitter::blur(Register r) {
  out_.map_value(r4, pool_.state(), pool_.zeroes());
  out_.load(r4, r4, 0, 1);
  out_.alu(BPF_OR, r, r4);
}

// Plus a zero that the verifier does not know to be one.
void FunctionEmitter::emit_blur(const ir::Inst& i) {
  out_.map_value(r0, pool_.state(), pool_.zeroes());
  out_.load(r0, r0, 0, 8);
  out_.alu(BPF_ADD, r0, value(i.a, r4));
  finish(i.dst, r0);
}

void FunctionEmitter::emit_branch(const ir::Inst& i) {
  if (i.target == i.other) return go(i.target);
  if (i.target == next_) return compare(ir::negate(i.cond), i.a, i.b, label(i.other));
  compare(i.cond, i.a, i.b, label(i.target));
  go(i.other);
}

// The index is bounded in the register that makes the address.
void FunctionEmitter::emit_table(const ir::Inst& i) {
  const auto& table = program_.tables[i.index];
  const Label done = out_.label();
  const Label outside = out_.label();
  load_into(r0, i.a);
  out_.jump_if(BPF_JGE, r0, static_cast<int32_t>(table.size()), outside);
  out_.alu(BPF_LSH, r0, 2);
  out_.map_value(r4, pool_.tables(), pool_.table_offset(i.index));
  out_.alu(BPF_ADD, r4, r0);
  out_.load(r0, r4, 0, 4);
  out_.bind(done);
  finish(i.dst, r0);
  zero_at(outside, done);
}

} // namespace bpf
