// Maps: reading, writing, aggregations. Values are changed in place; one that is not there yet is made full
// of zeroes first, so that no update is lost between two CPUs.
#include "ir/lowering.h"

#include <algorithm>

namespace ir {

using namespace lang;

// The address of a key, or none where there is none to give: scalar maps, and those of the current thread.
Operand Lowering::key(const Map& m, const Expr* key) {
  if (!key || m.kind == MapKind::task) return {};
  Place to = scratch_place(m.key_size, "key");
  const Tuple* made = m.key->is(Kind::tuple) && m.key->size ? if_a<Tuple>(key) : nullptr;
  if (m.key_size != m.key->size && !made) zero(to.plus(m.key_size - 8), 8);
  if (made)
    put_elements(*made, to, *m.key, true, m.key_size);
  else if (m.key->is(Kind::integer))
    store(to, scalar(*key), 8);
  else
    into(*key, to, *m.key);
  return address(to);
}

Operand Lowering::find(uint32_t map, Operand key) {
  Reg dst = fresh();
  append({.op = Op::map_find, .dst = dst, .a = key, .index = map});
  return Operand::of(dst);
}

// The address of a value, or of a word of it, that is there afterwards; goes to `full` when there is no room.
Operand Lowering::slot(uint32_t map, Operand key, BlockId full, Operand word) {
  Reg dst = fresh();
  append({.op = Op::map_slot, .dst = dst, .a = key, .b = word, .index = map});
  BlockId there = new_block();
  branch(Cond::ne, Operand::of(dst), number(0), there, full);
  start(there);
  return Operand::of(dst);
}

void Lowering::mark_present(uint32_t map, Operand at) {
  const Map& m = program_.maps[map];
  if (m.present_offset != ~0u) store({Space::script, at, m.present_offset}, number(1), 8);
}

void Lowering::add(uint32_t map, Operand at, int64_t offset, Operand value) {
  append({.op = Op::add_memory, .a = at, .b = value, .imm = offset, .index = map});
}

// -------------------------------------------------------------------------------------------- reading

// The number behind an aggregation: all CPUs' parts together.
Operand Lowering::read_percpu(uint32_t map, Operand key) {
  const Map& m = program_.maps[map];
  const Type& t = *m.value;
  Reg cpu = fresh(), total = fresh(), other = fresh();
  assign(cpu, number(0));
  assign(total, number(0));
  assign(other, number(0)); // avg: count; min and max: whether there was a value
  BlockId test = new_block(), step = new_block(), found = new_block(), next = new_block(), done = new_block();
  jump(test);
  start(test);
  const uint32_t parts = options_.possible_cpus * (m.kind == MapKind::percpu_hash ? parts_of_cpu : 1);
  branch(Cond::ult, Operand::of(cpu), number(parts), step, done);
  start(step);
  Reg at = fresh();
  append({.op = Op::map_find_cpu, .dst = at, .a = key, .b = Operand::of(cpu), .index = map});
  branch(Cond::ne, Operand::of(at), number(0), found, next);
  start(found);
  Operand value = load_word({Space::script, Operand::of(at), 0}, 8, false);
  bool is_extreme = t.is(Kind::min) || t.is(Kind::max);
  if (is_extreme) {
    Operand is_set = load_word({Space::script, Operand::of(at), 8}, 8, false);
    BlockId first_or_better = new_block(), compare_it = new_block(), take = new_block();
    branch(Cond::ne, is_set, number(0), first_or_better, next);
    start(first_or_better);
    branch(Cond::eq, Operand::of(other), number(0), take, compare_it);
    start(compare_it);
    Cond better =
        t.is(Kind::min) ? (t.is_signed ? Cond::slt : Cond::ult) : (t.is_signed ? Cond::sgt : Cond::ugt);
    branch(better, value, Operand::of(total), take, next);
    start(take);
    assign(total, value);
    assign(other, number(1));
  } else {
    append({.op = Op::add, .dst = total, .a = Operand::of(total), .b = value});
    if (t.is(Kind::avg) || t.is(Kind::stats)) {
      Operand n = load_word({Space::script, Operand::of(at), 8}, 8, false);
      append({.op = Op::add, .dst = other, .a = Operand::of(other), .b = n});
    }
  }
  jump(next);
  start(next);
  append({.op = Op::add, .dst = cpu, .a = Operand::of(cpu), .b = number(1)});
  jump(test);
  start(done);
  if (!t.is(Kind::avg) && !t.is(Kind::stats)) return Operand::of(total);
  BlockId some = new_block(), after = new_block();
  Reg mean = fresh();
  assign(mean, number(0));
  branch(Cond::ne, Operand::of(other), number(0), some, after);
  start(some);
  if (t.is_signed) { // division is of numbers without a sign
    BlockId negative = new_block(), rest = new_block();
    branch(Cond::slt, Operand::of(total), number(0), negative, rest);
    start(negative);
    assign(mean, negated(emit(Op::udiv, negated(Operand::of(total)), Operand::of(other))));
    jump(after);
    start(rest);
  }
  append({.op = Op::udiv, .dst = mean, .a = Operand::of(total), .b = Operand::of(other)});
  jump(after);
  start(after);
  return Operand::of(mean);
}

Operand Lowering::read_map(const MapRef& ref) {
  const Map& m = map_of(ref);
  uint32_t map = ref.map->id;
  Operand k = key(m, ref.key);
  if (is_percpu(m.kind)) return read_percpu(map, k);
  Operand at = find(map, k);
  if (m.kind == MapKind::array) return load({Space::script, at, 0}, *m.value);
  Reg value = fresh();
  const bool counts = options_.counts_missing_elements;
  BlockId there = new_block(), after = new_block(), missing = counts ? new_block() : after;
  assign(value, number(0));
  branch(Cond::ne, at, number(0), there, missing);
  start(there);
  assign(value, load({Space::script, at, 0}, *m.value));
  jump(after);
  if (counts) {
    start(missing);
    count(Fault::element_missing, "@" + m.name);
    jump(after);
  }
  start(after);
  return Operand::of(value);
}

void Lowering::read_map_into(const MapRef& ref, const Place& to, const Type& as) {
  const Map& m = map_of(ref);
  Operand at = find(ref.map->id, key(m, ref.key));
  BlockId there = new_block(), missing = new_block(), after = new_block();
  uint32_t size = std::min(as.size, m.value->size);
  branch(Cond::ne, at, number(0), there, missing);
  start(there);
  copy(to, {Space::script, at, 0}, size);
  if (as.size > size) zero(to.plus(size), as.size - size);
  jump(after);
  start(missing);
  if (options_.counts_missing_elements) count(Fault::element_missing, "@" + m.name);
  zero(to, as.size);
  jump(after);
  start(after);
}

// -------------------------------------------------------------------------------------------- writing

void Lowering::write_map(const MapRef& ref, const Expr& value) {
  if (ref.map->value->is_aggregation()) return aggregate(ref, as<Call>(value));
  const Map& m = map_of(ref);
  uint32_t map = ref.map->id;
  if (m.value->is_scalar()) {
    Operand v = scalar(value);
    return write_scalar(ref, key(m, ref.key), v);
  }
  Place made = temporary(value, *m.value);
  if (is_scalar(m.kind)) {
    Operand at = find(map, {});
    copy({Space::script, at, 0}, made, m.value->size);
    return mark_present(map, at);
  }
  append({.op = Op::map_store, .dst = fresh(), .a = key(m, ref.key), .b = address(made), .index = map});
}

// In place where the key is there: a third of the cost of an update.
void Lowering::write_scalar(const MapRef& ref, Operand k, Operand value) {
  const Map& m = map_of(ref);
  uint32_t map = ref.map->id;
  BlockId there = new_block(), missing = new_block(), after = new_block();
  Operand at;
  if (m.kind == MapKind::task) {
    at = slot(map, k, after);
    jump(there);
  } else {
    at = find(map, k);
    if (is_scalar(m.kind))
      jump(there);
    else
      branch(Cond::ne, at, number(0), there, missing);
  }
  start(there);
  store({Space::script, at, 0}, value, m.value->size);
  mark_present(map, at);
  jump(after);
  start(missing);
  if (m.kind != MapKind::task && !is_scalar(m.kind)) {
    Place made = scratch_place(m.value_size, "value");
    if (m.value->size < 8) zero(made, 8);
    store(made, value, m.value->size);
    append({.op = Op::map_store, .dst = fresh(), .a = k, .b = address(made), .index = map});
  }
  jump(after);
  start(after);
}

// @m op= value, ++ and --. Gives the old or the new number.
Operand Lowering::update_map(const MapRef& ref, BinaryOp op, Operand value, bool wants_old) {
  const Map& m = map_of(ref);
  uint32_t map = ref.map->id;
  Operand k = key(m, ref.key);
  Reg result = fresh();
  assign(result, number(0));
  BlockId after = new_block();
  Operand at = slot(map, k, after);
  bool adds = op == BinaryOp::add || op == BinaryOp::sub;
  if (m.sums) { // never read back here: see lang::Map::only_adds
    add(map, at, 0, weighted(op == BinaryOp::sub ? negated(value) : value));
  } else {
    Operand old = load({Space::script, at, 0}, *m.value);
    Operand changed = combine(op, old, value, m.value->is_signed);
    if (adds)
      add(map, at, 0, op == BinaryOp::sub ? negated(value) : value);
    else
      store({Space::script, at, 0}, changed, m.value->size);
    assign(result, wants_old ? old : changed);
  }
  mark_present(map, at);
  jump(after);
  start(after);
  return Operand::of(result);
}

Operand Lowering::negated(Operand v) {
  return v.is_constant() ? number(static_cast<int64_t>(-static_cast<uint64_t>(v.value)))
                         : emit(Op::sub, number(0), v);
}

// ----------------------------------------------------------------------------------------------- keys

Operand Lowering::remove(const Call& c, bool statement) {
  const MapRef& ref = as<MapRef>(*c.arguments[0]);
  const Map& m = map_of(ref);
  uint32_t map = ref.map->id;
  const Expr* which = c.arguments.size() > 1 ? c.arguments[1] : ref.key;
  Operand k = key(m, which);
  Reg gone = fresh();
  if (is_scalar(m.kind) || m.kind == MapKind::task) {
    assign(gone, number(0));
    BlockId there = new_block(), after = new_block();
    Operand at = find(map, k);
    branch(Cond::ne, at, number(0), there, after);
    start(there);
    assign(gone, load_word({Space::script, at, m.present_offset}, 8, false));
    zero({Space::script, at, 0}, m.value_size);
    jump(after);
    start(after);
    return Operand::of(gone);
  }
  append({.op = Op::map_remove, .dst = gone, .a = k, .index = map});
  if (statement) {
    BlockId missing = new_block(), after = new_block();
    branch(Cond::eq, Operand::of(gone), number(0), missing, after);
    start(missing);
    count(Fault::delete_missing, "@" + m.name);
    jump(after);
    start(after);
  }
  return Operand::of(gone);
}

Operand Lowering::has_key(const Call& c) {
  const MapRef& ref = as<MapRef>(*c.arguments[0]);
  const Map& m = map_of(ref);
  Operand at = find(ref.map->id, key(m, c.arguments[1]));
  if (m.is_own) { // of entry(): there should be one
    BlockId missing = new_block(), after = new_block();
    branch(Cond::ne, at, number(0), after, missing);
    start(missing);
    count(Fault::entry_missing);
    jump(after);
    start(after);
  }
  if (m.kind != MapKind::task) return set(Cond::ne, at, number(0));
  Reg there = fresh();
  assign(there, number(0));
  BlockId look = new_block(), after = new_block();
  branch(Cond::ne, at, number(0), look, after);
  start(look);
  assign(there, load_word({Space::script, at, m.present_offset}, 8, false));
  jump(after);
  start(after);
  return Operand::of(there);
}

// find(@m, k, $v)
Operand Lowering::find_into(const Call& c) {
  const MapRef& ref = as<MapRef>(*c.arguments[0]);
  const Map& m = map_of(ref);
  uint32_t map = ref.map->id;
  const Variable& v = *as<VariableRef>(*c.arguments[2]).variable;
  const bool declares = v.where.begin == c.arguments[2]->where.begin;
  if (declares) define(v);
  Operand k = key(m, c.arguments[1]);
  Operand at = find(map, k);
  Reg found = fresh();
  assign(found, number(0));
  BlockId there = new_block(), after = new_block();
  branch(Cond::ne, at, number(0), there, after);
  start(there);
  assign(found, number(1));
  if (is_percpu(m.kind) || v.type->is_scalar()) {
    Operand n = is_percpu(m.kind) ? read_percpu(map, k) : load({Space::script, at, 0}, *m.value);
    set_variable(v, v.declared ? narrow(n, *v.type) : n);
  } else {
    convert(variable_place(v), *v.type, {Space::script, at, 0}, *m.value);
  }
  jump(after);
  start(after);
  return Operand::of(found);
}

// len(map or stack)
Operand Lowering::length(const Call& c) {
  const Expr& of = *c.arguments[0];
  if (of.kind != ExprKind::map || of.type->size) return stack_depth(of);
  Reg dst = fresh();
  append({.op = Op::map_size, .dst = dst, .index = as<MapRef>(of).map->id});
  return Operand::of(dst);
}

} // namespace ir
