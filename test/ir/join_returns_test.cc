// Programs at the entry and at the return of the same functions, joined to one.
#include "ir/builder.h"
#include "ir/join_returns.h"

#include <gtest/gtest.h>

namespace ir {
namespace {

// A program for functions at these offsets of a file, with one function of one block that stores a number.
Program pair(const std::vector<uint64_t>& entries, const std::vector<uint64_t>& returns) {
  Program p;
  auto add = [&](probe::Kind kind, const std::vector<uint64_t>& offsets, uint32_t size) {
    p.frames.push_back({{{size, "object"}}});
    Function f;
    f.name = "f";
    f.frame = static_cast<uint32_t>(p.frames.size() - 1);
    f.registers = 2;
    f.blocks.resize(2);
    f.blocks[0].insts.push_back({.op = Op::object, .dst = 1});
    f.blocks[0].insts.push_back({.op = Op::store, .a = Operand::of(1), .b = Operand::number(size)});
    f.blocks[0].insts.push_back({.op = Op::jump, .target = 1});
    f.blocks[1].insts.push_back({.op = Op::give_back, .a = Operand::number(0)});
    p.functions.push_back(f);
    Probe probe{.name = "p",
                .function = static_cast<uint32_t>(p.functions.size() - 1),
                .context = probe::Context::registers,
                .stands_for = static_cast<uint32_t>(offsets.size())};
    for (uint64_t offset : offsets) {
      probe.events.push_back(static_cast<uint32_t>(p.events.size()));
      p.events.push_back({.kind = kind, .binary = "/bin/true", .file_offset = offset});
    }
    p.probes.push_back(probe);
  };
  add(probe::Kind::uprobe, entries, 8);
  add(probe::Kind::uretprobe, returns, 64);
  return p;
}

TEST(JoinReturns, SameFunctionsInAnyOrder) {
  Program p = pair({16, 32}, {32, 16});
  EXPECT_TRUE(has_returns_to_join(p, Joined::user));
  EXPECT_EQ(join_returns(p, Joined::user, 77), 1u);
  EXPECT_EQ(verify(p), std::vector<std::string>{});
  ASSERT_EQ(p.probes.size(), 1u);
  EXPECT_TRUE(p.probes[0].is_session);
  EXPECT_EQ(p.probes[0].stands_for, 4u);
  EXPECT_EQ(p.probes[0].events.size(), 2u);
  EXPECT_EQ(p.session_is_return, 77u);
  // One frame has room for the larger of both.
  ASSERT_EQ(p.frames[0].objects.size(), 1u);
  EXPECT_EQ(p.frames[0].objects[0].size, 64u);
  std::string text = to_string(p.functions[0], p);
  EXPECT_EQ(text.substr(text.find("b0:")), "b0:\n"
                                           "    %3 = query is_return\n"
                                           "    branch %3 ne 0 ? b3 : b1\n"
                                           "b1:\n"
                                           "    %1 = object o0\n"
                                           "    store u64 [%1], 8\n"
                                           "    jump b2\n"
                                           "b2:\n"
                                           "    give_back 0\n"
                                           "b3:\n"
                                           "    %2 = object o0\n"
                                           "    store u64 [%2], 64\n"
                                           "    jump b4\n"
                                           "b4:\n"
                                           "    give_back 0\n");
  EXPECT_FALSE(has_returns_to_join(p, Joined::user));
}

TEST(JoinReturns, OtherFunctionsStayApart) {
  for (auto [entries, returns] : {std::pair{std::vector<uint64_t>{16}, std::vector<uint64_t>{32}},
                                  {{16, 32}, {16}},
                                  {{16}, {16, 32}}}) {
    Program p = pair(entries, returns);
    EXPECT_FALSE(has_returns_to_join(p, Joined::user));
    EXPECT_EQ(join_returns(p, Joined::user, 1), 0u);
    EXPECT_EQ(p.probes.size(), 2u);
  }
  Program p = pair({16}, {16});
  p.events[1].binary = "/bin/false";
  EXPECT_FALSE(has_returns_to_join(p, Joined::user));
}

// What a program is told of an event belongs to the list of events that is attached.
TEST(JoinReturns, CookiesOfOneSide) {
  Program p = pair({16, 32}, {32, 16});
  p.probes[1].cookies = {1, 2};
  EXPECT_EQ(join_returns(p, Joined::user, 1), 1u);
  EXPECT_EQ(p.probes[0].cookies, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(p.events[p.probes[0].events[0]].file_offset, 32u);

  Program both = pair({16}, {16});
  both.probes[0].cookies = both.probes[1].cookies = {1};
  EXPECT_EQ(join_returns(both, Joined::user, 1), 0u);
}

TEST(JoinReturns, BodiesOfLoopsComeAlong) {
  Program p = pair({16}, {16});
  Function body;
  body.name = "body";
  body.role = Role::body;
  body.frame = 1;
  body.parameters = 1;
  body.registers = 2;
  body.parent = 1;
  body.blocks.resize(1);
  body.blocks[0].insts.push_back({.op = Op::give_back, .a = Operand::number(0)});
  p.functions.push_back(body);
  EXPECT_EQ(join_returns(p, Joined::user, 1), 1u);
  EXPECT_EQ(p.functions[2].parent, 0u);
  EXPECT_EQ(p.functions[2].frame, 0u);
}

TEST(JoinReturns, FunctionsOfTheKernel) {
  auto kernel = [](const std::vector<uint64_t>& entries, const std::vector<uint64_t>& returns) {
    Program p = pair(entries, returns);
    for (probe::Event& e : p.events) {
      e.kind = e.kind == probe::Kind::uprobe ? probe::Kind::kprobe : probe::Kind::kretprobe;
      e.function = "f" + std::to_string(e.file_offset);
      e.binary.clear();
      e.file_offset = 0;
    }
    for (Probe& probe : p.probes) probe.context = probe::Context::kernel_registers;
    return p;
  };
  Program p = kernel({1, 2}, {2, 1});
  EXPECT_EQ(join_returns(p, Joined::user, 77), 0u);
  EXPECT_TRUE(has_returns_to_join(p, Joined::kernel));
  EXPECT_EQ(join_returns(p, Joined::kernel, 77), 1u);
  EXPECT_EQ(verify(p), std::vector<std::string>{});
  Program others = kernel({1, 2}, {2, 3});
  EXPECT_FALSE(has_returns_to_join(others, Joined::kernel));
  Program within = kernel({1}, {1});
  within.events[0].offset = 4;
  EXPECT_FALSE(has_returns_to_join(within, Joined::kernel));
}

} // namespace
} // namespace ir
