// The text of instructions, as people read it in --dump ir.
#include "ir/builder.h"

#include <gtest/gtest.h>

namespace ir {
namespace {

TEST(Print, Instructions) {
  Builder b;
  const uint32_t m = b.map(MapKind::hash, 8, 16);
  const uint32_t site = b.site(Fault::division_by_zero);
  const auto text = [&] { return to_string(b.last(), b.program); };
  const R address = b.address(b.object(16, "key"), 8);
  EXPECT_EQ(text(), "%1 = object o0+8");
  b.load(address, 16, 4);
  EXPECT_EQ(text(), "%2 = load.script u32 [%1+16]");
  b.last().space = Space::kernel, b.last().target = 3, b.last().other = 7;
  EXPECT_EQ(text(), "%2 = load.kernel u32 [%1+16] fault b7 -> b3");
  b.on_map(Op::map_slot, m, address);
  EXPECT_EQ(text(), "%3 = map_slot @m0, %1");
  b.value(Op::add, address, -1);
  EXPECT_EQ(text(), "%4 = add %1, -1");
  b.value(Op::sext, address);
  b.last().size = 2;
  EXPECT_EQ(text(), "%5 = sext16 %1");
  b.branch(address, Cond::ult, 70000, 1, 2);
  EXPECT_EQ(text(), "branch %1 ult 0x11170 ? b1 : b2");
  b.store(address, 0, -8, 1);
  EXPECT_EQ(text(), "store u8 [%1-8], 0");
  b.query(Query::ktime);
  EXPECT_EQ(text(), "%6 = query ktime");
  b.emit(Op::count_fault).index = site;
  EXPECT_EQ(text(), "count_fault site 0 (division_by_zero)");
}

TEST(Print, Program) {
  Builder b;
  b.action(1);
  b.give_back();
  b.probe();
  EXPECT_EQ(to_string(b.program), "action 0: printf (int64), record 16 bytes\n"
                                  "probe main: context none, function main#0, 0 events\n"
                                  "\n"
                                  "function main (probe), frame 0\n"
                                  "b0:\n"
                                  "    give_back 0\n");
}

} // namespace
} // namespace ir
