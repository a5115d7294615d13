// Objects, operations on maps and loops that share memory or become functions.
#include "pieces_of_test.h"

#include "bpf/layout.h"

namespace bpf::test {
namespace {

// --------------------------------------------------------------------------------------- shared objects

struct ObjectSharing : testing::Test {
  Bench b;
  FunctionBuilder f = b.main();
  Operand use(uint32_t size) {
    Operand o = f.object(size);
    f.store(o, 0, number(1));
    f.load(o, 0);
    return o;
  }
  FunctionBuilder function(uint32_t parameters) {
    b.program.frames.emplace_back();
    return b.function(Role::function, parameters, static_cast<uint32_t>(b.program.frames.size() - 1));
  }
  // After sharing: the objects that the instructions `object` of the probe take, in their order.
  std::vector<uint32_t> places() {
    expect_sound(b.program);
    share_objects(b.program);
    expect_sound(b.program);
    std::vector<uint32_t> out;
    for_each_inst(b.program.functions[0], [&](const Inst& i) {
      if (i.op == Op::object) out.push_back(i.index);
    });
    return out;
  }
  uint32_t size_of(uint32_t object) const { return b.program.frames[0].objects[object].size; }
};
using Places = std::vector<uint32_t>;

TEST_F(ObjectSharing, one_after_the_other) {
  use(8), use(24), use(16);
  f.give();
  EXPECT_EQ(places(), (Places{0, 0, 0}));
  EXPECT_EQ(size_of(0), 24u); // of the largest
}

TEST_F(ObjectSharing, not_at_the_same_time) {
  Operand first = use(8), second = use(8);
  f.load(f.op(Op::add, first, number(0)), 0);
  use(8);
  f.load(second, 0);
  f.give();
  EXPECT_EQ(places(), (Places{0, 1, 0}));
}

// A copy of its address is used as long as the address.
TEST_F(ObjectSharing, as_long_as_copies_of_the_address_are_used) {
  Operand copy = f.op(Op::mov, f.op(Op::add, use(32), number(8)));
  use(32);
  f.load(copy, 0);
  use(32);
  f.give();
  EXPECT_EQ(places(), (Places{0, 1, 0}));
}

TEST_F(ObjectSharing, memory_of_the_nearest_size) {
  Operand a = f.object(8), c = f.object(64), d = f.object(16);
  for (const Operand& o : {a, c, d}) f.store(o, 0, number(1));
  use(56), use(8), use(24);
  f.give();
  EXPECT_EQ(places(), (Places{0, 1, 2, 1, 0, 2}));
}

TEST_F(ObjectSharing, small_and_large_ones_are_not_mixed) {
  use(largest_on_stack), use(largest_on_stack + 1), use(4096), use(8);
  f.give();
  EXPECT_EQ(places(), (Places{0, 1, 1, 0}));
  EXPECT_EQ(size_of(1), 4096u);
  EXPECT_EQ(size_of(0), largest_on_stack);
}

TEST_F(ObjectSharing, ways_that_exclude_each_other) {
  const BlockId yes = f.block(), no = f.block(), end = f.block();
  f.branch(Cond::eq, f.value({.op = Op::query}), number(0), yes, no);
  for (const BlockId b : {yes, no}) f.at(b), use(16), f.jump(end);
  f.at(end);
  f.give();
  const Places p = places();
  EXPECT_EQ(p[0], p[1]);
}

TEST_F(ObjectSharing, not_across_a_branch_that_the_object_outlives) {
  Operand before = use(16);
  const BlockId yes = f.block(), end = f.block();
  f.branch(Cond::eq, f.value({.op = Op::query}), number(0), yes, end);
  f.at(yes), use(16), f.jump(end);
  f.at(end), f.load(before, 8), f.give();
  EXPECT_EQ(places(), (Places{0, 1}));
}

TEST_F(ObjectSharing, not_if_a_called_function_returns_the_address) {
  auto identity = function(1), length = function(1);
  identity.give(identity.op(Op::add, Operand::of(1), number(1)));
  length.give(length.load(Operand::of(1), 0));
  f.value({.op = Op::call, .a = use(8), .index = length.index()});
  f.value({.op = Op::call, .a = use(8), .index = identity.index()});
  use(8);
  f.give();
  EXPECT_EQ(places(), (Places{0, 1, 0}));
}

// A function may return what it kept in an object of its own.
TEST_F(ObjectSharing, not_if_a_called_function_returns_it_from_its_memory) {
  auto keeper = function(1);
  Operand holder = keeper.object(8);
  keeper.store(holder, 0, Operand::of(1));
  keeper.give(keeper.load(holder, 0));
  f.value({.op = Op::call, .a = use(8), .index = keeper.index()});
  use(8), use(8);
  f.give();
  EXPECT_EQ(places(), (Places{0, 1, 1}));
}

TEST_F(ObjectSharing, not_if_the_address_is_stored) {
  Operand kept = use(8);
  f.store(f.object(8), 0, kept);
  use(8), use(8);
  f.give();
  EXPECT_EQ(places(), (Places{0, 1, 2, 2})); // nor what holds it
}

TEST_F(ObjectSharing, not_if_the_address_is_a_number) {
  f.op(Op::number_of, use(8)), use(8), use(8);
  f.give();
  EXPECT_EQ(places(), (Places{0, 1, 1}));
}

TEST_F(ObjectSharing, not_if_it_is_lent) {
  use(8), use(8), use(8);
  f.value({.op = Op::lend, .index = 0});
  f.give();
  EXPECT_EQ(places(), (Places{0, 1, 1}));
}

TEST_F(ObjectSharing, not_if_the_body_of_a_loop_uses_it) {
  auto body = b.function(Role::body, 1, 0, 0);
  body.store(body.object(8), 0, number(1));
  body.give();
  f.store(f.address(0), 0, number(0));
  f.value({.op = Op::loop, .a = number(3), .imm = 10, .imm2 = b.site(), .index = body.index()});
  use(8), use(8);
  f.give();
  EXPECT_EQ(places(), (Places{0, 1, 1}));
}

TEST_F(ObjectSharing, not_if_a_register_may_have_either_address) {
  const Reg either = f.fresh();
  const BlockId yes = f.block(), no = f.block(), end = f.block();
  f.branch(Cond::eq, f.value({.op = Op::query}), number(0), yes, no);
  for (const BlockId b : {yes, no}) f.at(b), f.add({.op = Op::mov, .dst = either, .a = use(16)}), f.jump(end);
  f.at(end);
  f.store(Operand::of(either), 0, number(1));
  use(16);
  f.give();
  EXPECT_EQ(places(), (Places{0, 1, 2}));
}

TEST_F(ObjectSharing, not_in_a_function_with_a_way_back) {
  use(8);
  const BlockId again = f.block(), end = f.block();
  f.jump(again);
  f.at(again);
  use(8);
  f.branch(Cond::eq, f.value({.op = Op::query}), number(0), again, end);
  f.at(end);
  use(8);
  f.give();
  EXPECT_EQ(places(), (Places{0, 1, 2}));
}

// ------------------------------------------------------------------------------------ shared operations

struct OperationSharing : testing::Test {
  Bench b;
  FunctionBuilder f = b.main();
  Operand key = f.object(8);
  OperationSharing() { f.store(key, 0, number(1)); }
  void repeat(size_t times, Inst i) {
    while (times--) f.value(i);
  }
  // The functions that were made.
  std::vector<ir::Function> made() {
    f.give();
    expect_sound(b.program);
    const size_t before = b.program.functions.size();
    share_operations(b.program);
    expect_sound(b.program);
    return {b.program.functions.begin() + static_cast<ptrdiff_t>(before), b.program.functions.end()};
  }
};

TEST_F(OperationSharing, fewer_than_4_stay) {
  const uint32_t map = b.map(ir::MapKind::hash, 8, 8);
  repeat(3, {.op = Op::map_find, .a = key, .index = map});
  EXPECT_TRUE(made().empty());
  EXPECT_EQ(count(b.program.functions[0], Op::map_find), 3u);
}

TEST_F(OperationSharing, four_become_a_function) {
  const uint32_t map = b.map(ir::MapKind::hash, 8, 8);
  repeat(4, {.op = Op::map_find, .a = key, .index = map});
  const auto functions = made();
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].name, "map_find_m1");
  EXPECT_EQ(functions[0].parameters, 1u);
  EXPECT_EQ(count(functions[0], Op::map_find), 1u);
  EXPECT_EQ(count(b.program.functions[0], Op::map_find), 0u);
  for_each_inst(b.program.functions[0], [&](const Inst& i) {
    if (i.op != Op::call) return;
    EXPECT_EQ(i.a, number(1)); // what stands in the key
    EXPECT_NE(i.dst, 0u);
  });
  EXPECT_EQ(count(b.program.functions[0], Op::call), 4u);
}

// Each is given the number that stands in its object; objects that are needed no more are written no more.
TEST_F(OperationSharing, keys_and_values_of_one_number_are_passed_as_that) {
  const uint32_t map = b.map(ir::MapKind::hash, 8, 8);
  for (int64_t n = 0; n < 4; n++) {
    Operand own = f.object(8), value = f.object(8);
    f.store(own, 0, number(100 + n));
    f.store(value, 0, number(200 + n));
    f.value({.op = Op::map_find, .a = own, .index = map});
    f.value({.op = Op::map_store, .a = own, .b = value, .index = map});
  }
  const auto functions = made();
  ASSERT_EQ(functions.size(), 2u);
  for (const ir::Function& each : functions) EXPECT_EQ(count(each, Op::store), each.parameters);
  std::vector<int64_t> given;
  for_each_inst(b.program.functions[0], [&](const Inst& i) {
    if (i.op != Op::call) return;
    given.push_back(i.a.value);
    EXPECT_TRUE(i.a.is_constant());
    EXPECT_TRUE(i.b.kind == Operand::none || i.b == number(i.a.value + 100));
  });
  EXPECT_EQ(given, (std::vector<int64_t>{100, 100, 101, 101, 102, 102, 103, 103}));
  EXPECT_EQ(count(b.program.functions[0], Op::store), 0u);
}

// Written twice, written in part, read as memory, or longer: it is passed by its address.
TEST_F(OperationSharing, others_are_passed_by_their_address) {
  const uint32_t map = b.map(ir::MapKind::hash, 8, 8), wide = b.map(ir::MapKind::hash, 16, 8);
  const auto twice = [&](Operand o) { f.store(o, 0, number(1)), f.store(o, 0, number(2)); };
  const auto part = [&](Operand o) { f.add({.op = Op::zero, .a = o, .imm2 = 8}), f.store(o, 0, number(1)); };
  const auto read = [&](Operand o) { f.store(o, 0, number(1)), f.store(results(f), 0, f.load(o, 0)); };
  Operand objects[] = {f.object(8), f.object(8), f.object(8), f.object(16)};
  twice(objects[0]), part(objects[1]), read(objects[2]), f.store(objects[3], 0, number(1)), f.store(objects[3], 8, number(1));
  for (const Operand& o : objects) repeat(4, {.op = Op::map_find, .a = o, .index = &o == &objects[3] ? wide : map});
  const size_t stores = count(b.program.functions[0], Op::store);
  const auto functions = made();
  ASSERT_EQ(functions.size(), 2u);
  for (const ir::Function& each : functions) EXPECT_EQ(count(each, Op::store), 0u);
  for_each_inst(b.program.functions[0], [&](const Inst& i) { EXPECT_TRUE(i.op != Op::call || i.a.is_reg()); });
  EXPECT_EQ(count(b.program.functions[0], Op::store), stores - 1); // without that to the key that nobody uses
}

TEST_F(OperationSharing, each_operation_on_each_map_by_itself) {
  const uint32_t one = b.map(ir::MapKind::hash, 8, 8), two = b.map(ir::MapKind::hash, 8, 8);
  Operand value = f.object(8);
  f.store(value, 0, number(1));
  repeat(3, {.op = Op::map_find, .a = key, .index = one});
  repeat(3, {.op = Op::map_find, .a = key, .index = two});
  repeat(3, {.op = Op::map_slot, .a = key, .index = two});
  repeat(20, {.op = Op::map_store, .a = key, .b = value, .index = one});
  repeat(20, {.op = Op::map_remove, .a = key, .index = two});
  const auto functions = made();
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].name, "map_store_m1");
  EXPECT_EQ(functions[0].parameters, 2u);
  EXPECT_EQ(functions[1].name, "map_remove_m2");
}

TEST_F(OperationSharing, with_and_without_a_word_are_two) {
  const uint32_t map = b.map(ir::MapKind::percpu_hash, 8, 16);
  repeat(4, {.op = Op::map_slot, .a = key, .index = map});
  repeat(3, {.op = Op::map_slot, .a = key, .b = number(1), .index = map});
  const auto functions = made();
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].parameters, 1u);
  EXPECT_EQ(count(b.program.functions[0], Op::map_slot), 3u);
}

TEST_F(OperationSharing, not_of_maps_that_need_no_call) {
  const uint32_t task = b.map(ir::MapKind::task, 0, 8), percpu = b.map(ir::MapKind::percpu_array, 0, 8);
  repeat(30, {.op = Op::map_slot, .index = 0});
  repeat(30, {.op = Op::map_slot, .index = task});
  repeat(30, {.op = Op::map_find, .index = percpu});
  const auto functions = made();
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].name, "map_find_m2");
  EXPECT_EQ(functions[0].parameters, 0u);
}

// ----------------------------------------------------------------------------------------- shared loops

// How many loops are left in the probe.
size_t loops_left(const Looping& how, int64_t loops = 5) {
  Bench b;
  b.program.frames.emplace_back();
  b.function(Role::function, 0, 1).give();
  auto f = b.main();
  add_loops(b, f, loops, how);
  f.give();
  expect_sound(b.program);
  const size_t before = b.program.functions.size();
  share_loops(b.program);
  expect_sound(b.program);
  const size_t left = count(b.program.functions[0], Op::loop);
  EXPECT_EQ(count(b.program.functions[0], Op::call) + left, static_cast<size_t>(loops));
  EXPECT_EQ(b.program.functions.size(), before + (left < static_cast<size_t>(loops) ? 2 : 0));
  return left;
}

TEST(LoopSharing, four_that_do_the_same_become_a_function) {
  EXPECT_EQ(loops_left({}, 3), 3u);
  EXPECT_EQ(loops_left({}, 4), 0u);
  EXPECT_EQ(loops_left({.extra = 4}), 0u);
}

TEST(LoopSharing, not_of_bodies_that_differ) {
  EXPECT_EQ(loops_left({.addend = [](int64_t n) { return n; }}), 5u);
  EXPECT_EQ(loops_left({.addend = [](int64_t n) { return n == 2; }}), 1u);
}

TEST(LoopSharing, not_of_more_objects_than_a_function_has_parameters) { EXPECT_EQ(loops_left({.extra = 5}), 5u); }

TEST(LoopSharing, not_of_bodies_that_call) { EXPECT_EQ(loops_left({.calls = true}), 5u); }

TEST(LoopSharing, not_of_loops_whose_turns_are_not_known) {
  EXPECT_EQ(loops_left({.turns = [](FunctionBuilder& f) { return f.value({.op = Op::query}); }}), 5u);
  EXPECT_EQ(loops_left({.turns = [](FunctionBuilder&) { return number(11); }}), 5u); // cut, which is counted at each place
}

TEST(LoopSharing, also_where_the_verifier_does_not_know_the_turns) {
  const auto turns = [](int64_t n) { return [n](FunctionBuilder& f) { return f.value({.op = Op::blur, .a = number(n)}); }; };
  EXPECT_EQ(loops_left({.turns = turns(4)}), 0u);
  EXPECT_EQ(loops_left({.turns = turns(11)}), 5u);
  EXPECT_EQ(loops_left({.turns = turns(-1)}), 5u);
}

TEST(LoopSharing, not_of_loops_of_other_turns) {
  int64_t turns = 0;
  EXPECT_EQ(loops_left({.turns = [&](FunctionBuilder&) { return number(turns++ == 1 ? 3 : 4); }}), 1u);
}

} // namespace
} // namespace bpf::test
