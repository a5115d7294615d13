// Numbers of floating point to integers. Engines know only integers, so the value is taken apart: sign, exponent,
// fraction (IEEE 754-2008, section 3.4).
#include "ir/lowering.h"

namespace ir {

// Of the bits of a float or double: as C casts it, towards zero. What `to` cannot hold, and NaN, is the lowest int64, as
// x86-64 has it.
Operand Lowering::whole_part(Operand bits, const Type& from, const Type& to) {
  const bool is_double = from.size == 8;
  const int64_t fraction_bits = is_double ? 52 : 23, bias = is_double ? 1023 : 127, most_exponent = 2 * bias + 1;
  if (to.is(type::Kind::boolean)) return emit(Op::shl, bits, number(is_double ? 1 : 33)); // all but the sign
  const Reg dst = fresh();
  const BlockId whole = new_block(), fits = new_block(), large = new_block(), small = new_block(), grows = new_block(),
                shrinks = new_block(), signs = new_block(), negative = new_block(), after = new_block();
  const Operand exponent =
      emit(Op::sub, emit(Op::and_, emit(Op::lshr, bits, number(fraction_bits)), number(most_exponent)), number(bias));
  branch(Cond::slt, exponent, number(0), small, whole);

  start(whole);
  branch(Cond::sgt, exponent, number(to.is_signed ? 62 : 63), large, fits);

  start(fits);
  const int64_t one = int64_t{1} << fraction_bits;
  const Operand fraction = emit(Op::or_, emit(Op::and_, bits, number(one - 1)), number(one));
  branch(Cond::sgt, exponent, number(fraction_bits), grows, shrinks);
  start(grows);
  assign(dst, emit(Op::shl, fraction, emit(Op::sub, exponent, number(fraction_bits))));
  jump(signs);
  start(shrinks);
  assign(dst, emit(Op::lshr, fraction, emit(Op::sub, number(fraction_bits), exponent)));
  jump(signs);
  start(signs);
  const Operand sign = emit(Op::lshr, bits, number(is_double ? 63 : 31));
  branch(Cond::ne, sign, number(0), negative, after);
  start(negative);
  assign(dst, emit(Op::sub, number(0), Operand::of(dst)));
  jump(after);

  start(large);
  assign(dst, number(INT64_MIN));
  jump(after);
  start(small);
  assign(dst, number(0));
  jump(after);
  start(after);
  return Operand::of(dst);
}

} // namespace ir
