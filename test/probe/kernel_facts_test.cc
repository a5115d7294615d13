#include "probe/kernel_facts.h"

#include "format/tracefs.h"
#include "scratch.h"

#include <gtest/gtest.h>

namespace probe {
namespace {

std::vector<std::byte> id_of(uint8_t n) { return std::vector<std::byte>(20, std::byte{n}); }

TEST(KernelFacts, AreAskedForOnce) {
  Scratch folder;
  int asked = 0;
  auto ask = [&] { return ++asked, 7u; };
  {
    KernelFacts facts(symbol::Cache(folder.folder()), id_of(1));
    EXPECT_EQ(facts.number("a", ask), 7u);
    EXPECT_EQ(facts.number("a", ask), 7u);
    EXPECT_EQ(facts.number("none", [] { return 0u; }), 0u);
    EXPECT_EQ(asked, 1);
    facts.store();
  }
  KernelFacts again(symbol::Cache(folder.folder()), id_of(1));
  EXPECT_EQ(again.number("a", ask), 7u);
  EXPECT_EQ(again.number("none", ask), 0u);
  EXPECT_EQ(asked, 1);
  KernelFacts other(symbol::Cache(folder.folder()), id_of(2));
  EXPECT_EQ(other.number("a", ask), 7u);
  EXPECT_EQ(asked, 2);
}

TEST(KernelFacts, WorkWithoutAPlaceToKeepThem) {
  KernelFacts facts(symbol::Cache(""), id_of(1));
  EXPECT_EQ(facts.number("a", [] { return 3u; }), 3u);
  Scratch folder;
  {
    KernelFacts unknown(symbol::Cache(folder.folder()), {});
    EXPECT_EQ(unknown.number("a", [] { return 3u; }), 3u);
    unknown.store();
  }
  KernelFacts again(symbol::Cache(folder.folder()), {});
  EXPECT_EQ(again.number("a", [] { return 4u; }), 4u);
}

constexpr char openat[] = "name: sys_enter_openat\n"
                          "ID: 700\n"
                          "format:\n"
                          "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                          "\n"
                          "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
                          "\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
                          "\n"
                          "print fmt: \"dfd: 0x%08lx\", REC->dfd\n";

TEST(KernelFacts, FormatsAreKeptWithoutWhatAllHave) {
  Scratch folder;
  {
    KernelFacts facts(symbol::Cache(folder.folder()), id_of(1));
    EXPECT_FALSE(facts.format("sys_enter_openat"));
    facts.keep_format(openat);
    EXPECT_TRUE(facts.format("sys_enter_openat"));
    facts.number("a", [] { return 5u; });
    facts.store();
  }
  {
    KernelFacts again(symbol::Cache(folder.folder()), id_of(1));
    EXPECT_EQ(again.number("a", [] { return 0u; }), 5u);
    again.keep_format("name: sys_enter_close\nformat:\n\n\tfield:int fd;\toffset:16;\tsize:8;\tsigned:0;\n");
    again.keep_format("garbage");
    again.keep_format("name: cut");
    again.store();
  }
  KernelFacts both(symbol::Cache(folder.folder()), id_of(1));
  EXPECT_TRUE(both.format("sys_enter_close"));
  EXPECT_FALSE(both.format("sys_enter_open"));
  EXPECT_FALSE(both.format("cut"));
  auto kept = both.format("sys_enter_openat");
  ASSERT_TRUE(kept);
  auto format = format::parse_trace_format(*kept);
  ASSERT_TRUE(format.ok());
  EXPECT_EQ(format->id, 700u);
  ASSERT_EQ(format->fields.size(), 2u);
  EXPECT_EQ(format->fields[1].name, "dfd");
  EXPECT_EQ(format->fields[1].offset, 16u);
}

} // namespace
} // namespace probe
