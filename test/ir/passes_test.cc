// What optimize() does to small programs, and that it never changes what a program does: random programs run
// by the evaluator before and after.
#include "eval/engine.h"
#include "ir/generator.h"
#include "ir/join_registers.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>

namespace ir {
namespace {

// The optimized main function, without its head.
std::string optimized(Builder& b) {
  EXPECT_EQ(verify(b.program), std::vector<std::string>{});
  optimize(b.program);
  EXPECT_EQ(verify(b.program), std::vector<std::string>{});
  const std::string text = to_string(b.program.functions[0], b.program);
  return text.substr(text.find("b0:"));
}

TEST(Passes, ConstantsAreComputed) {
  Builder b;
  const uint32_t site = b.site(Fault::loop_limit);
  const R two = b.value(Op::mov, 2);
  const R sum = b.value(Op::add, two, 3);
  const BlockId yes = b.block(), no = b.block();
  b.branch(sum, Cond::eq, 5, yes, no);
  b.at(yes);
  b.give_back();
  b.at(no);
  b.emit(Op::count_fault).index = site;
  b.give_back();
  EXPECT_EQ(optimized(b), "b0:\n    give_back 0\n");
}

// A copy would be followed by the kernel's verifier as the address itself.
TEST(Passes, AddressAsANumberIsNoCopyOfIt) {
  Builder b;
  const R o = b.address(b.object(16));
  const R task = b.query(Query::task);
  b.store(o, b.value(Op::umod, b.value(Op::number_of, task), 7));
  b.store(o, b.value(Op::number_of, task), 8);
  b.give_back();
  EXPECT_EQ(optimized(b), "b0:\n"
                          "    %1 = object o0\n"
                          "    %2 = query task\n"
                          "    %3 = number_of %2\n"
                          "    %4 = umod %3, 7\n"
                          "    store u64 [%1], %4\n"
                          "    %5 = number_of %2\n"
                          "    store u64 [%1+8], %5\n"
                          "    give_back 0\n");
}

TEST(Passes, ConstantAsANumberIsComputed) {
  Builder b;
  const R o = b.address(b.object(8));
  b.store(o, b.value(Op::add, b.value(Op::number_of, 5), 2));
  b.value(Op::number_of, o); // nobody needs it
  b.give_back();
  EXPECT_EQ(optimized(b), "b0:\n"
                          "    %1 = object o0\n"
                          "    store u64 [%1], 7\n"
                          "    give_back 0\n");
}

TEST(Passes, ArithmeticIsSimplified) {
  Builder b;
  const R o = b.address(b.object(64));
  b.store(o, b.query(Query::ktime));
  const R x = b.load(o);
  b.store(o, b.value(Op::mul, 8, x), 0);
  b.store(o, b.value(Op::umod, x, 16), 8);
  b.store(o, b.value(Op::sub, b.value(Op::add, x, 5), 5), 16);
  b.store(o, b.value(Op::udiv, x, 1), 24);
  const R byte = b.load(o, 32, 1);
  const R wide = b.value(Op::zext, byte);
  b.last().size = 2;
  b.store(o, wide, 40);
  b.give_back();
  EXPECT_EQ(optimized(b), "b0:\n"
                          "    %1 = object o0\n"
                          "    %2 = query ktime\n"
                          "    store u64 [%1], %2\n"
                          "    %3 = load.script u64 [%1]\n"
                          "    %4 = shl %3, 3\n"
                          "    store u64 [%1], %4\n"
                          "    %5 = and %3, 15\n"
                          "    store u64 [%1+8], %5\n"
                          "    store u64 [%1+16], %3\n"
                          "    store u64 [%1+24], %3\n"
                          "    %9 = load.script u8 [%1+32]\n"
                          "    store u64 [%1+40], %9\n"
                          "    give_back 0\n");
}

TEST(Passes, ComparisonsJoinTheirBranches) {
  Builder b;
  const uint32_t site = b.site(Fault::loop_limit);
  const R x = b.query(Query::cpu);
  const R less = b.value(Op::set, x, 4);
  b.last().cond = Cond::ult;
  const R truth = b.value(Op::set, less, 0);
  b.last().cond = Cond::eq;
  const BlockId yes = b.block(), no = b.block();
  b.branch(truth, Cond::ne, 0, yes, no);
  b.at(yes);
  b.give_back();
  b.at(no);
  b.emit(Op::count_fault).index = site;
  b.give_back();
  EXPECT_EQ(optimized(b), "b0:\n"
                          "    %1 = query cpu\n"
                          "    branch %1 uge 4 ? b1 : b2\n"
                          "b1:\n"
                          "    give_back 0\n"
                          "b2:\n"
                          "    count_fault site 0 (loop_limit)\n"
                          "    give_back 0\n");
}

// A key of one word in an object of its own, as lowering makes them.
R find(Builder& b, uint32_t map, Value key) {
  const R object = b.address(b.object(8));
  b.store(object, key);
  return b.on_map(Op::map_find, map, object);
}

size_t count_of(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) n++;
  return n;
}

// Adds one to the entry of `key`, if there is one, and goes on.
void add_where_found(Builder& b, uint32_t map, Value key) {
  const R at = find(b, map, key);
  const BlockId there = b.block(), after = b.block();
  b.branch(at, Cond::ne, 0, there, after);
  b.at(there);
  b.store(at, b.value(Op::add, b.load(at), 1));
  b.jump(after);
  b.at(after);
}

TEST(Passes, EntriesAreLookedUpOnce) {
  Builder b;
  const uint32_t map = b.map(MapKind::hash, 8, 8), other = b.map(MapKind::hash, 8, 8);
  const R key = b.query(Query::cgroup_id);
  add_where_found(b, map, key);
  add_where_found(b, map, key);
  add_where_found(b, map, 7);
  add_where_found(b, other, key);
  b.give_back();
  EXPECT_EQ(count_of(optimized(b), "map_find"), 3u); // another key, another map
}

TEST(Passes, EntriesThatMayHaveComeOrGoneAreLookedUpAgain) {
  for (const Op change : {Op::map_remove, Op::map_slot, Op::map_store}) {
    Builder b;
    const uint32_t map = b.map(MapKind::hash, 8, 8);
    const R key = b.query(Query::cgroup_id);
    add_where_found(b, map, key);
    // On one of two ways only.
    const BlockId changed = b.block(), after = b.block();
    b.branch(key, Cond::ult, 9, changed, after);
    b.at(changed);
    const R where = b.address(b.object(8)), value = b.address(b.object(8));
    b.store(where, 5);
    b.store(value, 1);
    b.on_map(change, map, where, change == Op::map_store ? Value(value) : Value());
    b.jump(after);
    b.at(after);
    add_where_found(b, map, key);
    b.give_back();
    EXPECT_EQ(count_of(optimized(b), "map_find"), 2u);
  }
}

TEST(Passes, KeysThatAreWrittenTwiceAreNotKnown) {
  Builder b;
  const uint32_t map = b.map(MapKind::hash, 8, 8);
  const R object = b.address(b.object(8));
  const R key = b.query(Query::cgroup_id);
  for (const Value v : {Value(key), Value(1)}) {
    b.store(object, v);
    const R at = b.on_map(Op::map_find, map, object);
    const BlockId there = b.block(), after = b.block();
    b.branch(at, Cond::ne, 0, there, after);
    b.at(there);
    b.store(at, 1);
    b.jump(after);
    b.at(after);
  }
  b.give_back();
  EXPECT_EQ(count_of(optimized(b), "map_find"), 2u);
}

TEST(Passes, DecidedJoinsAreSkipped) {
  Builder b;
  const uint32_t site = b.site(Fault::loop_limit);
  const R x = b.query(Query::cpu), truth = b.reg();
  const BlockId one = b.block(), zero = b.block(), join = b.block(), yes = b.block(), no = b.block();
  b.branch(x, Cond::eq, 7, one, zero);
  b.at(one);
  b.emit_to(truth, Op::mov, 1);
  b.jump(join);
  b.at(zero);
  b.emit_to(truth, Op::mov, 0);
  b.jump(join);
  b.at(join);
  b.branch(truth, Cond::ne, 0, yes, no);
  b.at(yes);
  b.emit(Op::count_fault).index = site;
  b.jump(no);
  b.at(no);
  b.give_back();
  EXPECT_EQ(optimized(b), "b0:\n"
                          "    %1 = query cpu\n"
                          "    branch %1 eq 7 ? b1 : b2\n"
                          "b1:\n"
                          "    count_fault site 0 (loop_limit)\n"
                          "    jump b2\n"
                          "b2:\n"
                          "    give_back 0\n");
}

TEST(Passes, QueriesAreAskedOnce) {
  Builder b;
  const R o = b.address(b.object(32));
  const R x = b.query(Query::pid_tgid);
  const BlockId yes = b.block(), no = b.block();
  b.branch(x, Cond::eq, 7, yes, no);
  b.at(yes);
  b.store(o, b.query(Query::pid_tgid)); // reused
  b.store(o, b.query(Query::ktime), 8); // not on the way to `no`
  b.jump(no);
  b.at(no);
  b.store(o, b.query(Query::ktime), 16);
  b.store(o, b.query(Query::random), 24);
  b.store(o, b.query(Query::random), 24);
  b.give_back();
  EXPECT_EQ(optimized(b), "b0:\n"
                          "    %1 = object o0\n"
                          "    %2 = query pid_tgid\n"
                          "    branch %2 eq 7 ? b1 : b2\n"
                          "b1:\n"
                          "    store u64 [%1], %2\n"
                          "    %4 = query ktime\n"
                          "    store u64 [%1+8], %4\n"
                          "    jump b2\n"
                          "b2:\n"
                          "    %5 = query ktime\n"
                          "    store u64 [%1+16], %5\n"
                          "    %6 = query random\n"
                          "    store u64 [%1+24], %6\n"
                          "    %7 = query random\n"
                          "    store u64 [%1+24], %7\n"
                          "    give_back 0\n");
}

TEST(Passes, QueriesOfRegistersThatChange) {
  Builder b;
  const R o = b.address(b.object(16)), x = b.reg();
  b.emit_to(x, Op::query).query = Query::ktime;
  b.store(o, x);
  b.emit_to(x, Op::add, x, 1);
  b.store(o, x, 8);
  b.emit_to(x, Op::query).query = Query::ktime;
  b.store(o, x);
  b.give_back();
  EXPECT_EQ(optimized(b), "b0:\n"
                          "    %1 = object o0\n"
                          "    %3 = query ktime\n"
                          "    store u64 [%1], %3\n"
                          "    %2 = add %3, 1\n"
                          "    store u64 [%1+8], %2\n"
                          "    store u64 [%1], %3\n"
                          "    give_back 0\n");
}

TEST(Passes, LoadsThatMayFaultStay) {
  Builder b;
  const uint32_t site = b.site(Fault::read_user);
  const BlockId ok = b.block(), fault = b.block();
  b.value(Op::load, 4096);
  b.last().space = Space::user, b.last().target = ok, b.last().other = fault;
  b.at(fault);
  b.emit(Op::count_fault).index = site;
  b.jump(ok);
  b.at(ok);
  b.give_back();
  EXPECT_EQ(optimized(b), "b0:\n"
                          "    load.user u64 [4096] fault b2 -> b1\n"
                          "b1:\n"
                          "    give_back 0\n"
                          "b2:\n"
                          "    count_fault site 0 (read_user)\n"
                          "    jump b1\n");
}

TEST(Passes, DeadCyclesGo) {
  Builder b;
  const R x = b.reg();
  b.emit_to(x, Op::mov, 0);
  for (int n = 0; n < 3; n++) b.emit_to(x, Op::add, x, b.query(Query::ktime));
  b.give_back();
  EXPECT_EQ(optimized(b), "b0:\n    give_back 0\n");
}

TEST(Passes, LoopsOfNoTurnsGo) {
  Builder b;
  const uint32_t site = b.site(Fault::loop_limit);
  const R o = b.address(b.object(8)), zero = b.value(Op::mov, 0);
  for (int n = 0; n < 2; n++) {
    const R turns = b.value(Op::loop, zero);
    b.last().index = 1, b.last().imm = 10, b.last().imm2 = site;
    if (n) b.store(o, turns);
  }
  b.give_back();
  b.function("body", Role::body, 1, 0);
  b.give_back();
  EXPECT_EQ(optimized(b), "b0:\n"
                          "    %1 = object o0\n"
                          "    store u64 [%1], 0\n"
                          "    give_back 0\n");
}

TEST(Passes, EndlessLoopsStay) {
  Builder b;
  const BlockId one = b.block(), two = b.block();
  b.jump(one);
  b.at(one);
  b.jump(two);
  b.at(two);
  b.jump(one);
  EXPECT_NE(optimized(b).find("jump"), std::string::npos);
}

// Memory in which some addresses fault, and the others have bytes that follow from their address.
class Patchy final : public eval::Memory {
public:
  bool read(uint64_t address, std::span<std::byte> to) override {
    if (address & 4) return false;
    for (size_t n = 0; n < to.size(); n++)
      to[n] = static_cast<std::byte>((address + n) * 0x9e3779b97f4a7c15 >> 56);
    return true;
  }
};

struct Outcome {
  bool ok = false;
  std::vector<std::vector<std::byte>> records;
  std::map<std::vector<std::byte>, std::vector<std::byte>> entries;
  std::vector<uint64_t> sites, full;
  bool operator==(const Outcome&) const = default;
};

Outcome evaluate(const Program& program) {
  Patchy memory;
  eval::Engine engine(program, {.user = &memory, .seed = 1, .step_budget = 1'000'000});
  Outcome out;
  out.ok = engine.run(0).ok();
  engine.drain([&](std::span<const std::byte> r) { out.records.emplace_back(r.begin(), r.end()); });
  auto entries = engine.read_map(0);
  for (auto& e : *entries) out.entries.emplace(e.key, e.values);
  out.sites = engine.counters().sites;
  out.full = engine.counters().map_full;
  return out;
}

TEST(Passes, AddressesAreAddedUpInLoads) {
  Builder b;
  const R base = b.load(b.address(b.object(8)));
  const auto load = [&](R at, int64_t offset, Space space) {
    const R value = b.load(at, offset);
    b.last().space = space;
    return value;
  };
  const R near = b.value(Op::add, base, 40), far = b.value(Op::add, base, int64_t{1} << 40);
  b.output(load(near, 8, Space::user));
  const R changed = b.reg();
  b.emit_to(changed, Op::add, base, 16);
  b.output(load(changed, 0, Space::kernel));
  b.output(load(far, 0, Space::user));
  b.give_back();
  const std::string text = optimized(b);
  EXPECT_NE(text.find("load.user u64 [%2+48]"), std::string::npos) << text;
  EXPECT_NE(text.find("load.kernel u64 [%2+16]"), std::string::npos) << text;
  EXPECT_NE(text.find("add %2, 0x10000000000"), std::string::npos) << text;
}

TEST(JoinRegisters, CopiesInALoopGo) {
  Builder b;
  const R sum = b.reg(), node = b.reg(), next = b.reg(), before = b.reg();
  const BlockId head = b.block(), turn = b.block(), end = b.block();
  b.emit_to(sum, Op::mov, 0);
  b.emit_to(node, Op::mov, 4096);
  b.jump(head);
  b.at(head);
  b.branch(node, Cond::ne, 0, turn, end);
  b.at(turn);
  b.emit_to(before, Op::mov, sum);
  b.emit_to(next, Op::sub, node, 1);
  b.emit_to(sum, Op::add, before, node); // `node` is needed here still: it and `next` stay apart
  b.emit_to(node, Op::mov, next);
  b.jump(head);
  b.at(end);
  b.give_back(sum);
  EXPECT_EQ(verify(b.program), std::vector<std::string>{});
  join_registers(b.now());
  EXPECT_EQ(verify(b.program), std::vector<std::string>{});
  const std::string text = to_string(b.now(), b.program);
  EXPECT_EQ(text.substr(text.find("b2:"), text.find("b3:") - text.find("b2:")),
            "b2:\n    %3 = sub %2, 1\n    %1 = add %1, %2\n    %2 = mov %3\n    jump b1\n");
}

size_t count_insts(const Program& program) {
  size_t n = 0;
  for (const Function& f : program.functions)
    for (const Block& b : f.blocks) n += b.insts.size();
  return n;
}

TEST(Passes, RandomProgramsDoTheSame) {
  size_t before = 0, after = 0;
  for (uint32_t seed = 1; seed <= 5000; seed++) {
    Builder b;
    Generator(seed).make(b);
    ASSERT_EQ(verify(b.program), std::vector<std::string>{}) << "seed " << seed << "\n"
                                                             << to_string(b.program);
    const Outcome expected = evaluate(b.program);
    ASSERT_TRUE(expected.ok) << "seed " << seed;
    ASSERT_EQ(expected.records.size(), 4u);
    before += count_insts(b.program);
    optimize(b.program);
    ASSERT_EQ(verify(b.program), std::vector<std::string>{}) << "seed " << seed;
    ASSERT_TRUE(evaluate(b.program) == expected) << "seed " << seed << "\n" << to_string(b.program);
    after += count_insts(b.program);
    for (Function& f : b.program.functions) join_registers(f);
    ASSERT_EQ(verify(b.program), std::vector<std::string>{}) << "seed " << seed;
    ASSERT_TRUE(evaluate(b.program) == expected) << "seed " << seed << "\n" << to_string(b.program);
  }
  // Not a goal, but a pass that stopped working would show.
  EXPECT_LT(after * 10, before * 9) << after << " of " << before;
}

} // namespace
} // namespace ir
