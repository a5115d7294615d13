// Code for copies, comparisons and reads of memory, run in the kernel.
#include "ir_builder.h"

namespace bpf::test {
namespace {

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

} // namespace
} // namespace bpf::test
