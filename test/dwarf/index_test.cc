// The index of names: against a plain walk, over what compilers and dwz write; what names find; damaged
// files.
#include "dwarf/index.h"

#include "compiled.h"
#include "index_samples.h"

#include <chrono>
#include <cstring>
#include <gtest/gtest.h>

namespace dwarf {
namespace {

using format::ElfFile;

class IndexTest : public testing::Test {
protected:
  // The path of a program made by `command` ("g++ -g") from a source; "" if it failed.
  std::string compile(const std::string& command, const std::string& name, bool is_c = false) {
    std::string source =
        folder_.write(name + (is_c ? ".c" : ".cc"), is_c ? samples::c_source : samples::cpp_source);
    std::string line =
        "cd " + folder_.file("") + " && " + command + " " + source + " -o " + name + " && echo done";
    return samples::output_of(line).empty() ? "" : folder_.file(name);
  }

  ElfFile open(const std::string& path) {
    auto file = ElfFile::open(path);
    EXPECT_TRUE(file.ok()) << file.error().message;
    return std::move(*file);
  }

  // Builds the index of files and checks the first one's part against a plain walk.
  void check(const std::string& path, const std::string& alternate = "") {
    SCOPED_TRACE(path);
    ASSERT_NE(path, "");
    ElfFile file = open(path);
    std::vector<IndexFile> files = {IndexFile::of(file)};
    std::optional<ElfFile> shared;
    DebugInfo info(file);
    std::unique_ptr<DebugInfo> other;
    if (!alternate.empty()) {
      shared = open(alternate);
      files.push_back(IndexFile::of(*shared));
      other = std::make_unique<DebugInfo>(*shared);
      info.set_companions({.alternate = [&] { return other.get(); }, .split = {}});
    }
    auto bytes = build_index(files);
    ASSERT_TRUE(bytes.ok()) << bytes.error().message;
    auto index = Index::open(*bytes);
    ASSERT_TRUE(index.ok()) << index.error().message;
    EXPECT_EQ(index->damaged_units(), 0u);
    samples::Plain plain = samples::walk(info);
    EXPECT_GT(plain.entries.size(), 12u);
    compare(plain, *index);
  }

  void compare(const samples::Plain& plain, const Index& index) {
    std::set<samples::Listed> found = samples::listed(index, index_main);
    for (const samples::Listed& e : plain.entries)
      EXPECT_TRUE(found.contains(e)) << "missing: " << std::get<5>(e) << " at " << std::hex << std::get<2>(e);
    for (const samples::Listed& e : found)
      EXPECT_TRUE(plain.entries.contains(e))
          << "too much: " << std::get<5>(e) << " at " << std::hex << std::get<2>(e);
    for (const auto& [name, die] : plain.linkage) {
      bool is_there = false;
      for (const IndexEntry& e : index.find_linkage(name))
        is_there |= e.file == index_main && e.die_offset == die;
      EXPECT_TRUE(is_there) << name;
    }
  }

  samples::Folder folder_;
};

TEST_F(IndexTest, AgreesWithAPlainWalk) {
  check(compile("g++ -g -O1", "five"));
  check(compile("g++ -g -O0 -gdwarf-4", "four"));
  check(compile("g++ -g -O1 -gdwarf-4 -fdebug-types-section", "types4"));
  check(compile("g++ -g -O1 -gdwarf-5 -fdebug-types-section", "types5"));
  check(compile("g++ -g -O1 -gdwarf64", "wide"));
  check(compile("g++ -g -O1 -gz", "packed"));
  check(compile("gcc -g -O1", "c5", true));
  check(compile("gcc -g -O1 -gdwarf-2 -gstrict-dwarf", "c2", true));
}

TEST_F(IndexTest, SplitUnits) {
  ASSERT_NE(compile("g++ -c -g -O1 -gsplit-dwarf", "split5.o"), "");
  check(folder_.file("split5.dwo"));
  ASSERT_NE(compile("g++ -c -g -O1 -gdwarf-4 -gsplit-dwarf", "split4.o"), "");
  check(folder_.file("split4.dwo"));

  // The program, then its split file: entries say which of the files they are in.
  ElfFile main = open(folder_.file("split4.o")), split = open(folder_.file("split4.dwo"));
  std::vector<IndexFile> files = {IndexFile::of(main), {}, IndexFile::of(split)};
  auto bytes = build_index(files);
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  auto index = Index::open(*bytes);
  ASSERT_TRUE(index.ok());
  std::vector<IndexEntry> found = index->find("outer::Point::get");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].file, index_first_split);
  auto unit = index->unit(found[0].unit);
  ASSERT_TRUE(unit);
  EXPECT_NE(unit->id, 0u); // dwo_id
}

// dwz moves what is repeated into units of its own, and what two programs share into a third file.
TEST_F(IndexTest, SharedUnits) {
  std::string a = compile("g++ -c -g -O1 -Dmain=first", "a.o"),
              b = compile("g++ -c -g -O1 -Dglobal=other", "b.o");
  ASSERT_EQ(
      samples::output_of("cd " + folder_.file("") +
                         " && g++ -Wl,--allow-multiple-definition b.o a.o -o one && cp one two && "
                         "g++ b.o -o three && dwz -o single one && dwz -m shared two three && echo done"),
      "done\n");
  check(folder_.file("single"));
  check(folder_.file("two"), folder_.file("shared"));
  check(folder_.file("three"), folder_.file("shared"));
  check(folder_.file("shared"));

  ElfFile two = open(folder_.file("two")), shared = open(folder_.file("shared"));
  std::vector<IndexFile> files = {IndexFile::of(two), IndexFile::of(shared)};
  auto bytes = build_index(files);
  auto index = Index::open(*bytes);
  ASSERT_TRUE(index.ok());
  EXPECT_FALSE(samples::listed(*index, index_main).empty());
  EXPECT_FALSE(samples::listed(*index, index_alternate).empty());
  std::vector<IndexEntry> found = index->find("outer::Point", type_kinds);
  EXPECT_EQ(found.size(), 1u); // in one of the files only
}

TEST_F(IndexTest, OptimisedAsAWhole) { check(compile("g++ -g -O1 -flto", "lto")); }

class IndexOfSample : public IndexTest {
protected:
  void SetUp() override {
    std::string path = compile("g++ -g -O1", "sample");
    ASSERT_NE(path, "");
    file_ = open(path);
    auto bytes = build_index({{IndexFile::of(*file_)}});
    ASSERT_TRUE(bytes.ok());
    bytes_ = std::move(*bytes);
    auto index = Index::open(bytes_);
    ASSERT_TRUE(index.ok());
    index_ = std::move(*index);
  }
  // Full names of what a name finds, each once, in order.
  std::string found(std::string_view name, NameKinds kinds = all_kinds) {
    std::set<std::string> names;
    for (const IndexEntry& e : index_->find(name, kinds)) names.insert(index_->full_name(e));
    std::string out;
    for (const std::string& n : names) out += (out.empty() ? "" : " | ") + n;
    return out;
  }

  std::optional<ElfFile> file_;
  std::vector<std::byte> bytes_;
  std::optional<Index> index_;
};

TEST_F(IndexOfSample, Names) {
  EXPECT_EQ(found("main"), "main");
  EXPECT_EQ(found("get"), "Box<Box<int, 2>*, 3>::get | outer::v1::Point::get");
  EXPECT_EQ(found("Point::get"), "outer::v1::Point::get");
  EXPECT_EQ(found("outer::Point::get"), "outer::v1::Point::get");
  EXPECT_EQ(found("::outer::Point::get"), "outer::v1::Point::get");
  EXPECT_EQ(found("outer::v1::Point::get() const"), "outer::v1::Point::get");
  EXPECT_EQ(found("v1::Point::get"), "outer::v1::Point::get");
  EXPECT_EQ(found("::Point::get"), "");
  EXPECT_EQ(found("v2::Point::get"), "");
  EXPECT_EQ(found("nameless"), "(anonymous namespace)::nameless");
  EXPECT_EQ(found("::nameless(Unnamed)"), "(anonymous namespace)::nameless");
  EXPECT_EQ(found("(anonymous namespace)::nameless"), "(anonymous namespace)::nameless");
  EXPECT_EQ(found("outer::nested_nameless"), "outer::(anonymous namespace)::nested_nameless");
  EXPECT_EQ(found("hidden", type_kinds), "");
  EXPECT_EQ(found(""), "");
  EXPECT_EQ(found("::"), "");
  EXPECT_EQ(found("outer::"), "");
  EXPECT_EQ(found("no_such_name"), "");
}

TEST_F(IndexOfSample, TemplatesAndOperators) {
  EXPECT_EQ(found("Box<int,1>::operator<"), "Box<int, 1>::operator<");
  EXPECT_EQ(found("Box::operator<"), "Box<int, 1>::operator<");
  EXPECT_EQ(found("operator()"), "Box<int, 1>::operator() | plain_c::(anonymous)::operator()");
  EXPECT_EQ(found("Box::operator()(int)"), "Box<int, 1>::operator()");
  EXPECT_EQ(found("operator bool"), "Box<int, 1>::operator bool");
  EXPECT_EQ(found("Point::convert"), "outer::v1::Point::convert<int>");
  EXPECT_EQ(found("Point::convert<int>"), "outer::v1::Point::convert<int>");
  EXPECT_EQ(found("Point::convert<long>"), "");
  EXPECT_EQ(found("Box", type_kinds), "Box<Box<int, 2>*, 3> | Box<int, 1>");
  EXPECT_EQ(found("Box< Box< int,2 > *,3 >", type_kinds), "Box<Box<int, 2>*, 3>");
  EXPECT_EQ(found("Base<Box<int, 2>*>::~Base"), "Base<Box<int, 2>*>::~Base");
}

TEST_F(IndexOfSample, Kinds) {
  auto kind = [&](std::string_view name) {
    std::vector<IndexEntry> entries = index_->find(name);
    return entries.empty() ? -1 : static_cast<int>(entries[0].kind);
  };
  EXPECT_EQ(kind("outer"), int(NameKind::name_space));
  EXPECT_EQ(kind("Point::Color"), int(NameKind::enumeration));
  EXPECT_EQ(kind("Point::Color::green"), int(NameKind::enumerator));
  EXPECT_EQ(kind("Point::two"), int(NameKind::enumerator));
  EXPECT_EQ(kind("Point::Either"), int(NameKind::union_));
  EXPECT_EQ(kind("Point::number"), int(NameKind::alias));
  EXPECT_EQ(kind("Named"), int(NameKind::alias));
  EXPECT_EQ(kind("Point::count"), int(NameKind::variable));
  EXPECT_EQ(kind("Point::limit"), int(NameKind::variable));
  EXPECT_EQ(kind("loose"), int(NameKind::enumerator));
  EXPECT_EQ(kind("int"), int(NameKind::base_type));
  EXPECT_EQ(kind("inlined"), int(NameKind::function));
  EXPECT_EQ(kind("calls"), -1); // a function's own
  EXPECT_EQ(found("Point", kinds_of({NameKind::function})), "");
  ASSERT_EQ(index_->find("inlined").size(), 1u);
  EXPECT_TRUE(index_->find("inlined")[0].is_inlined);
  EXPECT_FALSE(index_->find("inlined")[0].has_place);
  EXPECT_TRUE(index_->find("nameless")[0].has_place);
}

// An entry is where the index says.
TEST_F(IndexOfSample, EntriesAreThere) {
  DebugInfo info(*file_);
  size_t checked = 0;
  index_->list("*", all_kinds, [&](const IndexEntry& e) {
    auto die = info.die_at(e.die_offset, e.in_types);
    EXPECT_TRUE(die);
    if (!die) return false;
    EXPECT_EQ(name_of(*die), index_->name(e));
    EXPECT_EQ(die->unit->header->offset, e.unit_offset);
    checked++;
    return true;
  });
  EXPECT_GT(checked, 40u);
}

TEST_F(IndexOfSample, Lists) {
  auto count = [&](std::string_view pattern) {
    size_t n = 0;
    index_->list(pattern, all_kinds, [&](const IndexEntry&) { return ++n, true; });
    return n;
  };
  EXPECT_EQ(count("name*"), 2u); // named, nameless
  EXPECT_EQ(count("outer::*::Point::g?t"), 1u);
  EXPECT_EQ(count("*::secret"), count("secret"));
  EXPECT_GT(count("secret"), 0u);
  EXPECT_EQ(count("no*such"), 0u);
  size_t taken = 0;
  index_->list("*", all_kinds, [&](const IndexEntry&) { return ++taken < 3; });
  EXPECT_EQ(taken, 3u);
  EXPECT_EQ(index_->find("get", all_kinds, 1).size(), 1u);
}

TEST_F(IndexOfSample, Linkage) {
  auto found = index_->find_linkage("_ZNK5outer2v15Point3getEv");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(index_->full_name(found[0]), "outer::v1::Point::get");
  EXPECT_EQ(index_->find_linkage("_ZNK5outer2v15Point3getE").size(), 0u);
  EXPECT_EQ(index_->find_linkage("").size(), 0u);
}

TEST_F(IndexTest, Signatures) {
  std::string path = compile("g++ -g -gdwarf-4 -fdebug-types-section", "types");
  ASSERT_NE(path, "");
  ElfFile file = open(path);
  auto bytes = build_index({{IndexFile::of(file)}});
  auto index = Index::open(*bytes);
  ASSERT_TRUE(index.ok());
  DebugInfo info(file);
  size_t signatures = 0;
  for (const UnitHeader& header : info.units()) {
    if (!header.is_type_unit()) continue;
    signatures++;
    auto unit = index->unit_of_signature(header.signature);
    ASSERT_TRUE(unit);
    EXPECT_EQ(unit->offset, header.offset);
    EXPECT_TRUE(unit->in_types);
  }
  EXPECT_GT(signatures, 3u);
  EXPECT_FALSE(index->unit_of_signature(12345));
}

// Enough units for two runs: the sample's again and again.
TEST_F(IndexTest, ThreadsDoNotMatter) {
  std::string path = compile("g++ -g -O1", "sample");
  ASSERT_NE(path, "");
  ElfFile file = open(path);
  Sections sections = sections_of(file);
  std::vector<std::byte> many;
  while (many.size() < 5u << 20) many.insert(many.end(), sections.info.begin(), sections.info.end());
  sections.info = many;
  auto one = build_index({{IndexFile{sections}}}, 1), two = build_index({{IndexFile{sections}}}, 2);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(*one, *two);
  auto index = Index::open(*one);
  ASSERT_TRUE(index.ok());
  EXPECT_EQ(index->find("outer::Point", type_kinds, 100).size(), 1u);
  EXPECT_EQ(index->find("main", all_kinds, 100000).size(), index->unit_count());
}

TEST_F(IndexTest, NothingToRead) {
  auto none = build_index({{IndexFile()}});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find(".debug_info"), std::string::npos);
  EXPECT_FALSE(build_index({}).ok());
}

// Uses all there is of an index.
void use(ByteSpan bytes) {
  auto index = Index::open(bytes);
  if (!index.ok()) return;
  size_t left = 2000;
  index->list("*", all_kinds, [&](const IndexEntry& e) {
    index->full_name(e);
    return --left > 0;
  });
  index->find("outer::Point::get");
  index->find_linkage("_ZNK5outer2v15Point3getEv");
  index->unit_of_signature(1);
}

// A copy on the heap, so that a read beyond its end is seen by sanitizers.
std::vector<std::byte> first_of(ByteSpan bytes, size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(std::min(size, bytes.size()))};
}

TEST_F(IndexTest, CutSections) {
  std::string path = compile("gcc -g -O1", "cut", true);
  ASSERT_NE(path, "");
  ElfFile file = open(path);
  const Sections whole = sections_of(file);
  for (ByteSpan Sections::*section :
       {&Sections::info, &Sections::abbrev, &Sections::str, &Sections::line_str})
    for (size_t size = 0; size <= std::min<size_t>(4096, (whole.*section).size()); size++) {
      Sections sections = whole;
      std::vector<std::byte> cut = first_of(whole.*section, size);
      sections.*section = cut;
      auto bytes = build_index({{IndexFile{sections}}}, 1);
      if (bytes.ok()) use(*bytes);
    }
}

TEST_F(IndexTest, DamagedSections) {
  std::string path = compile("g++ -g -O1", "damaged");
  ASSERT_NE(path, "");
  ElfFile file = open(path);
  const Sections whole = sections_of(file);
  uint64_t random = 88172645463325252u;
  auto next = [&] { return random ^= random << 13, random ^= random >> 7, random ^= random << 17; };
  for (int i = 0; i < 600; i++) {
    std::vector<std::byte> info = first_of(whole.info, SIZE_MAX), abbrev = first_of(whole.abbrev, SIZE_MAX);
    for (int k = 0; k < 4; k++) {
      auto& bytes = next() % 2 ? info : abbrev;
      bytes[next() % bytes.size()] = static_cast<std::byte>(next());
    }
    Sections sections = whole;
    sections.info = info;
    sections.abbrev = abbrev;
    auto bytes = build_index({{IndexFile{sections}}}, 1);
    if (bytes.ok()) use(*bytes);
  }
}

TEST_F(IndexOfSample, DamagedIndexes) {
  for (size_t size = 0; size < std::min<size_t>(4096, bytes_.size()); size++) use(first_of(bytes_, size));
  uint64_t random = 1181783497276652981u;
  auto next = [&] { return random ^= random << 13, random ^= random >> 7, random ^= random << 17; };
  for (int i = 0; i < 1000; i++) {
    std::vector<std::byte> bytes = bytes_;
    for (int k = 0; k < 6; k++) bytes[next() % (i % 2 ? bytes.size() : 400)] = static_cast<std::byte>(next());
    use(bytes);
  }
}

// Names that all lie in one long text would have to be read again and again: there is an end to that.
TEST_F(IndexTest, TextsWithoutEnd) {
  std::vector<std::byte> abbrev, info, text(8 << 20, std::byte{'x'});
  auto put = [](std::vector<std::byte>& to, std::initializer_list<int> bytes) {
    for (int byte : bytes) to.push_back(static_cast<std::byte>(byte));
  };
  put(abbrev, {1, DW_TAG_compile_unit, 1, 0, 0, 2, DW_TAG_variable, 0, DW_AT_name, DW_FORM_strp, 0, 0, 0});
  uint32_t count = 200000, length = 7 + 1 + 5 * count + 1;
  put(info, {int(length & 255), int(length >> 8 & 255), int(length >> 16 & 255), 0, 4, 0, 0, 0, 0, 0, 8, 1});
  for (uint32_t i = 0; i < count; i++) put(info, {2, int(i & 255), int(i >> 8 & 255), int(i >> 16 & 255), 0});
  put(info, {0});
  Sections sections;
  sections.abbrev = abbrev;
  sections.info = info;
  for (bool ends : {false, true}) {
    if (ends) text.back() = std::byte{0};
    sections.str = text;
    auto start = std::chrono::steady_clock::now();
    auto bytes = build_index({{IndexFile{sections}}}, 1);
    auto took = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(Index::open(*bytes)->damaged_units(), 1u);
    EXPECT_LT(std::chrono::duration<double>(took).count(), 5);
  }
}

} // namespace
} // namespace dwarf
