// Tables of names that others wrote: reading only the units which they name finds what reading all units
// finds.
#include "dwarf/name_tables.h"

#include "compiled.h"
#include "index_samples.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace dwarf {
namespace {

using format::ElfFile;
using Found = std::set<std::pair<NameKind, uint64_t>>;

class NameTablesTest : public testing::Test {
protected:
  // A program of four units, with tables. "" if that failed.
  std::string compile(const std::string& compiler, const std::string& linking, const std::string& name) {
    folder_.write("a.cc", samples::cpp_source);
    folder_.write("c.c", samples::c_source);
    folder_.write("d.cc",
                  "namespace outer { struct Lone { int l; }; int lone(Lone x) { return x.l; } } int alone;");
    std::string line = "cd " + folder_.file("") + " && " + compiler + " -c a.cc -o a.o && " + compiler +
                       " -Dmain=second -Dglobal=other -c a.cc -o b.o && " + compiler +
                       " -Dmain=third -x c++ -fpermissive -w -c c.c -o c.o && " + compiler +
                       " -c d.cc -o d.o && g++ " + linking +
                       " -Wl,--allow-multiple-definition a.o b.o c.o d.o -o " + name + " && echo done";
    return samples::output_of(line).empty() ? "" : folder_.file(name);
  }

  static Found found(ByteSpan bytes, std::string_view name, NameKinds kinds) {
    auto index = Index::open(bytes);
    EXPECT_TRUE(index.ok());
    Found out;
    index->find(name, kinds, [&](const IndexEntry& e) { return out.insert({e.kind, e.die_offset}), true; });
    return out;
  }

  // Asks for all names. `all_of`: kinds of which the tables know every entry; of others they may lack some.
  void check(const std::string& path, NameKinds all_of) {
    ASSERT_NE(path, "");
    auto file = ElfFile::open(path);
    ASSERT_TRUE(file.ok());
    DebugInfo info(*file);
    ASSERT_TRUE(has_name_tables(info.sections()));
    std::vector<IndexFile> files = {IndexFile::of(*file)};
    auto whole = build_index(files);
    ASSERT_TRUE(whole.ok());
    auto index = Index::open(*whole);
    std::set<std::string> names;
    index->list("*", all_kinds, [&](const IndexEntry& e) {
      names.insert(index->full_name(e));
      names.insert(std::string(index->name(e)));
      return true;
    });
    size_t known = 0, units_read = 0;
    for (const std::string& name : names) {
      auto units = units_with(info, name);
      Found all = found(*whole, name, all_of);
      if (!units) {
        EXPECT_TRUE(all.empty()) << name;
        continue;
      }
      known++;
      units_read += units->size();
      auto part = build_index(files, 1, &*units);
      ASSERT_TRUE(part.ok());
      EXPECT_EQ(found(*part, name, all_of), all) << name;
      Found some = found(*part, name, all_kinds), most = found(*whole, name, all_kinds);
      bool has_scope = name.find("::") != name.npos; // tables are asked for the last part alone
      EXPECT_TRUE(has_scope || !some.empty()) << name;
      EXPECT_TRUE(std::includes(most.begin(), most.end(), some.begin(), some.end())) << name;
    }
    EXPECT_GT(known, names.size() / 2);
    EXPECT_LT(units_read, known * info.units().size());
    EXPECT_FALSE(units_with(info, "no_such_name"));
    ASSERT_TRUE(units_with(info, "outer::Lone"));
    EXPECT_EQ(units_with(info, "outer::Lone")->size(), 1u);
  }

  // Every way to cut a table, and many to damage it.
  void damage(const std::string& path, ByteSpan Sections::*table) {
    ASSERT_NE(path, "");
    auto file = ElfFile::open(path);
    ASSERT_TRUE(file.ok());
    Sections sections = sections_of(*file);
    ByteSpan whole = sections.*table;
    ASSERT_FALSE(whole.empty());
    uint64_t random = 88172645463325252u;
    auto next = [&] { return random ^= random << 13, random ^= random >> 7, random ^= random << 17; };
    for (size_t i = 0; i < std::min<size_t>(whole.size(), 4096) + 500; i++) {
      size_t size = i < std::min<size_t>(whole.size(), 4096) ? i : whole.size();
      std::vector<std::byte> bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
      if (size == whole.size())
        for (int k = 0; k < 3; k++) bytes[next() % size] = static_cast<std::byte>(next());
      sections.*table = bytes;
      DebugInfo info(sections);
      auto units = units_with(info, "outer::Point::get");
      EXPECT_LE(units ? units->size() : 0, info.units().size());
    }
  }

  samples::Folder folder_;
};

// Linkers make it of what compilers tell of public names.
TEST_F(NameTablesTest, GdbIndexOfALinker) {
  std::string path = compile("g++ -g -O1 -ggnu-pubnames", "-fuse-ld=gold -Wl,--gdb-index", "gold");
  check(path, kinds_of({NameKind::name_space}));
  damage(path, &Sections::gdb_index);
}

TEST_F(NameTablesTest, DebugNamesOfACompiler) {
  if (samples::output_of("command -v clang++").empty()) GTEST_SKIP() << "no clang++ here (package clang)";
  std::string path = compile("clang++ -g -gdwarf-5 -gpubnames -O1", "", "clang");
  check(path, type_kinds | kinds_of({NameKind::function}));
  damage(path, &Sections::names);
}

TEST_F(NameTablesTest, NoTables) {
  std::string path = compile("g++ -g -O1", "", "plain");
  ASSERT_NE(path, "");
  auto file = ElfFile::open(path);
  DebugInfo info(*file);
  EXPECT_FALSE(has_name_tables(info.sections()));
  EXPECT_FALSE(units_with(info, "main"));
}

} // namespace
} // namespace dwarf
