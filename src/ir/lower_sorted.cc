// for ($kv : sorted(@m, n)): the n entries with the largest values, largest first. The loop sees the map as it was when the
// loop began.
//
// Programs of the kernel walk a map in no order, and have no memory but what they bring. So one walk puts the entries into
// a heap whose root is the smallest: once the heap is full, a larger value replaces the root. Taking the roots off, to the
// end of the same array, leaves it sorted. That is entries * log2(n) steps. Keys stay where they were put; what moves is
// a number by which values compare as unsigned ones, and the place of the key.
#include "ir/lowering.h"

#include <algorithm>
#include <bit>

namespace ir {

using namespace lang;

struct Lowering::Heap {
  uint32_t entries; // object: { u64 order, u64 place of the key } each
  uint32_t keys;    // object
  uint32_t state;   // object: `size`, then `at`
  uint32_t key_size;
  uint32_t most;
  int64_t sign; // changes places of signed values so that they compare as unsigned ones
  bool is_cut;  // more entries than fit are a loss, not what the script asked for
};

namespace {
constexpr int64_t entry_size = 16, place_at = 8;
constexpr int64_t size_at = 0, at_at = 8; // of Heap::state: the number of entries, the entry that moves
constexpr uint64_t most_bytes = 1 << 20; // of entries and keys
} // namespace

// The address of an entry whose index is below `most`, which the kernel's verifier wants to see.
Place Lowering::heap_entry(const Heap& h, Operand index) {
  return {Space::script, emit(Op::add, object(h.entries), emit(Op::shl, index, number(std::countr_zero(uint64_t{entry_size})))), 0};
}

// A verifier that knew the number would follow each way that it can grow.
void Lowering::heap_set(const Heap& h, int64_t word, Operand n) {
  Reg value = fresh();
  append({.op = Op::blur, .dst = value, .a = n});
  store({Space::script, object(h.state), word}, Operand::of(value), 8);
}

// Goes on where a < limit, and gives back 1 from the body of the loop otherwise.
void Lowering::stop_unless_below(Operand a, Operand limit) {
  BlockId inside = new_block(), outside = new_block();
  branch(Cond::ult, a, limit, inside, outside);
  start(outside);
  give_back(number(1));
  start(inside);
}

// Two entries change places if the first is the smaller; else the turn of the loop ends the loop.
void Lowering::swap_if_smaller(const Heap& h, Operand a, Operand b) {
  const Place first = heap_entry(h, a), second = heap_entry(h, b);
  Operand x = load_word(first, 8, false), y = load_word(second, 8, false);
  stop_unless_below(x, y);
  Operand x_place = load_word(first.plus(place_at), 8, false), y_place = load_word(second.plus(place_at), 8, false);
  store(first, y, 8);
  store(first.plus(place_at), y_place, 8);
  store(second, x, 8);
  store(second.plus(place_at), x_place, 8);
}

// The entry `at` goes up until its parent is no larger.
void Lowering::heap_up(const Heap& h) {
  search(std::bit_width(h.most), [&](Operand, const Place&) {
    const Place moving{Space::script, object(h.state), at_at};
    Operand child = load_word(moving, 8, false);
    BlockId inside = new_block(), root = new_block();
    branch(Cond::ne, child, number(0), inside, root);
    start(root);
    give_back(number(1));
    start(inside);
    stop_unless_below(child, number(h.most));
    Operand parent = emit(Op::lshr, emit(Op::sub, child, number(1)), number(1));
    stop_unless_below(parent, number(h.most));
    swap_if_smaller(h, child, parent);
    heap_set(h, at_at, parent);
    give_back(number(0));
  });
}

// The root goes down until no child is smaller.
void Lowering::heap_down(const Heap& h) {
  heap_set(h, at_at, number(0));
  search(std::bit_width(h.most), [&](Operand, const Place&) {
    const Place moving{Space::script, object(h.state), at_at};
    Operand size = load_word({Space::script, object(h.state), size_at}, 8, false);
    Operand parent = load_word(moving, 8, false);
    Operand left = emit(Op::add, emit(Op::shl, parent, number(1)), number(1)), right = emit(Op::add, left, number(1));
    stop_unless_below(parent, number(h.most));
    stop_unless_below(left, size);
    stop_unless_below(left, number(h.most));
    Reg child = fresh();
    assign(child, left);
    BlockId two = new_block(), both = new_block(), take_right = new_block(), chosen = new_block();
    branch(Cond::ult, right, size, two, chosen);
    start(two);
    branch(Cond::ult, right, number(h.most), both, chosen);
    start(both);
    branch(Cond::ult, load_word(heap_entry(h, right), 8, false), load_word(heap_entry(h, left), 8, false), take_right, chosen);
    start(take_right);
    assign(child, right);
    jump(chosen);
    start(chosen);
    stop_unless_below(Operand::of(child), number(h.most));
    swap_if_smaller(h, Operand::of(child), parent);
    heap_set(h, at_at, Operand::of(child));
    give_back(number(0));
  });
}

void Lowering::collect_largest(const Heap& h, uint32_t map) {
  auto state = [&](int64_t offset) { return Place{Space::script, object(h.state), offset}; };
  heap_set(h, size_at, number(0));
  body(
      2,
      [&] {
        const Map& m = program_.maps[map];
        Operand value = is_percpu(m.kind) ? read_percpu(map, Operand::of(1)) : load({Space::script, Operand::of(2), 0}, *m.value);
        Operand order = emit(Op::xor_, value, number(h.sign));
        BlockId grow = new_block(), full = new_block(), replace = new_block(), leave = new_block();
        auto put = [&](Operand index, Operand place) {
          stop_unless_below(place, number(h.most));
          copy({Space::script, emit(Op::add, object(h.keys), emit(Op::mul, place, number(h.key_size))), 0}, {Space::script, Operand::of(1), 0}, h.key_size);
          const Place entry = heap_entry(h, index);
          store(entry, order, 8);
          store(entry.plus(place_at), place, 8);
        };
        Operand size = load_word(state(size_at), 8, false);
        branch(Cond::ult, size, number(h.most), grow, full);
        start(grow);
        put(size, size);
        heap_set(h, at_at, size);
        heap_set(h, size_at, emit(Op::add, size, number(1)));
        heap_up(h);
        jump(leave);
        start(full);
        if (h.is_cut) count(Fault::loop_limit, std::to_string(h.most));
        const Place root{Space::script, object(h.entries), 0};
        branch(Cond::ugt, order, load_word(root, 8, false), replace, leave);
        start(replace);
        put(number(0), load_word(root.plus(place_at), 8, false));
        heap_down(h);
        jump(leave);
        start(leave);
        give_back(number(0));
      },
      [&](uint32_t made) { append({.op = Op::for_each, .imm = made, .index = map}); });
}

// Root after root goes behind the rest, which is one smaller each time.
void Lowering::sort_heap(const Heap& h) {
  search(h.most, [&](Operand, const Place&) {
    const Place size{Space::script, object(h.state), size_at};
    Operand last = emit(Op::sub, load_word(size, 8, false), number(1));
    stop_unless_below(last, number(h.most));
    const Place root{Space::script, object(h.entries), 0}, end = heap_entry(h, last);
    for (int64_t word : {int64_t{0}, place_at}) {
      Operand first = load_word(root.plus(word), 8, false), other = load_word(end.plus(word), 8, false);
      store(root.plus(word), other, 8);
      store(end.plus(word), first, 8);
    }
    heap_set(h, size_at, last);
    heap_down(h);
    give_back(number(0));
  });
}

void Lowering::lower_for_sorted(const ForMap& f) {
  const uint32_t map = f.map->map->id;
  const Map m = program_.maps[map];
  const uint64_t fitting = most_bytes / (entry_size + m.key_size);
  const uint64_t wanted = f.most ? static_cast<uint64_t>(f.most->constant.integer_value) : std::min<uint64_t>(m.max_entries, most_sorted);
  Heap h{.key_size = m.key_size, .most = static_cast<uint32_t>(std::clamp<uint64_t>(wanted, 1, fitting))};
  h.is_cut = f.most ? h.most < wanted : h.most < m.max_entries;
  h.sign = m.value->is_signed ? INT64_MIN : 0;
  h.entries = add_object(static_cast<uint32_t>(entry_size) * h.most, "sorted");
  h.keys = add_object(h.key_size * h.most, "keys");
  h.state = add_object(16, "heap");
  collect_largest(h, map);
  Operand count = emit(Op::blur, load_word({Space::script, object(h.state), size_at}, 8, false));
  sort_heap(h);

  const Variable& v = *f.variable;
  const std::vector<const Variable*> shared = find_shared(nullptr, {f.body});
  body(
      1,
      [&] {
        stop_unless_below(Operand::of(1), number(h.most));
        const Place entry = heap_entry(h, Operand::of(1));
        Operand order = load_word(entry, 8, false), place = load_word(entry.plus(place_at), 8, false);
        stop_unless_below(place, number(h.most));
        const Place to = variable_place(v);
        const type::Field &key = v.type->fields()[0], &value = v.type->fields()[1];
        if (has_padding(*v.type)) zero(to, v.type->size);
        const Place from{Space::script, emit(Op::add, object(h.keys), emit(Op::mul, place, number(h.key_size))), 0};
        convert(to.plus(key.offset), *key.type, from, *m.key);
        store(to.plus(value.offset), emit(Op::xor_, order, number(h.sign)), value.type->size);
        lower(*f.body);
      },
      [&](uint32_t made) {
        blur(shared);
        append({.op = Op::loop, .dst = fresh(), .a = count, .imm = h.most, .imm2 = site(Fault::loop_limit, std::to_string(h.most)), .index = made});
      });
}

} // namespace ir
