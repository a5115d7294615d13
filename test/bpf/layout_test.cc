// Where the memory of a function stands, and the order of its blocks: no kernel is needed.
#include "bpf/layout.h"

#include "ir_builder.h"

#include <random>

namespace bpf::test {
namespace {

// ------------------------------------------------------------------------------------ known addresses

void expect_known(const std::vector<KnownAddress>& known, Operand o, uint32_t object, int64_t offset) {
  const KnownAddress& k = known[o.as_reg()];
  EXPECT_TRUE(k.is_known) << "%" << o.as_reg();
  EXPECT_EQ(k.object, object) << "%" << o.as_reg();
  EXPECT_EQ(k.offset, offset) << "%" << o.as_reg();
}

TEST(KnownAddresses, copies_and_constant_offsets_are_known) {
  Bench b;
  auto f = b.main();
  Operand first = f.object(32), second = f.object(64);
  Operand inside = f.value({.op = Op::object, .imm = 24, .index = 1});
  Operand copy = f.op(Op::mov, second);
  Operand behind = f.op(Op::add, copy, number(16)), before = f.op(Op::add, inside, number(-8));
  f.give();
  const auto known = find_known_addresses(f.f());
  ASSERT_EQ(known.size(), f.f().registers);
  expect_known(known, first, 0, 0);
  expect_known(known, second, 1, 0);
  expect_known(known, inside, 1, 24);
  expect_known(known, copy, 1, 0);
  expect_known(known, behind, 1, 16);
  expect_known(known, before, 1, 16);
}

TEST(KnownAddresses, what_a_verifier_has_to_follow_is_not) {
  Bench b;
  auto f = b.function(ir::Role::function, 1, 0);
  Operand object = f.object(64);
  Operand n = f.load(object, 0);
  const std::vector<Operand> unknown{Operand::of(1),           n,           f.op(Op::add, object, n), f.op(Op::sub, object, number(8)),
                                     f.op(Op::mov, number(8)), results(f)};
  f.give();
  const auto known = find_known_addresses(f.f());
  for (const Operand& o : unknown) EXPECT_FALSE(known[o.as_reg()].is_known) << "%" << o.as_reg();
}

TEST(KnownAddresses, registers_set_twice_are_not) {
  Bench b;
  auto f = b.function(ir::Role::function, 1, 0);
  Operand object = f.object(64);
  const Reg twice = f.fresh(), parameter = 1;
  for (int n = 0; n < 2; n++) f.add({.op = Op::mov, .dst = twice, .a = object});
  f.add({.op = Op::object, .dst = parameter, .index = 0});
  Operand from_it = f.op(Op::add, Operand::of(twice), number(8));
  f.give();
  const auto known = find_known_addresses(f.f());
  for (const Reg r : {twice, parameter, from_it.as_reg()}) EXPECT_FALSE(known[r].is_known) << "%" << r;
  expect_known(known, object, 0, 0);
}

// -------------------------------------------------------------------------------------------- objects

// Objects of these sizes, all of them used.
struct Placing {
  ir::Frame frame;
  Needs needs;
  explicit Placing(const std::vector<uint32_t>& sizes) {
    for (const uint32_t s : sizes) frame.objects.push_back({s, "o"});
    needs.objects.assign(sizes.size(), true);
    needs.in_bodies.assign(sizes.size(), false);
    needs.addresses.assign(sizes.size(), false);
    needs.stored_in_loops.assign(sizes.size(), false);
  }
  Layout place(uint32_t budget) const { return place_objects(frame, needs, budget); }
};

void expect_place(const Layout& l, size_t object, ObjectPlace::Kind kind, int32_t offset) {
  EXPECT_EQ(l.objects[object].kind, kind) << object;
  EXPECT_EQ(l.objects[object].offset, offset) << object;
}

TEST(Layout, smallest_objects_are_on_the_stack) {
  const Layout l = Placing({32, 8, 16}).place(24);
  expect_place(l, 1, ObjectPlace::on_stack, -8);
  expect_place(l, 2, ObjectPlace::on_stack, -24);
  expect_place(l, 0, ObjectPlace::in_scratch, 8);
  EXPECT_EQ(l.stack_bytes, 24);
  EXPECT_EQ(l.scratch_bytes, 8u + 32u);
}

TEST(Layout, sizes_are_multiples_of_8) {
  const Layout l = Placing({1, 0, 13, 100}).place(256);
  expect_place(l, 1, ObjectPlace::on_stack, -8);
  expect_place(l, 0, ObjectPlace::on_stack, -16);
  expect_place(l, 2, ObjectPlace::on_stack, -32);
  EXPECT_EQ(l.scratch_bytes, 8u + 104u);
}

TEST(Layout, large_objects_are_in_scratch_memory_whatever_the_budget) {
  const Layout l = Placing({largest_on_stack, largest_on_stack + 1, 500}).place(10000);
  expect_place(l, 0, ObjectPlace::on_stack, -64);
  expect_place(l, 1, ObjectPlace::in_scratch, 8);
  expect_place(l, 2, ObjectPlace::in_scratch, 8 + 72);
  EXPECT_EQ(l.scratch_bytes, 8u + 72u + 504u);
}

TEST(Layout, without_budget_all_is_in_scratch_memory) {
  const Layout l = Placing({8, 8}).place(0);
  expect_place(l, 0, ObjectPlace::in_scratch, 8);
  expect_place(l, 1, ObjectPlace::in_scratch, 16);
  EXPECT_EQ(l.stack_bytes, 0);
}

TEST(Layout, objects_whose_addresses_loops_store_are_in_scratch_memory) {
  Placing p({8, 8});
  p.needs.addresses = {true, false};
  p.needs.in_bodies = p.needs.stored_in_loops = {false, true};
  const Layout l = p.place(256);
  expect_place(l, 0, ObjectPlace::on_stack, -8);
  expect_place(l, 1, ObjectPlace::in_scratch, 8);
}

// An element of 12 bytes, of 5, of 8, by an index that is not constant; numbers, and what is not on the stack, have none.
TEST(Layout, addresses_of_elements_are_as_aligned_as_all_elements) {
  Bench b;
  auto f = b.main();
  Operand object = f.object(40), large = f.object(largest_on_stack + 8);
  Operand n = f.load(object, 0);
  auto element = [&](uint32_t size) { return f.op(Op::add, object, f.op(Op::mul, n, number(size))); };
  Operand of_12 = element(12), of_5 = element(5), of_8 = element(8);
  Operand second_word = f.op(Op::add, of_12, number(8)), shifted = f.op(Op::add, object, f.op(Op::shl, n, number(1)));
  Operand elsewhere = f.op(Op::add, large, n);
  f.give();
  Placing p({40, largest_on_stack + 8});
  const auto alignments = find_stack_alignments(f.f(), p.place(256));
  const std::pair<Operand, int> expected[] = {{object, 8}, {of_12, 4}, {of_5, 1}, {of_8, 8}, {second_word, 4}, {shifted, 2}, {n, 0}, {large, 0}, {elsewhere, 0}};
  for (const auto& [o, alignment] : expected) EXPECT_EQ(alignments[o.as_reg()], alignment) << "%" << o.as_reg();
}

TEST(Layout, unused_objects_have_no_place) {
  Placing p({8, 100, 8});
  p.needs.objects = {true, false, false};
  const Layout l = p.place(256);
  EXPECT_EQ(l.objects[1].kind, ObjectPlace::unused);
  EXPECT_EQ(l.objects[2].kind, ObjectPlace::unused);
  EXPECT_EQ(l.stack_bytes, 8);
  EXPECT_EQ(l.scratch_bytes, 0u);
}

// An address that is read back from scratch memory would be a number.
TEST(Layout, objects_that_hold_addresses_come_first) {
  Placing p({8, 8, 48, 72});
  p.needs.addresses = {false, false, true, true};
  const Layout l = p.place(56);
  expect_place(l, 2, ObjectPlace::on_stack, -48);
  expect_place(l, 0, ObjectPlace::on_stack, -56);
  expect_place(l, 1, ObjectPlace::in_scratch, 8);
  EXPECT_EQ(l.objects[3].kind, ObjectPlace::in_scratch); // it is larger than anything on the stack
}

TEST(Layout, objects_that_hold_addresses_may_exceed_the_budget) {
  Placing p({16, 24, 8});
  p.needs.addresses = {true, true, false};
  const Layout l = p.place(20);
  expect_place(l, 0, ObjectPlace::on_stack, -16);
  expect_place(l, 1, ObjectPlace::on_stack, -40);
  EXPECT_EQ(l.objects[2].kind, ObjectPlace::in_scratch);
  EXPECT_EQ(l.stack_bytes, 40);
}

TEST(Layout, lent_object_is_at_the_begin_of_scratch_memory) {
  Placing p({200, 12, 8});
  p.needs.lent = 1;
  const Layout l = p.place(256);
  expect_place(l, 1, ObjectPlace::in_scratch, lent_at);
  expect_place(l, 0, ObjectPlace::in_scratch, lent_at + 16);
  EXPECT_EQ(l.scratch_bytes, lent_at + 16 + 200);
  EXPECT_EQ(l.number_slot, -8);
  expect_place(l, 2, ObjectPlace::on_stack, -16);
}

TEST(Layout, bodies_find_the_context_and_scratch_memory_in_slots) {
  Placing p({8, 100});
  EXPECT_EQ(p.place(256).context_slot, 0);
  EXPECT_EQ(p.place(256).base_slot, 0);
  EXPECT_EQ(p.place(256).number_slot, 0);
  p.needs.bodies_use_context = true;
  p.needs.in_bodies = {true, false};
  Layout l = p.place(256);
  EXPECT_EQ(l.context_slot, -8);
  EXPECT_EQ(l.base_slot, 0) << "the object of the body is on the stack";
  expect_place(l, 0, ObjectPlace::on_stack, -16);
  p.needs.in_bodies = {false, true};
  l = p.place(256);
  EXPECT_EQ(l.base_slot, -24);
  EXPECT_EQ(l.stack_bytes, 24);
  p.needs.in_bodies = {true, false};
  EXPECT_NE(p.place(8).base_slot, 0) << "no room is left on the stack";
}

TEST(Layout, bodies_find_a_lent_object) {
  Placing p({16});
  p.needs.lent = 0;
  EXPECT_EQ(p.place(256).base_slot, 0);
  p.needs.in_bodies[0] = true;
  const Layout l = p.place(256);
  EXPECT_EQ(l.number_slot, -8);
  EXPECT_EQ(l.base_slot, -16);
}

TEST(Layout, places_do_not_overlap) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 200; turn++) {
    std::vector<uint32_t> sizes(1 + random() % 12);
    for (uint32_t& s : sizes) s = 1 + random() % 120;
    Placing p(sizes);
    for (size_t i = 0; i < sizes.size(); i++) p.needs.objects[i] = random() % 4, p.needs.addresses[i] = random() % 4 == 0;
    if (random() % 2) p.needs.lent = random() % sizes.size();
    const Layout l = p.place(random() % 300);
    for (size_t i = 0; i < sizes.size(); i++) {
      const ObjectPlace& a = l.objects[i];
      if (a.kind == ObjectPlace::unused) continue;
      const int64_t end = a.offset + static_cast<int64_t>(sizes[i]);
      EXPECT_EQ(a.offset % 8, 0);
      if (a.kind == ObjectPlace::on_stack)
        EXPECT_TRUE(a.offset >= -l.stack_bytes && end <= 0) << turn << " " << i;
      else
        EXPECT_TRUE(a.offset >= 8 && end <= l.scratch_bytes) << turn << " " << i;
      for (size_t k = 0; k < i; k++) {
        const ObjectPlace& b = l.objects[k];
        const bool apart = b.kind != a.kind || end <= b.offset || b.offset + static_cast<int64_t>(sizes[k]) <= a.offset;
        EXPECT_TRUE(apart) << turn << ": " << i << " and " << k;
      }
    }
  }
}

// ----------------------------------------------------------------------------------------------- flow

// A function of blocks that lead to these: none returns, one jumps, two branch.
ir::Function graph(const std::vector<std::vector<BlockId>>& to) {
  ir::Function f{.name = "graph"};
  for (const auto& t : to) {
    Inst last{.op = t.empty() ? Op::give_back : t.size() == 1 ? Op::jump : Op::branch};
    if (t.empty() || t.size() == 2) last.a = number(0);
    if (t.size() == 2) last.b = number(0), last.other = t[1];
    if (!t.empty()) last.target = t[0];
    f.blocks.push_back({{last}});
  }
  return f;
}
std::vector<BlockId> sorted(std::span<const BlockId> blocks) {
  std::vector<BlockId> out(blocks.begin(), blocks.end());
  std::ranges::sort(out);
  return out;
}
using Blocks = std::vector<BlockId>;

TEST(Flow, order_has_the_target_first) {
  EXPECT_EQ(Flow(graph({{2, 1}, {3}, {3}, {}})).order, (Blocks{0, 2, 1, 3}));
  EXPECT_EQ(Flow(graph({{1, 2}, {3}, {3}, {}})).order, (Blocks{0, 1, 2, 3}));
  EXPECT_EQ(Flow(graph({{}})).order, (Blocks{0}));
}

TEST(Flow, diamond) {
  const ir::Function f = graph({{1, 2}, {3}, {3}, {4}, {}});
  const Flow flow(f);
  EXPECT_EQ(flow.dominator, (Blocks{0, 0, 0, 0, 3}));
  EXPECT_EQ(flow.depth, (std::vector<uint32_t>{0, 1, 1, 1, 2}));
  EXPECT_EQ(sorted(flow.predecessors(3)), (Blocks{1, 2}));
  EXPECT_TRUE(flow.predecessors(0).empty());
  EXPECT_TRUE(flow.dominates(0, 4));
  EXPECT_TRUE(flow.dominates(3, 4));
  EXPECT_TRUE(flow.dominates(4, 4));
  EXPECT_FALSE(flow.dominates(1, 3));
  EXPECT_FALSE(flow.dominates(4, 3));
  EXPECT_EQ(flow.common_dominator(1, 2), 0u);
  EXPECT_EQ(flow.common_dominator(1, 4), 0u);
  EXPECT_EQ(flow.common_dominator(3, 4), 3u);
  EXPECT_EQ(flow.common_dominator(4, 4), 4u);
  for (BlockId b = 0; b < 5; b++) EXPECT_FALSE(flow.in_cycle(f, b)) << b;
}

TEST(Flow, loop_within_a_loop) {
  //                          head      inner     its body
  const ir::Function f = graph({{1}, {2, 5}, {3, 4}, {2}, {1}, {}});
  const Flow flow(f);
  EXPECT_EQ(flow.dominator, (Blocks{0, 0, 1, 2, 2, 1}));
  EXPECT_EQ(sorted(flow.predecessors(1)), (Blocks{0, 4}));
  EXPECT_EQ(sorted(flow.predecessors(2)), (Blocks{1, 3}));
  EXPECT_EQ(flow.common_dominator(3, 5), 1u);
  const std::vector<bool> in_cycle{false, true, true, true, true, false};
  for (BlockId b = 0; b < 6; b++) EXPECT_EQ(flow.in_cycle(f, b), in_cycle[b]) << b;
}

TEST(Flow, block_that_leads_to_itself) {
  const ir::Function f = graph({{1}, {1, 2}, {}});
  const Flow flow(f);
  EXPECT_TRUE(flow.in_cycle(f, 1));
  EXPECT_FALSE(flow.in_cycle(f, 2));
  EXPECT_EQ(sorted(flow.predecessors(1)), (Blocks{0, 1}));
}

// Neither of two blocks of a loop with two entries dominates the other.
TEST(Flow, loop_with_two_entries) {
  const ir::Function f = graph({{1, 2}, {2}, {1, 3}, {}});
  const Flow flow(f);
  EXPECT_EQ(flow.dominator, (Blocks{0, 0, 0, 2}));
  EXPECT_TRUE(flow.in_cycle(f, 1));
  EXPECT_TRUE(flow.in_cycle(f, 2));
}

TEST(Flow, unreachable_blocks_lead_nowhere) {
  const ir::Function f = graph({{3}, {3, 2}, {1}, {}});
  const Flow flow(f);
  EXPECT_EQ(flow.order, (Blocks{0, 3}));
  EXPECT_FALSE(flow.reachable(1));
  EXPECT_FALSE(flow.reachable(2));
  EXPECT_TRUE(flow.reachable(3));
  EXPECT_EQ(sorted(flow.predecessors(3)), (Blocks{0}));
  EXPECT_EQ(flow.dominator[3], 0u);
}

TEST(Flow, loads_that_may_fault_have_two_ways) {
  ir::Function f = graph({{1}, {}, {}});
  f.registers = 2;
  f.blocks[0].insts = {{.op = Op::load, .space = ir::Space::kernel, .dst = 1, .a = number(8), .target = 1, .other = 2}};
  const Flow flow(f);
  EXPECT_EQ(flow.order, (Blocks{0, 1, 2}));
  EXPECT_EQ(sorted(flow.predecessors(2)), (Blocks{0}));
}

// Against the definition: without a block, those that it dominates are not reached.
TEST(Flow, dominators_of_random_graphs) {
  std::mt19937 random(3);
  for (int turn = 0; turn < 200; turn++) {
    const size_t n = 2 + random() % 12;
    std::vector<std::vector<BlockId>> to(n);
    for (auto& t : to)
      for (size_t k = random() % 3; k-- > 0;) t.push_back(static_cast<BlockId>(1 + random() % (n - 1)));
    const Flow flow(graph(to));
    const auto reached = [&](BlockId without) {
      std::vector<bool> seen(n, false);
      Blocks work;
      if (without != 0) seen[0] = true, work.push_back(0);
      while (!work.empty()) {
        const BlockId b = work.back();
        work.pop_back();
        for (const BlockId s : to[b])
          if (s != without && !seen[s]) seen[s] = true, work.push_back(s);
      }
      return seen;
    };
    const std::vector<bool> all = reached(ir::no_block);
    std::vector<size_t> place(n, n);
    for (size_t i = 0; i < flow.order.size(); i++) place[flow.order[i]] = i;
    for (BlockId a = 0; a < n; a++) {
      EXPECT_EQ(flow.reachable(a), all[a]) << turn;
      EXPECT_EQ(place[a] < n, all[a]) << turn;
      if (!all[a]) continue;
      const std::vector<bool> left = reached(a);
      for (BlockId b = 0; b < n; b++) {
        if (!all[b]) continue;
        EXPECT_EQ(flow.dominates(a, b), !left[b]) << turn << ": " << a << " " << b;
        const BlockId common = flow.common_dominator(a, b);
        EXPECT_TRUE(flow.dominates(common, a) && flow.dominates(common, b)) << turn << ": " << a << " " << b;
        if (flow.dominates(a, b)) {
          EXPECT_EQ(common, a) << turn;
          EXPECT_LE(place[a], place[b]) << turn;
        }
      }
    }
  }
}

} // namespace
} // namespace bpf::test
