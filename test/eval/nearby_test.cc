// Which objects of a target are known to be reached, and when what lies around them is asked for.
#include "eval/ahead.h"
#include "eval/drain.h"
#include "eval/nearby.h"

#include "ir/builder.h"
#include "target/areas.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace eval {
namespace {

using ir::BlockId;
using ir::Builder;
using ir::Cond;
using ir::Op;
using ir::R;

const std::byte* place(uint64_t address) { return reinterpret_cast<const std::byte*>(address); }

TEST(Nearby, DoesNotRestWhereObjectsLieSideBySide) {
  Nearby nearby;
  for (uint64_t n = 0; n < 1'000'000; n++) {
    nearby.reach(place(0x100000 + n % 500'000 * 64));
    ASSERT_FALSE(nearby.rests()) << n;
  }
}

TEST(Nearby, RestsForAWhileWhereTheyAreFarApart) {
  Nearby nearby;
  uint64_t at = 0x100000, until_rest = 0, rest = 0;
  const auto go = [&] { nearby.reach(place(at += 4096)); };
  for (; !nearby.rests() && until_rest < 1'000'000; until_rest++) go();
  for (; nearby.rests() && rest < 1'000'000; rest++) go();
  EXPECT_LE(until_rest, 10'000u);
  EXPECT_GE(rest, 10 * until_rest);
  EXPECT_LT(rest, 1'000'000u);
}

ir::Inst& load_user(Builder& b, R to, ir::Value from, int64_t offset, BlockId ok, BlockId fault) {
  ir::Inst& i = b.emit_to(to, Op::load, from);
  i.imm = offset, i.space = ir::Space::user, i.target = ok, i.other = fault;
  return i;
}

// Adds up the values of a list whose first node's address is `first`: next at 0, value at 8.
void make_walk(Builder& b, int64_t first) {
  const R node = b.reg(), sum = b.reg(), got = b.reg();
  const BlockId head = b.block(), body = b.block(), read = b.block(), next = b.block(), end = b.block();
  b.emit_to(node, Op::mov, first);
  b.emit_to(sum, Op::mov, 0);
  b.jump(head);
  b.at(head);
  b.branch(node, Cond::ne, 0, body, end);
  b.at(body);
  load_user(b, got, node, 8, read, end);
  b.at(read);
  b.emit_to(sum, Op::add, sum, got);
  load_user(b, node, node, 0, next, end);
  b.at(next);
  b.jump(head);
  b.at(end);
  b.output(sum);
  b.give_back();
  b.probe();
}

TEST(Nearby, AnObjectIsReachedByTheFirstLoadFromIt) {
  Builder b;
  make_walk(b, 0x1000);
  const ir::Function& f = b.program.functions[0];
  EXPECT_EQ(find_firsts(f), (std::unordered_set<const ir::Inst*>{&f.blocks[2].insts[0]}));
}

TEST(Nearby, ElementsOfAnArrayAreNotReached) {
  Builder b;
  const R turn = b.reg(), got = b.reg();
  const BlockId head = b.block(), ok = b.block(), end = b.block();
  b.emit_to(turn, Op::mov, 0);
  b.jump(head);
  b.at(head);
  load_user(b, got, b.value(Op::add, b.value(Op::shl, turn, 3), 0x1000), 0, ok, end);
  b.at(ok);
  b.emit_to(turn, Op::add, turn, 1);
  b.branch(turn, Cond::ult, 16, head, end);
  b.at(end);
  b.give_back();
  b.probe();
  EXPECT_TRUE(find_firsts(b.program.functions[0]).empty());
}

// The same sum whether what lies around is asked for or not, up to the very ends of an area.
TEST(Nearby, ListsInAnyOrderAddUp) {
  for (const size_t size : {size_t{16}, size_t{4096}}) {
    constexpr size_t nodes = 20'000;
    std::vector<std::byte> bytes(nodes * size);
    std::vector<uint64_t> order(nodes);
    for (size_t n = 0; n < nodes; n++) order[n] = n;
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    constexpr uint64_t begin = 0x10000;
    int64_t expected = 0;
    for (size_t n = 0; n < nodes; n++) {
      const uint64_t words[] = {n + 1 < nodes ? begin + order[n + 1] * size : 0, n * 3};
      std::copy_n(reinterpret_cast<const std::byte*>(words), sizeof words, &bytes[order[n] * size]);
      expected += static_cast<int64_t>(words[1]);
    }
    target::AreaMemory memory;
    memory.add({.begin = begin, .size = bytes.size(), .bytes = bytes.data()});
    memory.sort();
    Builder b;
    make_walk(b, static_cast<int64_t>(begin + order[0] * size));
    ASSERT_EQ(ir::verify(b.program), std::vector<std::string>{});
    Engine engine(b.program, {.target = &memory});
    ASSERT_TRUE(engine.run(0).ok());
    EXPECT_EQ(drain(engine), (std::vector<int64_t>{expected})) << size;
  }
}

} // namespace
} // namespace eval
