// Indexes of names that are kept: made once, mapped afterwards, made again when the file is another.
#include "symbol/debug_index.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace symbol {
namespace {

class DebugIndexTest : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/acu-index-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { (void)!std::system(("rm -rf " + folder_).c_str()); }

  // A library with `structures` types, and more than a megabyte of debug information if there are 30,000 of
  // them.
  std::string compile(int structures, const std::string& extra = "", const std::string& flags = "") {
    std::ofstream out(folder_ + "/sample.c");
    for (int i = 0; i < structures; i++)
      out << "struct s" << i << " { int member; char* next; } v" << i << ";\n";
    out << "int answer(void) { return 42; }\n" << extra << "\n";
    out.close();
    std::string path = folder_ + "/sample.so";
    std::string line =
        "gcc -g -shared -fPIC -Wl,--build-id " + flags + " " + folder_ + "/sample.c -o " + path;
    EXPECT_EQ(std::system(line.c_str()), 0);
    return path;
  }

  // What was opened for a file: stored or not, and whether it finds a name.
  std::string open(const std::string& path, std::string_view name, const IndexSizes& sizes = {0, 0}) {
    auto file = format::ElfFile::open(path);
    if (!file.ok()) return file.error().message;
    const format::ElfFile* files[] = {&*file};
    auto index = DebugIndex::open(files, Cache(folder_ + "/cache"), sizes);
    if (!index.ok()) return index.error().message;
    DebugIndex moved = std::move(*index);
    return std::string(moved.was_stored() ? "stored" : "made") +
           (moved.index().find(name).empty() ? ", no " : ", ") + std::string(name);
  }

  std::string folder_;
};

TEST_F(DebugIndexTest, IsKept) {
  std::string path = compile(100);
  EXPECT_EQ(open(path, "answer"), "made, answer");
  EXPECT_EQ(open(path, "answer"), "stored, answer");
  EXPECT_EQ(open(path, "s99"), "stored, s99");
  EXPECT_EQ(open(path, "later"), "stored, no later");
  compile(100, "int later;", "-Wl,--build-id=0x1234");
  EXPECT_EQ(open(path, "later"), "made, later");
  EXPECT_EQ(open(path, "later"), "stored, later");
  compile(100, "int last;", "-Wl,--build-id=0x1234"); // the same build-id, another file
  EXPECT_EQ(open(path, "last"), "made, last");
}

TEST_F(DebugIndexTest, SmallOnesAreNot) {
  std::string path = compile(10);
  EXPECT_EQ(open(path, "answer", {}), "made, answer");
  EXPECT_EQ(open(path, "answer", {}), "made, answer");
  EXPECT_NE(::access((folder_ + "/cache").c_str(), F_OK), 0);
}

TEST_F(DebugIndexTest, WithoutACache) {
  auto file = format::ElfFile::open(compile(100));
  ASSERT_TRUE(file.ok());
  const format::ElfFile* files[] = {&*file};
  auto index = DebugIndex::open(files, Cache(""));
  ASSERT_TRUE(index.ok());
  EXPECT_TRUE(index->is_whole());
  EXPECT_EQ(index->index().find("answer").size(), 1u);
  auto part = DebugIndex::open_for("answer", files, Cache(""), {0, 0}); // no short cut without tables
  ASSERT_TRUE(part.ok());
  EXPECT_TRUE(part->is_whole());
}

TEST_F(DebugIndexTest, NoDebugInformation) {
  std::string path = compile(10, "", "-g0");
  EXPECT_NE(open(path, "answer").find("no debug information"), std::string::npos);
  EXPECT_FALSE(DebugIndex::open({}, Cache("")).ok());
}

// A part of a large file, by the tables that its linker made.
TEST_F(DebugIndexTest, ShortCut) {
  std::ofstream(folder_ + "/one.c")
      << "struct only { int here; } lone_variable; int only_function(void) { return 1; }";
  ASSERT_EQ(
      std::system(("gcc -g -ggnu-pubnames -fPIC -c " + folder_ + "/one.c -o " + folder_ + "/one.o").c_str()),
      0);
  std::string path = compile(100, "", "-ggnu-pubnames -fuse-ld=gold -Wl,--gdb-index " + folder_ + "/one.o");
  auto file = format::ElfFile::open(path);
  ASSERT_TRUE(file.ok());
  const format::ElfFile* files[] = {&*file};
  Cache cache(folder_ + "/cache");
  auto part = DebugIndex::open_for("lone_variable", files, cache, {0, 0});
  ASSERT_TRUE(part.ok());
  EXPECT_FALSE(part->is_whole());
  EXPECT_EQ(part->index().find("lone_variable").size(), 1u);
  EXPECT_EQ(part->index().unit_count(), 1u);
  EXPECT_TRUE(part->index().find("answer").empty());
  auto whole = DebugIndex::open_for("no_such_name", files, cache, {0, 0}); // which only all units can tell
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(whole->is_whole());
  EXPECT_EQ(whole->index().find("answer").size(), 1u);
  auto stored = DebugIndex::open_for("lone_variable", files, cache, {0, 0});
  ASSERT_TRUE(stored.ok());
  EXPECT_TRUE(stored->was_stored() && stored->is_whole());
}

} // namespace
} // namespace symbol
