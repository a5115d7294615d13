// Programs for tests of pieces, and what they look at in those that were cut.
#pragma once

#include "bpf/pieces.h"

#include "ir_builder.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace bpf::test {

using ir::Program;
using ir::Role;

inline constexpr PieceSizes small = {100, 60};

inline void expect_sound(const Program& p) {
  for (const std::string& mistake : ir::verify(p)) ADD_FAILURE() << mistake << "\n" << ir::to_string(p);
}
inline Program cut(const Program& p, const PieceSizes& sizes = small) {
  expect_sound(p);
  EXPECT_TRUE(has_long_functions(p, sizes));
  Program out = cut_into_pieces(p, sizes);
  expect_sound(out);
  return out;
}

template<class F> void for_each_inst(const ir::Function& f, F&& fn) {
  for (const ir::Block& b : f.blocks)
    for (const Inst& i : b.insts) fn(i);
}
template<class F> size_t count(const ir::Function& f, F&& is_it) {
  size_t n = 0;
  for_each_inst(f, [&](const Inst& i) { n += is_it(i); });
  return n;
}
inline size_t count(const ir::Function& f, Op op) {
  return count(f, [&](const Inst& i) { return i.op == op; });
}
inline size_t count(const Program& p, Op op) {
  size_t n = 0;
  for (const ir::Function& f : p.functions) n += count(f, op);
  return n;
}
inline bool is_piece(const ir::Function& f) { return f.name.ends_with(".piece"); }
inline std::vector<uint32_t> pieces_of(const Program& p, uint32_t owner = 0) {
  std::vector<uint32_t> out;
  for (uint32_t f = 0; f < p.functions.size(); f++)
    if (is_piece(p.functions[f]) && p.functions[f].parent == owner) out.push_back(f);
  return out;
}
// The functions that have this constant, by which instructions of a test are found again.
inline std::set<uint32_t> functions_with(const Program& p, int64_t constant) {
  std::set<uint32_t> out;
  for (uint32_t f = 0; f < p.functions.size(); f++)
    for_each_inst(p.functions[f], [&](const Inst& i) {
      ir::for_each_operand(i, [&](const Operand& o) {
        if (o == number(constant)) out.insert(f);
      });
    });
  return out;
}
inline bool has_way_back(const ir::Function& f) {
  const Flow flow(f);
  return std::ranges::any_of(flow.order, [&](BlockId b) { return flow.in_cycle(f, b); });
}

// The begin of a program: a variable, and a number that nobody knows.
struct Values {
  Operand input;
  Reg sum;
};
inline constexpr int64_t input = 0x5a3c96e1;
inline Operand unknown(FunctionBuilder& f, int64_t n) { return f.op(Op::xor_, f.load(results(f), 8 * (Bench::words - 1)), number(n)); }
inline Values begin(FunctionBuilder& f) {
  const Values v{unknown(f, input), f.fresh()};
  f.add({.op = Op::mov, .dst = v.sum, .a = number(1)});
  return v;
}
// Decisions by the bits of the input that change the variable. Each is 10 of work.
inline void decide(FunctionBuilder& f, const Values& v, int64_t from, int64_t to) {
  for (int64_t n = from; n < to; n++) {
    const BlockId yes = f.block(), next = f.block();
    f.branch(Cond::ne, f.op(Op::and_, v.input, number(int64_t{1} << n % 32)), number(0), yes, next);
    f.at(yes);
    f.add({.op = Op::add, .dst = v.sum, .a = f.op(Op::mul, Operand::of(v.sum), number(3)), .b = number(n)});
    f.jump(next);
    f.at(next);
  }
}
inline int64_t decided(int64_t from, int64_t to, uint64_t sum = 1) {
  for (int64_t n = from; n < to; n++)
    if (input >> n % 32 & 1) sum = sum * 3 + static_cast<uint64_t>(n);
  return static_cast<int64_t>(sum);
}
// Steps that have nothing in common with each other: each of some 12 of work.
inline void separate_steps(FunctionBuilder& f, int64_t from, int64_t to) {
  for (int64_t n = from; n < to; n++) {
    const BlockId yes = f.block(), next = f.block();
    Operand word = f.load(results(f), 8 * (n % 32));
    f.branch(Cond::sgt, f.op(Op::add, word, number(n)), number(n / 2), yes, next);
    f.at(yes);
    f.store(results(f), 8 * (32 + n % 32), number(n));
    f.jump(next);
    f.at(next);
  }
}
inline void keep(FunctionBuilder& f, int64_t word, Operand value) { f.store(results(f), 8 * word, value); }
inline void deciding(Bench& b, int64_t decisions) {
  auto f = b.main();
  const Values v = begin(f);
  decide(f, v, 0, decisions);
  keep(f, 0, Operand::of(v.sum));
  f.give();
}

// A loop within a function, with marks at its begin and its end. The verifier has to know its values, so that it has its own.
inline void loop_of(FunctionBuilder& f, int64_t turns, int64_t decisions) {
  const Values v = begin(f);
  const Reg turn = f.fresh();
  const BlockId head = f.block(), body = f.block(), out = f.block();
  f.add({.op = Op::mov, .dst = turn, .a = number(0)});
  f.jump(head);
  f.at(head);
  f.branch(Cond::uge, Operand::of(turn), number(turns), out, body);
  f.at(body);
  f.add({.op = Op::add, .dst = v.sum, .a = Operand::of(v.sum), .b = number(4711)});
  decide(f, v, 0, decisions);
  f.add({.op = Op::add, .dst = v.sum, .a = Operand::of(v.sum), .b = number(4712)});
  f.add({.op = Op::add, .dst = turn, .a = Operand::of(turn), .b = number(1)});
  f.jump(head);
  f.at(out);
  keep(f, 1, Operand::of(v.sum));
}
inline void looping(Bench& b) {
  auto f = b.main();
  const Values v = begin(f);
  decide(f, v, 0, 30);
  loop_of(f, 4, 3);
  decide(f, v, 30, 60);
  keep(f, 0, Operand::of(v.sum));
  f.give();
}
inline int64_t looped() {
  int64_t sum = 1;
  for (int turn = 0; turn < 4; turn++) sum = decided(0, 3, static_cast<uint64_t>(sum) + 4711) + 4712;
  return sum;
}

// Loops whose bodies add a number to each word of an object of their own, and use `extra` objects more.
struct Looping {
  std::function<int64_t(int64_t)> addend = [](int64_t) { return 5; };
  std::function<Operand(FunctionBuilder&)> turns = [](FunctionBuilder&) { return number(4); };
  int64_t limit = 10;
  size_t extra = 0;
  bool calls = false;
};
inline void add_loops(Bench& b, FunctionBuilder& f, int64_t loops, const Looping& how) {
  const uint32_t site = b.site();
  for (int64_t n = 0; n < loops; n++) {
    Operand words = f.object(32);
    const auto object = static_cast<uint32_t>(b.program.frames[0].objects.size() - 1);
    for (int64_t w = 0; w < 4; w++) f.store(words, 8 * w, number(10 * n + w));
    auto body = b.function(Role::body, 1, 0, f.index());
    Operand at = body.op(Op::shl, body.op(Op::and_, Operand::of(1), number(3)), number(3));
    at = body.op(Op::add, body.address(object), at);
    body.store(at, 0, body.op(Op::add, body.load(at, 0), number(how.addend(n))));
    for (size_t e = 0; e < how.extra; e++) body.store(body.object(8), 0, number(1));
    if (how.calls) body.value({.op = Op::call, .index = 1});
    body.give();
    Operand taken = f.value({.op = Op::loop, .a = how.turns(f), .imm = how.limit, .imm2 = site, .index = body.index()});
    keep(f, 2 * n, taken);
    keep(f, 2 * n + 1, f.op(Op::xor_, f.load(words, 24), f.load(words, 0)));
  }
}

} // namespace bpf::test
