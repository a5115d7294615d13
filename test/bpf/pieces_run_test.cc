// The same programs whole and in pieces in the kernel, against what is computed here.
#include "pieces_of_test.h"

#include "eval/engine.h"

#include <functional>
#include <random>

namespace bpf::test {
namespace {

// --------------------------------------------------------------------------------------- in the kernel

using Build = std::function<void(Bench&)>;

// Runs a program in pieces of several sizes; at least so many of the smallest.
void expect_of_pieces(const Build& build, const std::vector<int64_t>& result, size_t pieces) {
  for (const size_t size : {40u, 80u, 200u}) {
    Bench b;
    build(b);
    b.options.pieces = {100, size};
    const Program p = cut(b.program, b.options.pieces);
    const auto made = static_cast<size_t>(std::ranges::count_if(p.functions, is_piece));
    EXPECT_GE(made, size == 40 ? pieces : 0) << "pieces of " << size;
    EXPECT_EQ(b.run(), result) << "pieces of " << size;
    if (testing::Test::HasFailure()) return;
  }
}
// Also whole. `expected`: the first words of the results.
void expect_same(const Build& build, const std::vector<int64_t>& expected, size_t pieces = 2) {
  Bench whole;
  build(whole);
  whole.options.pieces = {100000, 500};
  ASSERT_FALSE(has_long_functions(whole.program, whole.options.pieces));
  const std::vector<int64_t> result = whole.run();
  for (size_t n = 0; n < expected.size(); n++) EXPECT_EQ(result[n], expected[n]) << "whole: " << n;
  expect_of_pieces(build, result, pieces);
}

TEST(PiecesRun, variables_that_live_across_pieces) {
  NEEDS_BPF();
  expect_same([](Bench& b) { deciding(b, 120); }, {decided(0, 120)}, 20);
}

TEST(PiecesRun, separate_steps_that_share_nothing) {
  NEEDS_BPF();
  std::vector<int64_t> expected(Bench::words, 0);
  for (int64_t n = 0; n < 50; n++)
    if (expected[n % 32] + n > n / 2) expected[32 + n % 32] = n;
  expect_same(
      [](Bench& b) {
        auto f = b.main();
        separate_steps(f, 0, 50);
        f.give();
      },
      expected, 10);
}

TEST(PiecesRun, loop_within_the_function) {
  NEEDS_BPF();
  expect_same(looping, {decided(0, 60), looped()}, 8);
}

// Tables on the stack and in scratch memory, written at unknown places, read by later pieces.
TEST(PiecesRun, objects_that_several_pieces_use) {
  NEEDS_BPF();
  std::vector<int64_t> expected;
  for (int64_t n = 0; n < 24; n++) expected.push_back(n * 7 + (input >> n % 8 & 7));
  expect_same(
      [](Bench& b) {
        auto f = b.main();
        const Values v = begin(f);
        Operand few = f.object(64), many = f.object(16 * 8);
        f.add({.op = Op::zero, .a = few, .imm2 = 64});
        f.add({.op = Op::zero, .a = many, .imm2 = 128});
        Operand kept = f.object(8);
        for (int64_t n = 0; n < 24; n++) {
          const auto bits = [&] { return f.op(Op::and_, f.op(Op::lshr, unknown(f, input), number(n % 8)), number(7)); };
          const auto place = [&] {
            Operand at = f.op(Op::shl, f.op(Op::xor_, bits(), number(n & 7)), number(3));
            return f.op(Op::add, n < 8 ? few : many, at);
          };
          f.store(place(), 0, f.op(Op::add, bits(), number(n * 7)));
          decide(f, v, n, n + 3);
          f.store(kept, 0, f.load(place(), 0));
          decide(f, v, n, n + 3);
          keep(f, n, f.load(kept, 0));
        }
        f.give();
      },
      expected, 10);
}

// Loads that end their block: the value has to be kept on one of two ways.
TEST(PiecesRun, loads_that_fault) {
  NEEDS_BPF();
  std::vector<int64_t> expected;
  for (int64_t n = 0; n < 20; n++) expected.push_back(n % 3 ? -n : 1000 + n);
  expected.push_back(decided(0, 40));
  expect_same(
      [](Bench& b) {
        auto f = b.main();
        const Values v = begin(f);
        Operand source = f.object(8 * 20);
        for (int64_t n = 0; n < 20; n++) f.store(source, 8 * n, number(1000 + n));
        std::vector<Reg> loaded;
        for (int64_t n = 0; n < 20; n++) {
          const BlockId fine = f.block(), fault = f.block(), next = f.block();
          const Reg r = loaded.emplace_back(f.fresh());
          Operand from = n % 3 ? number(16) : f.op(Op::number_of, f.op(Op::add, source, number(8 * n)));
          f.add({.op = Op::load, .space = ir::Space::kernel, .dst = r, .a = from, .target = fine, .other = fault});
          f.at(fault);
          f.add({.op = Op::mov, .dst = r, .a = number(-n)});
          f.jump(next);
          f.at(fine);
          f.jump(next);
          f.at(next);
          decide(f, v, 2 * n, 2 * n + 2);
        }
        for (size_t n = 0; n < loaded.size(); n++) keep(f, static_cast<int64_t>(n), Operand::of(loaded[n]));
        keep(f, 20, Operand::of(v.sum));
        f.give();
      },
      expected, 8);
}

// A function that is long itself: its parameters, and several ways to return.
TEST(PiecesRun, long_function_that_is_called) {
  NEEDS_BPF();
  const auto first_return = [](int64_t a, int64_t b) -> int64_t {
    for (int64_t n = 0; n < 30; n++)
      if (((a >> (n & 7)) ^ b) == n) return n % 2 ? 77 : n + 100;
    return a + b;
  };
  std::vector<int64_t> expected;
  for (int64_t n = 0; n < 12; n++) expected.push_back(first_return(n * 37, n * 5));
  ASSERT_GE(std::set<int64_t>(expected.begin(), expected.end()).size(), 4u);
  expect_same(
      [](Bench& b) {
        b.program.frames.emplace_back();
        auto f = b.function(Role::function, 2, 1);
        for (int64_t n = 0; n < 30; n++) {
          const BlockId out = f.block(), next = f.block();
          Operand turned = f.op(Op::xor_, f.op(Op::lshr, Operand::of(1), number(n & 7)), Operand::of(2));
          f.branch(Cond::eq, turned, number(n), out, next);
          f.at(out);
          f.give(number(n % 2 ? 77 : n + 100));
          f.at(next);
        }
        f.give(f.op(Op::add, Operand::of(1), Operand::of(2)));
        auto main = b.main();
        Operand memory = main.object(8);
        for (int64_t n = 0; n < 12; n++) {
          Operand x = opaque(main, memory, n * 37), y = opaque(main, memory, n * 5);
          keep(main, n, main.value({.op = Op::call, .a = x, .b = y, .index = f.index()}));
        }
        main.give();
      },
      expected, 3);
}

// A called function that writes where it is told.
TEST(PiecesRun, long_function_with_an_address_as_parameter) {
  NEEDS_BPF();
  expect_same(
      [](Bench& b) {
        b.program.frames.emplace_back();
        auto f = b.function(Role::function, 1, 1);
        f.store(Operand::of(1), 8, f.op(Op::add, f.load(Operand::of(1), 0), number(1)));
        const Values v = begin(f);
        decide(f, v, 0, 40);
        f.give(Operand::of(v.sum));
        auto main = b.main();
        Operand memory = main.object(16);
        main.store(memory, 0, number(41));
        keep(main, 0, main.value({.op = Op::call, .a = memory, .index = f.index()}));
        keep(main, 1, main.load(memory, 8));
        main.give();
      },
      {decided(0, 40), 42}, 4);
}

// Bodies of loops: short ones that go with a piece, and one that is long itself.
TEST(PiecesRun, bodies_of_loops) {
  NEEDS_BPF();
  for (const int64_t decisions : {2, 25}) {
    uint64_t sum = 1;
    for (uint64_t turn = 0; turn < 6; turn++) sum = static_cast<uint64_t>(decided(0, decisions, sum + turn * turn));
    expect_same(
        [&](Bench& b) {
          auto f = b.main();
          const Values v = begin(f);
          Operand shared = f.object(16);
          f.store(shared, 0, Operand::of(v.sum));
          decide(f, v, 0, 20);
          auto body = b.function(Role::body, 1, 0, 0);
          Operand word = body.address(0);
          const Values inside = begin(body);
          Operand square = body.op(Op::mul, Operand::of(1), Operand::of(1));
          body.add({.op = Op::add, .dst = inside.sum, .a = body.load(word, 0), .b = square});
          decide(body, inside, 0, decisions);
          body.store(word, 0, Operand::of(inside.sum));
          body.give();
          keep(f, 2, f.value({.op = Op::loop, .a = number(6), .imm = 100, .imm2 = b.site(), .index = body.index()}));
          decide(f, v, 20, 40);
          keep(f, 0, Operand::of(v.sum));
          keep(f, 1, f.load(shared, 0));
          f.give();
        },
        {decided(0, 40), static_cast<int64_t>(sum), 6}, decisions > 2 ? 6 : 4);
  }
}

// The body of a loop in the body of another, and one that is given the entries of a map.
TEST(PiecesRun, loops_in_loops_and_entries_of_a_map) {
  NEEDS_BPF();
  for (const int64_t decisions : {1, 20}) {
    expect_same(
        [&](Bench& b) {
          const uint32_t map = b.map(ir::MapKind::hash, 8, 8);
          auto f = b.main();
          const Values v = begin(f);
          Operand words = f.object(24); // turns, sum of keys, sum of values
          f.add({.op = Op::zero, .a = words, .imm2 = 24});
          for (int64_t n = 0; n < 5; n++) {
            Operand key = f.object(8), value = f.object(8);
            f.store(key, 0, number(n));
            f.store(value, 0, number(n * 100));
            f.value({.op = Op::map_store, .a = key, .b = value, .index = map});
          }
          decide(f, v, 0, 20);
          auto outer = b.function(Role::body, 1, 0, f.index()), inner = b.function(Role::body, 1, 0, outer.index());
          auto each = b.function(Role::body, 2, 0, f.index());
          const auto add = [](FunctionBuilder& body, int64_t at, Operand n) {
            Operand to = body.address(0);
            body.store(to, at, body.op(Op::add, body.load(to, at), n));
          };
          add(inner, 0, number(1));
          inner.give();
          const uint32_t site = b.site();
          decide(outer, begin(outer), 0, decisions);
          outer.value({.op = Op::loop, .a = number(3), .imm = 10, .imm2 = site, .index = inner.index()});
          outer.give();
          add(each, 8, each.load(Operand::of(1), 0));
          add(each, 16, each.load(Operand::of(2), 0));
          decide(each, begin(each), 0, decisions);
          each.give();
          f.value({.op = Op::loop, .a = number(7), .imm = 10, .imm2 = site, .index = outer.index()});
          decide(f, v, 20, 40);
          f.add({.op = Op::for_each, .imm = each.index(), .index = map});
          decide(f, v, 40, 60);
          keep(f, 0, Operand::of(v.sum));
          for (int64_t n = 0; n < 3; n++) keep(f, n + 1, f.load(words, 8 * n));
          f.give();
        },
        {decided(0, 60), 21, 10, 1000}, 6);
  }
}

TEST(PiecesRun, loops_that_are_shared) {
  NEEDS_BPF();
  std::vector<int64_t> expected;
  for (int64_t n = 0; n < 6; n++) expected.insert(expected.end(), {4, (10 * n + 3 + 5) ^ (10 * n + 5)});
  expect_same(
      [](Bench& b) {
        auto f = b.main();
        add_loops(b, f, 6, {});
        decide(f, begin(f), 0, 20);
        f.give();
      },
      expected);
}

TEST(PiecesRun, operations_that_are_shared) {
  NEEDS_BPF();
  const auto build = [](Bench& b) {
    const uint32_t map = b.map(ir::MapKind::hash, 8, 8, 64);
    auto f = b.main();
    const Reg found = f.fresh();
    f.add({.op = Op::mov, .dst = found, .a = number(0)});
    for (int64_t n = 0; n < 24; n++) {
      Operand key = f.object(8), value = f.object(8);
      f.store(key, 0, number(n % 20));
      f.store(value, 0, number(n * n));
      f.value({.op = Op::map_store, .a = key, .b = value, .index = map});
      f.store(key, 0, number(n / 2));
      const BlockId there = f.block(), next = f.block();
      Operand at = f.value({.op = Op::map_find, .a = key, .index = map});
      f.branch(Cond::ne, at, number(0), there, next);
      f.at(there);
      f.add({.op = Op::add, .dst = found, .a = Operand::of(found), .b = f.load(at, 0)});
      f.jump(next);
      f.at(next);
    }
    keep(f, 0, Operand::of(found));
    keep(f, 1, f.value({.op = Op::map_size, .index = map}));
    f.give();
  };
  int64_t found = 0;
  for (int64_t n = 0; n < 24; n++) {
    const int64_t key = n / 2;
    found += n >= key + 20 ? (key + 20) * (key + 20) : key * key;
  }
  expect_same(build, {found, 20}, 4);
  Bench b;
  build(b);
  const Program p = cut(b.program);
  EXPECT_EQ(count(p, Op::map_store), 1u);
  EXPECT_EQ(count(p, Op::map_find), 1u);
}

TEST(PiecesRun, objects_that_share_memory) {
  NEEDS_BPF();
  std::vector<int64_t> expected;
  for (int64_t n = 0; n < 30; n++) expected.push_back(n * 3 + 1);
  expect_same(
      [](Bench& b) {
        auto f = b.main();
        for (int64_t n = 0; n < 30; n++) {
          Operand o = f.object(8 + 40 * static_cast<uint32_t>(n % 4));
          f.store(o, 0, number(n * 3));
          keep(f, n, f.op(Op::add, f.load(o, 0), number(1)));
        }
        separate_steps(f, 0, 20);
        f.give();
      },
      expected);
}

// --------------------------------------------------------------------------------- programs by chance

// Statements of variables, objects, conditions and loops, as a script has them.
class Chance {
public:
  Chance(Bench& b, uint32_t seed) : f_(b.main()), random_(seed) {
    for (Reg& r : variables_) f_.add({.op = Op::mov, .dst = r = f_.fresh(), .a = unknown(f_, pick(1000))});
    for (const uint32_t size : {8u, 64u, 96u, 24u}) {
      Operand o = f_.object(size);
      f_.add({.op = Op::zero, .a = o, .imm2 = size});
      objects_.push_back({o, size});
    }
  }
  void write() {
    for (int n = 0; n < 80; n++) statement(3);
    for (size_t n = 0; n < std::size(variables_); n++) keep(f_, static_cast<int64_t>(n), Operand::of(variables_[n]));
    int64_t word = std::size(variables_);
    for (const auto& [o, size] : objects_)
      for (uint32_t at = 0; at < size; at += 8) keep(f_, word++, f_.load(o, at));
    f_.give();
  }

private:
  int64_t pick(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  Reg variable() { return variables_[pick(std::size(variables_))]; }
  Operand some() { return pick(3) ? Operand::of(variable()) : number(pick(64)); }
  void set(Operand value) { f_.add({.op = Op::mov, .dst = variable(), .a = value}); }
  void statement(int depth) {
    constexpr Op ops[] = {Op::add, Op::sub, Op::mul, Op::xor_, Op::or_, Op::and_};
    const auto& [object, size] = objects_[static_cast<size_t>(pick(4))];
    const int64_t at = 8 * pick(size / 8);
    switch (pick(depth ? 8 : 5)) {
    case 0:
    case 1: f_.add({.op = ops[pick(std::size(ops))], .dst = variable(), .a = Operand::of(variable()), .b = some()}); break;
    case 2: f_.store(object, at, some()); break;
    case 3: set(f_.load(object, at)); break;
    case 4: { // at an index
      const auto& [table, bytes] = objects_[1];
      Operand index = f_.load(object, at); // not a variable, whose limits would forbid all cuts
      Operand place = f_.op(Op::add, table, f_.op(Op::and_, index, number(56)));
      pick(2) ? f_.store(place, 0, some()) : set(f_.load(place, 0));
      break;
    }
    case 5: load_that_may_fault(); break;
    default: condition(depth); break;
    }
  }
  void condition(int depth) {
    const BlockId yes = f_.block(), no = f_.block(), end = f_.block();
    f_.branch(static_cast<Cond>(pick(10)), Operand::of(variable()), some(), yes, pick(2) ? no : end);
    for (const BlockId b : {yes, no}) {
      f_.at(b);
      for (int64_t n = pick(5); n >= 0; n--) statement(depth - 1);
      f_.jump(end);
    }
    f_.at(end);
  }
  void load_that_may_fault() {
    const BlockId fine = f_.block(), fault = f_.block(), end = f_.block();
    const Reg r = f_.fresh();
    const auto& [object, size] = objects_[static_cast<size_t>(pick(4))];
    Operand from = pick(2) ? number(24) : f_.op(Op::number_of, object);
    f_.add({.op = Op::load, .space = ir::Space::kernel, .dst = r, .a = from, .target = fine, .other = fault});
    f_.at(fine);
    set(Operand::of(r));
    f_.jump(end);
    f_.at(fault);
    statement(0);
    f_.jump(end);
    f_.at(end);
  }

  FunctionBuilder f_;
  std::mt19937 random_;
  Reg variables_[6];
  std::vector<std::pair<Operand, uint32_t>> objects_;
};

// Kernel memory of the evaluator: what a program has an address of.
struct OwnMemory final : eval::Memory {
  bool read(uint64_t address, std::span<std::byte> to) override {
    if (address < 4096) return false;
    std::memcpy(to.data(), reinterpret_cast<const void*>(address), to.size());
    return true;
  }
};
std::vector<int64_t> evaluate(const Program& program) {
  OwnMemory memory;
  eval::Engine engine(program, {.kernel = &memory});
  EXPECT_TRUE(engine.run(0).ok());
  std::vector<int64_t> result(Bench::words);
  std::memcpy(result.data(), engine.read_map(0)->front().values.data(), Bench::words * 8);
  return result;
}

// Whole they would take the verifier too long: the evaluator tells what is right.
TEST(PiecesRun, programs_by_chance) {
  NEEDS_BPF();
  for (uint32_t seed = 0; seed < 20 && !HasFailure(); seed++) {
    SCOPED_TRACE(seed);
    const Build build = [&](Bench& b) { Chance(b, seed).write(); };
    Bench whole;
    build(whole);
    expect_of_pieces(build, evaluate(whole.program), 2);
  }
}

} // namespace
} // namespace bpf::test
