// Expressions, operation by operation: DWARF 5, sections 2.5.1 and 2.6. What is damaged, or does not end, is refused.
#include "dwarf/expression_run.h"

#include <gtest/gtest.h>

#include <cstring>

namespace dwarf {
namespace {

using Code = std::vector<uint8_t>;

base::ByteSpan bytes(const Code& code) { return std::as_bytes(std::span(code)); }
template<class... Parts> Code joined(const Parts&... parts) {
  Code out;
  (out.insert(out.end(), parts.begin(), parts.end()), ...);
  return out;
}
Code constant(int64_t n) { // DW_OP_const8s
  Code out = {0x0f};
  for (int i = 0; i < 8; i++) out.push_back(static_cast<uint8_t>(static_cast<uint64_t>(n) >> 8 * i));
  return out;
}
Code op(std::initializer_list<uint8_t> code) { return code; }
constexpr uint8_t stack_value = 0x9f;

class ExpressionTest : public testing::Test {
protected:
  ExpressionTest() {
    header.encoding = {.version = 5};
    unit.header = &header;
    state.reg = [](uint64_t n) { return n < 17 ? std::optional(1000 * n) : std::nullopt; };
    state.read = [](uint64_t address, std::span<std::byte> to) {
      if (address < 0x1000) return false;
      for (size_t i = 0; i < to.size(); i++) to[i] = static_cast<std::byte>(0xf0 + i);
      return true;
    };
    state.frame_base = [] { return std::optional<uint64_t>(0x7000); };
    state.cfa = [] { return std::optional<uint64_t>(0x8000); };
    state.bias = 0x400000;
  }
  base::Result<std::vector<PlacePart>> run(const Code& code) { return run_expression(unit, bytes(code), state); }
  // The number that an expression leaves.
  int64_t value(const Code& code) {
    auto parts = run(joined(code, op({stack_value})));
    EXPECT_TRUE(parts.ok()) << parts.error().message;
    if (!parts.ok()) return -77777;
    EXPECT_EQ(parts->size(), 1u);
    EXPECT_EQ(parts->at(0).kind, PlacePart::value);
    return static_cast<int64_t>(parts->at(0).number);
  }
  int64_t of(uint8_t code, int64_t a, int64_t b) { return value(joined(constant(a), constant(b), op({code}))); }
  int64_t of(uint8_t code, int64_t a) { return value(joined(constant(a), op({code}))); }
  std::string mistake(const Code& code) {
    auto parts = run(code);
    return parts.ok() ? "" : parts.error().message;
  }
  UnitHeader header;
  Unit unit;
  ExpressionState state;
};

constexpr int64_t least = INT64_MIN, most = INT64_MAX;
const std::string damage = "the debug information is damaged";

// ---- literals, section 2.5.1.1

TEST_F(ExpressionTest, ConstantsHaveTheirSizeAndSign) {
  EXPECT_EQ(value({0x30}), 0) << "DW_OP_lit0";
  EXPECT_EQ(value({0x4f}), 31) << "DW_OP_lit31";
  EXPECT_EQ(value({0x08, 0xff}), 255) << "const1u";
  EXPECT_EQ(value({0x09, 0xff}), -1) << "const1s";
  EXPECT_EQ(value({0x0a, 0xfe, 0xff}), 65534);
  EXPECT_EQ(value({0x0b, 0xfe, 0xff}), -2);
  EXPECT_EQ(value({0x0c, 0, 0, 0, 0x80}), 0x80000000);
  EXPECT_EQ(value({0x0d, 0, 0, 0, 0x80}), -0x80000000l);
  EXPECT_EQ(value({0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80}), least + 1);
  EXPECT_EQ(value(constant(least)), least);
  EXPECT_EQ(value({0x10, 0xe5, 0x8e, 0x26}), 624485) << "constu; the example of appendix C";
  EXPECT_EQ(value({0x11, 0x80, 0x7f}), -128) << "consts; the same";
}

TEST_F(ExpressionTest, AddressesMoveWithTheFile) {
  auto parts = run({0x03, 0x10, 0, 0, 0, 0, 0, 0, 0});
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(parts->at(0).kind, PlacePart::memory);
  EXPECT_EQ(parts->at(0).number, 0x400010u);
}

TEST_F(ExpressionTest, RegistersAndFrames) {
  EXPECT_EQ(value({0x70, 0x7f}), -1) << "breg0 -1";
  EXPECT_EQ(value({0x73, 5}), 3005) << "breg3 5";
  EXPECT_EQ(value({0x92, 4, 0x80, 0x7f}), 4000 - 128) << "bregx";
  EXPECT_EQ(value({0x91, 0x70}), 0x7000 - 16) << "fbreg -16";
  EXPECT_EQ(value({0x9c}), 0x8000) << "call_frame_cfa";
  EXPECT_EQ(mistake({0x92, 17, 0}), "a register is not known");
  state.frame_base = {}, state.cfa = {};
  EXPECT_EQ(mistake({0x91, 0}), "the base of the frame is not known");
  EXPECT_EQ(mistake({0x9c}), "the frame is not known");
  EXPECT_EQ(mistake({0x97}), "the object it is a part of is not known");
  EXPECT_EQ(mistake({0xa3, 1, 0x55}), "what it was when the function began is not known");
  state.object = 0x1234, state.entry_value = [](base::ByteSpan e) { return std::optional<uint64_t>(e.size()); };
  EXPECT_EQ(value({0x97}), 0x1234);
  EXPECT_EQ(value({0xa3, 2, 0x55, 0x96}), 2);
}

TEST_F(ExpressionTest, VariablesOfAThread) {
  EXPECT_EQ(mistake({0x35, 0x9b}), "where the thread's variables are is not known");
  state.thread_variable = [](uint64_t offset) { return std::optional(0x9000 + offset); };
  EXPECT_EQ(value({0x35, 0x9b}), 0x9005);
  EXPECT_EQ(value({0x35, 0xe0}), 0x9005) << "DW_OP_GNU_push_tls_address";
  EXPECT_EQ(mistake({0x9b}), damage);
}

// ---- the stack, section 2.5.1.3

TEST_F(ExpressionTest, StackOperations) {
  EXPECT_EQ(value({0x31, 0x32, 0x12, 0x22, 0x22}), 5) << "dup: 1 2 2";
  EXPECT_EQ(value({0x31, 0x32, 0x13}), 1) << "drop";
  EXPECT_EQ(value({0x31, 0x32, 0x14}), 1) << "over";
  EXPECT_EQ(value({0x31, 0x32, 0x33, 0x15, 2}), 1) << "pick 2";
  EXPECT_EQ(value({0x31, 0x32, 0x33, 0x15, 0}), 3) << "pick 0";
  EXPECT_EQ(value({0x37, 0x32, 0x16, 0x1c}), 2 - 7) << "swap: 2 7, minus";
  // Section 2.5.1.3: the top becomes the third, the second the top, the third the second: 17 29 1000 with rot is 29 1000 17.
  EXPECT_EQ(value({0x31, 0x32, 0x33, 0x17}), 2);
  EXPECT_EQ(value({0x31, 0x32, 0x33, 0x17, 0x13}), 1);
  EXPECT_EQ(value({0x31, 0x32, 0x33, 0x17, 0x13, 0x13}), 3);
}

TEST_F(ExpressionTest, AnEmptyStackIsDamage) {
  for (const Code& code : {Code{0x12}, {0x13}, {0x31, 0x14}, {0x31, 0x15, 1}, {0x31, 0x16}, {0x31, 0x32, 0x17}, {0x06}, {0x94, 4}, {0x19}, {0x1f}, {0x20}, {0x23, 1},
                           {0x31, 0x22}, {0x31, 0x1b}, {0x31, 0x29}, {0x28, 0, 0}, {stack_value}})
    EXPECT_EQ(mistake(code), damage) << int{code.back()};
}

TEST_F(ExpressionTest, MemoryIsReadUnsigned) {
  EXPECT_EQ(static_cast<uint64_t>(value(joined(constant(0x1000), op({0x06})))), 0xf7f6f5f4f3f2f1f0u);
  EXPECT_EQ(value(joined(constant(0x1000), op({0x94, 1}))), 0xf0);
  EXPECT_EQ(value(joined(constant(0x1000), op({0x94, 4}))), 0xf3f2f1f0);
  EXPECT_EQ(mistake(joined(constant(0x10), op({0x06}))), "memory is not known");
  EXPECT_EQ(mistake(joined(constant(0x1000), op({0x94, 0}))), damage);
  EXPECT_EQ(mistake(joined(constant(0x1000), op({0x94, 9}))), damage);
  state.read = {};
  EXPECT_EQ(mistake(joined(constant(0x1000), op({0x06}))), "memory is not known");
}

// ---- arithmetic, section 2.5.1.4

TEST_F(ExpressionTest, Arithmetic) {
  EXPECT_EQ(of(0x22, 5, -7), -2) << "plus";
  EXPECT_EQ(of(0x1c, 5, 7), -2) << "minus: the second less the top";
  EXPECT_EQ(of(0x1e, -5, 7), -35) << "mul";
  EXPECT_EQ(of(0x1b, -7, 2), -3) << "div: signed";
  EXPECT_EQ(of(0x1d, 7, 4), 3) << "mod";
  EXPECT_EQ(of(0x1a, 12, 10), 8) << "and";
  EXPECT_EQ(of(0x21, 12, 10), 14) << "or";
  EXPECT_EQ(of(0x27, 12, 10), 6) << "xor";
  EXPECT_EQ(of(0x20, 5), ~int64_t{5}) << "not";
  EXPECT_EQ(of(0x1f, 5), -5) << "neg";
  EXPECT_EQ(of(0x19, -5), 5) << "abs";
  EXPECT_EQ(value(joined(constant(-1), op({0x23, 0xff, 1}))), 254) << "plus_uconst 255";
}

TEST_F(ExpressionTest, ArithmeticWrapsAround) {
  EXPECT_EQ(of(0x22, most, 1), least);
  EXPECT_EQ(of(0x1c, least, 1), most);
  EXPECT_EQ(of(0x1e, most, 2), -2);
  EXPECT_EQ(of(0x1b, least, -1), least);
  EXPECT_EQ(of(0x1f, least), least);
  EXPECT_EQ(of(0x19, least), least);
  EXPECT_EQ(of(0x1d, least, -1), least) << "mod of the generic type is unsigned";
}

TEST_F(ExpressionTest, ADivisionByZeroHasNoValue) {
  EXPECT_EQ(mistake(joined(constant(1), constant(0), op({0x1b}))), "what a division by 0 gives is not known");
  EXPECT_EQ(mistake(joined(constant(1), constant(0), op({0x1d}))), "what a division by 0 gives is not known");
}

TEST_F(ExpressionTest, Shifts) {
  EXPECT_EQ(of(0x24, 1, 63), least) << "shl";
  EXPECT_EQ(of(0x25, -1, 60), 15) << "shr: zeroes come in";
  EXPECT_EQ(of(0x26, -16, 2), -4) << "shra: the sign comes in";
  for (int64_t far : {int64_t{64}, int64_t{1000}, int64_t{-1}}) {
    EXPECT_EQ(of(0x24, 1, far), 0) << far;
    EXPECT_EQ(of(0x25, -1, far), 0) << far;
    EXPECT_EQ(of(0x26, -5, far), -1) << far;
    EXPECT_EQ(of(0x26, 5, far), 0) << far;
  }
}

TEST_F(ExpressionTest, ComparisonsAreSigned) {
  const struct {
    uint8_t code;
    bool less, equal, greater; // of the second with the top
  } rows[] = {{0x29, false, true, false}, {0x2a, false, true, true}, {0x2b, false, false, true}, {0x2c, true, true, false}, {0x2d, true, false, false}, {0x2e, true, false, true}};
  for (const auto& r : rows) {
    EXPECT_EQ(of(r.code, -1, 1), r.less) << int{r.code};
    EXPECT_EQ(of(r.code, least, most), r.less) << int{r.code};
    EXPECT_EQ(of(r.code, 7, 7), r.equal) << int{r.code};
    EXPECT_EQ(of(r.code, 1, -1), r.greater) << int{r.code};
  }
}

// ---- control flow, section 2.5.1.5

TEST_F(ExpressionTest, Branches) {
  EXPECT_EQ(value({0x31, 0x2f, 1, 0, 0x12, 0x35}), 5) << "skip over dup";
  EXPECT_EQ(value({0x37, 0x31, 0x28, 1, 0, 0x20}), 7) << "bra: taken";
  EXPECT_EQ(value({0x37, 0x30, 0x28, 1, 0, 0x20}), ~int64_t{7}) << "not taken";
  // 5 + 4 + 3 + 2 + 1: sum n; while n: sum += n, n -= 1
  EXPECT_EQ(value({0x30, 0x35, /* loop: sum n */ 0x12, 0x17, 0x22, 0x16, 0x31, 0x1c, 0x12, 0x28, 0xf6, 0xff, 0x13}), 15);
  EXPECT_EQ(value({0x31, 0x2f, 0, 0}), 1) << "to the end";
}

TEST_F(ExpressionTest, BranchesLeadToOperations) {
  const std::string nowhere = damage + ": a branch leads nowhere";
  EXPECT_EQ(mistake({0x2f, 1, 0, 0x08, 5}), nowhere) << "into an operand";
  EXPECT_EQ(mistake({0x2f, 9, 0}), nowhere);
  EXPECT_EQ(mistake({0x2f, 0xfc, 0xff}), nowhere) << "before the begin";
  EXPECT_EQ(mistake({0x2f, 0, 0x80}), nowhere);
}

TEST_F(ExpressionTest, LoopsEnd) {
  EXPECT_EQ(mistake({0x2f, 0xfd, 0xff}), "an expression does not end");
  EXPECT_EQ(mistake({0x31, 0x2f, 0xfc, 0xff}), damage) << "the stack grows without end";
  Code longest(5000, 0x96);
  EXPECT_EQ(mistake(longest), damage + ": an expression is too long");
}

// ---- places, section 2.6

TEST_F(ExpressionTest, WhereAThingIs) {
  auto in_register = run({0x53});
  ASSERT_TRUE(in_register.ok());
  EXPECT_EQ(in_register->at(0).kind, PlacePart::reg);
  EXPECT_EQ(in_register->at(0).number, 3u);
  auto high = run({0x90, 0x80, 1});
  EXPECT_EQ(high->at(0).number, 128u) << "regx";
  auto nowhere = run({});
  ASSERT_TRUE(nowhere.ok());
  EXPECT_EQ(nowhere->at(0).kind, PlacePart::gone) << "section 2.6.1.1.4: an empty expression";
  auto constant_bytes = run({0x9e, 3, 'a', 'b', 'c'});
  EXPECT_EQ(constant_bytes->at(0).kind, PlacePart::bytes);
  EXPECT_EQ(constant_bytes->at(0).block.size(), 3u);
  auto pointer = run({0xa0, 0x10, 0, 0, 0, 0x7c});
  EXPECT_EQ(pointer->at(0).kind, PlacePart::pointer);
  EXPECT_EQ(pointer->at(0).number, 0x10u);
  EXPECT_EQ(pointer->at(0).offset, -4);
}

TEST_F(ExpressionTest, ThingsInParts) {
  auto parts = run({0x53, 0x93, 4, 0x93, 2, 0x91, 0, 0x93, 8, 0x31, stack_value, 0x9d, 3, 5});
  ASSERT_TRUE(parts.ok()) << parts.error().message;
  ASSERT_EQ(parts->size(), 4u);
  EXPECT_EQ(parts->at(0).kind, PlacePart::reg);
  EXPECT_EQ(parts->at(0).bits, 32u);
  EXPECT_EQ(parts->at(1).kind, PlacePart::gone) << "section 2.6.1.2: nothing before a piece";
  EXPECT_EQ(parts->at(2).kind, PlacePart::memory);
  EXPECT_EQ(parts->at(2).number, 0x7000u);
  EXPECT_EQ(parts->at(3).kind, PlacePart::value);
  EXPECT_EQ(parts->at(3).bits, 3u);
  EXPECT_EQ(parts->at(3).first_bit, 5u);
}

TEST_F(ExpressionTest, NothingFollowsAPlaceButItsSize) {
  EXPECT_EQ(mistake({0x53, 0x31}), damage);
  EXPECT_EQ(mistake({0x31, stack_value, 0x31}), damage);
  EXPECT_EQ(mistake({0x53, 0x53}), damage);
  EXPECT_TRUE(run({0x53, 0xf0}).ok()) << "DW_OP_GNU_uninit says nothing of it";
  EXPECT_EQ(mistake({0x53, 0x93, 4, 0x54}), damage) << "the last part has no size";
}

TEST_F(ExpressionTest, PartsHaveLimits) {
  Code many;
  for (int i = 0; i < 65; i++) many.insert(many.end(), {0x53, 0x93, 1});
  EXPECT_EQ(mistake(many), damage);
  EXPECT_EQ(mistake({0x53, 0x93, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}), damage);
}

// ---- what is damaged

TEST_F(ExpressionTest, OperandsThatAreCutOff) {
  const Code whole[] = {{0x03, 1, 2, 3, 4, 5, 6, 7, 8}, constant(5), {0x0c, 1, 2, 3, 4}, {0x92, 0x80, 1, 0x80, 1}, {0x10, 0x80, 0x80, 1}, {0x9e, 3, 1, 2, 3}, {0xa0, 1, 2, 3, 4, 5}, {0x15, 1}, {0x28, 1, 0}};
  for (const Code& code : whole)
    for (size_t size = 1; size < code.size(); size++)
      EXPECT_EQ(mistake(Code(code.begin(), code.begin() + static_cast<ptrdiff_t>(size))), damage + ": an expression is cut off") << int{code[0]} << " " << size;
}

TEST_F(ExpressionTest, UnknownOperations) {
  for (uint8_t code : {0x00, 0x01, 0x02, 0x04, 0x05, 0x07, 0xaa, 0xdf, 0xff}) {
    const std::string message = mistake({code});
    EXPECT_TRUE(message.starts_with("it is described with an operation that acu does not know (0x")) << message;
  }
  EXPECT_EQ(mistake({0x31, 0x31, 0x18}), "acu does not follow DW_OP_xderef");
  EXPECT_EQ(operation_name(0x30), "lit0");
  EXPECT_EQ(operation_name(0x6f), "reg31");
  EXPECT_EQ(operation_name(0x8f), "breg31");
  EXPECT_EQ(operation_name(0xa3), "entry_value");
  EXPECT_EQ(operation_name(0x07), "0x07");
}

// Any bytes have an end: a result or a mistake.
TEST_F(ExpressionTest, AllPairsOfBytesEnd) {
  for (unsigned a = 0; a < 256; a++)
    for (unsigned b = 0; b < 256; b++) {
      if ((a >= 0xa4 && a <= 0xa9) || (b >= 0xa4 && b <= 0xa9) || a >= 0xf2 || b >= 0xf2 || (a >= 0x98 && a <= 0x9a) || (b >= 0x98 && b <= 0x9a) || a == 0xa1 || a == 0xa2 || b == 0xa1 || b == 0xa2)
        continue; // these look into the unit, which has nothing here
      (void)run({0x31, 0x32, static_cast<uint8_t>(a), static_cast<uint8_t>(b), 0, 0}).ok();
    }
}

// ---- expressions of frames, section 6.4.2

TEST_F(ExpressionTest, FramesBeginWithANumber) {
  auto frame = [&](const Code& code, std::optional<uint64_t> first = std::nullopt) { return run_frame_expression(bytes(code), first, state); };
  EXPECT_EQ(*frame({0x23, 8}, 0x7000), 0x7008u);
  EXPECT_EQ(*frame({0x77, 16}), 7016u) << "breg7 16";
  EXPECT_FALSE(frame({}).ok()) << "it leaves nothing";
  EXPECT_EQ(*frame({}, 5), 5u);
}

TEST_F(ExpressionTest, FramesHaveNoPlacesAndNoUnits) {
  for (const Code& code : {Code{0x53}, {0x31, stack_value}, {0x31, 0x93, 4}, {0x91, 0}, {0x9c}, {0x97}, {0x98, 0, 0}, {0x9a, 0, 0, 0, 0}, {0xa3, 1, 0x31}, {0xa1, 0}, {0x31, 0xa8, 0}, {0x31, 0x31, 0x18}, {0x35, 0x9b}})
    EXPECT_FALSE(run_frame_expression(bytes(code), 5, state).ok()) << int{code.back()};
}

} // namespace
} // namespace dwarf
