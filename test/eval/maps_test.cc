// Maps of every kind, through the operations of the IR and through what session sees of them.
#include "eval/drain.h"

#include "ir/builder.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

namespace eval {
namespace {

using ir::BlockId;
using ir::Builder;
using ir::Cond;
using ir::MapKind;
using ir::Op;
using ir::R;
using ir::Role;
using ir::Value;

struct Pair {
  int64_t key, value;
  auto operator<=>(const Pair&) const = default;
};
std::vector<Pair> entries(Engine& engine, uint32_t map) {
  std::vector<Pair> pairs;
  auto read = engine.read_map(map);
  EXPECT_TRUE(read.ok());
  for (const auto& e : *read) {
    Pair p{-1, 0};
    if (e.key.size() == 8) std::memcpy(&p.key, e.key.data(), 8);
    std::memcpy(&p.value, e.values.data(), 8);
    pairs.push_back(p);
  }
  return pairs;
}

// A program over one map with 8-byte keys.
struct MapProgram {
  Builder b;
  uint32_t map, key_object, value_object;

  explicit MapProgram(MapKind kind, uint64_t most = 16, uint32_t value = 8, uint32_t present = ~0u) {
    map = b.map(kind, ir::is_scalar(kind) ? 0 : 8, value, most, present);
    key_object = b.object(8), value_object = b.object(value);
  }
  Value key(Value k) {
    if (ir::is_scalar(b.program.maps[map].kind)) return {};
    const R at = b.address(key_object);
    b.store(at, k);
    return at;
  }
  R find(Value k) { return b.on_map(Op::map_find, map, key(k)); }
  R slot(Value k) { return b.on_map(Op::map_slot, map, key(k)); }
  R remove(Value k) { return b.on_map(Op::map_remove, map, key(k)); }
  R size() { return b.on_map(Op::map_size, map); }
  // What has a part for each CPU is written by its slot.
  R store(Value k, Value v) {
    if (b.program.maps[map].kind == MapKind::percpu_hash) {
      b.store(slot(k), v);
      return b.value(Op::mov, 1);
    }
    const Value at_key = key(k);
    const R at = b.address(value_object);
    b.store(at, v);
    return b.on_map(Op::map_store, map, at_key, at);
  }
  // The value, or -1 if there is none.
  void output_value(Value k) {
    const R at = find(k);
    const BlockId some = b.block(), none = b.block(), after = b.block();
    b.branch(at, Cond::ne, 0, some, none);
    b.at(some);
    b.output(b.load(at));
    b.jump(after);
    b.at(none);
    b.output(-1);
    b.jump(after);
    b.at(after);
  }
  Engine engine() {
    b.give_back();
    b.probe();
    EXPECT_EQ(ir::verify(b.program), std::vector<std::string>{}) << ir::to_string(b.program);
    return Engine(b.program);
  }
};

TEST(Hash, FindSlotStoreRemoveSize) {
  for (const MapKind kind :
       {MapKind::hash, MapKind::percpu_hash, MapKind::lru_hash, MapKind::percpu_lru_hash}) {
    MapProgram p(kind);
    p.output_value(1);          // -1
    p.b.output(p.store(1, 10)); // 1
    p.output_value(1);          // 10
    const R slot = p.slot(2);
    p.b.output(p.b.load(slot)); // 0: made of zeros
    p.b.store(slot, 20);
    p.output_value(2);       // 20
    p.b.output(p.size());    // 2
    p.b.output(p.remove(1)); // 1
    p.b.output(p.remove(1)); // 0
    p.output_value(1);       // -1
    p.b.output(p.size());    // 1
    Engine engine = p.engine();
    ASSERT_TRUE(engine.run(0).ok());
    EXPECT_EQ(drain(engine), (std::vector<int64_t>{-1, 1, 10, 0, 20, 2, 1, 0, -1, 1}));
    EXPECT_EQ(entries(engine, p.map), (std::vector<Pair>{{2, 20}}));
  }
}

TEST(Hash, FindOnACpu) {
  MapProgram p(MapKind::percpu_hash);
  p.store(1, 10);
  const Value key = p.key(1);
  const R there = p.b.on_map(Op::map_find_cpu, p.map, key, 0);
  p.b.output(p.b.load(there));
  p.b.output(p.b.on_map(Op::map_find_cpu, p.map, key, 1));
  Engine engine = p.engine();
  ASSERT_TRUE(engine.run(0).ok());
  EXPECT_EQ(drain(engine), (std::vector<int64_t>{10, 0}));
}

TEST(Hash, RefusesWhenFull) {
  MapProgram p(MapKind::hash, 2);
  p.store(1, 1);
  p.store(2, 2);
  p.b.output(p.store(3, 3)); // 0
  p.b.output(p.slot(4));     // 0
  p.b.output(p.store(2, 9)); // 1: it is there
  Engine engine = p.engine();
  ASSERT_TRUE(engine.run(0).ok());
  EXPECT_EQ(drain(engine), (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(engine.counters().map_full[p.map], 2u);
  EXPECT_EQ(entries(engine, p.map), (std::vector<Pair>{{1, 1}, {2, 9}}));
}

TEST(Hash, LruGivesUpTheLeastUsed) {
  MapProgram p(MapKind::lru_hash, 2);
  p.store(1, 1);
  p.store(2, 2);
  p.find(1);
  p.store(3, 3);
  Engine engine = p.engine();
  ASSERT_TRUE(engine.run(0).ok());
  EXPECT_EQ(entries(engine, p.map), (std::vector<Pair>{{1, 1}, {3, 3}}));
  EXPECT_EQ(engine.counters().map_full[p.map], 0u);
}

TEST(Hash, AddressesOutliveRemoval) {
  MapProgram p(MapKind::hash);
  const R slot = p.slot(1);
  p.b.store(slot, 5);
  p.remove(1);
  p.b.output(p.b.load(slot));
  Engine engine = p.engine();
  ASSERT_TRUE(engine.run(0).ok());
  EXPECT_EQ(drain(engine), std::vector<int64_t>{5});
}

TEST(Hash, ClearAndZero) {
  MapProgram p(MapKind::hash);
  p.store(1, 10);
  p.store(2, 20);
  Engine engine = p.engine();
  ASSERT_TRUE(engine.run(0).ok());
  ASSERT_TRUE(engine.zero_map(p.map).ok());
  EXPECT_EQ(entries(engine, p.map), (std::vector<Pair>{{1, 0}, {2, 0}}));
  ASSERT_TRUE(engine.clear_map(p.map).ok());
  EXPECT_EQ(entries(engine, p.map), std::vector<Pair>{});
}

TEST(Scalar, IsEmptyUntilItsFlagIsSet) {
  for (const MapKind kind : {MapKind::array, MapKind::percpu_array}) {
    MapProgram p(kind, 1, 16, 8);
    p.b.output(p.size()); // 0
    const R at = p.find({});
    p.b.store(at, 7);
    p.b.output(p.size()); // 0
    const BlockId mark = p.b.block(), done = p.b.block();
    p.b.branch(p.b.load(at), Cond::eq, 7, mark, done);
    p.b.at(mark);
    p.b.store(at, 1, 8);
    p.b.jump(done);
    p.b.at(done);
    p.b.output(p.size()); // 1
    Engine engine = p.engine();
    EXPECT_TRUE(entries(engine, p.map).empty());
    ASSERT_TRUE(engine.run(0).ok());
    EXPECT_EQ(drain(engine), (std::vector<int64_t>{0, 0, 1}));
    EXPECT_EQ(entries(engine, p.map), (std::vector<Pair>{{-1, 7}}));
    ASSERT_TRUE(engine.zero_map(p.map).ok());
    EXPECT_EQ(entries(engine, p.map), (std::vector<Pair>{{-1, 0}}));
    ASSERT_TRUE(engine.clear_map(p.map).ok());
    EXPECT_TRUE(entries(engine, p.map).empty());
  }
}

TEST(Scalar, RemoveTellsWhetherItWasThere) {
  MapProgram p(MapKind::array, 1, 16, 8);
  p.b.output(p.remove({})); // 0
  p.b.store(p.slot({}), 1, 8);
  p.b.output(p.remove({})); // 1
  p.b.output(p.remove({})); // 0
  Engine engine = p.engine();
  ASSERT_TRUE(engine.run(0).ok());
  EXPECT_EQ(drain(engine), (std::vector<int64_t>{0, 1, 0}));
}

TEST(Task, IsKeyedByTheThread) {
  MapProgram p(MapKind::task, 1, 16, 8);
  const R slot = p.slot(123); // the key says nothing
  p.b.store(slot, 5);
  p.b.store(slot, 1, 8);
  p.output_value(456);
  Engine engine = p.engine();
  ASSERT_TRUE(engine.run(0).ok());
  EXPECT_EQ(drain(engine), std::vector<int64_t>{5});
  EXPECT_EQ(entries(engine, p.map), (std::vector<Pair>{{gettid(), 5}}));
}

// Goes through {1: 1, 2: 2, 3: 3}; the body sends each value and does `act` for key 1.
std::vector<int64_t> for_each(void (*act)(MapProgram&), bool stop = false) {
  MapProgram p(MapKind::hash);
  const uint32_t body = p.b.function("body", Role::body, 2, 0);
  p.b.output(p.b.load(R{2}));
  const BlockId first = p.b.block(), done = p.b.block();
  p.b.branch(p.b.load(R{1}), Cond::eq, 1, first, done);
  p.b.at(first);
  act(p);
  p.b.jump(done);
  p.b.at(done);
  p.b.give_back(stop ? 1 : 0);
  p.b.enter(0);
  for (int k = 1; k <= 3; k++) p.store(k, k);
  p.b.emit(Op::for_each).imm = body;
  p.b.last().index = p.map;
  Engine engine = p.engine();
  EXPECT_TRUE(engine.run(0).ok());
  return drain(engine);
}

TEST(ForEach, VisitsWhatWasThereAtItsStart) {
  EXPECT_EQ(for_each([](MapProgram&) {}), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(for_each([](MapProgram& p) { p.remove(2); }), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(for_each([](MapProgram& p) { p.remove(1); }), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(for_each([](MapProgram& p) { p.store(4, 4); }), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(for_each([](MapProgram&) {}, true), (std::vector<int64_t>{1}));
}

} // namespace
} // namespace eval
