// The code generator against the kernel: each program is verified, loaded and run, and what it leaves in a
// map is compared with the expectation. Shapes of code that cost time are checked in the disassembly. This file has
// arithmetic, branches, loops and calls.
#include "ir_builder.h"

#include <random>

namespace bpf::test {
namespace {

const Op arithmetic[] = {Op::add, Op::sub,  Op::mul, Op::udiv, Op::umod, Op::and_,
                         Op::or_, Op::xor_, Op::shl, Op::lshr, Op::ashr};
const Cond conditions[] = {Cond::eq,  Cond::ne,  Cond::ult, Cond::ule, Cond::ugt,
                           Cond::uge, Cond::slt, Cond::sle, Cond::sgt, Cond::sge};
const int64_t numbers[] = {0,
                           1,
                           -1,
                           7,
                           -8,
                           63,
                           64,
                           255,
                           0x7fffffff,
                           -0x80000000l,
                           0x80000000,
                           0xffffffff,
                           0x123456789abcdef0,
                           INT64_MIN,
                           INT64_MAX};

TEST(Emit, count_is_short) {
  Bench b;
  b.program.maps[0].kind = ir::MapKind::percpu_array;
  auto f = b.main();
  Operand slot = f.value({.op = Op::map_slot, .index = 0});
  BlockId there = f.block(), out = f.block();
  f.branch(Cond::ne, slot, number(0), there, out);
  f.at(there);
  f.add({.op = Op::add_memory, .a = slot, .b = number(1)});
  f.store(slot, 8, number(1));
  f.jump(out);
  f.at(out);
  f.give();
  const std::string text = b.dump();
  EXPECT_NE(text.find("call map_lookup_elem"), text.npos) << text;
  EXPECT_NE(text.find(": 14 instructions"), text.npos) << text;
  if (why_not().empty()) b.run();
}

TEST(Emit, arithmetic) {
  NEEDS_BPF();
  for (Op op : arithmetic) {
    for (int form = 0; form < 3; form++) {
      Bench b;
      auto f = b.main();
      Operand memory = f.object(8);
      Operand out = results(f);
      std::vector<int64_t> expected;
      int64_t at = 0;
      for (size_t i = 0; i < std::size(numbers) && at < Bench::words * 8; i++)
        for (size_t k = i; k < std::size(numbers) && at < Bench::words * 8; k += 4) {
          const int64_t x = numbers[i], y = numbers[k];
          if ((op == Op::udiv || op == Op::umod) && y == 0) continue;
          Inst inst{.op = op, .a = form == 1 ? number(x) : opaque(f, memory, x)};
          inst.b = form == 2 ? number(y) : opaque(f, memory, y);
          expected.push_back(ir::compute(inst, x, y));
          f.store(out, at, f.value(inst));
          at += 8;
        }
      f.give();
      auto result = b.run();
      for (size_t i = 0; i < expected.size(); i++)
        ASSERT_EQ(result[i], expected[i]) << ir::to_string(op) << " " << form << " " << i;
    }
  }
}

TEST(Emit, comparisons) {
  NEEDS_BPF();
  for (Cond c : conditions) {
    Bench b;
    auto f = b.main();
    Operand memory = f.object(8);
    Operand out = results(f);
    std::vector<int64_t> expected;
    int64_t at = 0;
    for (int64_t x : {0l, 5l, -5l, INT64_MIN, 0x100000000l})
      for (int64_t y : {0l, 5l, -5l, INT64_MAX, 0x100000000l}) {
        Operand a = opaque(f, memory, x);
        f.store(out, at, f.value({.op = Op::set, .cond = c, .a = a, .b = number(y)}));
        f.store(out, at + 8, f.value({.op = Op::set, .cond = c, .a = a, .b = opaque(f, memory, y)}));
        expected.insert(expected.end(), 2, ir::holds(c, x, y));
        at += 16;
      }
    f.give();
    auto result = b.run();
    for (size_t i = 0; i < expected.size(); i++)
      EXPECT_EQ(result[i], expected[i]) << static_cast<int>(c) << " " << i;
  }
}

TEST(Emit, extension_swap_and_log2) {
  NEEDS_BPF();
  Bench b;
  auto f = b.main();
  Operand memory = f.object(8);
  Operand out = results(f);
  std::vector<int64_t> expected;
  auto check = [&](Op op, int64_t n, uint8_t size) {
    const Inst inst{.op = op, .size = size};
    f.store(out, static_cast<int64_t>(expected.size() * 8), f.op(op, opaque(f, memory, n), {}, size));
    expected.push_back(ir::compute(inst, n, 0));
  };
  for (uint8_t size : {1, 2, 4, 8})
    for (Op op : {Op::zext, Op::sext, Op::bswap}) check(op, static_cast<int64_t>(0xfedcba9876548281), size);
  for (int64_t n : {1l, 2l, 3l, 4l, 7l, 8l, 15l, 16l, 255l, 256l, 65535l, 65536l, 0xffffffffl, 0x100000000l,
                    0x1ffffffffl, INT64_MAX, INT64_MIN, -1l})
    check(Op::log2, n, 8);
  f.give();
  auto result = b.run();
  for (size_t i = 0; i < expected.size(); i++) EXPECT_EQ(result[i], expected[i]) << i;
}

TEST(Emit, many_live_values) {
  NEEDS_BPF();
  Bench b;
  auto f = b.main();
  Operand memory = f.object(8);
  std::vector<Operand> values;
  for (int i = 0; i < 30; i++) values.push_back(opaque(f, memory, i * 1000 + 1));
  f.value({.op = Op::query, .query = ir::Query::ktime}); // a call in between
  Operand sum = f.op(Op::mov, number(0));
  for (Operand v : values) sum = f.op(Op::add, f.op(Op::mul, sum, number(3)), v);
  Operand out = results(f);
  int64_t expected = 0;
  for (int i = 0; i < 30; i++) {
    f.store(out, 8 * i, values[static_cast<size_t>(i)]);
    expected = expected * 3 + i * 1000 + 1;
  }
  f.store(out, 8 * 30, sum);
  f.give();
  auto result = b.run();
  for (int i = 0; i < 30; i++) EXPECT_EQ(result[static_cast<size_t>(i)], i * 1000 + 1);
  EXPECT_EQ(result[30], expected);
}

// Random straight-line arithmetic over many live values, against ir::compute.
TEST(Emit, random_arithmetic) {
  NEEDS_BPF();
  std::mt19937_64 random(20240229);
  for (int round = 0; round < 60; round++) {
    Bench b;
    auto f = b.main();
    Operand memory = f.object(8);
    std::vector<std::pair<Operand, int64_t>> values;
    auto pick = [&] { return values[random() % values.size()]; };
    for (int i = 0; i < 4; i++) {
      const auto n = static_cast<int64_t>(random());
      values.push_back({opaque(f, memory, n), n});
    }
    for (int i = 0; i < 120; i++) {
      Inst inst{.op = arithmetic[random() % std::size(arithmetic)]};
      auto [a, x] = pick();
      auto [c, y] = pick();
      if (random() % 4 == 0)
        y = static_cast<int64_t>(random() % 2 ? random() : random() % 100), c = number(y);
      if (random() % 8 == 0) x = static_cast<int64_t>(random()), a = number(x);
      if (random() % 6 == 0) inst.op = Op::set, inst.cond = conditions[random() % std::size(conditions)];
      if ((inst.op == Op::udiv || inst.op == Op::umod) && y == 0) continue;
      if (random() % 20 == 0) f.value({.op = Op::query, .query = ir::Query::cpu});
      inst.a = a, inst.b = c;
      const int64_t n = ir::compute(inst, x, y);
      if (random() % 8 == 0 && values.size() > 4) { // an old register gets its value on one of two ways
        const Cond cond = conditions[random() % std::size(conditions)];
        auto [left, l] = pick();
        auto [right, r] = pick();
        auto& [old, kept] = values[random() % values.size()];
        BlockId yes = f.block(), no = f.block(), join = f.block();
        f.branch(cond, left, right, yes, no);
        f.at(yes);
        inst.dst = old.as_reg();
        f.add(inst);
        f.jump(join);
        f.at(no);
        if (random() % 2) f.value({.op = Op::query, .query = ir::Query::cpu});
        f.jump(join);
        f.at(join);
        if (ir::holds(cond, l, r)) kept = n;
      } else if (random() % 5 == 0 && values.size() > 4) { // assign an old register again
        inst.dst = values.back().first.as_reg();
        f.add(inst);
        values.back().second = n;
      } else {
        values.push_back({f.value(inst), n});
      }
    }
    Operand out = results(f);
    const size_t from = values.size() > 40 ? values.size() - 40 : 0; // that many fit the stack
    for (size_t i = from; i < values.size(); i++)
      f.store(out, static_cast<int64_t>((i - from) * 8), values[i].first);
    f.give();
    auto result = b.run();
    for (size_t i = from; i < values.size(); i++)
      ASSERT_EQ(result[i - from], values[i].second) << round << " " << i;
  }
}

TEST(Emit, branches_join) {
  NEEDS_BPF();
  Bench b;
  auto f = b.main();
  Operand memory = f.object(8);
  Operand out = results(f);
  for (int i = 0; i < 8; i++) {
    Operand x = opaque(f, memory, i);
    Reg r = f.fresh();
    BlockId small = f.block(), large = f.block(), join = f.block();
    f.branch(Cond::ult, x, number(4), small, large);
    f.at(small);
    f.add({.op = Op::mov, .dst = r, .a = number(-1)});
    f.jump(join);
    f.at(large);
    f.add({.op = Op::mul, .dst = r, .a = x, .b = x});
    f.jump(join);
    f.at(join);
    f.store(out, 8 * i, Operand::of(r));
  }
  f.give();
  auto result = b.run();
  for (int i = 0; i < 8; i++) EXPECT_EQ(result[static_cast<size_t>(i)], i < 4 ? -1 : i * i);
}

// A loop in a loop with a break, over variables in the frame; 12 bytes of the object are in scratch memory
// when `big`.
void run_nested_loops(bool has_loop, bool big) {
  Bench b;
  b.options.has_loop = has_loop;
  const uint32_t site = b.site();
  auto f = b.main();
  if (big) f.text(f.object(100), "scratch");
  Operand sum = f.object(big ? 72 : 8); // object 0 or 1
  const uint32_t object = big ? 1 : 0;
  f.store(sum, 0, number(0));
  auto outer = b.function(ir::Role::body, 1, 0, 0);
  auto inner = b.function(ir::Role::body, 1, 0, outer.index());
  {
    Operand s = inner.address(object);
    BlockId stop = inner.block(), next = inner.block();
    inner.branch(Cond::eq, Operand::of(1), number(5), stop, next);
    inner.at(next);
    inner.store(s, 0, inner.op(Op::add, inner.load(s, 0), Operand::of(1)));
    inner.give();
    inner.at(stop);
    inner.give(number(1));
  }
  Operand inner_turns =
      outer.value({.op = Op::loop, .a = number(100), .imm = 1000, .imm2 = site, .index = inner.index()});
  Operand s = outer.address(object);
  outer.store(s, 0, outer.op(Op::add, outer.load(s, 0), outer.op(Op::mul, inner_turns, number(100))));
  outer.give(outer.value({.op = Op::set, .cond = Cond::uge, .a = Operand::of(1), .b = number(6)}));
  Operand turns =
      f.value({.op = Op::loop, .a = number(20), .imm = 1000, .imm2 = site, .index = outer.index()});
  Operand total = f.load(f.address(object), 0);
  Operand limited =
      f.value({.op = Op::loop, .a = number(50), .imm = 3, .imm2 = site, .index = outer.index()});
  Operand out = results(f);
  f.store(out, 0, total);
  f.store(out, 8, turns);
  f.store(out, 16, limited);
  f.give();
  auto result = b.run();
  EXPECT_EQ(result[0], 7 * (0 + 1 + 2 + 3 + 4 + 600));
  EXPECT_EQ(result[1], 7);
  EXPECT_EQ(result[2], 3);
  if (b.engine) {
    EXPECT_EQ(b.engine->counters().sites[site], 1u);
    EXPECT_EQ(b.engine->counters().scratch_busy, 0u);
  }
}
TEST(Emit, loops_called_back) {
  NEEDS_BPF();
  run_nested_loops(true, false);
}
TEST(Emit, loops_called_back_with_scratch) {
  NEEDS_BPF();
  run_nested_loops(true, true);
}
TEST(Emit, loops_walked) {
  NEEDS_BPF();
  run_nested_loops(false, false);
  run_nested_loops(false, true);
}

TEST(Emit, loop_of_unknown_length) {
  NEEDS_BPF();
  for (bool has_loop : {true, false}) {
    Bench b;
    b.options.has_loop = has_loop;
    const uint32_t site = b.site();
    auto f = b.main();
    Operand n = f.object(8);
    auto body = b.function(ir::Role::body, 1, 0, 0);
    body.give();
    std::vector<Operand> turns;
    for (int64_t limit : {0, 10, 40, 41, 1000}) {
      Operand a = opaque(f, n, limit);
      turns.push_back(f.value({.op = Op::loop, .a = a, .imm = 40, .imm2 = site, .index = body.index()}));
    }
    Operand out = results(f);
    for (size_t i = 0; i < turns.size(); i++) f.store(out, static_cast<int64_t>(8 * i), turns[i]);
    f.give();
    auto result = b.run();
    const std::vector<int64_t> expected{0, 10, 40, 40, 40};
    for (size_t i = 0; i < expected.size(); i++) EXPECT_EQ(result[i], expected[i]);
    if (b.engine) {
      EXPECT_EQ(b.engine->counters().sites[site], 2u);
    }
  }
}

TEST(Emit, calls) {
  NEEDS_BPF();
  Bench b;
  b.program.frames.emplace_back();
  auto g = b.function(ir::Role::function, 5, 1);
  {
    Operand big = g.object(200); // a claim of its own
    g.store(big, 0, Operand::of(5));
    Operand x = g.op(Op::sub, Operand::of(1), Operand::of(2));
    x = g.op(Op::add, g.op(Op::mul, x, number(10)), Operand::of(3));
    x = g.op(Op::add, g.op(Op::mul, x, number(10)), Operand::of(4));
    g.give(g.op(Op::add, g.op(Op::mul, x, number(10)), g.load(big, 0)));
  }
  auto f = b.main();
  Operand memory = f.object(8), big = f.object(80);
  f.store(big, 0, number(77));
  std::vector<Operand> v;
  for (int i = 1; i <= 5; i++) v.push_back(opaque(f, memory, i));
  // Arguments in other places than they stand: circles of moves.
  Operand one =
      f.value({.op = Op::call, .a = v[4], .b = v[3], .c = v[2], .d = v[1], .e = v[0], .index = g.index()});
  Operand two =
      f.value({.op = Op::call, .a = v[1], .b = v[0], .c = v[2], .d = v[4], .e = v[3], .index = g.index()});
  Operand out = results(f);
  f.store(out, 0, one);
  f.store(out, 8, two);
  f.store(out, 16, f.load(big, 0));
  f.give();
  auto result = b.run(3);
  EXPECT_EQ(result[0], (((5 - 4) * 10 + 3) * 10 + 2) * 10 + 1);
  EXPECT_EQ(result[1], (((2 - 1) * 10 + 3) * 10 + 5) * 10 + 4);
  EXPECT_EQ(result[2], 77);
  if (b.engine) {
    EXPECT_EQ(b.engine->counters().scratch_busy, 0u);
  }
}

} // namespace
} // namespace bpf::test
