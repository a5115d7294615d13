// Expressions, as they are carried out at once and as steps of recipes.
#include "expression_engines.h"

#include <gtest/gtest.h>

#include <random>

using samples::run_both;
using samples::TypesUnit;

namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> numbers) {
  std::vector<std::byte> out;
  for (int n : numbers) out.push_back(static_cast<std::byte>(n));
  return out;
}

// What an expression leaves: a number, an address, or why it cannot be.
std::string told(std::initializer_list<int> numbers) {
  TypesUnit types;
  dwarf::ExpressionState state;
  state.reg = [](uint64_t number) { return number * 100; };
  std::vector<std::byte> bytes = bytes_of(numbers);
  state.read = [](uint64_t address, std::span<std::byte> to) {
    return samples::read_made_up(address, to.data(), to.size());
  };
  auto parts = dwarf::run_expression(*types.unit(), bytes, state);
  if (!parts) return parts.error().message;
  std::string out;
  for (const dwarf::PlacePart& p : *parts) {
    static constexpr const char* names[] = {"gone", "memory", "reg", "value", "bytes", "pointer"};
    out += (out.empty() ? "" : ", ") + std::string(names[p.kind]) + " " +
           std::to_string(static_cast<int64_t>(p.number));
    if (p.bits) out += " for " + std::to_string(p.bits) + " from " + std::to_string(p.first_bit);
  }
  EXPECT_EQ(run_both(types, bytes).difference, "");
  return out;
}

} // namespace

TEST(Expressions, PlacesAndValues) {
  EXPECT_EQ(told({0x55}), "reg 5");
  EXPECT_EQ(told({0x90, 17}), "reg 17");
  EXPECT_EQ(told({0x77, 0x78}), "memory 692");            // breg7 -8
  EXPECT_EQ(told({0x08, 7, 0x9f}), "value 7");            // const1u 7, stack_value
  EXPECT_EQ(told({0x09, 0xff, 0x9f}), "value -1");        // const1s
  EXPECT_EQ(told({0x30, 0x4f, 0x1c, 0x9f}), "value -31"); // 0 - 31
  EXPECT_EQ(told({}), "gone 0");
  EXPECT_EQ(told({0x9e, 2, 1, 2}), "bytes 0");
  EXPECT_EQ(told({0xa0, 5, 0, 0, 0, 3}), "pointer 5");
  EXPECT_EQ(told({0x50, 0x93, 4, 0x93, 4, 0x51, 0x9d, 3, 2}),
            "reg 0 for 32 from 0, gone 0 for 32 from 0, reg 1 for 3 from 2");
}

TEST(Expressions, Arithmetic) {
  EXPECT_EQ(told({0x09, 0xf9, 0x32, 0x1b, 0x9f}), "value -3");            // -7 / 2
  EXPECT_EQ(told({0x37, 0x34, 0x1d, 0x9f}), "value 3");                   // 7 mod 4
  EXPECT_EQ(told({0x09, 0xf8, 0x31, 0x26, 0x9f}), "value -4");            // -8 >> 1
  EXPECT_EQ(told({0x09, 0xff, 0x31, 0x2d, 0x9f}), "value 1");             // -1 < 1
  EXPECT_EQ(told({0x31, 0x32, 0x33, 0x17, 0x13, 0x1c, 0x9f}), "value 2"); // 1 2 3 rot: 3 1 2; drop; 3 - 1
  EXPECT_EQ(told({0x31, 0x32, 0x15, 1, 0x22, 0x22, 0x9f}), "value 4");    // pick 1
}

// int at 13, unsigned at 16, float at 34, double at 37.
TEST(Expressions, TypedValues) {
  EXPECT_EQ(told({0x0e, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xa8, 13, 0x9f}), "value -1");
  EXPECT_EQ(told({0x09, 0xff, 0xa8, 16, 0xa8, 19, 0x9f}), "value 4294967295");
  EXPECT_EQ(told({0x39, 0xa8, 37, 0x34, 0xa8, 37, 0x1b, 0x34, 0xa8, 37, 0x1e, 0xa8, 19, 0x9f}),
            "value 9");                                                        // 9.0/4*4
  EXPECT_EQ(told({0xa4, 34, 4, 0, 0, 0x20, 0x40, 0xa8, 13, 0x9f}), "value 2"); // 2.5f
  EXPECT_EQ(told({0xa5, 5, 25, 0x9f}), "value 244");                           // 500 as unsigned char
}

TEST(Expressions, Branches) {
  // if (1) 5 else 6
  EXPECT_EQ(told({0x31, 0x28, 4, 0, 0x36, 0x2f, 1, 0, 0x35, 0x9f}), "value 5");
  EXPECT_EQ(told({0x30, 0x28, 4, 0, 0x36, 0x2f, 1, 0, 0x35, 0x9f}), "value 6");
  // for (n = 5; n; n--); n
  EXPECT_EQ(told({0x35, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff, 0x9f}), "value 0");
  EXPECT_EQ(told({0x2f, 0xfd, 0xff}), "an expression does not end");
  EXPECT_EQ(told({0x2f, 9, 0}), "the debug information is damaged: a branch leads nowhere");
}

TEST(Expressions, MistakesAreTold) {
  EXPECT_EQ(told({0x22}), "the debug information is damaged");
  EXPECT_EQ(told({0x08}), "the debug information is damaged: an expression is cut off");
  EXPECT_EQ(told({0x07}), "it is described with an operation that acu does not know (0x07)");
  EXPECT_EQ(told({0x31, 0x30, 0x1b}), "what a division by 0 gives is not known");
  EXPECT_EQ(told({0x50, 0x31}), "the debug information is damaged"); // nothing may follow a register
  EXPECT_EQ(told({0x9c}), "the frame is not known");
}

// Expressions of random operations that fit the stack: both engines say the same.
TEST(Expressions, EnginesAgree) {
  TypesUnit types;
  std::mt19937 random(1);
  auto any = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int ran = 0;
  for (int round = 0; round < 20000; round++) {
    std::vector<std::byte> bytes;
    auto add = [&](int n) { bytes.push_back(static_cast<std::byte>(n)); };
    int depth = 0;
    for (int i = 0; i < 4 + any(12); i++) {
      int kind = any(8);
      if (depth < 2 || kind == 0) {
        static constexpr int pushes[] = {0x08, 0x09, 0x30, 0x70, 0x91};
        int code = pushes[any(5)];
        add(code == 0x30 ? code + any(32) : code == 0x70 ? code + any(17) : code);
        if (code != 0x30) add(code == 0x08 || code == 0x09 ? any(256) : any(128));
        depth++;
      } else if (kind < 4) {
        static constexpr int binaries[] = {0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x21, 0x22, 0x24, 0x25,
                                           0x26, 0x27, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e};
        add(binaries[any(17)]);
        depth--;
      } else if (kind == 4) {
        static constexpr int unaries[] = {0x19, 0x1f, 0x20, 0x06};
        add(unaries[any(4)]);
      } else if (kind == 5) {
        static constexpr int moves[] = {0x12, 0x14, 0x16};
        int code = moves[any(3)];
        add(code);
        if (code != 0x16) depth++;
      } else if (kind == 6) {
        add(0xa8), add(any(5) ? 13 + 3 * any(7) : 0); // convert to an integer
      } else {
        add(0x94), add(1 << any(4));
      }
    }
    while (depth > 1) add(0x13), depth--;
    if (any(2)) add(0x9f); // a value
    samples::EnginesResult result = run_both(types, bytes);
    ran += result.ran && result.translated;
    std::string text;
    for (std::byte b : bytes) text += " " + std::to_string(static_cast<int>(b));
    ASSERT_EQ(result.difference, "") << text;
  }
  EXPECT_GT(ran, 5000);
}
