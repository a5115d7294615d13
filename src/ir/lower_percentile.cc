// Percentiles of histograms. The buckets of all CPUs are added up in one loop; a second one finds the bucket that holds
// the value of the wanted rank. Inside it, values are taken to lie at equal distances: the n-th of k is at (n - 1/2) / k
// of the bucket's width. So the result is always a number of the right bucket. Buckets without a bound on one side give
// a number next to the bound they have.
#include "ir/lowering.h"

namespace ir {

using namespace lang;

namespace {
constexpr int64_t counts_that_multiply = 31; // bits of two numbers whose product, doubled twice, fits 64
}

// The count of a bucket, of all CPUs. The key is in an object, so that a loop can reach it.
Operand Lowering::bucket_count(uint32_t map, Operand key, Operand bucket) {
  const Map& m = program_.maps[map];
  const uint32_t parts = !is_percpu(m.kind) ? 1 : options_.possible_cpus * (m.kind == MapKind::percpu_hash ? parts_of_cpu : 1);
  Reg cpu = fresh(), total = fresh();
  assign(cpu, number(0));
  assign(total, number(0));
  BlockId test = new_block(), step = new_block(), found = new_block(), next = new_block(), done = new_block();
  jump(test);
  start(test);
  branch(Cond::ult, Operand::of(cpu), number(parts), step, done);
  start(step);
  Reg at = fresh();
  append({.op = is_percpu(m.kind) ? Op::map_find_cpu : Op::map_find, .dst = at, .a = key,
          .b = is_percpu(m.kind) ? Operand::of(cpu) : Operand(), .index = map});
  branch(Cond::ne, Operand::of(at), number(0), found, next);
  start(found);
  Operand count = load_word({Space::script, emit(Op::add, Operand::of(at), emit(Op::shl, bucket, number(3))), 0}, 8, false);
  append({.op = Op::add, .dst = total, .a = Operand::of(total), .b = count});
  jump(next);
  start(next);
  append({.op = Op::add, .dst = cpu, .a = Operand::of(cpu), .b = number(1)});
  jump(test);
  start(done);
  return Operand::of(total);
}

// total * percentage, rounded up, without an overflow.
Operand Lowering::rank_of(Operand total, int64_t percentage) {
  const Operand whole = number(whole_percentile), part = number(percentage);
  Operand rest = emit(Op::mul, emit(Op::umod, total, whole), part);
  Operand rounded_up = emit(Op::udiv, emit(Op::add, rest, number(whole_percentile - 1)), whole);
  return emit(Op::add, emit(Op::mul, emit(Op::udiv, total, whole), part), rounded_up);
}

// width * (2 * rank - 1) / (2 * count): rank is 1 … count.
Operand Lowering::part_of_bucket(Operand width, Operand rank, Operand count) {
  Reg n = fresh(), k = fresh();
  assign(n, rank);
  assign(k, count);
  BlockId large = new_block(), ready = new_block();
  branch(Cond::ult, count, number(int64_t{1} << counts_that_multiply), ready, large);
  start(large);
  Operand shift = emit(Op::sub, emit(Op::log2, count), number(counts_that_multiply - 1));
  assign(k, emit(Op::lshr, count, shift));
  assign(n, emit(Op::add, emit(Op::lshr, emit(Op::sub, rank, number(1)), shift), number(1)));
  jump(ready);
  start(ready);
  Operand halves = emit(Op::sub, emit(Op::shl, Operand::of(n), number(1)), number(1));
  Operand all = emit(Op::shl, Operand::of(k), number(1));
  Operand rest = emit(Op::udiv, emit(Op::mul, emit(Op::umod, width, all), halves), all);
  return emit(Op::add, emit(Op::mul, emit(Op::udiv, width, all), halves), rest);
}

// The value of rank `rank` (1 … count) in bucket `index` of a hist(); buckets as in power_bucket().
Operand Lowering::value_in_power_bucket(const Type& t, Operand index, Operand rank, Operand count) {
  const int64_t in_power = int64_t{1} << t.step;
  Reg value = fresh();
  assign(value, emit(Op::sub, index, number(1))); // buckets of one number, and the one below 0
  BlockId wide = new_block(), done = new_block();
  branch(Cond::ugt, index, number(in_power), wide, done);
  start(wide);
  Operand above = emit(Op::sub, index, number(1 + in_power));
  Operand power = emit(Op::lshr, above, number(t.step));
  Operand low = emit(Op::shl, emit(Op::add, emit(Op::and_, above, number(in_power - 1)), number(in_power)), power);
  assign(value, emit(Op::add, low, part_of_bucket(emit(Op::shl, number(1), power), rank, count)));
  jump(done);
  start(done);
  return Operand::of(value);
}

// The same in one of an lhist(); buckets as in step_bucket().
Operand Lowering::value_in_step_bucket(const Type& t, Operand index, Operand rank, Operand count) {
  Reg value = fresh(), width = fresh();
  BlockId below = new_block(), rest = new_block(), above = new_block(), inside = new_block(), cut = new_block(), ready = new_block(),
          done = new_block();
  branch(Cond::eq, index, number(0), below, rest);
  start(below);
  assign(value, number(t.low - 1));
  jump(done);
  start(rest);
  branch(Cond::eq, index, number(t.count - 1), above, inside);
  start(above);
  assign(value, number(t.high));
  jump(done);
  start(inside);
  Operand low = emit(Op::add, emit(Op::mul, emit(Op::sub, index, number(1)), number(t.step)), number(t.low));
  Operand to_end = emit(Op::sub, number(t.high), low);
  assign(width, number(t.step));
  branch(Cond::ult, to_end, number(t.step), cut, ready);
  start(cut);
  assign(width, to_end);
  jump(ready);
  start(ready);
  assign(value, emit(Op::add, low, part_of_bucket(Operand::of(width), rank, count)));
  jump(done);
  start(done);
  return Operand::of(value);
}

Operand Lowering::percentile(const Call& c) {
  const MapRef& ref = as<MapRef>(*c.arguments[0]);
  const uint32_t map = ref.map->id;
  const Map& m = map_of(ref);
  const Type& t = *m.value;
  const uint32_t kept_key = m.key ? add_object(m.key_size, "key") : 0;
  if (m.key) copy({Space::script, object(kept_key), 0}, {Space::script, key(m, ref.key), 0}, m.key_size);
  const uint32_t counts = add_object(8 * t.count, "buckets"), state = add_object(8, "rank");
  auto bucket_place = [&](Operand index) {
    return Place{Space::script, emit(Op::add, object(counts), emit(Op::shl, index, number(3))), 0};
  };
  auto rank = [&] { return Place{Space::script, object(state), 0}; };

  store(rank(), emit(Op::blur, number(0)), 8); // an old verifier would take it for all that it can be
  search(t.count, [&](Operand index, const Place&) {
    BlockId inside = new_block(), outside = new_block();
    branch(Cond::ult, index, number(t.count), inside, outside);
    start(inside);
    Operand n = bucket_count(map, m.key ? object(kept_key) : Operand(), index);
    store(bucket_place(index), n, 8);
    store(rank(), emit(Op::add, load_word(rank(), 8, false), n), 8); // the total, for now
    give_back(number(0));
    start(outside);
    give_back(number(1));
  });
  store(rank(), rank_of(load_word(rank(), 8, false), *percentile_of(c)), 8);
  Operand found = search(t.count, [&](Operand index, const Place& result) {
    BlockId inside = new_block(), some = new_block(), hit = new_block(), stop = new_block(), next = new_block();
    branch(Cond::ult, index, number(t.count), inside, stop);
    start(inside);
    Operand n = load_word(bucket_place(index), 8, false);
    branch(Cond::ne, n, number(0), some, next);
    start(some);
    Operand left = load_word(rank(), 8, false);
    BlockId pass = new_block();
    branch(Cond::ule, left, n, hit, pass);
    start(pass);
    store(rank(), emit(Op::sub, left, n), 8);
    jump(next);
    start(hit);
    end_turn(result, index, stop, next);
  });

  Reg value = fresh();
  assign(value, number(0)); // of nothing
  BlockId there = new_block(), after = new_block();
  branch(Cond::ult, found, number(t.count), there, after);
  start(there);
  Operand n = load_word(bucket_place(found), 8, false), left = load_word(rank(), 8, false);
  assign(value, t.is(Kind::hist) ? value_in_power_bucket(t, found, left, n) : value_in_step_bucket(t, found, left, n));
  jump(after);
  start(after);
  return Operand::of(value);
}

} // namespace ir
