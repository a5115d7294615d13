// The code generator against the kernel: each program is verified, loaded and run, and what it leaves in a
// map is compared with the expectation. Shapes of code that cost time are checked in the disassembly.
#include "ir_builder.h"

#include <random>
#include <sys/syscall.h>
#include <unistd.h>

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

// A value that the compiler cannot know: loaded back from memory.
Operand opaque(FunctionBuilder& f, Operand memory, int64_t n) {
  f.store(memory, 0, number(n));
  return f.load(memory, 0);
}

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

TEST(Emit, copies_and_comparisons_of_memory) {
  NEEDS_BPF();
  for (uint32_t size : {5u, 16u, 61u, 200u, 1000u}) {
    Bench b;
    auto f = b.main();
    Operand x = f.object(size), y = f.object(size), z = f.object(size);
    f.add({.op = Op::zero, .a = x, .imm2 = size});
    f.add({.op = Op::zero, .a = z, .imm2 = size});
    f.text(x, "text!");
    f.add({.op = Op::copy, .a = y, .b = x, .imm2 = size});
    f.store(z, size - 1, number(1), 1);
    Operand same = f.value({.op = Op::equal, .a = x, .b = y, .imm2 = size});
    Operand other = f.value({.op = Op::equal, .a = x, .b = z, .imm2 = size});
    f.store(y, size - 1, number(9), 1);
    Operand late = f.value({.op = Op::equal, .a = x, .b = y, .imm2 = size});
    Operand out = results(f);
    f.store(out, 0, same);
    f.store(out, 8, other);
    f.store(out, 16, late);
    f.store(out, 24, f.load(y, 4, 1));
    f.give();
    auto result = b.run();
    EXPECT_EQ(result[0], 1) << size;
    EXPECT_EQ(result[1], 0) << size;
    EXPECT_EQ(result[2], 0) << size;
    EXPECT_EQ(result[3], size == 5 ? 9 : '!') << size;
  }
}

// Kernel text is read from the script's own memory, which is the kernel's.
TEST(Emit, reads_of_strings) {
  NEEDS_BPF();
  for (uint32_t size : {16u, 200u}) {
    for (bool unknown : {false, true}) {
      Bench b;
      auto f = b.main();
      Operand memory = f.object(8), source = f.object(256), to = f.object(size);
      f.add({.op = Op::zero, .a = source, .imm2 = 256});
      f.text(source, "the quick brown fox");
      f.add({.op = Op::zero, .a = to, .imm2 = size});
      auto limit = [&](int64_t n) { return unknown ? opaque(f, memory, n) : number(n); };
      std::vector<Operand> got;
      auto read = [&](Operand from, Operand c) {
        BlockId done = f.block(), fault = f.block(), join = f.block();
        Reg r = f.fresh();
        f.add({.op = Op::read_string,
               .space = ir::Space::kernel,
               .dst = r,
               .a = to,
               .b = from,
               .c = c,
               .imm2 = size,
               .target = done,
               .other = fault});
        f.at(fault);
        f.add({.op = Op::mov, .dst = r, .a = number(-1)});
        f.jump(join);
        f.at(done);
        f.jump(join);
        f.at(join);
        got.push_back(Operand::of(r));
        got.push_back(f.load(to, 0, 1));
      };
      read(source, {});
      got.push_back(f.load(to, 15, 1)); // 16: cut, the text's own byte
      read(f.op(Op::add, source, number(4)), {});
      got.push_back(f.load(to, 15, 1)); // 16: 15 bytes and the NUL fit
      read(source, limit(4));
      got.push_back(f.load(to, 3, 1));
      read(source, limit(0));
      read(source, limit(10000));
      read(number(8), limit(20)); // nothing is mapped there
      Operand out = results(f);
      for (size_t i = 0; i < got.size(); i++) f.store(out, static_cast<int64_t>(8 * i), got[i]);
      f.give();
      auto r = b.run();
      const bool cut = size == 16;
      const std::vector<int64_t> expected{cut ? 16 : 20, 't', ' ', 16, 'q',           0,   4,
                                          't',           0,   0,   0,  cut ? 16 : 20, 't', -1};
      for (size_t i = 0; i < expected.size(); i++)
        EXPECT_EQ(r[i], expected[i]) << size << unknown << " " << i;
    }
  }
}

TEST(Emit, reads_of_bytes_and_numbers) {
  NEEDS_BPF();
  Bench b;
  auto f = b.main();
  Operand memory = f.object(8), source = f.object(64), to = f.object(32), words = f.object(8);
  f.store(source, 0, number(0x1122334455667788));
  f.store(source, 8, number(-2));
  f.add({.op = Op::zero, .a = source, .imm = 16, .imm2 = 48});
  f.add({.op = Op::zero, .a = to, .imm2 = 32});
  std::vector<Operand> got;
  got.push_back(f.value({.op = Op::read_bytes,
                         .space = ir::Space::kernel,
                         .a = to,
                         .b = source,
                         .c = opaque(f, memory, 3),
                         .imm2 = 32}));
  got.push_back(f.load(to, 0));
  got.push_back(f.value({.op = Op::read_bytes,
                         .space = ir::Space::kernel,
                         .a = to,
                         .b = source,
                         .c = opaque(f, memory, 300),
                         .imm2 = 32}));
  got.push_back(f.load(to, 8));
  got.push_back(f.value(
      {.op = Op::load, .size = 2, .is_signed = true, .space = ir::Space::kernel, .a = source, .imm = 8}));
  f.add({.op = Op::read, .space = ir::Space::kernel, .a = words, .b = source, .imm2 = 8});
  got.push_back(f.load(words, 0));
  BlockId ok = f.block(), fault = f.block(), join = f.block();
  Reg r = f.fresh();
  f.add({.op = Op::load, .space = ir::Space::user, .dst = r, .a = number(16), .target = ok, .other = fault});
  f.at(ok);
  f.jump(join);
  f.at(fault);
  f.add({.op = Op::mov, .dst = r, .a = number(4711)});
  f.jump(join);
  f.at(join);
  got.push_back(Operand::of(r));
  Operand out = results(f);
  for (size_t i = 0; i < got.size(); i++) f.store(out, static_cast<int64_t>(8 * i), got[i]);
  f.give();
  auto result = b.run();
  const std::vector<int64_t> expected{3, 0x667788, 32, -2, -2, 0x1122334455667788, 4711};
  for (size_t i = 0; i < expected.size(); i++) EXPECT_EQ(result[i], expected[i]) << i;
}

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
    got.push_back(f.value({.op = Op::map_store, .a = key, .b = value, .index = m}));
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

TEST(Emit, events_arrive_in_order) {
  NEEDS_BPF();
  Bench b;
  type::Table types;
  const type::Type* word = types.uint64();
  const type::Type* payload = types.tuple(std::span(&word, 1));
  b.program.actions.push_back({.kind = ir::ActionKind::printf, .text = "%d", .payload = payload});
  b.program.actions.push_back({.kind = ir::ActionKind::exit});
  auto f = b.main();
  auto send = [&](uint32_t action, int64_t n) {
    const auto size = static_cast<int64_t>(b.program.actions[action].record_size());
    Operand record = f.value({.op = Op::event, .imm2 = size, .index = action});
    BlockId room = f.block(), next = f.block();
    f.branch(Cond::ne, record, number(0), room, next);
    f.at(room);
    if (size > 8) f.store(record, 8, number(n));
    f.add({.op = Op::send, .a = record});
    f.jump(next);
    f.at(next);
  };
  send(0, 7);
  send(0, 8);
  send(1, 0);
  results(f);
  f.give();
  b.run();
  std::vector<std::pair<uint32_t, uint64_t>> got;
  if (!b.engine) return;
  b.engine->drain([&](std::span<const std::byte> record) {
    uint64_t n[2] = {};
    std::memcpy(n, record.data(), std::min<size_t>(16, record.size()));
    got.push_back({static_cast<uint32_t>(n[0]), n[1]});
  });
  EXPECT_EQ(got, (std::vector<std::pair<uint32_t, uint64_t>>{{0, 7}, {0, 8}, {1, 0}}));
  for (int i = 0; i < 2000; i++) (void)b.engine->run(0); // more than fits
  EXPECT_GT(b.engine->counters().lost_events, 0u);
}

TEST(Emit, questions_and_tables) {
  NEEDS_BPF();
  Bench b;
  b.program.tables = {{1, 2, 3}, {10, 20, 30, 40}};
  const uint32_t site = b.site();
  auto f = b.main();
  Operand memory = f.object(8), name = f.object(16);
  std::vector<Operand> got;
  for (int i = 0; i < 5; i++)
    got.push_back(f.value({.op = Op::table, .a = opaque(f, memory, i), .index = 1}));
  got.push_back(f.value({.op = Op::table, .a = number(-1), .index = 0}));
  got.push_back(f.value({.op = Op::query, .query = ir::Query::pid_tgid}));
  got.push_back(f.value({.op = Op::cpu_count}));
  f.add({.op = Op::name, .a = name});
  got.push_back(f.load(name, 0));
  f.add({.op = Op::count_fault, .index = site});
  for (auto q :
       {ir::Query::uid_gid, ir::Query::numa_node, ir::Query::ktime, ir::Query::ktime_boot,
        ir::Query::ktime_tai, ir::Query::jiffies, ir::Query::cgroup_id, ir::Query::random, ir::Query::task})
    got.push_back(f.value({.op = Op::query, .query = q}));
  Operand out = results(f);
  for (size_t i = 0; i < got.size(); i++) f.store(out, static_cast<int64_t>(8 * i), got[i]);
  f.give();
  b.options.possible_cpus = 12;
  auto result = b.run(2);
  int64_t comm = 0;
  std::memcpy(&comm, "test_bpf", 8);
  const std::vector<int64_t> expected{10, 20,   30, 40, 0, 0, static_cast<int64_t>(getpid()) << 32 | getpid(),
                                      12, comm};
  for (size_t i = 0; i < expected.size(); i++) EXPECT_EQ(result[i], expected[i]) << i;
  if (b.engine) {
    EXPECT_EQ(b.engine->counters().sites[site], 2u);
  }
}

// On a real event: arguments and stacks in the probe, in a loop and in a function.
TEST(Emit, context_and_stacks) {
  NEEDS_BPF();
  Bench b;
  b.program.events.push_back(
      {.kind = probe::Kind::rawtracepoint, .name = "rawtracepoint:sys_enter", .event = "sys_enter"});
  b.program.probes[0].context = probe::Context::raw_tracepoint;
  b.program.probes[0].events = {0};
  b.program.uses_stacks = true;
  const uint32_t site = b.site();
  b.program.frames.emplace_back();
  auto g = b.function(ir::Role::function, 1, 1);
  Operand number_of_call = g.value({.op = Op::load, .space = ir::Space::context, .imm = 8});
  g.give(g.op(Op::add, number_of_call, Operand::of(1)));

  auto f = b.main();
  Operand id = f.value({.op = Op::query, .query = ir::Query::pid_tgid});
  BlockId mine = f.block(), wanted = f.block(), leave = f.block();
  f.branch(Cond::eq, id, number(static_cast<int64_t>(getpid()) << 32 | getpid()), mine, leave);
  f.at(mine);
  Operand call = f.value({.op = Op::load, .space = ir::Space::context, .imm = 8});
  f.branch(Cond::eq, call, number(SYS_getppid), wanted, leave);
  f.at(leave);
  f.give();
  f.at(wanted);
  Operand sum = f.object(8);
  f.store(sum, 0, number(0));
  auto body = b.function(ir::Role::body, 1, 0, 0);
  Operand s = body.address(0);
  Operand seen = body.value({.op = Op::load, .space = ir::Space::context, .imm = 8});
  Operand deep = body.value({.op = Op::stack, .imm2 = 20, .index = 0});
  seen = body.op(Op::add, seen, body.value({.op = Op::set, .cond = Cond::ne, .a = deep, .b = number(0)}));
  body.store(s, 0, body.op(Op::add, body.load(s, 0), seen));
  body.give();
  f.value({.op = Op::loop, .a = number(10), .imm = 100, .imm2 = site, .index = body.index()});
  Operand kernel = f.value({.op = Op::stack, .imm2 = 30, .index = 0});
  Operand user = f.value({.op = Op::stack, .imm2 = 20, .index = 1});
  Operand called = f.value({.op = Op::call, .a = number(1000), .index = g.index()});
  Operand depth = f.value({.op = Op::stack_depth, .a = kernel});
  Operand no_depth = f.value({.op = Op::stack_depth, .a = number(0)});
  Operand out = results(f);
  f.store(out, 0, kernel);
  f.store(out, 8, user);
  f.store(out, 16, called);
  f.store(out, 24, f.load(sum, 0));
  f.store(out, 32, depth);
  f.store(out, 40, no_depth);
  f.give();

  (void)b.run(0);
  if (!b.engine) return;
  auto attached = b.engine->attach(0);
  ASSERT_TRUE(attached.ok()) << attached.error().message;
  for (int i = 0; i < 3; i++) syscall(SYS_getppid);
  auto entries = b.engine->read_map(0);
  ASSERT_TRUE(entries.ok() && !entries->empty());
  int64_t result[6];
  std::memcpy(result, entries->front().values.data(), sizeof result);
  EXPECT_EQ(result[0] & 1, 1);
  EXPECT_EQ(static_cast<uint64_t>(result[4]), b.engine->stack(static_cast<uint64_t>(result[0])).size());
  EXPECT_EQ(result[5], 0);
  EXPECT_EQ(result[2], 1000 + SYS_getppid);
  EXPECT_EQ(result[3], 10 * (SYS_getppid + 1));
  EXPECT_GE(b.engine->stack(static_cast<uint64_t>(result[0])).size(), 2u);
  if (result[1]) {
    EXPECT_GE(b.engine->stack(static_cast<uint64_t>(result[1])).size(), 1u);
  }
}

TEST(Emit, scratch_is_claimed_behind_the_filter) {
  Bench b;
  auto f = b.main();
  Operand id = f.value({.op = Op::query, .query = ir::Query::pid_tgid});
  BlockId inside = f.block(), out = f.block();
  f.branch(Cond::eq, id, number(1), inside, out);
  f.at(inside);
  Operand big = f.object(500);
  f.add({.op = Op::zero, .a = big, .imm2 = 500});
  f.add({.op = Op::query, .query = ir::Query::ktime});
  f.store(big, 0, number(1));
  f.jump(out);
  f.at(out);
  f.give();
  const std::string text = b.dump();
  EXPECT_LT(text.find("call get_current_pid_tgid"), text.find("cmpxchg")) << text;
  size_t releases = 0;
  for (size_t at = text.find(" + 0) = 0"); at != text.npos; at = text.find(" + 0) = 0", at + 1)) releases++;
  EXPECT_EQ(releases, 1u) << text;
  if (why_not().empty()) {
    (void)b.run();
  }
}

} // namespace
} // namespace bpf::test
