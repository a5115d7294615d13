// Each rule of the verifier, broken once: the sentence must name it, and nothing else may be reported.
#include "ir/builder.h"

#include <gtest/gtest.h>

namespace ir {
namespace {

::testing::AssertionResult refuses(const Program& program, std::string_view because) {
  const auto mistakes = verify(program);
  if (mistakes.size() == 1 && mistakes[0].find(because) != std::string::npos)
    return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure() << mistakes.size() << " mistakes";
  for (const auto& m : mistakes) failure << "\n  " << m;
  return failure;
}

TEST(Verify, AcceptsAProgramWithEverything) {
  Builder b;
  const uint32_t m = b.map(MapKind::hash, 8, 16);
  const uint32_t o = b.object(8, "key");
  const uint32_t site = b.site(Fault::loop_limit);
  const R address = b.address(o);
  b.store(address, b.query(Query::pid_tgid));
  b.on_map(Op::map_slot, m, address);
  const R slot{b.last().dst};
  const BlockId ok = b.block(), full = b.block(), fault = b.block(), more = b.block();
  b.branch(slot, Cond::ne, 0, ok, full);
  b.at(ok);
  const R word = b.value(Op::load, slot);
  b.last().space = Space::user, b.last().target = more, b.last().other = fault;
  b.at(fault);
  b.jump(full);
  b.at(full);
  b.give_back();
  b.at(more);
  b.output(word);
  b.emit(Op::loop).index = 1;
  b.last().a = Value(5), b.last().imm = 100, b.last().imm2 = site;
  b.give_back();
  b.function("body", Role::body, 1, 0);
  b.address(o, 4);
  b.give_back(1);
  b.enter(0);
  b.probe();
  EXPECT_EQ(verify(b.program), std::vector<std::string>{}) << to_string(b.program);
}

TEST(Verify, BlocksEndProperly) {
  {
    Builder b;
    b.value(Op::mov, 1);
    EXPECT_TRUE(refuses(b.program, "does not end it"));
  }
  {
    Builder b;
    b.give_back();
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "stands inside one"));
  }
  {
    Builder b;
    EXPECT_TRUE(refuses(b.program, "it is empty"));
  }
  {
    Builder b;
    b.now().blocks.clear();
    EXPECT_TRUE(refuses(b.program, "no blocks"));
  }
  {
    Builder b;
    b.jump(7);
    EXPECT_TRUE(refuses(b.program, "target does not exist"));
  }
  {
    Builder b;
    const BlockId again = b.block();
    b.jump(again);
    b.at(again);
    b.jump(0);
    EXPECT_TRUE(refuses(b.program, "entry, which has no predecessors"));
  }
}

TEST(Verify, RegistersAreSetBeforeTheyAreRead) {
  {
    Builder b;
    const BlockId yes = b.block(), join = b.block();
    const R q = b.query(Query::cpu), r = b.reg();
    b.branch(q, Cond::eq, 0, yes, join);
    b.at(yes);
    b.emit_to(r, Op::mov, 1);
    b.jump(join);
    b.at(join);
    b.output(r);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "register %2 may be read before it is set"));
  }
  { // the value of a load is not there where it faulted
    Builder b;
    const BlockId ok = b.block(), fault = b.block();
    const R r = b.reg();
    b.emit_to(r, Op::mov, 0);
    Inst& load = b.emit_to(r, Op::load, 4096);
    load.space = Space::kernel, load.target = ok, load.other = fault;
    b.at(ok);
    b.output(r);
    b.give_back();
    b.at(fault);
    b.output(r);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "register %1 may be read before it is set"));
  }
  {
    Builder b;
    b.value(Op::mov, R{9});
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "register %9 does not exist"));
  }
  {
    Builder b;
    b.emit_to(R{9}, Op::mov, 1);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "register %9 is not counted"));
  }
}

TEST(Verify, OperandsFitTheOperation) {
  {
    Builder b;
    b.value(Op::add, 1);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "operand b is missing"));
  }
  {
    Builder b;
    b.value(Op::mov, 1, 2);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "it has no operand b"));
  }
  {
    Builder b;
    b.emit(Op::mov).a = Value(1);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "its value goes nowhere"));
  }
  {
    Builder b;
    b.store(b.address(b.object(8)), 1);
    b.last().dst = 1;
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "it gives no value"));
  }
}

TEST(Verify, SizesAndObjects) {
  {
    Builder b;
    b.load(b.address(b.object(8)), 0, 3);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "size is 1, 2, 4 or 8, not 3"));
  }
  {
    Builder b;
    b.load(b.address(b.object(8)), 4, 8);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "bytes 4 to 12 are not inside object o0 of 8 bytes"));
  }
  {
    Builder b;
    b.store(b.address(b.object(8), 4), 1, -8, 4);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "not inside object"));
  }
  {
    Builder b;
    const R small = b.address(b.object(8));
    b.emit(Op::name).a = Value(small);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "bytes 0 to 16 are not inside"));
  }
  {
    Builder b;
    b.address(4);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "object 4 does not exist"));
  }
  {
    Builder b;
    b.address(b.object(8), 9);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "outside its object"));
  }
  {
    Builder b;
    const R a = b.address(b.object(8));
    b.emit(Op::zero).a = Value(a);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "length of 0"));
  }
}

TEST(Verify, SpacesAndFaults) {
  {
    Builder b;
    const R a = b.address(b.object(8));
    const BlockId ok = b.block();
    b.load(a);
    b.last().space = Space::context;
    b.last().target = b.last().other = ok;
    b.at(ok);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "space context cannot fault"));
  }
  {
    Builder b;
    const R a = b.address(b.object(8));
    Inst& i = b.emit(Op::read);
    i.a = Value(a), i.b = Value(4096), i.imm2 = 8, i.space = Space::task;
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "kernel or user memory only"));
  }
}

TEST(Verify, IndexesExist) {
  {
    Builder b;
    b.on_map(Op::map_size, 3);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "map 3 does not exist"));
  }
  {
    Builder b;
    b.on_map(Op::map_find, b.map(MapKind::hash, 8, 8));
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "key of @m0 is missing"));
  }
  {
    Builder b;
    b.on_map(Op::map_find, b.map(MapKind::array, 0, 8), b.address(b.object(8)));
    b.now().blocks[0].insts.back().index = 0;
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "@m0 has no keys"));
  }
  {
    Builder b;
    const R key = b.address(b.object(4));
    b.on_map(Op::map_find, b.map(MapKind::hash, 8, 8), key);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "not inside object"));
  }
  {
    Builder b;
    b.emit(Op::count_fault).index = 2;
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "site 2 does not exist"));
  }
  {
    Builder b;
    b.value(Op::table, 1);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "table 0 does not exist"));
  }
  {
    Builder b;
    b.value(Op::event);
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "action 0 does not exist"));
  }
  {
    Builder b;
    b.action(2);
    b.value(Op::event);
    b.last().imm2 = 16;
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "has 24 bytes, not 16"));
  }
  {
    Builder b;
    b.value(Op::stack);
    b.last().index = 3, b.last().imm2 = 1;
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "kernel's (0) or the user's (1, 2)"));
  }
  {
    Builder b;
    b.value(Op::stack);
    b.last().index = 1, b.last().imm2 = 1;
    b.give_back();
    EXPECT_TRUE(refuses(b.program, "a user stack is one of a process"));
  }
}

TEST(Verify, CallsAndBodies) {
  const auto with_callee = [](Role role, uint32_t parameters, auto emit) {
    Builder b;
    const uint32_t site = b.site(Fault::loop_limit);
    const uint32_t m = b.map(MapKind::hash, 8, 8);
    const uint32_t f = b.function("callee", role, parameters, role == Role::body ? 0 : ~0u);
    b.give_back();
    b.enter(0);
    emit(b, f, site, m);
    b.give_back();
    return std::move(b.program);
  };
  EXPECT_TRUE(refuses(with_callee(Role::function, 2,
                                  [](Builder& b, uint32_t f, uint32_t, uint32_t) {
                                    b.value(Op::call, 1);
                                    b.last().index = f;
                                  }),
                      "takes 2 arguments, not 1"));
  EXPECT_TRUE(refuses(with_callee(Role::function, 2,
                                  [](Builder& b, uint32_t f, uint32_t, uint32_t) {
                                    b.value(Op::call, 1, {}, 2);
                                    b.last().index = f;
                                  }),
                      "an argument is missing"));
  EXPECT_TRUE(refuses(with_callee(Role::body, 1,
                                  [](Builder& b, uint32_t f, uint32_t, uint32_t) {
                                    b.value(Op::call, 1);
                                    b.last().index = f;
                                  }),
                      "no function that can be called"));
  EXPECT_TRUE(refuses(with_callee(Role::function, 1,
                                  [](Builder& b, uint32_t f, uint32_t site, uint32_t) {
                                    b.value(Op::loop, 1);
                                    b.last().index = f, b.last().imm2 = site;
                                  }),
                      "not the body of a loop"));
  EXPECT_TRUE(refuses(with_callee(Role::body, 2,
                                  [](Builder& b, uint32_t f, uint32_t site, uint32_t) {
                                    b.value(Op::loop, 1);
                                    b.last().index = f, b.last().imm2 = site;
                                  }),
                      "takes 2 parameters, not 1"));
  EXPECT_TRUE(refuses(with_callee(Role::body, 1,
                                  [](Builder& b, uint32_t f, uint32_t, uint32_t) {
                                    b.value(Op::loop, 1);
                                    b.last().index = f, b.last().imm2 = 9;
                                  }),
                      "its site does not exist"));
  EXPECT_TRUE(refuses(with_callee(Role::body, 2,
                                  [](Builder& b, uint32_t f, uint32_t, uint32_t) {
                                    b.emit(Op::for_each).imm = f;
                                    b.last().index = b.map(MapKind::array, 0, 8);
                                  }),
                      "scalar map has no entries"));
  EXPECT_EQ(verify(with_callee(Role::body, 2,
                               [](Builder& b, uint32_t f, uint32_t, uint32_t m) {
                                 b.emit(Op::for_each).imm = f;
                                 b.last().index = m;
                               })),
            std::vector<std::string>{});
}

TEST(Verify, Roles) {
  {
    Builder b;
    b.give_back(1);
    b.program.probes[b.probe()].context = probe::Context::raw_tracepoint;
    EXPECT_TRUE(refuses(b.program, "a probe returns 0"));
    b.program.probes[0].context = probe::Context::none; // a test may tell something
    EXPECT_TRUE(verify(b.program).empty());
  }
  {
    Builder b;
    b.give_back();
    b.now().parameters = 1, b.now().registers = 2;
    EXPECT_TRUE(refuses(b.program, "a probe has no parameters"));
  }
  {
    Builder b;
    b.give_back();
    b.now().parent = 0;
    EXPECT_TRUE(refuses(b.program, "only a body or a piece has a parent"));
  }
  {
    Builder b;
    b.give_back();
    b.function("body", Role::body, 1, 0);
    b.give_back();
    b.program.frames.emplace_back();
    b.now().frame = 1;
    EXPECT_TRUE(refuses(b.program, "shares the frame of its parent"));
  }
  {
    Builder b;
    b.give_back();
    b.function("body", Role::body, 1, 0);
    b.give_back(2);
    EXPECT_TRUE(refuses(b.program, "a body returns 0 or 1"));
  }
  {
    Builder b;
    b.give_back();
    b.now().frame = 5;
    EXPECT_TRUE(refuses(b.program, "frame 5 does not exist"));
  }
  {
    Builder b;
    b.give_back();
    b.function("f", Role::function, 0);
    b.give_back();
    b.probe(1);
    EXPECT_TRUE(refuses(b.program, "not the function of a probe"));
  }
}

TEST(Verify, Maps) {
  const auto with_map = [](MapKind kind, uint32_t key, uint32_t value, uint64_t entries,
                           uint32_t present = ~0u) {
    Builder b;
    b.give_back();
    b.map(kind, key, value, entries, present);
    return std::move(b.program);
  };
  EXPECT_TRUE(refuses(with_map(MapKind::hash, 8, 7, 1), "values have a multiple of 8"));
  EXPECT_TRUE(refuses(with_map(MapKind::hash, 0, 8, 1), "keys have a multiple of 8"));
  EXPECT_TRUE(refuses(with_map(MapKind::array, 8, 8, 1), "scalar map has no key"));
  EXPECT_TRUE(refuses(with_map(MapKind::hash, 8, 8, 0), "no room"));
  EXPECT_TRUE(refuses(with_map(MapKind::array, 0, 8, 1, 8), "flag stands outside"));
}

} // namespace
} // namespace ir
