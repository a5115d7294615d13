// -p puts a test in front of tracepoint programs and leaves the rest of the function as it was.
#include "session/pid_filter.h"

#include <gtest/gtest.h>

namespace {

using namespace ir;

Program one_probe(probe::Context context) {
  Program p;
  p.frames.emplace_back();
  Function f = {.name = "p"};
  f.blocks.resize(2);
  f.blocks[0].insts.push_back({.op = Op::jump, .target = 1});
  f.blocks[1].insts.push_back({.op = Op::give_back, .a = Operand::number(0)});
  p.functions.push_back(f);
  p.probes.push_back({.name = "p", .context = context});
  p.probes.push_back({.name = "the same function again", .context = context});
  return p;
}

TEST(PidFilter, TestsTheProcessFirst) {
  Program p = one_probe(probe::Context::raw_tracepoint);
  session::filter_by_pid(p, 42, bpf::features());
  EXPECT_EQ(verify(p), std::vector<std::string>());
  const Function& f = p.functions[0];
  ASSERT_EQ(f.blocks.size(), 4u);
  const Inst& branch = f.blocks[0].insts.back();
  EXPECT_EQ(branch.op, Op::branch);
  EXPECT_EQ(branch.b, Operand::number(42));
  EXPECT_EQ(branch.target, 1u);
  EXPECT_EQ(branch.other, 3u);
  EXPECT_EQ(f.blocks[1].insts[0].target, 2u);
}

TEST(PidFilter, LeavesProbesOfAcuAlone) {
  Program p = one_probe(probe::Context::none);
  session::filter_by_pid(p, 42, bpf::features());
  EXPECT_EQ(p.functions[0].blocks.size(), 2u);
}

} // namespace
