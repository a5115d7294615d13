// Each operation of the IR, run by the evaluator: one small program an operation, its result sent as an
// event.
#include "eval/drain.h"

#include "ir/builder.h"
#include "symbol/cgroups.h"
#include "target/areas.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

namespace eval {
namespace {

using ir::BlockId;
using ir::Builder;
using ir::Cond;
using ir::Fault;
using ir::MapKind;
using ir::Op;
using ir::Operand;
using ir::Query;
using ir::R;
using ir::Role;
using ir::Space;
using ir::Value;

// Runs a finished program; what it sent, in order.
std::vector<int64_t> run(Builder& b, const Options& options = {}) {
  if (b.program.probes.empty()) b.probe();
  EXPECT_EQ(ir::verify(b.program), std::vector<std::string>{}) << ir::to_string(b.program);
  Engine engine(b.program, options);
  auto status = engine.run(0);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  return drain(engine);
}

int64_t compute(Op op, Value x, Value y = {}, uint8_t size = 8) {
  Builder b;
  // Through memory, so that the operands are registers.
  const R o = b.address(b.object(16));
  b.store(o, x);
  if (y.kind != Operand::none) b.store(o, y, 8);
  const R left = b.load(o);
  const R r = y.kind == Operand::none ? b.value(op, left) : b.value(op, left, b.load(o, 8));
  b.last().size = size;
  b.output(r);
  b.give_back();
  const auto values = run(b);
  return values.size() == 1 ? values[0] : 0xbad;
}

TEST(Arithmetic, WrapsAround) {
  EXPECT_EQ(compute(Op::mov, -5), -5);
  EXPECT_EQ(compute(Op::blur, -5), -5);
  EXPECT_EQ(compute(Op::add, INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(compute(Op::sub, 3, 5), -2);
  EXPECT_EQ(compute(Op::mul, INT64_MAX, 2), -2);
  EXPECT_EQ(compute(Op::udiv, -1, 2), INT64_MAX);
  EXPECT_EQ(compute(Op::umod, -1, 10), 5);
  EXPECT_EQ(compute(Op::and_, 12, 10), 8);
  EXPECT_EQ(compute(Op::or_, 12, 10), 14);
  EXPECT_EQ(compute(Op::xor_, 12, 10), 6);
}

TEST(Arithmetic, ShiftsMaskTheirCount) {
  EXPECT_EQ(compute(Op::shl, 1, 4), 16);
  EXPECT_EQ(compute(Op::shl, 1, 65), 2);
  EXPECT_EQ(compute(Op::lshr, -1, 63), 1);
  EXPECT_EQ(compute(Op::ashr, -16, 2), -4);
  EXPECT_EQ(compute(Op::ashr, -16, 66), -4);
}

TEST(Arithmetic, Extends) {
  EXPECT_EQ(compute(Op::zext, 0x1ff, {}, 1), 0xff);
  EXPECT_EQ(compute(Op::zext, -1, {}, 4), 0xffffffff);
  EXPECT_EQ(compute(Op::sext, 0x1ff, {}, 1), -1);
  EXPECT_EQ(compute(Op::sext, 0x7fff, {}, 2), 0x7fff);
  EXPECT_EQ(compute(Op::bswap, 0x1234, {}, 2), 0x3412);
  EXPECT_EQ(compute(Op::bswap, 0x12345678, {}, 4), 0x78563412);
  EXPECT_EQ(compute(Op::bswap, 1, {}, 8), 1ll << 56);
}

TEST(Arithmetic, Log2) {
  EXPECT_EQ(compute(Op::log2, 1), 0);
  EXPECT_EQ(compute(Op::log2, 1023), 9);
  EXPECT_EQ(compute(Op::log2, -1), 63);
}

TEST(Arithmetic, Conditions) {
  const int64_t values[] = {0, 1, -1, INT64_MIN, INT64_MAX};
  for (const int64_t x : values) {
    for (const int64_t y : values) {
      for (int c = 0; c <= static_cast<int>(Cond::sge); c++) {
        const auto cond = static_cast<Cond>(c);
        EXPECT_NE(ir::holds(cond, x, y), ir::holds(ir::negate(cond), x, y));
        EXPECT_EQ(ir::holds(cond, x, y), ir::holds(ir::swap(cond), y, x));
      }
      EXPECT_EQ(ir::holds(Cond::ult, x, y), static_cast<uint64_t>(x) < static_cast<uint64_t>(y));
      EXPECT_EQ(ir::holds(Cond::slt, x, y), x < y);
    }
  }
}

TEST(Control, BranchesAndSet) {
  Builder b;
  const BlockId yes = b.block(), no = b.block();
  const R less = b.value(Op::set, -1, 1);
  b.last().cond = Cond::slt;
  b.branch(less, Cond::eq, 1, yes, no);
  b.at(yes);
  b.output(10);
  b.give_back();
  b.at(no);
  b.output(20);
  b.give_back();
  EXPECT_EQ(run(b), std::vector<int64_t>{10});
}

TEST(Control, Unreachable) {
  Builder b;
  b.emit(Op::unreachable);
  b.probe();
  Engine engine(b.program);
  EXPECT_FALSE(engine.run(0).ok());
}

TEST(Control, CallsHaveFramesOfTheirOwn) {
  Builder b;
  const uint32_t f = b.function("add", Role::function, 2);
  const R slot = b.address(b.object(8));
  b.store(slot, R{1});
  b.give_back(b.value(Op::add, b.load(slot), R{2}));
  b.enter(0);
  const R mine = b.address(b.object(8));
  b.store(mine, 100);
  const R sum = b.value(Op::call, 30, 12);
  b.last().index = f;
  b.output(sum);
  b.output(b.load(mine));
  b.give_back();
  EXPECT_EQ(run(b), (std::vector<int64_t>{42, 100}));
}

TEST(Control, CallsGoDeep) {
  Builder b;
  const uint32_t f = b.function("sum", Role::function, 1);
  const BlockId more = b.block(), end = b.block();
  b.branch(R{1}, Cond::eq, 0, end, more);
  b.at(end);
  b.give_back(0);
  b.at(more);
  const R rest = b.value(Op::call, b.value(Op::sub, R{1}, 1));
  b.last().index = f;
  b.give_back(b.value(Op::add, rest, R{1}));
  b.enter(0);
  const R sum = b.value(Op::call, 200'000);
  b.last().index = f;
  b.output(sum);
  b.give_back();
  EXPECT_EQ(run(b), std::vector<int64_t>{200'000ll * 200'001 / 2});
}

TEST(Control, EndlessRecursionFails) {
  Builder b;
  const uint32_t f = b.function("f", Role::function);
  b.value(Op::call);
  b.last().index = f;
  b.give_back();
  b.enter(0);
  b.value(Op::call);
  b.last().index = f;
  b.give_back();
  b.probe();
  Engine engine(b.program);
  EXPECT_FALSE(engine.run(0).ok());
}

TEST(Control, StepBudgetStopsEndlessLoops) {
  Builder b;
  const BlockId again = b.block();
  b.jump(again);
  b.at(again);
  b.jump(again);
  b.probe();
  Engine engine(b.program, {.step_budget = 1000});
  auto status = engine.run(0);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "main: stopped after 1000 steps");
}

// A loop whose body adds its index to an object of the parent and stops after the turn `stop`.
struct LoopResult {
  std::vector<int64_t> sent; // turns, sum
  uint64_t faults;
};
LoopResult run_loop(int64_t turns, int64_t limit, int64_t stop) {
  Builder b;
  const uint32_t site = b.site(Fault::loop_limit);
  const uint32_t sum = b.object(8);
  const uint32_t body = b.function("body", Role::body, 1, 0);
  const R at = b.address(sum);
  b.store(at, b.value(Op::add, b.load(at), R{1}));
  b.give_back(b.value(Op::set, R{1}, stop));
  b.enter(0);
  b.store(b.address(sum), 0);
  const R taken = b.value(Op::loop, turns);
  b.last().index = body, b.last().imm = limit, b.last().imm2 = site;
  b.output(taken);
  b.output(b.load(b.address(sum)));
  b.give_back();
  b.probe();
  EXPECT_EQ(ir::verify(b.program), std::vector<std::string>{});
  Engine engine(b.program);
  EXPECT_TRUE(engine.run(0).ok());
  return {drain(engine), engine.counters().sites[site]};
}

TEST(Control, Loops) {
  LoopResult all = run_loop(5, 100, -1);
  EXPECT_EQ(all.sent, (std::vector<int64_t>{5, 10}));
  EXPECT_EQ(all.faults, 0u);
  EXPECT_EQ(run_loop(5, 100, 2).sent, (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(run_loop(0, 100, -1).sent, (std::vector<int64_t>{0, 0}));
  LoopResult limited = run_loop(5, 3, -1);
  EXPECT_EQ(limited.sent, (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(limited.faults, 1u);
  EXPECT_EQ(run_loop(3, 3, -1).faults, 0u);
}

TEST(Script, LoadsAndStores) {
  Builder b;
  const R o = b.address(b.object(16), 8);
  b.store(o, static_cast<int64_t>(0x8182838485868788), 0, 8);
  b.output(b.load(o, 0, 1));
  b.output(b.load(o, 0, 1, true));
  b.output(b.load(o, 2, 2));
  b.output(b.load(o, 0, 4, true));
  b.store(o, -1, 1, 2);
  b.output(b.load(o));
  b.give_back();
  EXPECT_EQ(run(b), (std::vector<int64_t>{0x88, -0x78, 0x8586, static_cast<int32_t>(0x85868788),
                                          static_cast<int64_t>(0x8182838485ffff88)}));
}

TEST(Script, CopyZeroEqualAdd) {
  Builder b;
  const R x = b.address(b.object(24)), y = b.address(b.object(16));
  ir::Inst& zero = b.emit(Op::zero);
  zero.a = Value(x), zero.imm = 0, zero.imm2 = 24;
  b.store(x, 77, 8);
  ir::Inst& copy = b.emit(Op::copy);
  copy.a = Value(y), copy.b = Value(x), copy.imm = 0, copy.imm3 = 8, copy.imm2 = 16;
  b.output(b.load(y));
  b.output(b.load(y, 8));
  const R same = b.value(Op::equal, x, y);
  b.last().imm2 = 8;
  b.output(same);
  ir::Inst& add = b.emit(Op::add_memory);
  add.a = Value(x), add.b = Value(77), add.atomic = true;
  const R now_same = b.value(Op::equal, x, y);
  b.last().imm2 = 8;
  b.output(now_same);
  b.give_back();
  EXPECT_EQ(run(b), (std::vector<int64_t>{77, 0, 0, 1}));
}

TEST(Script, Table) {
  Builder b;
  b.program.tables.push_back({5, 0xffffffff});
  b.output(b.value(Op::table, 0));
  b.output(b.value(Op::table, 1));
  b.output(b.value(Op::table, 2));
  b.output(b.value(Op::table, -1));
  b.give_back();
  EXPECT_EQ(run(b), (std::vector<int64_t>{5, 0xffffffff, 0, 0}));
}

// 4096 … 4096 + size of `text`; nothing else can be read.
class Page final : public Memory {
public:
  explicit Page(std::string_view text) : text_(text) {}
  bool read(uint64_t address, std::span<std::byte> to) override {
    if (address < 4096 || address + to.size() > 4096 + text_.size()) return false;
    std::memcpy(to.data(), text_.data() + (address - 4096), to.size());
    return true;
  }

private:
  std::string_view text_;
};

// The value of a read with a fault edge, -1 at a fault, then the 16 bytes read to as two numbers.
std::vector<int64_t> read(Op op, Memory* memory, int64_t address, int64_t size, Value limit = {}) {
  Builder b;
  const R o = b.address(b.object(16));
  b.store(o, 0x1111111111111111);
  b.store(o, 0x1111111111111111, 8);
  const BlockId ok = b.block(), fault = b.block(), after = b.block();
  const R got = b.reg();
  ir::Inst& i = op == Op::load ? b.emit_to(got, op, address) : b.emit_to(got, op, o, address, limit);
  if (op == Op::read) i.dst = 0;
  if (op != Op::load)
    i.imm2 = size;
  else
    i.size = static_cast<uint8_t>(size);
  i.space = Space::user, i.target = ok, i.other = fault;
  b.at(ok);
  b.output(op == Op::read ? Value(0) : Value(got));
  b.jump(after);
  b.at(fault);
  b.output(-1);
  b.jump(after);
  b.at(after);
  b.output(b.load(o));
  b.output(b.load(o, 8));
  b.give_back();
  return run(b, {.user = memory});
}

TEST(Foreign, LoadsAndReads) {
  Page page("abcdefghijkl");
  EXPECT_EQ(read(Op::load, &page, 4096, 4)[0], 0x64636261);
  EXPECT_EQ(read(Op::load, &page, 4095, 4)[0], -1);
  EXPECT_EQ(read(Op::load, nullptr, 4096, 4)[0], -1);
  EXPECT_EQ(read(Op::read, &page, 4097, 2),
            (std::vector<int64_t>{0, 0x1111111111116362, 0x1111111111111111}));
  EXPECT_EQ(read(Op::read, &page, 0, 2)[0], -1);
  EXPECT_EQ(read(Op::read_bytes, &page, 4096, 8, 1),
            (std::vector<int64_t>{1, 0x1111111111111161, 0x1111111111111111}));
  EXPECT_EQ(read(Op::read_bytes, &page, 4096, 2, 8)[0], 2);
  EXPECT_EQ(read(Op::read_bytes, &page, 0, 2, 0)[0], 0);
  EXPECT_EQ(read(Op::read_bytes, &page, 0, 2, 1)[0], -1);
}

TEST(Foreign, Strings) {
  Page page(std::string_view("ab\0defghijkl", 12));
  // Ends by its NUL; nothing behind it is written.
  EXPECT_EQ(read(Op::read_string, &page, 4096, 16),
            (std::vector<int64_t>{3, 0x1111111111006261, 0x1111111111111111}));
  // The NUL just fits.
  EXPECT_EQ(read(Op::read_string, &page, 4096, 3),
            (std::vector<int64_t>{3, 0x1111111111006261, 0x1111111111111111}));
  // Cut by its room: no NUL.
  EXPECT_EQ(read(Op::read_string, &page, 4099, 4),
            (std::vector<int64_t>{4, 0x1111111167666564, 0x1111111111111111}));
  // Cut by the limit asked for: a NUL.
  EXPECT_EQ(read(Op::read_string, &page, 4099, 16, 3),
            (std::vector<int64_t>{3, 0x1111111111006564, 0x1111111111111111}));
  EXPECT_EQ(read(Op::read_string, &page, 4099, 4, 100)[0], 4);
  // No room at all: the empty text.
  EXPECT_EQ(read(Op::read_string, &page, 4099, 4, 0),
            (std::vector<int64_t>{0, 0x1111111111111100, 0x1111111111111111}));
  EXPECT_EQ(read(Op::read_string, &page, 5000, 4)[0], -1);
}

TEST(Foreign, WithoutFaultEdgeGivesZero) {
  Builder b;
  for (const Space space : {Space::kernel, Space::user, Space::task}) {
    const R r = b.value(Op::load, 4096);
    b.last().space = space;
    b.output(r);
  }
  b.output(b.value(Op::context_address));
  b.give_back();
  EXPECT_EQ(run(b), (std::vector<int64_t>{0, 0, 0, 0}));
}

// One load, whose address comes from a table, over areas of a target.
std::vector<int64_t> load_each(target::Memory& memory, std::vector<uint32_t> addresses, uint8_t size) {
  Builder b;
  b.program.tables.push_back(addresses);
  const R turn = b.reg(), got = b.reg();
  const BlockId head = b.block(), ok = b.block(), fault = b.block(), next = b.block(), end = b.block();
  b.emit_to(turn, Op::mov, 0);
  b.jump(head);
  b.at(head);
  ir::Inst& load = b.emit_to(got, Op::load, b.value(Op::table, turn));
  load.imm = 8, load.size = size, load.space = Space::user, load.target = ok, load.other = fault;
  b.at(ok);
  b.output(got);
  b.jump(next);
  b.at(fault);
  b.output(-1);
  b.jump(next);
  b.at(next);
  b.emit_to(turn, Op::add, turn, 1);
  b.branch(turn, Cond::ult, static_cast<int64_t>(addresses.size()), head, end);
  b.at(end);
  b.give_back();
  return run(b, {.target = &memory});
}

TEST(Target, LoadsGoOverAreas) {
  std::byte bytes[64];
  for (size_t n = 0; n < sizeof bytes; n++) bytes[n] = static_cast<std::byte>(n);
  target::AreaMemory memory;
  memory.add({.begin = 0x1000, .size = 16, .bytes = bytes});
  memory.add({.begin = 0x1010, .size = 16, .bytes = bytes + 32}); // right behind
  memory.add({.begin = 0x2000, .size = 4, .bytes = bytes + 16});
  memory.sort();
  const auto at = [](uint32_t address) { return address - 8; };
  EXPECT_EQ(load_each(memory, {at(0x1000), at(0x100e), at(0x1010), at(0x101e), at(0x101f), at(0xfff), at(0x1001)}, 2),
            (std::vector<int64_t>{0x100, 0xf0e, 0x2120, 0x2f2e, -1, -1, 0x201}));
  // Half in one area, half in the next; then in one too small for eight bytes.
  EXPECT_EQ(load_each(memory, {at(0x100e), at(0x1008), at(0x2000), at(0x2001), at(0x100d)}, 4),
            (std::vector<int64_t>{0x21200f0e, 0x0b0a0908, 0x13121110, -1, 0x200f0e0d}));
  EXPECT_EQ(load_each(memory, {at(0), at(0x2000), at(0x2003), at(0x2004)}, 1),
            (std::vector<int64_t>{-1, 16, 19, -1}));
}

// An array of pointers, gone through to its last, which leads nowhere; what comes behind it is not mapped.
TEST(Target, WhatIsAskedForAheadNeedNotBeThere) {
  uint64_t words[16] = {};
  target::AreaMemory memory;
  memory.add({.begin = 0x1000, .size = sizeof words, .bytes = reinterpret_cast<std::byte*>(words)});
  memory.sort();
  for (size_t n = 0; n < 16; n++) words[n] = 0x1000 + 8 * (n / 2);
  words[15] = ~0ull;
  Builder b;
  const R turn = b.reg(), pointer = b.reg(), got = b.reg(), sum = b.reg();
  const BlockId head = b.block(), first = b.block(), second = b.block(), fault = b.block(), end = b.block();
  b.emit_to(turn, Op::mov, 0);
  b.emit_to(sum, Op::mov, 0);
  b.jump(head);
  b.at(head);
  ir::Inst& element = b.emit_to(pointer, Op::load, b.value(Op::add, b.value(Op::shl, turn, 3), 0x1000));
  element.space = Space::user, element.target = first, element.other = fault;
  b.at(first);
  ir::Inst& pointee = b.emit_to(got, Op::load, pointer);
  pointee.space = Space::user, pointee.target = second, pointee.other = fault;
  b.at(second);
  b.emit_to(sum, Op::add, sum, got);
  b.emit_to(turn, Op::add, turn, 1);
  b.branch(turn, Cond::ult, 16, head, end);
  b.at(fault);
  b.output(turn);
  b.jump(end);
  b.at(end);
  b.output(sum);
  b.give_back();
  int64_t expected = 0;
  for (size_t n = 0; n < 15; n++) expected += static_cast<int64_t>(words[(words[n] - 0x1000) / 8]);
  EXPECT_EQ(run(b, {.target = &memory}), (std::vector<int64_t>{15, expected}));
}

TEST(Machine, Queries) {
  Builder b;
  for (const Query q : {Query::pid_tgid, Query::uid_gid, Query::cgroup_id, Query::task, Query::ktime})
    b.output(b.query(q));
  b.output(b.value(Op::cpu_count));
  const R stack = b.value(Op::stack);
  b.last().imm2 = 10;
  b.output(stack);
  b.give_back();
  timespec before{}, after{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  const auto got = run(b);
  clock_gettime(CLOCK_MONOTONIC, &after);
  ASSERT_EQ(got.size(), 7u);
  EXPECT_EQ(got[0], static_cast<int64_t>(getpid()) << 32 | gettid());
  EXPECT_EQ(got[1], static_cast<int64_t>(getgid()) << 32 | getuid());
  EXPECT_EQ(got[2], static_cast<int64_t>(symbol::Cgroups().own()));
  EXPECT_EQ(got[3], 0);
  EXPECT_GE(got[4], before.tv_sec * 1'000'000'000 + before.tv_nsec);
  EXPECT_LE(got[4], after.tv_sec * 1'000'000'000 + after.tv_nsec);
  EXPECT_EQ(got[5], 1);
  EXPECT_EQ(got[6], 0);
}

TEST(Machine, RandomIsRepeatableWithASeed) {
  Builder b;
  for (int i = 0; i < 3; i++) b.output(b.query(Query::random));
  b.give_back();
  const auto first = run(b, {.seed = 7}), second = run(b, {.seed = 7}), other = run(b, {.seed = 8});
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
  EXPECT_NE(first[0], first[1]);
  for (const int64_t n : first) EXPECT_EQ(n >> 32, 0);
}

TEST(Machine, Name) {
  char old[16];
  prctl(PR_GET_NAME, old);
  prctl(PR_SET_NAME, "abc");
  Builder b;
  const R o = b.address(b.object(16));
  b.emit(Op::name).a = Value(o);
  b.output(b.load(o));
  b.output(b.load(o, 8));
  b.give_back();
  EXPECT_EQ(run(b), (std::vector<int64_t>{0x636261, 0}));
  prctl(PR_SET_NAME, old);
}

TEST(Events, KeepTheirOrderAndHeader) {
  Builder b;
  b.output(1);
  b.output(2);
  b.give_back();
  b.probe();
  Engine engine(b.program);
  ASSERT_TRUE(engine.run(0).ok());
  ASSERT_TRUE(engine.run(0).ok());
  std::vector<uint32_t> actions;
  const size_t n = engine.drain([&](std::span<const std::byte> record) {
    ASSERT_EQ(record.size(), 16u);
    uint32_t header[2];
    std::memcpy(header, record.data(), sizeof header);
    actions.push_back(header[0]);
    EXPECT_EQ(header[1], 0u);
  });
  EXPECT_EQ(n, 4u);
  EXPECT_EQ(actions, (std::vector<uint32_t>{0, 1, 0, 1}));
  EXPECT_EQ(engine.drain([](std::span<const std::byte>) {}), 0u);
}

TEST(Events, WhatIsNotSentIsDropped) {
  Builder b;
  const uint32_t action = b.action(1);
  b.value(Op::event);
  b.last().index = action, b.last().imm2 = 16;
  b.give_back();
  EXPECT_EQ(run(b), std::vector<int64_t>{});
}

TEST(Events, FaultsAreCounted) {
  Builder b;
  const uint32_t other = b.site(Fault::read_user), site = b.site(Fault::division_by_zero);
  b.emit(Op::count_fault).index = site;
  b.emit(Op::count_fault).index = site;
  b.give_back();
  b.probe();
  Engine engine(b.program);
  ASSERT_TRUE(engine.run(0).ok());
  EXPECT_EQ(engine.counters().sites[site], 2u);
  EXPECT_EQ(engine.counters().sites[other], 0u);
}

TEST(Engine, RefusesProbesOfTheKernel) {
  Builder b;
  b.give_back();
  b.probe();
  b.program.probes[0].context = probe::Context::tracepoint;
  Engine engine(b.program);
  EXPECT_FALSE(engine.run(0).ok());
  EXPECT_FALSE(engine.run(1).ok());
}

} // namespace
} // namespace eval
