// Aggregations: count, sum and their like, histograms. Each adds a number to the value of a key; layouts in type/type.h.
// Time series are in lower_series.cc.
#include "ir/lowering.h"

namespace ir {

using namespace lang;

// The bucket of a number in a histogram by powers of two.
//
// The number is taken for an int64 whatever its type: what the traced code gave back, such as retval, is of no sign,
// and an error among sizes is to be seen as one.
Operand Lowering::power_bucket(const Type& t, Operand n) {
  Reg at = fresh();
  BlockId done = new_block();
  auto put = [&](Operand v) {
    assign(at, v);
    jump(done);
  };
  int64_t bits = t.step;
  BlockId negative = new_block(), rest = new_block();
  branch(Cond::slt, n, number(0), negative, rest);
  start(negative);
  put(number(0));
  start(rest);
  BlockId small = new_block(), large = new_block();
  branch(Cond::ult, n, number(int64_t{1} << bits), small, large);
  start(small);
  put(emit(Op::add, n, number(1)));
  start(large);
  Operand log = emit(Op::log2, n);
  if (!bits) {
    put(emit(Op::add, log, number(2)));
  } else {
    Operand above = emit(Op::sub, log, number(bits));
    Operand fine = emit(Op::and_, emit(Op::lshr, n, above), number((int64_t{1} << bits) - 1));
    Operand coarse = emit(Op::shl, above, number(bits));
    put(emit(Op::add, emit(Op::add, coarse, fine), number(1 + (int64_t{1} << bits))));
  }
  start(done);
  return Operand::of(at);
}

// The same in one of equal steps.
Operand Lowering::step_bucket(const Type& t, Operand n) {
  Reg at = fresh();
  BlockId done = new_block();
  auto put = [&](Operand v) {
    assign(at, v);
    jump(done);
  };
  BlockId low = new_block(), not_low = new_block(), high = new_block(), inside = new_block();
  branch(Cond::slt, n, number(t.low), low, not_low);
  start(low);
  put(number(0));
  start(not_low);
  branch(Cond::sge, n, number(t.high), high, inside);
  start(high);
  put(number(t.count - 1));
  start(inside);
  Operand step = emit(Op::udiv, emit(Op::sub, n, number(t.low)), number(t.step));
  put(emit(Op::add, step, number(1)));
  start(done);
  return Operand::of(at);
}

void Lowering::aggregate(const MapRef& ref, const Call& call) {
  const Map& m = map_of(ref);
  uint32_t map = ref.map->id;
  const Type& t = *m.value;
  // The number first: working it out may read this very map.
  Operand n = call.arguments.empty() ? number(1) : number_of(scalar(*call.arguments[0]), *call.arguments[0]->type);
  Operand index = bucket(*call.builtin, t, n);
  Operand k = key(m, ref.key);
  BlockId after = new_block();
  if (index.kind != Operand::none && m.kind == MapKind::percpu_hash) {
    add(map, slot(map, k, after, index), 0, weighted(number(1)));
    jump(after);
    return start(after);
  }
  Operand at = slot(map, k, after);
  add_to(*call.builtin, {.map = map, .type = t, .at = at, .n = n, .index = index, .after = after});
  mark_present(map, at);
  jump(after);
  start(after);
}

// As many times as the event counts.
Operand Lowering::weighted(Operand n) {
  if (weight_.kind == Operand::none) return n;
  return n == number(1) ? weight_ : emit(Op::mul, n, weight_);
}

// count, sum
void Lowering::add_number(const Aggregation& a) { add(a.map, a.at, 0, weighted(a.n)); }

// avg, stats
void Lowering::add_counted(const Aggregation& a) {
  add(a.map, a.at, 0, weighted(a.n));
  add(a.map, a.at, 8, weighted(number(1)));
}

void Lowering::keep_smaller(const Aggregation& a) { keep_better(a, a.type.is_signed ? Cond::slt : Cond::ult); }
void Lowering::keep_larger(const Aggregation& a) { keep_better(a, a.type.is_signed ? Cond::sgt : Cond::ugt); }

void Lowering::keep_better(const Aggregation& a, Cond better) {
  BlockId take = new_block(), compare_it = new_block(), done = new_block();
  branch(Cond::eq, load_word({Space::script, a.at, 8}, 8, false), number(0), take, compare_it);
  start(compare_it);
  branch(better, a.n, load_word({Space::script, a.at, 0}, 8, false), take, done);
  start(take);
  store({Space::script, a.at, 0}, a.n, 8);
  store({Space::script, a.at, 8}, number(1), 8);
  jump(done);
  start(done);
}

// hist, lhist: the kernel's verifier wants to see the bound.
void Lowering::add_to_bucket(const Aggregation& a) {
  BlockId inside = new_block();
  branch(Cond::ult, a.index, number(a.type.count), inside, a.after);
  start(inside);
  add(a.map, emit(Op::add, a.at, emit(Op::shl, a.index, number(3))), 0, weighted(number(1)));
}

} // namespace ir
