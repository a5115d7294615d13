// Which registers and objects hold addresses, in programs built by hand.
#include "bpf/addresses.h"

#include "ir_builder.h"

namespace bpf::test {
namespace {

AddressUse use_of(const ir::Program& program) {
  for (const std::string& mistake : ir::verify(program)) ADD_FAILURE() << mistake;
  std::vector<uint32_t> all;
  for (uint32_t f = 0; f < program.functions.size(); f++) all.push_back(f);
  return find_address_use(program, all);
}

// A program with functions of their own frames.
struct Addresses : testing::Test {
  Bench b;
  FunctionBuilder main = b.main();
  FunctionBuilder function(uint32_t parameters) {
    b.program.frames.emplace_back();
    return b.function(ir::Role::function, parameters, static_cast<uint32_t>(b.program.frames.size() - 1));
  }
  Operand call(FunctionBuilder& from, const FunctionBuilder& to, Operand x = {}, Operand y = {}) {
    return from.value({.op = Op::call, .a = x, .b = y, .index = to.index()});
  }
  void expect_addresses(const AddressUse& use, FunctionBuilder& f, const std::vector<Operand>& yes, const std::vector<Operand>& no) {
    for (const Operand& o : yes) EXPECT_TRUE(use.addresses[f.index()][o.as_reg()]) << "%" << o.as_reg();
    for (const Operand& o : no) EXPECT_FALSE(use.addresses[f.index()][o.as_reg()]) << "%" << o.as_reg();
  }
};

TEST_F(Addresses, what_gives_them) {
  b.map(ir::MapKind::hash, 8, 8);
  b.program.actions.push_back({});
  b.program.kernel_symbols.push_back({"runqueues", 1});
  Operand object = main.object(8);
  main.store(object, 0, number(1));
  const std::vector<Operand> yes{object,
                                 results(main),
                                 main.value({.op = Op::map_find, .a = object, .index = 1}),
                                 main.value({.op = Op::map_find_cpu, .a = object, .b = number(0), .index = 1}),
                                 main.value({.op = Op::event, .imm2 = 8}),
                                 main.value({.op = Op::context_address}),
                                 main.value({.op = Op::cpu_variable}),
                                 main.value({.op = Op::query, .query = ir::Query::task}),
                                 main.value({.op = Op::query, .query = ir::Query::user_registers}),
                                 main.value({.op = Op::load, .space = ir::Space::context}),
                                 main.value({.op = Op::borrow, .a = number(1)})};
  const std::vector<Operand> no{main.load(object, 0),
                                main.value({.op = Op::map_remove, .a = object, .index = 1}),
                                main.value({.op = Op::map_size, .index = 1}),
                                main.value({.op = Op::query, .query = ir::Query::pid_tgid}),
                                main.value({.op = Op::load, .size = 4, .space = ir::Space::context}),
                                main.value({.op = Op::load, .space = ir::Space::kernel, .a = number(64)}),
                                main.value({.op = Op::lend})};
  main.give();
  expect_addresses(use_of(b.program), main, yes, no);
}

TEST_F(Addresses, copies_sums_and_differences) {
  Operand x = main.object(64), y = main.object(64);
  main.store(x, 0, number(8));
  Operand n = main.load(x, 0);
  Operand copy = main.op(Op::mov, x), sum = main.op(Op::add, copy, n), turned = main.op(Op::add, n, y);
  Operand back = main.op(Op::sub, sum, n);
  Operand distance = main.op(Op::sub, sum, x), negative = main.op(Op::sub, n, x), number_of = main.op(Op::number_of, x);
  Operand of_number = main.op(Op::add, number_of, number(8)), masked = main.op(Op::and_, x, number(7));
  main.give();
  expect_addresses(use_of(b.program), main, {copy, sum, turned, back}, {n, distance, negative, number_of, of_number, masked});
}

TEST_F(Addresses, loads_through_a_task_give_more) {
  Operand task = main.value({.op = Op::query, .query = ir::Query::task});
  Operand member = main.value({.op = Op::load, .space = ir::Space::task, .a = task, .imm = 64});
  Operand flags = main.value({.op = Op::load, .size = 4, .space = ir::Space::task, .a = task, .imm = 64});
  Operand far = main.value({.op = Op::load, .space = ir::Space::kernel, .a = member, .imm = 8});
  main.give();
  expect_addresses(use_of(b.program), main, {task, member}, {flags, far});
}

TEST_F(Addresses, registers_of_blocks_in_any_order) {
  const BlockId late = main.block(), early = main.block();
  const Reg moved = main.fresh(), copy = main.fresh();
  Operand object = main.object(8);
  main.jump(early);
  main.at(late);
  main.add({.op = Op::mov, .dst = copy, .a = Operand::of(moved)});
  main.give();
  main.at(early);
  main.add({.op = Op::add, .dst = moved, .a = object, .b = number(8)});
  main.jump(late);
  expect_addresses(use_of(b.program), main, {Operand::of(moved), Operand::of(copy)}, {});
}

TEST_F(Addresses, objects_that_hold_one_give_it) {
  Operand target = main.object(8), holder = main.object(16), other = main.object(8);
  main.store(target, 0, number(5));
  main.store(main.op(Op::add, holder, number(8)), 0, target);
  main.store(other, 0, main.load(target, 0));
  Operand again = main.load(main.op(Op::mov, holder), 8), half = main.load(holder, 8, 4), plain = main.load(other, 0);
  main.give();
  const AddressUse use = use_of(b.program);
  EXPECT_EQ(use.holders[0], (std::vector<bool>{false, true, false}));
  expect_addresses(use, main, {again}, {half, plain});
}

TEST_F(Addresses, numbers_of_addresses_make_no_holder) {
  Operand target = main.object(8), holder = main.object(16);
  main.store(holder, 0, main.op(Op::number_of, target));
  main.store(holder, 8, main.op(Op::sub, target, holder));
  Operand loaded = main.load(holder, 0);
  main.give();
  const AddressUse use = use_of(b.program);
  EXPECT_EQ(use.holders[0], (std::vector<bool>{false, false}));
  expect_addresses(use, main, {}, {loaded});
}

TEST_F(Addresses, kept_address_is_kept_again) {
  Operand target = main.object(8), first = main.object(8), second = main.object(8);
  Operand early = main.load(second, 0);
  main.store(first, 0, target);
  main.store(second, 0, main.load(first, 0));
  main.give();
  const AddressUse use = use_of(b.program);
  EXPECT_EQ(use.holders[0], (std::vector<bool>{false, true, true}));
  expect_addresses(use, main, {early}, {});
}

TEST_F(Addresses, arguments_and_results_of_calls) {
  auto identity = function(2), length = function(2);
  identity.give(Operand::of(1));
  Operand n = length.load(Operand::of(1), 0);
  length.give(n);
  Operand object = main.object(8);
  main.store(object, 0, number(0));
  Operand address = call(main, identity, object, number(3)), size = call(main, length, object, number(3));
  main.give();
  const AddressUse use = use_of(b.program);
  expect_addresses(use, main, {address}, {size});
  expect_addresses(use, identity, {Operand::of(1)}, {Operand::of(2)});
  expect_addresses(use, length, {Operand::of(1)}, {Operand::of(2), n});
  EXPECT_EQ(use.numbers_only, (std::vector<bool>{true, false, false}));
}

// The callers stand behind what they call, and before it.
TEST_F(Addresses, calls_of_calls) {
  auto inner = function(1), outer = function(1), maker = function(0);
  inner.give(inner.op(Op::add, Operand::of(1), number(8)));
  outer.give(call(outer, inner, Operand::of(1)));
  maker.give(results(maker));
  Operand deep = call(main, outer, call(main, maker));
  main.give();
  const AddressUse use = use_of(b.program);
  expect_addresses(use, main, {deep}, {});
  expect_addresses(use, inner, {Operand::of(1)}, {});
  EXPECT_EQ(use.numbers_only, (std::vector<bool>{true, false, false, false}));
}

TEST_F(Addresses, functions_of_numbers) {
  auto twice = function(1), index = function(1);
  twice.give(twice.op(Op::add, Operand::of(1), Operand::of(1)));
  Operand table = index.object(64);
  index.give(index.load(index.op(Op::add, table, index.op(Op::and_, Operand::of(1), number(56))), 0));
  Operand object = main.object(8);
  call(main, twice, main.op(Op::number_of, object));
  call(main, index, number(1));
  main.give();
  const AddressUse use = use_of(b.program);
  EXPECT_EQ(use.numbers_only, (std::vector<bool>{true, true, true}));
  expect_addresses(use, index, {table}, {Operand::of(1)});
}

TEST_F(Addresses, bodies_get_keys_and_values) {
  const uint32_t map = b.map(ir::MapKind::hash, 8, 8);
  auto each = b.function(ir::Role::body, 2, 0, 0), turn = b.function(ir::Role::body, 1, 0, 0);
  each.give();
  turn.give();
  main.add({.op = Op::for_each, .imm = each.index(), .index = map});
  main.value({.op = Op::loop, .a = number(3), .imm = 10, .imm2 = b.site(), .index = turn.index()});
  main.give();
  const AddressUse use = use_of(b.program);
  expect_addresses(use, each, {Operand::of(1), Operand::of(2)}, {});
  expect_addresses(use, turn, {}, {Operand::of(1)});
}

TEST_F(Addresses, bodies_share_the_holders_of_their_frame) {
  auto turn = b.function(ir::Role::body, 1, 0, 0);
  Operand target = main.object(8), holder = main.object(8);
  main.store(holder, 0, target);
  main.value({.op = Op::loop, .a = number(3), .imm = 10, .imm2 = b.site(), .index = turn.index()});
  main.give();
  Operand loaded = turn.load(turn.address(1), 0);
  turn.give();
  expect_addresses(use_of(b.program), turn, {loaded}, {});
}

TEST_F(Addresses, functions_not_asked_for_are_not_looked_at) {
  auto identity = function(1);
  identity.give(results(identity));
  main.object(8);
  main.give();
  const AddressUse use = find_address_use(b.program, {0});
  EXPECT_TRUE(use.addresses[identity.index()].empty());
  EXPECT_TRUE(use.known[identity.index()].empty());
  EXPECT_EQ(use.known[0].size(), main.f().registers);
}

} // namespace
} // namespace bpf::test
