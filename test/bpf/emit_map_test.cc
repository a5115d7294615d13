// Code for maps: finding, adding, full ones, loops over entries, parts of CPUs and threads.
#include "ir_builder.h"

namespace bpf::test {
namespace {

TEST(Emit, maps) {
  NEEDS_BPF();
  for (ir::MapKind kind :
       {ir::MapKind::hash, ir::MapKind::percpu_hash, ir::MapKind::lru_hash, ir::MapKind::percpu_lru_hash}) {
    Bench b;
    const uint32_t m = b.map(kind, 16, 24, 4);
    auto f = b.main();
    Operand key = f.object(16), value = f.object(24);
    f.store(key, 0, number(1));
    f.store(key, 8, number(2));
    std::vector<Operand> got;
    got.push_back(f.value({.op = Op::map_remove, .a = key, .index = m}));
    // Found twice: the second time what the first left.
    for (int i = 0; i < 2; i++) {
      Operand slot = f.value({.op = Op::map_slot, .a = key, .index = m});
      BlockId there = f.block(), next = f.block();
      f.branch(Cond::ne, slot, number(0), there, next);
      f.at(there);
      f.add({.op = Op::add_memory, .atomic = i == 1, .a = slot, .b = number(21), .imm = 8});
      f.jump(next);
      f.at(next);
    }
    auto read = [&](int64_t offset) {
      Operand found = f.value({.op = Op::map_find, .a = key, .index = m});
      Reg r = f.fresh();
      BlockId there = f.block(), next = f.block();
      f.add({.op = Op::mov, .dst = r, .a = number(-1)});
      f.branch(Cond::ne, found, number(0), there, next);
      f.at(there);
      f.add({.op = Op::load, .dst = r, .a = found, .imm = offset});
      f.jump(next);
      f.at(next);
      got.push_back(Operand::of(r));
    };
    read(8);
    for (int i = 0; i < 3; i++) f.store(value, 8 * i, number(100 + i));
    // What a script adds up is never stored.
    if (kind == ir::MapKind::percpu_hash) {
      Operand found = f.value({.op = Op::map_find, .a = key, .index = m});
      BlockId there = f.block(), next = f.block();
      f.branch(Cond::ne, found, number(0), there, next);
      f.at(there);
      f.store(found, 16, number(102));
      f.jump(next);
      f.at(next);
      got.push_back(number(1));
    } else {
      got.push_back(f.value({.op = Op::map_store, .a = key, .b = value, .index = m}));
    }
    read(16);
    got.push_back(f.value({.op = Op::map_size, .index = m}));
    got.push_back(f.value({.op = Op::map_remove, .a = key, .index = m}));
    read(0);
    got.push_back(f.value({.op = Op::map_size, .index = m}));
    Operand out = results(f);
    for (size_t i = 0; i < got.size(); i++) f.store(out, static_cast<int64_t>(8 * i), got[i]);
    f.give();
    auto result = b.run();
    const std::vector<int64_t> expected{0, 42, 1, 102, 1, 1, -1, 0};
    for (size_t i = 0; i < expected.size(); i++)
      EXPECT_EQ(result[i], expected[i]) << static_cast<int>(kind) << " " << i;
  }
}

// A key with so many hits that it gets a place in the map of hot keys.
struct HotKey {
  Bench b;
  uint32_t map;
  explicit HotKey(int64_t turns, bool removes = false) : map(b.map(ir::MapKind::percpu_hash, 8, 8, 4)) {
    const uint32_t site = b.site();
    auto f = b.main();
    Operand key = f.object(8), seen = f.object(8);
    f.store(key, 0, number(7));
    f.store(seen, 0, number(0));
    auto body = b.function(ir::Role::body, 1, 0, 0);
    Operand slot = body.value({.op = Op::map_slot, .a = body.address(0), .index = map});
    BlockId there = body.block(), next = body.block();
    body.branch(Cond::ne, slot, number(0), there, next);
    body.at(there);
    body.add({.op = Op::add_memory, .a = slot, .b = number(1), .index = map});
    body.jump(next);
    body.at(next);
    body.give();
    f.value({.op = Op::loop, .a = number(turns), .imm = turns, .imm2 = site, .index = body.index()});
    const auto parts = static_cast<int64_t>(ir::parts_of_cpu * b.options.possible_cpus);
    auto adder = b.function(ir::Role::body, 1, 0, 0);
    Operand part = adder.value({.op = Op::map_find_cpu, .a = adder.address(0), .b = Operand::of(1), .index = map});
    BlockId some = adder.block(), none = adder.block();
    adder.branch(Cond::ne, part, number(0), some, none);
    adder.at(some);
    Operand sum = adder.address(1);
    adder.store(sum, 0, adder.op(Op::add, adder.load(sum, 0), adder.load(part, 0)));
    adder.jump(none);
    adder.at(none);
    adder.give();
    f.value({.op = Op::loop, .a = number(parts), .imm = parts, .imm2 = site, .index = adder.index()});
    Operand out = results(f);
    f.store(out, 0, f.load(seen, 0));
    if (removes) f.store(out, 8, f.value({.op = Op::map_remove, .a = key, .index = map}));
    f.give();
  }
  std::vector<uint64_t> words() { // of the one entry; of no entry, none
    auto entries = b.engine->read_map(map);
    if (!entries.ok() || entries->empty()) return {};
    std::vector<uint64_t> values(entries->front().values.size() / 8);
    std::memcpy(values.data(), entries->front().values.data(), 8 * values.size());
    return values;
  }
  uint64_t sum() {
    uint64_t total = 0;
    for (uint64_t v : words()) total += v;
    return total;
  }
};

TEST(Emit, hot_keys_add_up) {
  NEEDS_BPF();
  HotKey h(1000);
  EXPECT_EQ(h.b.run(3)[0], 3000); // as a program reads it
  EXPECT_EQ(h.words().size(), ir::parts_of_cpu * h.b.options.possible_cpus);
  EXPECT_EQ(h.sum(), 3000u);
  ASSERT_TRUE(h.b.engine->zero_map(h.map).ok());
  EXPECT_EQ(h.words().size(), ir::parts_of_cpu * h.b.options.possible_cpus);
  EXPECT_EQ(h.sum(), 0u);
  ASSERT_TRUE(h.b.engine->run(0).ok());
  EXPECT_EQ(h.sum(), 1000u);
  auto taken = h.b.engine->take_map(h.map);
  ASSERT_TRUE(taken.ok() && *taken);
  EXPECT_EQ((*taken)->size(), 1u);
  EXPECT_TRUE(h.words().empty());
  ASSERT_TRUE(h.b.engine->run(0).ok());
  EXPECT_EQ(h.sum(), 1000u);
  ASSERT_TRUE(h.b.engine->clear_map(h.map).ok());
  EXPECT_TRUE(h.words().empty());
}

TEST(Emit, hot_keys_are_removed) {
  NEEDS_BPF();
  HotKey h(1000, true);
  auto result = h.b.run(3);
  EXPECT_EQ(result[0], 1000);
  EXPECT_EQ(result[1], 1);
  EXPECT_TRUE(h.words().empty());
}

TEST(Emit, keys_with_few_hits_are_not_hot) {
  NEEDS_BPF();
  HotKey h(100);
  EXPECT_EQ(h.b.run(2)[0], 200);
  EXPECT_EQ(h.words().size(), h.b.options.possible_cpus);
}

TEST(Emit, full_map_is_counted) {
  NEEDS_BPF();
  Bench b;
  const uint32_t m = b.map(ir::MapKind::hash, 8, 8, 4);
  const uint32_t site = b.site();
  auto f = b.main();
  Operand key = f.object(8), misses = f.object(8);
  f.store(misses, 0, number(0));
  auto body = b.function(ir::Role::body, 1, 0, 0);
  Operand k = body.address(0), n = body.address(1);
  body.store(k, 0, Operand::of(1));
  Operand slot = body.value({.op = Op::map_slot, .a = k, .index = m});
  BlockId full = body.block(), ok = body.block();
  body.branch(Cond::eq, slot, number(0), full, ok);
  body.at(full);
  body.store(n, 0, body.op(Op::add, body.load(n, 0), number(1)));
  body.give();
  body.at(ok);
  body.give();
  f.value({.op = Op::loop, .a = number(10), .imm = 100, .imm2 = site, .index = body.index()});
  f.store(key, 0, number(99));
  Operand stored = f.value({.op = Op::map_store, .a = key, .b = key, .index = m});
  Operand out = results(f);
  f.store(out, 0, f.load(misses, 0));
  f.store(out, 8, stored);
  f.give();
  auto result = b.run();
  EXPECT_EQ(result[0], 6);
  EXPECT_EQ(result[1], 0);
  if (b.engine) {
    EXPECT_EQ(b.engine->counters().map_full[m], 7u);
  }
}

TEST(Emit, for_each_entry) {
  NEEDS_BPF();
  Bench b;
  const uint32_t m = b.map(ir::MapKind::hash, 8, 16, 64);
  auto f = b.main();
  Operand key = f.object(8), value = f.object(16), sum = f.object(8), text = f.object(300);
  f.store(sum, 0, number(0));
  f.store(text, 8, number(1));
  for (int i = 1; i <= 10; i++) {
    f.store(key, 0, number(i));
    f.store(value, 0, number(i * i));
    f.store(value, 8, number(0));
    f.value({.op = Op::map_store, .a = key, .b = value, .index = m});
  }
  auto body = b.function(ir::Role::body, 2, 0, 0);
  Operand s = body.address(2), t = body.address(3);
  Operand x = body.op(Op::mul, body.load(Operand::of(1), 0), number(1000));
  x = body.op(Op::add, x, body.load(Operand::of(2), 0));
  body.store(s, 0, body.op(Op::add, body.load(s, 0), x));
  body.store(t, 8, body.op(Op::add, body.load(t, 8), number(1)));
  Operand again = body.value({.op = Op::map_find, .a = Operand::of(1), .index = m});
  BlockId there = body.block(), gone = body.block();
  body.branch(Cond::ne, again, number(0), there, gone);
  body.at(there);
  body.store(again, 8, number(5));
  body.give();
  body.at(gone);
  body.give(number(1));
  f.add({.op = Op::for_each, .imm = body.index(), .index = m});
  Operand out = results(f);
  f.store(out, 0, f.load(sum, 0));
  f.store(out, 8, f.load(text, 8));
  f.give();
  auto result = b.run();
  EXPECT_EQ(result[0], 55 * 1000 + 385);
  EXPECT_EQ(result[1], 11);
}

TEST(Emit, cpu_parts_and_task_values) {
  NEEDS_BPF();
  Bench b;
  const uint32_t m = b.map(ir::MapKind::percpu_array, 0, 16);
  const uint32_t task = b.map(ir::MapKind::task, 8, 16);
  auto f = b.main();
  std::vector<Operand> got;
  auto with = [&](Operand slot, auto&& then) {
    BlockId there = f.block(), next = f.block();
    f.branch(Cond::ne, slot, number(0), there, next);
    f.at(there);
    then();
    f.jump(next);
    f.at(next);
  };
  Operand cpu = f.value({.op = Op::query, .query = ir::Query::cpu});
  Operand slot = f.value({.op = Op::map_slot, .index = m});
  with(slot, [&] { f.store(slot, 0, number(31)); });
  Operand part = f.value({.op = Op::map_find_cpu, .b = cpu, .index = m});
  Reg r = f.fresh(), q = f.fresh();
  f.add({.op = Op::mov, .dst = r, .a = number(0)});
  with(part, [&] { f.add({.op = Op::load, .dst = r, .a = part}); });
  Operand mine = f.value({.op = Op::map_slot, .index = task});
  with(mine, [&] { f.store(mine, 8, number(12)); });
  Operand same = f.value({.op = Op::map_find, .index = task});
  f.add({.op = Op::mov, .dst = q, .a = number(0)});
  with(same, [&] { f.add({.op = Op::load, .dst = q, .a = same, .imm = 8}); });
  Operand removed = f.value({.op = Op::map_remove, .index = task});
  Operand missing = f.value({.op = Op::map_remove, .index = task});
  Operand value = f.object(16);
  f.store(value, 0, number(1));
  f.store(value, 8, number(2));
  Operand stored = f.value({.op = Op::map_store, .b = value, .index = task});
  Operand out = results(f);
  int64_t at = 0;
  for (Operand v : {Operand::of(r), Operand::of(q), removed, missing, stored}) f.store(out, at, v), at += 8;
  f.give();
  auto result = b.run();
  const std::vector<int64_t> expected{31, 12, 1, 0, 1};
  for (size_t i = 0; i < expected.size(); i++) EXPECT_EQ(result[i], expected[i]) << i;
}

} // namespace
} // namespace bpf::test
