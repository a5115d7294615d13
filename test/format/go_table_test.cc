// Functions, lines and inlined calls of Go's own table, in each of its forms, moved, renamed, without
// sections, and damaged.
#include "format/go_lines.h"
#include "format/go_tables.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

namespace format {
namespace {

constexpr std::pair<const char*, GoTableSource> all_forms[] = {
    {"1.2", go_1_2}, {"1.16", go_1_16}, {"1.17", go_1_17}, {"1.18", go_1_18}, {"1.20", go_1_20}};

class GoTableTest : public testing::Test {
protected:
  ElfFile open(const std::string& name) const {
    auto file = ElfFile::open(scratch_.path(name));
    EXPECT_TRUE(file.ok());
    return file.ok() ? std::move(*file) : std::move(*ElfFile::open("/bin/sh"));
  }
  uint64_t address_of(const std::string& name, const std::string& symbol) const {
    scratch_.run("nm " + name + " | awk '$3==\"" + symbol + "\"{print $1}'");
    return std::stoull("0" + scratch_.log(), nullptr, 16);
  }
  // "function file:line" of each frame.
  static std::vector<std::string> frames(const GoLines& lines, uint64_t address) {
    std::vector<std::string> out;
    for (const GoFrame& f : lines.find(address))
      out.push_back(std::string(f.function) + " " + std::string(f.file) + ":" + std::to_string(f.line));
    return out;
  }
  void expect_all(const std::string& name, uint64_t one) const {
    ElfFile file = open(name);
    auto table = GoTable::find(file);
    ASSERT_TRUE(table) << name;
    ASSERT_EQ(table->size(), 2u);
    EXPECT_EQ(table->at(0)->name, "main.one");
    EXPECT_EQ(table->at(0)->begin, one);
    EXPECT_EQ(table->at(0)->end, one + 16);
    EXPECT_EQ(table->at(1)->name, "main.(*T).two");
    EXPECT_EQ(table->holding(one + 19)->name, "main.(*T).two");
    EXPECT_FALSE(table->holding(one - 1));
    EXPECT_FALSE(table->holding(one + 20));
    GoLines lines(*table);
    EXPECT_TRUE(lines.knows_inlined_calls());
    EXPECT_EQ(frames(lines, one + 7), std::vector<std::string>{"main.one /src/main.go:10"});
    EXPECT_EQ(frames(lines, one + 8),
              (std::vector<std::string>{"main.small /src/main.go:11", "main.one /src/main.go:10"}));
    EXPECT_EQ(frames(lines, one + 16), std::vector<std::string>{"main.(*T).two :0"});
    EXPECT_TRUE(frames(lines, one + 20).empty());
  }
  Scratch scratch_;
};

TEST_F(GoTableTest, EveryForm) {
  for (const auto& [name, form] : all_forms) {
    ASSERT_TRUE(build_go_table(scratch_, form, name)) << scratch_.log();
    expect_all(std::string(name) + ".stripped", address_of(name, "one"));
  }
}

// The words of a movable program are filled in by the loader.
TEST_F(GoTableTest, EveryFormInMovablePrograms) {
  for (const auto& [name, form] : all_forms) {
    ASSERT_TRUE(build_go_table(scratch_, form, name, ".data.rel.ro.gopclntab", "-pie --no-dynamic-linker"))
        << scratch_.log();
    expect_all(std::string(name) + ".stripped", address_of(name, "one"));
  }
}

TEST_F(GoTableTest, UnderAnotherNameAndWithoutSections) {
  for (const auto& [name, form] : all_forms) {
    ASSERT_TRUE(build_go_table(scratch_, form, name, ".other")) << scratch_.log();
    const std::string file = std::string(name) + ".stripped";
    expect_all(file, address_of(name, "one"));
    std::string bytes = scratch_.read(file);
    std::memset(bytes.data() + 40, 0, 8); // e_shoff
    std::memset(bytes.data() + 60, 0, 4); // e_shnum, e_shstrndx
    scratch_.write(file, bytes);
    ASSERT_TRUE(open(file).elf().sections().empty());
    expect_all(file, address_of(name, "one"));
  }
}

TEST_F(GoTableTest, NoTable) {
  scratch_.write(
      "c.c",
      "const char looks_so[] __attribute__((aligned(32))) = \"\\xf1\\xff\\xff\\xff\\0\\0\\1\\x8\\2\";\n"
      "int main(void) { return looks_so[0] == 0; }\n");
  ASSERT_TRUE(scratch_.run("gcc -o c c.c && strip c"));
  ElfFile file = open("c");
  EXPECT_FALSE(GoTable::find(file));
  EXPECT_FALSE(has_go_functions(file));
}

// Whatever a byte is changed to, nothing is read outside of the file, and each search ends.
TEST_F(GoTableTest, DamagedTables) {
  for (const auto& [name, form] : all_forms) {
    ASSERT_TRUE(build_go_table(scratch_, form, name));
    const std::string whole = scratch_.read(std::string(name) + ".stripped");
    const auto magic = static_cast<char>(form.magic);
    const size_t begin = whole.find(std::string({magic, '\xff', '\xff', '\xff', 0, 0, 1, 8}));
    ASSERT_NE(begin, whole.npos);
    const uint64_t one = address_of(name, "one");
    for (size_t i = begin; i < std::min(begin + 512, whole.size()); i++)
      for (char value : {'\0', '\x7f', '\xff'}) {
        std::vector<std::byte> bytes(whole.size());
        std::memcpy(bytes.data(), whole.data(), whole.size());
        bytes[i] = static_cast<std::byte>(value);
        auto file = ElfFile::of(std::move(bytes));
        auto table = file.ok() ? GoTable::find(*file) : std::nullopt;
        if (!table) continue;
        GoLines lines(*table);
        for (uint64_t at = one - 2; at < one + 24; at += 3) (void)lines.find(at);
      }
  }
}

} // namespace
} // namespace format
