// Recipes, lowered and run by the evaluator over made-up registers and memory, against a plain stack machine.
#include "eval/engine.h"
#include "ir/lowering.h"
#include "spec/arch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace ir {

// Reaches into lowering: a probe whose program gives what a recipe gives, as a printed value.
struct RecipeTest {
  static Program lower(const probe::Recipe& recipe, const type::Type& type, lang::Program& source,
                       probe::Machine& machine) {
    base::Diagnostics diagnostics;
    LowerOptions options;
    Lowering l(source, machine, options, diagnostics);
    l.context_ = probe::Context::registers;
    l.program_.frames.emplace_back();
    uint32_t f = l.begin_function("recipe", Role::probe, 0, 0);
    const type::Type* bytes[] = {&type};
    Action a{.kind = ActionKind::print_value, .payload = source.types.tuple(bytes)};
    l.program_.actions.push_back(a);
    Place value = type.is_scalar() ? l.scratch_place(8, "value") : l.recipe_place(recipe, type);
    if (type.is_scalar()) l.store(value, l.recipe_scalar(recipe, type), type.size);
    Reg record = l.fresh();
    l.append({.op = Op::event, .dst = record, .imm2 = a.record_size(), .index = 0});
    BlockId have = l.new_block(), end = l.new_block();
    l.branch(Cond::ne, Operand::of(record), Operand::number(0), have, end);
    l.start(have);
    l.copy({Space::script, Operand::of(record), 8}, value, type.size);
    l.append({.op = Op::send, .a = Operand::of(record)});
    l.jump(end);
    l.start(end);
    l.give_back(Operand::number(0));
    l.go_to(f, 0); // what was appended last
    Probe p;
    p.name = "recipe";
    p.function = f;
    p.context = probe::Context::registers;
    l.program_.probes.push_back(p);
    return std::move(l.program_);
  }
};

} // namespace ir

namespace {

using probe::Piece;
using probe::Recipe;
using probe::Step;

// 4096 bytes at 0x10000; everything else faults.
struct Bytes : eval::Memory {
  static constexpr uint64_t at = 0x10000;
  unsigned char bytes[4096];
  Bytes() {
    for (size_t i = 0; i < sizeof bytes; i++)
      bytes[i] = static_cast<unsigned char>(i * 7 + i / 256 * 3 + 128);
  }
  bool read(uint64_t address, std::span<std::byte> to) override {
    if (address < at || address - at > sizeof bytes || to.size() > sizeof bytes - (address - at))
      return false;
    std::memcpy(to.data(), bytes + (address - at), to.size());
    return true;
  }
  uint64_t word(uint64_t address, unsigned size) {
    uint64_t n = 0;
    if (!read(address, std::as_writable_bytes(std::span(&n, 1)).first(size))) n = 0;
    return n;
  }
};

uint64_t extended(uint64_t n, unsigned size, bool is_signed) {
  if (size >= 8) return n;
  unsigned unused = 64 - 8 * size;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(n << unused) >> unused)
                   : n << unused >> unused;
}

struct World {
  lang::Program source;
  probe::Machine machine{source.types};
  Bytes memory;
  uint64_t registers[21];
  World() {
    for (size_t i = 0; i < std::size(registers); i++) registers[i] = Bytes::at + 64 * i;
  }

  std::vector<std::byte> bytes_of(const Recipe& recipe, const type::Type& type, bool optimize = true) {
    ir::Program p = ir::RecipeTest::lower(recipe, type, source, machine);
    for (const std::string& wrong : ir::verify(p)) ADD_FAILURE() << wrong;
    if (optimize) ir::optimize(p);
    for (const std::string& wrong : ir::verify(p)) ADD_FAILURE() << wrong;
    eval::Engine engine(p, {.user = &memory, .context = std::as_bytes(std::span(registers))});
    auto ran = engine.run(0);
    EXPECT_TRUE(ran.ok()) << ran.error().message;
    std::vector<std::byte> out;
    engine.drain([&](std::span<const std::byte> record) { out.assign(record.begin() + 8, record.end()); });
    faults = engine.counters().sites.empty() ? 0 : engine.counters().sites[0];
    return out;
  }
  int64_t value_of(const Recipe& recipe, const type::Type* type = nullptr, bool optimize = true) {
    auto bytes = bytes_of(recipe, type ? *type : *source.types.int64(), optimize);
    int64_t n = 0;
    if (bytes.size() >= sizeof n) std::memcpy(&n, bytes.data(), sizeof n);
    return n;
  }
  int64_t value_of(std::vector<Step> steps, const type::Type* type = nullptr) {
    return value_of(Recipe{Recipe::value, std::move(steps), {}}, type);
  }
  uint64_t faults = 0;
};

Step constant(int64_t n) { return {.value = n}; }
Step reg(const char* name) { return {.op = Step::reg, .value = *spec::find_register(name)}; }
Step load(uint8_t size, bool is_signed) { return {.op = Step::load, .size = size, .is_signed = is_signed}; }

// The plain machine; all heights are right.
uint64_t plainly(World& w, const std::vector<Step>& steps) {
  std::vector<uint64_t> stack;
  auto pop = [&] {
    uint64_t n = stack.back();
    stack.pop_back();
    return n;
  };
  for (size_t i = 0; i < steps.size(); i++) {
    const Step& s = steps[i];
    switch (s.op) {
    case Step::constant: stack.push_back(static_cast<uint64_t>(s.value)); continue;
    case Step::reg: stack.push_back(w.registers[s.value / 8]); continue;
    case Step::load: stack.push_back(extended(w.memory.word(pop(), s.size), s.size, s.is_signed)); continue;
    case Step::code_start:
    case Step::thread_base: stack.push_back(0); continue;
    case Step::neg: stack.push_back(0 - pop()); continue;
    case Step::not_: stack.push_back(~pop()); continue;
    case Step::abs: {
      uint64_t n = pop();
      stack.push_back(static_cast<int64_t>(n) < 0 ? 0 - n : n);
      continue;
    }
    case Step::zext:
    case Step::sext: stack.push_back(extended(pop(), s.size, s.op == Step::sext)); continue;
    case Step::pick: stack.push_back(stack[stack.size() - 1 - static_cast<size_t>(s.value)]); continue;
    case Step::drop: pop(); continue;
    case Step::swap: std::swap(stack.back(), stack[stack.size() - 2]); continue;
    case Step::rot: {
      uint64_t top = pop();
      stack.insert(stack.end() - 2, top);
      continue;
    }
    case Step::branch:
      if (pop()) i += static_cast<size_t>(s.value);
      continue;
    case Step::skip: i += static_cast<size_t>(s.value); continue;
    default: break;
    }
    uint64_t b = pop(), a = pop();
    auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
    auto signed_quotient = [&] { return sa == INT64_MIN && sb == -1 ? a : static_cast<uint64_t>(sa / sb); };
    switch (s.op) {
    case Step::add: stack.push_back(a + b); break;
    case Step::sub: stack.push_back(a - b); break;
    case Step::mul: stack.push_back(a * b); break;
    case Step::udiv: stack.push_back(b ? a / b : 0); break;
    case Step::sdiv: stack.push_back(b ? signed_quotient() : 0); break;
    case Step::umod: stack.push_back(b ? a % b : 0); break;
    case Step::and_: stack.push_back(a & b); break;
    case Step::or_: stack.push_back(a | b); break;
    case Step::xor_: stack.push_back(a ^ b); break;
    case Step::shl: stack.push_back(a << (b & 63)); break;
    case Step::lshr: stack.push_back(a >> (b & 63)); break;
    case Step::ashr: stack.push_back(static_cast<uint64_t>(sa >> (b & 63))); break;
    case Step::eq: stack.push_back(a == b); break;
    case Step::ne: stack.push_back(a != b); break;
    case Step::slt: stack.push_back(sa < sb); break;
    case Step::sle: stack.push_back(sa <= sb); break;
    case Step::sgt: stack.push_back(sa > sb); break;
    case Step::sge: stack.push_back(sa >= sb); break;
    default: ADD_FAILURE() << "unknown step"; break;
    }
  }
  return stack.back();
}

TEST(Recipes, Registers) {
  World w;
  EXPECT_EQ(w.value_of({reg("di")}), static_cast<int64_t>(w.registers[14]));
  EXPECT_EQ(w.value_of({reg("sp"), constant(8), {.op = Step::add}}),
            static_cast<int64_t>(w.registers[19] + 8));
}

TEST(Recipes, NarrowedToTheirType) {
  World w;
  w.registers[14] = 0xffff'ffff'ffff'ff81;
  EXPECT_EQ(w.value_of({reg("di")}, w.source.types.integer(1, true)) & 0xff, 0x81);
  EXPECT_EQ(w.value_of({reg("di")}, w.source.types.boolean()) & 0xff, 1);
}

TEST(Recipes, LoadsAndFaults) {
  World w;
  EXPECT_EQ(w.value_of({constant(Bytes::at + 3), load(4, false)}),
            static_cast<int64_t>(w.memory.word(Bytes::at + 3, 4)));
  EXPECT_EQ(w.value_of({constant(Bytes::at), load(1, true)}), -128);
  EXPECT_EQ(w.faults, 0u);
  EXPECT_EQ(w.value_of({constant(16), load(8, false)}), 0);
  EXPECT_EQ(w.faults, 1u);
}

TEST(Recipes, BranchesKeepTheStack) {
  World w;
  // 5, then by a choice 1 or 2 twice, once with both below swapped
  auto steps = [](int64_t choice) {
    return std::vector<Step>{constant(5),
                             constant(7),
                             constant(choice),
                             {.op = Step::branch, .value = 3},
                             {.op = Step::swap},
                             constant(1),
                             {.op = Step::skip, .value = 1},
                             constant(2),
                             {.op = Step::add},
                             {.op = Step::sub}};
  };
  EXPECT_EQ(w.value_of(steps(0)), 7 - (5 + 1));
  EXPECT_EQ(w.value_of(steps(1)), 5 - (7 + 2));
}

TEST(Recipes, MalformedOnesGiveZero) {
  World w;
  EXPECT_EQ(w.value_of(std::vector<Step>{}), 0);
  EXPECT_EQ(w.value_of({constant(1), {.op = Step::add}}), 0);
  EXPECT_EQ(w.value_of({constant(1), {.op = Step::skip, .value = 5}}), 0);
  EXPECT_EQ(w.value_of({constant(1), {.op = Step::skip, .value = -1}}), 0);
  EXPECT_EQ(w.value_of({constant(1), {.op = Step::pick, .value = 1}}), 0);
  EXPECT_EQ(w.value_of({constant(1), {.op = Step::pick, .value = INT64_MIN}}), 0);
  // Ways that meet with different heights.
  EXPECT_EQ(w.value_of({constant(3), constant(1), {.op = Step::branch, .value = 1}, constant(2)}), 0);
  EXPECT_EQ(w.value_of({{.op = Step::reg, .value = 4000}}), 0);
}

TEST(Recipes, PlacesAndPieces) {
  World w;
  const type::Type* bytes = w.source.types.array(w.source.types.integer(1, false), 12);
  Recipe in_memory{Recipe::address, {reg("di"), constant(5), {.op = Step::add}}, {}};
  auto got = w.bytes_of(in_memory, *bytes);
  ASSERT_GE(got.size(), 12u);
  EXPECT_EQ(std::memcmp(got.data(), w.memory.bytes + 64 * 14 + 5, 12), 0);

  Recipe mixed{Recipe::pieces, {}, {}};
  mixed.pieces_of.push_back({{constant(0x0807060504030201)}, false, 3});
  mixed.pieces_of.push_back({{constant(Bytes::at + 100)}, true, 4});
  mixed.pieces_of.push_back({{}, false, 2});
  mixed.pieces_of.push_back({{constant(0x77)}, false, 8}); // more than there is room for
  got = w.bytes_of(mixed, *bytes);
  unsigned char wanted[12] = {
      1,    2, 3, w.memory.bytes[100], w.memory.bytes[101], w.memory.bytes[102], w.memory.bytes[103], 0, 0,
      0x77, 0, 0};
  ASSERT_GE(got.size(), 12u);
  EXPECT_EQ(std::memcmp(got.data(), wanted, 12), 0);
}

// Random recipes whose heights are right give what the plain machine gives.
std::vector<Step> random_steps(std::mt19937_64& random, size_t& height, size_t floor, int depth) {
  std::vector<Step> steps;
  auto below = [&](uint64_t n) { return random() % n; };
  size_t count = 1 + below(12);
  for (size_t i = 0; i < count; i++) {
    if (depth < 3 && below(8) == 0) { // if … else …, both of the same height
      if (height == floor) steps.push_back(constant(static_cast<int64_t>(below(2)))), height++;
      height--;
      size_t one = height, other = height;
      auto second = random_steps(random, one, floor, depth + 1); // not taken where it branches
      auto first = random_steps(random, other, floor, depth + 1);
      for (; one > other; one--) second.push_back({.op = Step::drop});
      for (; other > one; other--) first.push_back({.op = Step::drop});
      steps.push_back({.op = Step::branch, .value = static_cast<int64_t>(second.size() + 1)});
      steps.insert(steps.end(), second.begin(), second.end());
      steps.push_back({.op = Step::skip, .value = static_cast<int64_t>(first.size())});
      steps.insert(steps.end(), first.begin(), first.end());
      height = one;
      continue;
    }
    size_t have = height - floor;
    uint64_t kind = below(10);
    if (have == 0 || kind < 3) {
      static constexpr int64_t numbers[] = {0,  1,         -1,        2,           63,
                                            64, INT64_MIN, INT64_MAX, 0x8000'0000, Bytes::at + 17};
      uint64_t which = below(12);
      steps.push_back(which < 10 ? constant(numbers[which])
                                 : Step{.op = Step::reg, .value = static_cast<int64_t>(8 * below(21))});
      height++;
    } else if (kind == 3) {
      static constexpr Step::Op one[] = {Step::neg,  Step::not_, Step::abs,
                                         Step::zext, Step::sext, Step::load};
      steps.push_back(
          {.op = one[below(6)], .size = static_cast<uint8_t>(1u << below(4)), .is_signed = below(2) == 0});
    } else if (kind == 4) {
      steps.push_back({.op = Step::pick, .value = static_cast<int64_t>(below(have))});
      height++;
    } else if (kind == 5 && have >= 2) {
      steps.push_back({.op = have >= 3 && below(2) ? Step::rot : Step::swap});
    } else if (have >= 2) {
      auto op = static_cast<Step::Op>(Step::add + below(Step::sge - Step::add + 1));
      steps.push_back({.op = op});
      height--;
    } else {
      steps.push_back({.op = Step::neg});
    }
  }
  return steps;
}

TEST(Recipes, AgreeWithThePlainMachine) {
  World w;
  std::mt19937_64 random(12345);
  for (int turn = 0; turn < 3000; turn++) {
    size_t height = 0;
    auto steps = random_steps(random, height, 0, 0);
    if (height == 0) steps.push_back(constant(1));
    auto wanted = static_cast<int64_t>(plainly(w, steps));
    ASSERT_EQ(w.value_of(Recipe{Recipe::value, steps, {}}, nullptr, turn % 2 == 0), wanted)
        << "turn " << turn;
  }
}

} // namespace
