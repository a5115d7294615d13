// The table of types: one address a type, and the layouts that engines and report agree on.
#include "type/type.h"

#include <gtest/gtest.h>

namespace type {
namespace {

struct TypeTable : testing::Test {
  Table t;
  const Type* tuple(std::vector<const Type*> elements) { return t.tuple(elements); }
};

TEST_F(TypeTable, SameArgumentsSameType) {
  EXPECT_EQ(t.integer(4, true), t.integer(4, true));
  EXPECT_NE(t.integer(4, true), t.integer(4, false));
  EXPECT_NE(t.character(), t.integer(1, true));
  EXPECT_EQ(tuple({t.int64(), t.string(3)}), tuple({t.int64(), t.string(3)}));
  EXPECT_NE(t.pointer(nullptr, Space::user), t.pointer(nullptr, Space::kernel));
}

TEST_F(TypeTable, TuplesAreLaidOutAsInC) {
  const Type* x = tuple({t.integer(1, false), t.int64(), t.string(3), t.integer(2, true)});
  std::vector<uint32_t> offsets;
  for (const Field& f : x->fields()) offsets.push_back(f.offset);
  EXPECT_EQ(offsets, (std::vector<uint32_t>{0, 8, 16, 20}));
  EXPECT_EQ(x->size, 24u);
  EXPECT_EQ(x->align, 8u);
}

TEST_F(TypeTable, RecordsHaveNames) {
  std::vector<const Type*> elements = {t.int64(), t.boolean()};
  std::vector<std::string_view> names = {"a", "b"};
  const Type* r = t.record(elements, names);
  EXPECT_TRUE(r->is_named);
  EXPECT_EQ(r->find("b")->offset, 8u);
  EXPECT_FALSE(r->find("c"));
  EXPECT_EQ(to_string(*r), "(a=int64,b=bool)");
}

TEST_F(TypeTable, SizesOfSpecialKinds) {
  EXPECT_EQ(t.buffer(5)->size, 9u);
  EXPECT_EQ(t.simple(Kind::inet)->size, 20u);
  EXPECT_EQ(t.simple(Kind::mac)->size, 6u);
  EXPECT_EQ(t.simple(Kind::stats)->size, 16u);
  EXPECT_EQ(t.stack(Kind::kstack, StackMode::raw, 3)->size, 8u);
  EXPECT_EQ(t.stack(Kind::ustack, StackMode::raw, 3)->size, 16u);
  EXPECT_EQ(t.hist(0)->count, 66u);
  EXPECT_EQ(t.lhist(0, 10, 3)->count, 6u);
}

TEST_F(TypeTable, MembersOfAnonymousStructures) {
  std::vector<Field> inner = {{.name = "x", .type = t.integer(4, true), .offset = 4}};
  std::vector<Field> outer = {{.name = "", .type = t.structure("", true, 8, 4, inner), .offset = 8}};
  EXPECT_EQ(t.structure("s", false, 16, 8, outer)->find("x")->offset, 12u);
}

// The members of a base class stand before those of the class, which hide them.
TEST_F(TypeTable, OwnMembersHideThoseOfBases) {
  std::vector<Field> base = {{.name = "x", .type = t.integer(4, true), .offset = 4}};
  std::vector<Field> derived = {{.name = "", .type = t.structure("base", false, 8, 4, base)},
                                {.name = "x", .type = t.integer(4, true), .offset = 8}};
  EXPECT_EQ(t.structure("derived", false, 16, 8, derived)->find("x")->offset, 8u);
}

} // namespace
} // namespace type
