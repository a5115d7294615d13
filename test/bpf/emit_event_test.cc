// Code for events, questions to the machine, contexts and stacks, and the claim of scratch memory.
#include "ir_builder.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace bpf::test {
namespace {

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
    const auto size = b.program.actions[action].record_size();
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
  Operand user = f.value({.op = Op::stack, .a = number(1), .imm2 = 20, .index = 1});
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
