// Long functions in pieces: where they are cut, and what becomes shared.
#include "pieces_of_test.h"

#include "bpf/layout.h"

namespace bpf::test {
namespace {

// ----------------------------------------------------------------------------------------------- work

TEST(Pieces, work_of_a_function_is_that_of_its_instructions) {
  Bench b;
  const uint32_t hash = b.map(ir::MapKind::hash, 8, 8), array = b.map(ir::MapKind::array, 4, 8);
  EXPECT_EQ(work_of(b.program, Inst{.op = Op::mov}), 1u);
  EXPECT_EQ(work_of(b.program, Inst{.op = Op::branch}), 6u);
  EXPECT_EQ(work_of(b.program, Inst{.op = Op::map_slot, .index = hash}), 40u);
  EXPECT_EQ(work_of(b.program, Inst{.op = Op::map_slot, .index = array}), 1u); // an address
  EXPECT_EQ(work_of(b.program, Inst{.op = Op::loop}), 40u);
  deciding(b, 20);
  EXPECT_EQ(work_of(b.program, b.program.functions[0]), 1u + 3u + 20u * 10u + 1u + 1u + 1u);
  EXPECT_FALSE(has_long_functions(b.program, {207, 10}));
  EXPECT_TRUE(has_long_functions(b.program, {206, 10}));
}

// The verifier walks what only calculates once, and jumps don't lead over it.
TEST(Pieces, straight_code_stays_whole) {
  Bench b;
  auto f = b.main();
  Operand x = begin(f).input;
  for (int64_t n = 0; n < 20'000; n++) x = f.op(n % 2 ? Op::add : Op::xor_, x, number(n));
  keep(f, 0, x);
  f.give();
  EXPECT_FALSE(has_long_functions(b.program, {}));
}
TEST(Pieces, straight_code_that_a_jump_leads_over_is_cut) {
  for (const int64_t length : {3000, 20'000}) {
    Bench b;
    auto f = b.main();
    Operand x = begin(f).input;
    const BlockId some = f.block(), end = f.block();
    f.branch(Cond::eq, x, number(1), some, end);
    f.at(some);
    for (int64_t n = 0; n < length; n++) x = f.op(n % 2 ? Op::add : Op::xor_, x, number(n));
    keep(f, 0, x);
    f.jump(end);
    f.at(end);
    f.give();
    EXPECT_EQ(has_long_functions(b.program, {}), length == 20'000);
  }
}

// ----------------------------------------------------------------------------------------- where it is cut

TEST(Pieces, have_about_the_size_that_is_asked_for) {
  for (const size_t size : {40u, 80u, 200u, 400u}) {
    Bench b;
    deciding(b, 150);
    const size_t work = work_of(b.program, b.program.functions[0]);
    const Program p = cut(b.program, {400, size});
    const size_t pieces = pieces_of(p).size();
    EXPECT_GE(pieces, work / size) << size;
    EXPECT_LE(pieces, work / size * 2 + 1) << size;
    for (const uint32_t f : pieces_of(p)) {
      EXPECT_LE(work_of(p, p.functions[f]), size * 2) << size << ": " << ir::to_string(p.functions[f], p);
      EXPECT_EQ(count(p.functions[f], Op::call), 1u); // of the function that borrows
    }
    EXPECT_EQ(count(p, Op::borrow), 1u);
    EXPECT_EQ(count(p.functions[0], Op::call), pieces);
    EXPECT_EQ(count(p.functions[0], Op::lend), pieces);
    EXPECT_LE(work_of(p, p.functions[0]), 60 + 20 * pieces) << size;
  }
}

TEST(Pieces, long_blocks_are_cut_too) {
  Bench b;
  auto f = b.main();
  const Values v = begin(f);
  decide(f, v, 0, 100);
  Operand x = v.input;
  for (int64_t n = 0; n < 600; n++) x = f.op(n % 2 ? Op::add : Op::xor_, x, number(n));
  keep(f, 0, x);
  f.give();
  const Program p = cut(b.program, {200, 100});
  EXPECT_GE(pieces_of(p).size(), 15u);
  for (const uint32_t piece : pieces_of(p)) EXPECT_LE(work_of(p, p.functions[piece]), 220u) << ir::to_string(p.functions[piece], p);
}

TEST(Pieces, short_functions_stay_whole) {
  Bench b;
  deciding(b, 1);
  auto f = b.function(Role::function, 0, 1);
  b.program.frames.emplace_back();
  decide(f, begin(f), 0, 30);
  f.give();
  const Program p = cut(b.program);
  EXPECT_TRUE(pieces_of(p, 0).empty());
  EXPECT_GE(pieces_of(p, f.index()).size(), 3u);
  EXPECT_EQ(ir::to_string(p.functions[0], p), ir::to_string(b.program.functions[0], b.program));
}

TEST(Pieces, fit_in_the_256_functions_of_the_kernel) {
  Bench b;
  deciding(b, 3000);
  const Program p = cut(b.program, {100, 5});
  EXPECT_LT(p.functions.size(), 256u);
  EXPECT_GT(p.functions.size(), 80u);
}

TEST(Pieces, blocks_that_return_one_constant_become_one) {
  Bench b;
  auto f = b.main();
  Operand x = begin(f).input;
  for (int64_t n = 0; n < 60; n++) {
    const BlockId out = f.block(), next = f.block();
    f.branch(Cond::eq, x, number(n), out, next);
    f.at(out);
    f.give(number(n % 2 ? 7 : 9));
    f.at(next);
  }
  f.give(number(5));
  const Program p = cut(b.program);
  EXPECT_GE(pieces_of(p).size(), 5u); // with an exit for each block that returns there would be none
  const auto returns = [&](int64_t n) {
    return count(p.functions[0], [&](const Inst& i) { return i.op == Op::give_back && i.a == number(n); });
  };
  EXPECT_EQ(returns(7), 1u);
  EXPECT_EQ(returns(9), 1u);
  EXPECT_EQ(returns(5), 1u);
}

TEST(Pieces, only_the_function_itself_returns_what_is_no_exit) {
  Bench b;
  b.program.frames.emplace_back();
  auto f = b.function(Role::function, 0, 1);
  const Values v = begin(f);
  for (int64_t n = 0; n < 30; n++) {
    const BlockId out = f.block(), next = f.block();
    f.branch(Cond::eq, v.input, number(n), out, next);
    f.at(out);
    f.give(number(1000));
    f.at(next);
    decide(f, v, n, n + 1);
  }
  f.give(Operand::of(v.sum));
  auto main = b.main();
  main.value({.op = Op::call, .index = f.index()});
  main.give();
  const Program p = cut(b.program);
  EXPECT_EQ(functions_with(p, 1000), std::set<uint32_t>{f.index()});
  for (const uint32_t piece : pieces_of(p, f.index()))
    for_each_inst(p.functions[piece], [](const Inst& i) {
      EXPECT_TRUE(i.op != Op::give_back || (i.a.is_constant() && i.a.value >= 0 && i.a.value <= 6)); // 0: nothing was borrowed
    });
}

TEST(Pieces, loop_lies_in_one_function) {
  for (const size_t size : {30u, 60u, 150u}) {
    Bench b;
    looping(b);
    const Program p = cut(b.program, {100, size});
    EXPECT_GE(pieces_of(p).size(), 4u);
    std::set<uint32_t> with_way_back;
    for (uint32_t f = 0; f < p.functions.size(); f++)
      if (has_way_back(p.functions[f])) with_way_back.insert(f);
    EXPECT_EQ(with_way_back.size(), 1u) << size;
    EXPECT_EQ(functions_with(p, 4711), with_way_back) << size;
    EXPECT_EQ(functions_with(p, 4712), with_way_back) << size;
  }
}

// A table that is written at an index; its limits come long before, or the index is only a number that is kept.
Program indexing(bool is_index) {
  Bench b;
  auto f = b.main();
  const Values v = begin(f);
  decide(f, v, 100, 120);
  Operand index = f.op(Op::and_, unknown(f, input), number(0x38));
  decide(f, v, 120, 140);
  Operand table = f.object(64);
  f.store(is_index ? f.op(Op::add, table, index) : table, 0, is_index ? number(4711) : index);
  f.store(table, 0, number(4711));
  decide(f, v, 140, 160);
  keep(f, 0, Operand::of(v.sum));
  f.give();
  return b.program;
}

// The exit stands before the body in the order of control, so that the way back comes from the last block.
TEST(Pieces, way_back_from_the_last_block) {
  for (int64_t more = 0; more < 12; more++) { // what stands behind the facts about the function depends on its length
    Bench b;
    auto f = b.main();
    const Values v = begin(f);
    decide(f, v, 0, 30);
    const BlockId body = f.block(), out = f.block();
    for (int64_t n = 0; n < more; n++) keep(f, 1, number(n));
    f.jump(body);
    f.at(out);
    f.give();
    f.at(body);
    f.branch(Cond::ne, unknown(f, 1), number(0), body, out);
    cut(b.program);
  }
}

TEST(Pieces, index_is_not_cut_from_where_its_limits_are_known) {
  const Program p = cut(indexing(true));
  EXPECT_EQ(functions_with(p, 0x38).size(), 1u);
  EXPECT_EQ(functions_with(p, 0x38), functions_with(p, 4711));
  EXPECT_GE(pieces_of(p).size(), 4u); // before and behind
  const Program numbers = cut(indexing(false));
  EXPECT_NE(functions_with(numbers, 0x38), functions_with(numbers, 4711));
}

// The limits are those of a value that the index is calculated from.
TEST(Pieces, limits_go_back_through_arithmetic) {
  Bench b;
  auto f = b.main();
  const Values v = begin(f);
  Operand limited = f.op(Op::and_, unknown(f, input), number(6));
  decide(f, v, 100, 120);
  Operand index = f.op(Op::shl, f.op(Op::mov, limited), number(2));
  decide(f, v, 120, 140);
  f.store(f.op(Op::add, f.object(64), index), 0, number(4711));
  decide(f, v, 140, 160);
  keep(f, 0, Operand::of(v.sum));
  f.give();
  const Program p = cut(b.program);
  EXPECT_EQ(functions_with(p, 6).size(), 1u);
  EXPECT_EQ(functions_with(p, 6), functions_with(p, 4711));
  EXPECT_FALSE(pieces_of(p).empty()); // behind
}

// A long function that uses its parameter at its begin.
Program with_parameter(bool is_address) {
  Bench b;
  b.program.frames.emplace_back();
  auto f = b.function(Role::function, 1, 1);
  if (is_address)
    f.store(Operand::of(1), 0, number(4711));
  else
    f.store(results(f), 0, f.op(Op::add, Operand::of(1), number(4711)));
  decide(f, begin(f), 0, 60);
  f.give();
  auto main = b.main();
  Operand object = main.object(8);
  main.value({.op = Op::call, .a = is_address ? object : number(3), .index = f.index()});
  main.give();
  return b.program;
}

TEST(Pieces, begin_of_a_function_with_an_address_as_parameter_is_in_no_piece) {
  const Program p = cut(with_parameter(true));
  EXPECT_EQ(functions_with(p, 4711), std::set<uint32_t>{1});
  EXPECT_GE(pieces_of(p, 1).size(), 4u);
  const Program numbers = cut(with_parameter(false));
  const auto with_begin = functions_with(numbers, 4711);
  ASSERT_EQ(with_begin.size(), 1u);
  EXPECT_TRUE(is_piece(numbers.functions[*with_begin.begin()]));
}

TEST(Pieces, without_shared_values_nothing_is_lent) {
  Bench b;
  auto f = b.main();
  separate_steps(f, 0, 80);
  f.give();
  const Program p = cut(b.program, {100, 200});
  EXPECT_GE(pieces_of(p).size(), 4u);
  EXPECT_EQ(count(p, Op::borrow), 0u);
  EXPECT_EQ(count(p, Op::lend), 0u);
}

TEST(Pieces, only_those_with_shared_values_borrow) {
  Bench b;
  auto f = b.main();
  const Values v = begin(f);
  decide(f, v, 0, 40);
  keep(f, 0, Operand::of(v.sum));
  separate_steps(f, 0, 100);
  f.give();
  const Program p = cut(b.program, {100, 200});
  size_t with_call = 0;
  for (const uint32_t piece : pieces_of(p)) with_call += count(p.functions[piece], Op::call);
  EXPECT_EQ(count(p, Op::borrow), 1u);
  EXPECT_GE(with_call, 2u);
  EXPECT_LE(with_call + 3, pieces_of(p).size());
}

TEST(Pieces, one_that_borrows_does_so_itself) {
  Bench b;
  auto f = b.main();
  const Values v = begin(f);
  Operand shared = f.object(24);
  f.store(shared, 0, v.input);
  keep(f, 1, f.value({.op = Op::stack, .imm2 = 15})); // stays in the function
  const BlockId next = f.block();
  f.jump(next);
  f.at(next);
  keep(f, 2, f.load(shared, 0));
  separate_steps(f, 0, 40);
  f.give();
  const Program p = cut(b.program, {100, 200});
  size_t with_borrow = 0;
  for (const uint32_t piece : pieces_of(p)) {
    with_borrow += count(p.functions[piece], Op::borrow);
    EXPECT_EQ(count(p.functions[piece], Op::call), 0u);
  }
  EXPECT_EQ(with_borrow, 1u);
  EXPECT_EQ(count(p, Op::borrow), 1u);
}

TEST(Pieces, object_of_one_piece_is_in_its_own_frame) {
  Bench b;
  auto f = b.main();
  const Values v = begin(f);
  Operand shared = f.object(24);
  f.store(shared, 0, v.input);
  decide(f, v, 0, 20);
  Operand own = f.object(40);
  f.store(own, 0, v.input);
  keep(f, 1, f.op(Op::add, f.load(own, 0), f.load(shared, 0)));
  decide(f, v, 20, 40);
  keep(f, 0, Operand::of(v.sum));
  f.give();
  const Program p = cut(b.program);
  const auto has = [](const ir::Frame& frame, uint32_t size) {
    return std::ranges::any_of(frame.objects, [&](const ir::Object& o) { return o.size == size; });
  };
  size_t with_own = 0;
  for (const uint32_t piece : pieces_of(p)) {
    with_own += has(p.frames[p.functions[piece].frame], 40);
    EXPECT_FALSE(has(p.frames[p.functions[piece].frame], 24)) << "it is part of what is lent";
  }
  EXPECT_EQ(with_own, 1u);
}

// A key that functions are given stands in what is lent, at the same place for all pieces; one that is read stays on the stack.
Program with_keys(bool is_read) {
  Bench b;
  const uint32_t map = b.map(ir::MapKind::hash, 24, 8);
  auto f = b.main();
  const Values v = begin(f);
  for (int64_t n = 0; n < 40; n++) {
    Operand key = f.object(24);
    for (int64_t word = 0; word < 3; word++) f.store(key, 8 * word, number(n));
    f.value({.op = Op::map_remove, .a = key, .index = map});
    if (is_read) keep(f, 1, f.load(key, 8));
  }
  keep(f, 0, v.input);
  f.give();
  return cut(b.program, {100, 100});
}

TEST(Pieces, keys_for_functions_are_lent) {
  for (const bool is_read : {false, true}) {
    const Program p = with_keys(is_read);
    ASSERT_GE(pieces_of(p).size(), 5u);
    size_t objects = 0;
    for (const uint32_t piece : pieces_of(p)) objects += p.frames[p.functions[piece].frame].objects.size();
    EXPECT_EQ(objects > 0, is_read);
    const auto& lent = p.frames[0].objects.back();
    EXPECT_EQ(lent.name, "shared");
    EXPECT_LT(lent.size, 24u * 20); // not 24 bytes for each of 40
  }
}

// Kept in the lent object, an address would be a number when it is fetched.
TEST(Pieces, address_of_the_task_is_asked_for_anew) {
  Bench b;
  auto f = b.main();
  const Values v = begin(f);
  Operand task = f.value({.op = Op::query, .query = ir::Query::task});
  for (int64_t n = 0; n < 3; n++) {
    Operand word = f.value({.op = Op::load, .space = ir::Space::task, .a = task, .imm = 64 + 8 * n});
    keep(f, n, word);
    decide(f, v, 20 * n, 20 * n + 20);
  }
  f.give();
  const Program p = cut(b.program);
  EXPECT_GE(count(p, Op::query), 3u);
  for (const ir::Function& each : p.functions) {
    if (!count(each, [](const Inst& i) { return i.op == Op::load && i.space == ir::Space::task; })) continue;
    EXPECT_GE(count(each, Op::query), 1u);
  }
}

TEST(Pieces, what_knows_its_place_stays_in_the_function) {
  Bench b;
  auto f = b.main();
  const Values v = begin(f);
  decide(f, v, 0, 20);
  keep(f, 0, f.value({.op = Op::stack, .imm2 = 15}));
  decide(f, v, 20, 40);
  keep(f, 1, Operand::of(v.sum));
  f.give();
  const Program p = cut(b.program);
  EXPECT_GE(pieces_of(p).size(), 4u);
  EXPECT_EQ(count(p.functions[0], Op::stack), 1u);
  EXPECT_EQ(count(p, Op::stack), 1u);
}

TEST(Pieces, each_block_takes_addresses_of_objects_itself) {
  Bench b;
  auto f = b.main();
  Operand object = f.object(32), inside = f.op(Op::add, object, number(8));
  const BlockId next = f.block();
  f.store(object, 0, number(1));
  f.jump(next);
  f.at(next);
  f.store(inside, 0, number(2));
  f.store(inside, 8, number(3));
  f.give();
  take_addresses_anew(b.program.functions[0]);
  expect_sound(b.program);
  const auto& blocks = b.program.functions[0].blocks;
  EXPECT_EQ(count(b.program, Op::add), 0u);
  ASSERT_EQ(blocks[0].insts.size(), 3u);
  ASSERT_EQ(blocks[1].insts.size(), 4u);
  EXPECT_EQ(blocks[1].insts[0].op, Op::object);
  EXPECT_EQ(blocks[1].insts[0].imm, 8);
  EXPECT_EQ(blocks[1].insts[2].a, Operand::of(blocks[1].insts[0].dst));
}

} // namespace
} // namespace bpf::test
