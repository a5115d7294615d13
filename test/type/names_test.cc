// Names of types and numbers as scripts and messages have them, and lists of CPUs.
#include "type/number_names.h"
#include "type/type.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace type {
namespace {

struct Names : testing::Test {
  Table t;
};

// 64-bit Linux (LP64).
TEST_F(Names, NumbersOfC) {
  for (auto [name, size, is_signed] : {std::tuple("char", 1u, true), std::tuple("short", 2u, true), std::tuple("int", 4u, true), std::tuple("long", 8u, true), std::tuple("long long", 8u, true), std::tuple("unsigned", 4u, false),
                                       std::tuple("unsigned long", 8u, false), std::tuple("size_t", 8u, false), std::tuple("ssize_t", 8u, true), std::tuple("pid_t", 4u, true), std::tuple("uid_t", 4u, false),
                                       std::tuple("umode_t", 2u, false), std::tuple("__be16", 2u, false), std::tuple("u64", 8u, false), std::tuple("s8", 1u, true), std::tuple("int32_t", 4u, true), std::tuple("loff_t", 8u, true)}) {
    const Type* n = number_type(t, name);
    ASSERT_NE(n, nullptr) << name;
    EXPECT_EQ(n->size, size) << name;
    EXPECT_EQ(n->is_signed, is_signed) << name;
  }
  EXPECT_EQ(number_type(t, "char"), t.character());
  EXPECT_EQ(number_type(t, "_Bool"), t.boolean());
  EXPECT_EQ(number_type(t, "double"), t.floating(8));
  for (const char* none : {"void", "", "struct foo", "int ", "Int"}) EXPECT_EQ(number_type(t, none), nullptr) << none;
}

TEST_F(Names, EachNameOnceAndEachATypeOfItsSize) {
  std::set<std::string_view> seen;
  for (std::string_view name : number_names()) {
    EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_TRUE(is_number_name(name));
    const Type* n = number_type(t, name);
    ASSERT_NE(n, nullptr) << name;
    EXPECT_TRUE(n->is(Kind::integer) || n->is(Kind::floating)) << name;
    // A number in the name is its size in bits.
    const size_t digit = name.find_first_of("123456789");
    const size_t bits = digit == name.npos ? 0 : std::strtoul(std::string(name.substr(digit)).c_str(), nullptr, 10);
    if (bits && name != "time64_t") {
      EXPECT_EQ(n->size * 8, bits) << name;
    }
    if (name.starts_with("u") && name != "umode_t" && name != "uid_t" && name != "uintptr_t" && n->is(Kind::integer)) {
      EXPECT_FALSE(n->is_signed) << name;
    }
  }
}

TEST_F(Names, TypesAreShownAsTheyAreWritten) {
  EXPECT_EQ(to_string(*t.int64()), "int64");
  EXPECT_EQ(to_string(*t.pointer(nullptr, Space::kernel)), "void *");
  EXPECT_EQ(to_string(*t.pointer(t.pointer(t.character(), Space::user), Space::user)), "int8 * *");
  EXPECT_EQ(to_string(*t.array(t.array(t.integer(4, true), 3), 2)), "int32[2][3]"); // two of three, as in C
  EXPECT_EQ(to_string(*t.string(64)), "string[64]");
  EXPECT_EQ(to_string(*t.structure("", true, 8, 4, {})), "union");
  EXPECT_EQ(to_string(*t.structure("task_struct", false, 8, 4, {})), "struct task_struct");
  EXPECT_EQ(to_string(*t.stack(Kind::kstack, StackMode::bpftrace, 127)), "kstack");
  EXPECT_EQ(to_string(*t.stack(Kind::ustack, StackMode::perf, 3)), "ustack(perf,3)");
  EXPECT_EQ(to_string(*t.stack(Kind::ustack, StackMode::bpftrace, 127, true)), "ustack(fp)");
  EXPECT_EQ(to_string(*t.tseries(1000, 5, Slice::max, true)), "tseries_t(1000ns, 5, max)");
}

TEST_F(Names, NamesOfKindsAndBack) {
  for (int k = 0; k <= static_cast<int>(Kind::tseries); k++) {
    const auto kind = static_cast<Kind>(k);
    const std::string_view name = name_of_kind(kind);
    if (!name.empty()) {
      EXPECT_EQ(kind_of_name(name), kind) << name;
    }
  }
  EXPECT_EQ(kind_of_name(""), std::nullopt);
  EXPECT_EQ(kind_of_name("no_such_t"), std::nullopt);
}

TEST_F(Names, RecordsOfOtherNamesAreOthers) {
  const std::vector<const Type*> two = {t.int64(), t.int64()};
  const std::vector<std::string_view> ab = {"a", "b"}, ba = {"b", "a"};
  EXPECT_EQ(t.record(two, ab), t.record(two, ab));
  EXPECT_NE(t.record(two, ab), t.record(two, ba));
  EXPECT_NE(t.record(two, ab), t.tuple(two));
  EXPECT_EQ(t.tuple({})->size, 0u);
}

// What a structure in the memory of a program holds is in that memory, too.
TEST_F(Names, UserMemoryStaysUserMemory) {
  std::vector<Field> fields = {{.name = "next", .type = t.pointer(nullptr, Space::kernel)}};
  const Type* s = t.structure("node", false, 8, 8, fields);
  const Type* there = t.in_space(s, Space::user);
  EXPECT_NE(there, s);
  EXPECT_EQ(there->space, Space::user);
  EXPECT_EQ(there, t.in_space(s, Space::user));
  EXPECT_EQ(t.in_space(there, Space::user), there);
  EXPECT_EQ(t.in_space(s, Space::kernel), s);
  EXPECT_EQ(t.in_space(t.array(s, 2), Space::user)->element, there);
  EXPECT_EQ(t.in_space(t.pointer(s, Space::kernel), Space::user)->space, Space::user);
  EXPECT_EQ(t.in_space(nullptr, Space::user), nullptr);
}

// Each number has one bucket; both ends of the last step belong to what is above.
TEST_F(Names, BucketsOfHistograms) {
  for (uint32_t bits = 0; bits <= 5; bits++) EXPECT_EQ(t.hist(bits)->count, 1 + (1u << bits) * (65 - bits)) << bits;
  EXPECT_EQ(t.lhist(0, 10, 10)->count, 3u);
  EXPECT_EQ(t.lhist(0, 11, 10)->count, 4u); // the last one is narrower
  EXPECT_EQ(t.lhist(-5, 5, 1)->count, 12u);
}

} // namespace
} // namespace type
