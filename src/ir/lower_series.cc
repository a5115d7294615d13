// tseries: a value for each of the latest intervals of time. Intervals are counted from 1970, so that they begin at
// whole seconds of the wall clock; each CPU keeps slices of its own and the report puts them together by interval.
#include "ir/lowering.h"

namespace ir {

using type::Slice;

// The value n, now, in the series at `at`; layout in type/type.h.
void Lowering::add_to_series(const Aggregation& a) {
  constexpr int64_t value = 8, more = 16;
  const Type& t = a.type;
  const Operand at = a.at, n = a.n;
  Operand now = emit(Op::add, query(Query::ktime_boot), number(options_.boot_to_wall_ns));
  Operand interval = emit(Op::udiv, now, number(t.low));
  Operand index = emit(Op::umod, interval, number(t.count));
  Operand stamp = emit(Op::add, interval, number(1));
  BlockId inside = new_block(), fresh_one = new_block(), known = new_block(), after = new_block();
  branch(Cond::ult, index, number(t.count), inside, after); // the kernel's verifier wants to see the bound
  start(inside);
  Operand slice = emit(Op::add, at, emit(Op::mul, index, number(type::slice_size)));
  auto field = [&](int64_t offset) { return Place{Space::script, slice, offset}; };
  auto kept = static_cast<Slice>(t.step);
  branch(Cond::ne, load_word(field(0), 8, false), stamp, fresh_one, known);

  start(fresh_one);
  store(field(0), stamp, 8);
  store(field(value), n, 8);
  store(field(more), kept == Slice::avg ? number(1) : kept == Slice::last ? now : number(0), 8);
  jump(after);

  start(known);
  switch (kept) {
  case Slice::last:
    store(field(value), n, 8);
    store(field(more), now, 8);
    break;
  case Slice::avg:
    store(field(more), emit(Op::add, load_word(field(more), 8, false), number(1)), 8);
    [[fallthrough]];
  case Slice::sum: store(field(value), emit(Op::add, load_word(field(value), 8, false), n), 8); break;
  case Slice::min:
  case Slice::max: {
    BlockId take = new_block();
    Cond better = kept == Slice::min ? (t.is_signed ? Cond::slt : Cond::ult) : (t.is_signed ? Cond::sgt : Cond::ugt);
    branch(better, n, load_word(field(value), 8, false), take, after);
    start(take);
    store(field(value), n, 8);
    break;
  }
  }
  jump(after);
  start(after);
}

} // namespace ir
