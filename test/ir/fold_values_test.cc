// Each simplification of fold_values by itself, on one expression of a value that nobody knows; and that no simplification
// changes what an expression is worth, for all operations and numbers at their edges.
#include "eval/engine.h"
#include "ir/builder.h"
#include "ir/join_registers.h"
#include "ir/passes.h"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>

namespace ir {
namespace {

constexpr int64_t lowest = INT64_MIN, highest = INT64_MAX;

void expect_well_formed(const Program& program) { EXPECT_EQ(verify(program), std::vector<std::string>{}) << to_string(program); }

bool fold(Builder& b) {
  expect_well_formed(b.program);
  PassContext context(b.program, b.program.functions[0]);
  const bool changed = fold_values(b.program.functions[0], context);
  expect_well_formed(b.program);
  return changed;
}

// The instruction of a register, or the last one of the first block.
std::string text_of(const Builder& b, R r) {
  for (const Block& block : b.program.functions[0].blocks)
    for (const Inst& i : block.insts)
      if (i.dst == r.id) return to_string(i, b.program);
  return {};
}
std::string end_of(const Builder& b, BlockId block = 0) { return to_string(b.program.functions[0].blocks[block].insts.back(), b.program); }

// What becomes of an expression of %1, which is not known: "give_back …" of what it is a copy of, or its own instruction.
std::string folded(const std::function<R(Builder& b, R x)>& make, Query of = Query::ktime) {
  Builder b;
  const R x = b.query(of);
  const R r = make(b, x);
  b.give_back(r);
  fold(b);
  const std::string end = end_of(b);
  return end == "give_back %" + std::to_string(r.id) ? text_of(b, r) : end;
}
std::string folded(Op op, Value a, Value b = {}) {
  return folded([&](Builder& to, R) { return to.value(op, a, b); });
}
std::string folded(Op op, uint8_t size, const std::function<R(Builder& b, R x)>& of) {
  return folded([&](Builder& b, R x) {
    const R inner = of(b, x), r = b.value(op, inner);
    b.last().size = size;
    return r;
  });
}

const Value x = R{1};

TEST(Folding, constants_of_commutative_operations_stand_behind) {
  EXPECT_EQ(folded(Op::add, 5, x), "%2 = add %1, 5");
  EXPECT_EQ(folded(Op::mul, 5, x), "%2 = mul %1, 5");
  EXPECT_EQ(folded(Op::and_, 5, x), "%2 = and %1, 5");
  EXPECT_EQ(folded(Op::or_, 5, x), "%2 = or %1, 5");
  EXPECT_EQ(folded(Op::xor_, 5, x), "%2 = xor %1, 5");
  EXPECT_EQ(folded(Op::sub, 5, x), "%2 = sub 5, %1");
  EXPECT_EQ(folded(Op::shl, 5, x), "%2 = shl 5, %1");
  EXPECT_EQ(folded(Op::udiv, 8, x), "%2 = udiv 8, %1");
}

TEST(Folding, neutral_constants_leave_the_value) {
  for (const Op op : {Op::add, Op::sub, Op::or_, Op::xor_, Op::shl, Op::lshr, Op::ashr})
    EXPECT_EQ(folded(op, x, 0), "give_back %1") << to_string(op);
  for (const Op op : {Op::mul, Op::udiv}) EXPECT_EQ(folded(op, x, 1), "give_back %1") << to_string(op);
  for (const Op op : {Op::shl, Op::lshr, Op::ashr}) EXPECT_EQ(folded(op, x, 64), "give_back %1") << to_string(op);
  EXPECT_EQ(folded(Op::and_, x, -1), "give_back %1");
}

TEST(Folding, constants_that_decide) {
  EXPECT_EQ(folded(Op::mul, x, 0), "give_back 0");
  EXPECT_EQ(folded(Op::and_, x, 0), "give_back 0");
  EXPECT_EQ(folded(Op::or_, x, -1), "give_back -1");
}

TEST(Folding, powers_of_two) {
  EXPECT_EQ(folded(Op::mul, x, 1024), "%2 = shl %1, 10");
  EXPECT_EQ(folded(Op::udiv, x, 1024), "%2 = lshr %1, 10");
  EXPECT_EQ(folded(Op::umod, x, 1024), "%2 = and %1, 1023");
  EXPECT_EQ(folded(Op::mul, x, lowest), "%2 = shl %1, 63");
  EXPECT_EQ(folded(Op::udiv, x, lowest), "%2 = lshr %1, 63");
  EXPECT_EQ(folded(Op::mul, x, 1023), "%2 = mul %1, 1023");
}

TEST(Folding, sums_of_constants_are_one) {
  const auto twice = [](Op first, int64_t one, Op second, int64_t two) {
    return folded([=](Builder& b, R r) { return b.value(second, b.value(first, r, one), two); });
  };
  EXPECT_EQ(twice(Op::add, 3, Op::add, 4), "%3 = add %1, 7");
  EXPECT_EQ(twice(Op::add, 3, Op::sub, 4), "%3 = add %1, -1");
  EXPECT_EQ(twice(Op::sub, 3, Op::add, 3), "give_back %1");
  EXPECT_EQ(twice(Op::add, highest, Op::add, highest), "%3 = add %1, -2"); // 64 bits, no more
  EXPECT_EQ(folded(Op::sub, x, lowest), "%2 = add %1, " + folded(Op::mov, lowest).substr(sizeof "give_back " - 1));
}

// (x + 3) + 4 is not x + 7 where x is another one by then.
TEST(Folding, sums_of_what_has_changed_stay) {
  Builder b;
  const R r = b.reg();
  b.emit_to(r, Op::query).query = Query::ktime;
  const R first = b.value(Op::add, r, 3);
  b.emit_to(r, Op::query).query = Query::cpu;
  const R second = b.value(Op::add, first, 4);
  b.give_back(second);
  fold(b);
  EXPECT_EQ(text_of(b, second), "%3 = add %2, 4");
}

TEST(Folding, extensions_of_what_is_short_enough) {
  const auto load = [](uint8_t size, bool is_signed) {
    return [=](Builder& b, R) {
      const R o = b.address(b.object(8));
      b.store(o, 0);
      return b.load(o, 0, size, is_signed);
    };
  };
  EXPECT_EQ(folded(Op::zext, 4, load(4, false)), "give_back %3");
  EXPECT_EQ(folded(Op::zext, 2, load(4, false)), "%4 = zext16 %3");
  EXPECT_EQ(folded(Op::zext, 4, load(2, true)), "%4 = zext32 %3");
  EXPECT_EQ(folded(Op::sext, 4, load(2, true)), "give_back %3");
  EXPECT_EQ(folded(Op::sext, 4, load(2, false)), "give_back %3");
  EXPECT_EQ(folded(Op::sext, 2, load(2, false)), "%4 = sext16 %3"); // its highest bit would be the sign
  EXPECT_EQ(folded(Op::zext, 8, [](Builder&, R r) { return r; }), "give_back %1");
}

TEST(Folding, bits_that_cannot_be_set) {
  const auto masked = [](int64_t mask, const std::function<R(Builder&, R)>& of, Query query = Query::ktime) {
    return folded([&](Builder& b, R r) { return b.value(Op::and_, of(b, r), mask); }, query);
  };
  EXPECT_EQ(masked(0xff, [](Builder& b, R r) { return b.value(Op::lshr, r, 56); }), "give_back %2");
  EXPECT_EQ(masked(0x7f, [](Builder& b, R r) { return b.value(Op::lshr, r, 56); }), "%3 = and %2, 127");
  EXPECT_EQ(masked(0xff, [](Builder& b, R r) { return b.value(Op::and_, r, 0x81); }), "give_back %2");
  EXPECT_EQ(masked(0x3f, [](Builder& b, R r) { return b.value(Op::log2, b.value(Op::or_, r, 1)); }), "give_back %3");
  EXPECT_EQ(masked(1, [](Builder& b, R r) { return b.value(Op::set, r, 9); }), "give_back %2");
  EXPECT_EQ(masked(0xffffffff, [](Builder&, R r) { return r; }, Query::cpu), "give_back %1");
  EXPECT_EQ(masked(0x5, [](Builder& b, R r) { return b.value(Op::and_, r, 0x4); }), "%3 = and %2, 5"); // 5 is no row of ones
}

TEST(Folding, tables_are_looked_up) {
  const auto at = [](Value index) {
    return folded([=](Builder& b, R) {
      b.program.tables = {{10, 11, 0xffffffff}};
      return b.value(Op::table, index);
    });
  };
  EXPECT_EQ(at(1), "give_back 11");
  EXPECT_EQ(at(2), "give_back 0xffffffff");
  EXPECT_EQ(at(3), "give_back 0");
  EXPECT_EQ(at(-1), "give_back 0");
  EXPECT_NE(at(x).find("table"), std::string::npos);
}

TEST(Folding, comparisons_with_themselves_and_of_constants) {
  for (const Cond cond : {Cond::eq, Cond::ule, Cond::uge, Cond::sle, Cond::sge, Cond::ne, Cond::ult, Cond::ugt, Cond::slt, Cond::sgt}) {
    const bool is_true = holds(cond, 0, 0);
    EXPECT_EQ(folded([&](Builder& b, R r) {
                const R set = b.value(Op::set, r, r);
                b.last().cond = cond;
                return set;
              }),
              is_true ? "give_back 1" : "give_back 0")
        << to_string(cond);
  }
}

TEST(Folding, a_truth_is_the_truth_of_it) {
  const auto truth = [](Cond outer, int64_t with) {
    return folded([=](Builder& b, R r) {
      const R inner = b.value(Op::set, r, 7);
      b.last().cond = Cond::sle;
      const R set = b.value(Op::set, inner, with);
      b.last().cond = outer;
      return set;
    });
  };
  EXPECT_EQ(truth(Cond::ne, 0), "%3 = set %1 sle 7");
  EXPECT_EQ(truth(Cond::eq, 1), "%3 = set %1 sle 7");
  EXPECT_EQ(truth(Cond::eq, 0), "%3 = set %1 sgt 7");
  EXPECT_EQ(truth(Cond::ne, 1), "%3 = set %1 sgt 7");
  EXPECT_EQ(truth(Cond::ult, 1), "%3 = set %2 ult 1");
}

TEST(Folding, constants_of_comparisons_stand_behind) {
  const auto turned = [](Cond cond) {
    return folded([=](Builder& b, R r) {
      const R set = b.value(Op::set, 7, r);
      b.last().cond = cond;
      return set;
    });
  };
  EXPECT_EQ(turned(Cond::eq), "%2 = set %1 eq 7");
  EXPECT_EQ(turned(Cond::ult), "%2 = set %1 ugt 7");
  EXPECT_EQ(turned(Cond::sge), "%2 = set %1 sle 7");
}

TEST(Folding, conditions_negated_and_swapped_agree_with_what_holds) {
  const int64_t numbers[] = {0, 1, 2, -1, lowest, highest};
  for (const Cond cond : {Cond::eq, Cond::ne, Cond::ult, Cond::ule, Cond::ugt, Cond::uge, Cond::slt, Cond::sle, Cond::sgt, Cond::sge})
    for (const int64_t a : numbers)
      for (const int64_t b : numbers) {
        EXPECT_NE(holds(cond, a, b), holds(negate(cond), a, b)) << to_string(cond) << " " << a << " " << b;
        EXPECT_EQ(holds(cond, a, b), holds(swap(cond), b, a)) << to_string(cond) << " " << a << " " << b;
      }
}

TEST(Folding, branches_that_are_decided) {
  const auto goes = [](Value a, Cond cond, Value with) {
    Builder b;
    b.query(Query::ktime);
    const BlockId yes = b.block(), no = b.block();
    b.branch(a, cond, with, yes, no);
    for (const BlockId block : {yes, no}) b.at(block), b.give_back();
    fold(b);
    return end_of(b);
  };
  EXPECT_EQ(goes(1, Cond::slt, 2), "jump b1");
  EXPECT_EQ(goes(-1, Cond::ult, 2), "jump b2");
  EXPECT_EQ(goes(x, Cond::uge, x), "jump b1");
  EXPECT_EQ(goes(x, Cond::ne, x), "jump b2");
  EXPECT_EQ(goes(9, Cond::ugt, x), "branch %1 ult 9 ? b1 : b2");
}

TEST(Folding, a_branch_to_one_block_is_a_jump) {
  Builder b;
  const R r = b.query(Query::ktime);
  const BlockId next = b.block();
  b.branch(r, Cond::ult, 9, next, next);
  b.at(next);
  b.give_back();
  EXPECT_TRUE(fold(b));
  EXPECT_EQ(end_of(b), "jump b1");
}

TEST(Folding, a_register_with_several_values_is_known_in_its_block_only) {
  Builder b;
  const R r = b.reg(), o = b.address(b.object(8)), unknown = b.query(Query::ktime);
  const BlockId other = b.block(), join = b.block();
  b.emit_to(r, Op::mov, 5);
  b.store(o, r);
  b.branch(unknown, Cond::eq, 0, other, join);
  b.at(other);
  b.emit_to(r, Op::mov, 6);
  b.jump(join);
  b.at(join);
  b.give_back(r);
  fold(b);
  EXPECT_EQ(to_string(b.program.functions[0].blocks[0].insts[3], b.program), "store u64 [%2], 5");
  EXPECT_EQ(end_of(b, join), "give_back %1");
}

TEST(Folding, a_copy_is_not_what_it_copied_once_that_has_changed) {
  Builder b;
  const R r = b.reg(), copy = b.reg();
  b.emit_to(r, Op::query).query = Query::ktime;
  b.emit_to(copy, Op::mov, r);
  b.emit_to(r, Op::query).query = Query::cpu;
  b.give_back(copy);
  fold(b);
  EXPECT_EQ(end_of(b), "give_back %2");
}

TEST(Folding, a_program_without_anything_to_fold_is_not_changed) {
  Builder b;
  const R o = b.address(b.object(8)), r = b.query(Query::ktime);
  b.store(o, b.value(Op::mul, r, 3));
  b.give_back();
  const std::string before = to_string(b.program);
  EXPECT_FALSE(fold(b));
  EXPECT_EQ(to_string(b.program), before);
}

TEST(Folding, loops_of_no_turns_are_a_number) {
  Builder b;
  const uint32_t site = b.site(Fault::loop_limit);
  const R turns = b.value(Op::loop, b.value(Op::mov, 0));
  b.last().index = 1, b.last().imm = 10, b.last().imm2 = site;
  b.give_back(turns);
  b.function("body", Role::body, 1, 0);
  b.give_back();
  fold(b);
  EXPECT_EQ(text_of(b, turns), "%2 = mov 0");
}

// ---- what expressions are worth

// What the only record of the program holds.
int64_t evaluated(const Program& program) {
  eval::Engine engine(program, {});
  EXPECT_TRUE(engine.run(0).ok());
  int64_t out = 0;
  size_t records = 0;
  engine.drain([&](std::span<const std::byte> record) {
    records++;
    if (record.size() == 16) std::memcpy(&out, record.data() + 8, 8);
  });
  EXPECT_EQ(records, 1u);
  return out;
}

// One operation, of constants or of numbers that no pass knows.
struct Expression {
  Op op;
  uint8_t size = 8;
  Cond cond = Cond::eq;
  int64_t a = 0, b = 0;
};
void make(Builder& b, const Expression& e, bool knows_a, bool knows_b) {
  const auto operand = [&](int64_t n, bool is_known) { return is_known ? Value(n) : Value(b.value(Op::blur, n)); };
  const bool is_binary = row(e.op).reads & in_b;
  const Value first = operand(e.a, knows_a), second = is_binary ? operand(e.b, knows_b) : Value();
  const R r = b.value(e.op, first, second);
  b.last().size = e.size, b.last().cond = e.cond;
  b.output(r);
  b.give_back();
  b.probe();
}
void expect_same_value(const Expression& e) {
  const int64_t expected = compute({.op = e.op, .size = e.size, .cond = e.cond}, e.a, e.b);
  for (const bool knows_a : {false, true})
    for (const bool knows_b : {false, true}) {
      Builder b;
      make(b, e, knows_a, knows_b);
      ASSERT_EQ(evaluated(b.program), expected) << to_string(b.program);
      optimize(b.program);
      expect_well_formed(b.program);
      ASSERT_EQ(evaluated(b.program), expected) << e.a << ", " << e.b << "\n" << to_string(b.program);
    }
}

constexpr int64_t edges[] = {0, 1, 2, 7, 63, 64, 255, 256, 0x80000000, 0xffffffff, -1, -2, lowest, highest};

TEST(Folding, arithmetic_has_one_result_however_much_is_known) {
  for (const Op op : {Op::add, Op::sub, Op::mul, Op::udiv, Op::umod, Op::and_, Op::or_, Op::xor_, Op::shl, Op::lshr, Op::ashr})
    for (const int64_t a : edges)
      for (const int64_t b : edges) {
        if (!b && (op == Op::udiv || op == Op::umod)) continue; // the IR's b is not 0
        ASSERT_NO_FATAL_FAILURE(expect_same_value({.op = op, .a = a, .b = b})) << to_string(op);
      }
}

TEST(Folding, comparisons_have_one_result_however_much_is_known) {
  for (const Cond cond : {Cond::eq, Cond::ne, Cond::ult, Cond::ule, Cond::ugt, Cond::uge, Cond::slt, Cond::sle, Cond::sgt, Cond::sge})
    for (const int64_t a : edges)
      for (const int64_t b : {int64_t{0}, int64_t{1}, int64_t{-1}, lowest, highest})
        ASSERT_NO_FATAL_FAILURE(expect_same_value({.op = Op::set, .cond = cond, .a = a, .b = b})) << to_string(cond);
}

TEST(Folding, operations_on_one_number_have_one_result_however_much_is_known) {
  for (const Op op : {Op::mov, Op::zext, Op::sext, Op::bswap, Op::number_of, Op::log2})
    for (const uint8_t size : {1, 2, 4, 8})
      for (const int64_t a : edges) {
        if (!a && op == Op::log2) continue; // the IR's a is not 0
        ASSERT_NO_FATAL_FAILURE(expect_same_value({.op = op, .size = size, .a = a})) << to_string(op);
      }
}

// ---- addresses as numbers

TEST(NumberOf, is_pure_and_removable_and_calls_nothing) {
  EXPECT_TRUE(row(Op::number_of).is_pure);
  EXPECT_TRUE(row(Op::number_of).removable);
  EXPECT_TRUE(row(Op::number_of).has_dst);
  EXPECT_FALSE(is_call({.op = Op::number_of}));
  EXPECT_TRUE(is_arithmetic(Op::number_of));
  EXPECT_EQ(compute({.op = Op::number_of}, lowest, 0), lowest);
}

TEST(NumberOf, stays_what_it_is_of_an_address) {
  const auto of = [](const std::function<R(Builder&, R)>& address) {
    return folded([&](Builder& b, R r) { return b.value(Op::number_of, address(b, r)); }, Query::task);
  };
  EXPECT_EQ(of([](Builder&, R task) { return task; }), "%2 = number_of %1");
  EXPECT_EQ(of([](Builder& b, R) { return b.address(b.object(8)); }), "%3 = number_of %2");
  EXPECT_EQ(of([](Builder& b, R task) { return b.value(Op::mov, task); }), "%3 = number_of %1"); // the copy goes, it does not
}

// Sums behind it are of the number; none reaches through it to the address.
TEST(NumberOf, sums_do_not_reach_through_it) {
  EXPECT_EQ(folded([](Builder& b, R task) { return b.value(Op::add, b.value(Op::number_of, b.value(Op::add, task, 8)), 8); }, Query::task),
            "%4 = add %3, 8");
}

TEST(NumberOf, registers_are_not_joined_through_it_into_a_copy) {
  Builder b;
  const R task = b.query(Query::task), number = b.value(Op::number_of, task);
  b.give_back(number);
  join_registers(b.now());
  expect_well_formed(b.program);
  ASSERT_EQ(b.now().blocks[0].insts.size(), 3u);
  EXPECT_EQ(b.now().blocks[0].insts[1].op, Op::number_of);
}

} // namespace
} // namespace ir
