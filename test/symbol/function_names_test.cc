// Tables of functions: made from lists and from real files, searched, cut and damaged.
#include "symbol/file_names.h"
#include "symbol/frame_functions.h"
#include "symbol/function_names.h"
#include "symbol/function_names_maker.h"

#include "format/go_tables.h"
#include "scratch.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace symbol {
namespace {

FunctionNames table_of(FunctionNamesMaker& maker) {
  auto bytes = std::make_shared<std::vector<std::byte>>(maker.make());
  auto names = FunctionNames::of(*bytes, bytes);
  EXPECT_TRUE(names.ok());
  return names.ok() ? std::move(*names) : FunctionNames();
}

// "name+offset", or "".
std::string name(const FunctionNames& names, uint64_t address) {
  auto found = names.find(address);
  return found ? std::string(found->name) + "+" + std::to_string(found->offset) : "";
}

TEST(FunctionNames, FindsTheFunctionThatHoldsAnAddress) {
  FunctionNamesMaker maker;
  maker.add(0x2000, 0x10, "second", 3);
  maker.add(0x1000, 0x100, "first", 3);
  FunctionNames names = table_of(maker);
  EXPECT_EQ(names.size(), 2u);
  EXPECT_EQ(name(names, 0xfff), "");
  EXPECT_EQ(name(names, 0x1000), "first+0");
  EXPECT_EQ(name(names, 0x10ff), "first+255");
  EXPECT_EQ(name(names, 0x1100), "");
  EXPECT_EQ(name(names, 0x200f), "second+15");
  EXPECT_EQ(name(names, 0x2010), "");
  EXPECT_EQ(name(names, ~uint64_t{0}), "");
  EXPECT_EQ(name(FunctionNames(), 0x1000), "");
}

TEST(FunctionNames, OfFunctionsInsideEachOtherTheInnermostCounts) {
  FunctionNamesMaker maker;
  maker.add(0x1000, 0x100, "outer", 3);
  maker.add(0x1010, 0x20, "middle", 3);
  maker.add(0x1018, 0x8, "inner", 3);
  maker.add(0x10f0, 0x20, "over the end", 3);
  FunctionNames names = table_of(maker);
  EXPECT_EQ(name(names, 0x100f), "outer+15");
  EXPECT_EQ(name(names, 0x1017), "middle+7");
  EXPECT_EQ(name(names, 0x1018), "inner+0");
  EXPECT_EQ(name(names, 0x1020), "middle+16");
  EXPECT_EQ(name(names, 0x1030), "outer+48");
  EXPECT_EQ(name(names, 0x10ff), "over the end+15");
  EXPECT_EQ(name(names, 0x110f), "over the end+31");
  EXPECT_EQ(name(names, 0x1110), "");
}

TEST(FunctionNames, CodeWithoutASizeReachesToTheNext) {
  FunctionNamesMaker maker;
  maker.add(0x1000, 0, "start", 0);
  maker.add(0x1040, 0x40, "sized", 3);
  maker.add(0x1050, 0, "label", 0); // inside: it says nothing
  maker.add(0x2000, 0, "last", 0);
  FunctionNames names = table_of(maker);
  EXPECT_EQ(name(names, 0x103f), "start+63");
  EXPECT_EQ(name(names, 0x1058), "sized+24");
  EXPECT_EQ(name(names, 0x1080), "");
  EXPECT_EQ(name(names, 0x2100), "last+256");
  EXPECT_EQ(name(names, 0x2000 + (1 << 20)), "");
}

TEST(FunctionNames, OneNamePerAddress) {
  FunctionNamesMaker maker;
  maker.add(0x1000, 8, "__libc_malloc", 3);
  maker.add(0x1000, 8, "malloc", 3);
  maker.add(0x1000, 8, "a_local", 1);
  maker.add(0x2000, 8, "__write", 3);
  maker.add(0x2000, 8, "write", 2); // weak: as well known as the other
  maker.add(0x3000, 0, "label", 0);
  maker.add(0x3000, 8, "function", 1);
  FunctionNames names = table_of(maker);
  EXPECT_EQ(name(names, 0x1000), "malloc+0");
  EXPECT_EQ(name(names, 0x2000), "write+0");
  EXPECT_EQ(name(names, 0x3000), "function+0");
  EXPECT_EQ(names.size(), 3u);
}

TEST(FunctionNames, ShownNamesAreDemangledOnce) {
  FunctionNamesMaker maker;
  maker.add(0x1000, 8, "_ZN1A1fEi", 3);
  maker.add(0x2000, 8, "plain", 3);
  maker.add(0x3000, 8, "_Znonsense", 3);
  FunctionNames names = table_of(maker);
  EXPECT_EQ(names.shown(*names.find(0x1000)), "A::f(int)");
  EXPECT_EQ(names.find(0x1000)->name, "_ZN1A1fEi");
  EXPECT_EQ(names.shown(*names.find(0x2000)), "plain");
  EXPECT_EQ(names.shown(*names.find(0x3000)), "_Znonsense");
}

// Many names are not demangled in advance, but are all the same when they are asked for.
TEST(FunctionNames, LargeTables) {
  FunctionNamesMaker maker;
  constexpr uint32_t count = 100000;
  for (uint32_t i = 0; i < count; i++) {
    std::string digits = std::to_string(i + 100000);
    maker.add(0x10000 + i * 16, 16, "_Z7f" + digits + "v", 3);
  }
  FunctionNames names = table_of(maker);
  EXPECT_EQ(names.size(), count);
  auto found = names.find(0x10000 + 54321 * 16 + 3);
  ASSERT_TRUE(found);
  EXPECT_EQ(names.shown(*found), "f154321()");
  EXPECT_EQ(names.shown(*found).data(), names.shown(*found).data());
}

TEST(FunctionNames, FarAwayFunctionsAreLeftOut) {
  FunctionNamesMaker maker;
  maker.add(0x1000, 16, "near", 3);
  maker.add(uint64_t{1} << 40, 16, "far", 3);
  maker.add(~uint64_t{0} - 4, ~uint64_t{0}, "at the end", 3);
  FunctionNames names = table_of(maker);
  EXPECT_EQ(name(names, 0x1008), "near+8");
  EXPECT_EQ(name(names, uint64_t{1} << 40), "");
  EXPECT_EQ(names.size(), 1u);
}

TEST(FunctionNames, CutAndDamagedTablesAreSearchedInsideTheirBytes) {
  FunctionNamesMaker maker;
  for (uint32_t i = 0; i < 40; i++) maker.add(0x1000 + i * 32, 24, "function_" + std::to_string(i), 3);
  std::vector<std::byte> bytes = maker.make();
  for (size_t size = 0; size < bytes.size(); size++) {
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(FunctionNames::of(cut, nullptr).ok()) << size;
  }
  for (size_t at = sizeof(FunctionNames::Header); at + 4 <= bytes.size(); at += 4) {
    std::vector<std::byte> damaged = bytes;
    for (size_t i = 0; i < 4; i++) damaged[at + i] = std::byte{0xff};
    auto names = FunctionNames::of(damaged, nullptr);
    ASSERT_TRUE(names.ok());
    for (uint64_t address = 0x1000; address < 0x1600; address += 8)
      if (auto found = names->find(address)) (void)names->shown(*found);
  }
}

class FileNames : public testing::Test {
protected:
  static constexpr const char* source = "static int two(int x) { return x * 2; }\n"
                                        "__attribute__((noinline)) int three(int x) { return x * 3; }\n"
                                        "int main(int c, char** v) { (void)v; int (*volatile f)(int) = two; "
                                        "return f(c) + three(c); }\n";
  Cache cache() const { return Cache(scratch_.path("cache")); }
  size_t cached_files() const {
    scratch_.run("ls cache | wc -l");
    return static_cast<size_t>(std::atoi(scratch_.log().c_str()));
  }
  bool build(const std::string& options) const {
    scratch_.write("t.c", source);
    return scratch_.run("gcc -g -O1 " + options + " t.c -o t");
  }
  FunctionNames open(const std::string& name) const {
    auto file = format::ElfFile::open(scratch_.path(name));
    EXPECT_TRUE(file.ok());
    return names_of_file(*file, scratch_.path(name), {}, cache());
  }
  uint64_t address_of(const std::string& symbol) const {
    scratch_.run("nm t.full | awk '$3==\"" + symbol + "\"{print $1}'");
    return std::stoull("0x" + scratch_.log(), nullptr, 16);
  }
  uint64_t size_of(const std::string& symbol) const {
    scratch_.run("nm -S t.full | awk '$4==\"" + symbol + "\"{print $2}'");
    return std::stoull("0x" + scratch_.log(), nullptr, 16);
  }
  std::string name_at(const FunctionNames& names, const std::string& symbol) const {
    return name(names, address_of(symbol) + 2);
  }
  Scratch scratch_;
};

TEST_F(FileNames, OfAProgramAndFromTheCache) {
  ASSERT_TRUE(build("") && scratch_.run("cp t t.full"));
  for (int round = 0; round < 2; round++) {
    FunctionNames names = open("t");
    EXPECT_EQ(name_at(names, "two"), "two+2");
    EXPECT_EQ(name_at(names, "main"), "main+2");
    EXPECT_TRUE(names.is_whole());
    EXPECT_TRUE(names.address_of_offset(0x1000).has_value());
    EXPECT_FALSE(names.address_of_offset(~uint64_t{0}).has_value());
    EXPECT_EQ(cached_files(), 1u);
  }
}

TEST_F(FileNames, OfAStrippedProgramWithItsDebugFileBesideIt) {
  ASSERT_TRUE(build("-Wl,--build-id") && scratch_.run("cp t t.full && strip t"));
  FunctionNames before = open("t");
  EXPECT_TRUE(name_at(before, "two").starts_with("func_0x")) << name_at(before, "two");
  EXPECT_FALSE(before.is_whole());
  // The debug file is installed later: the kept table of before is not taken for the new one.
  ASSERT_TRUE(
      scratch_.run("objcopy --only-keep-debug t.full t.debug && objcopy --add-gnu-debuglink=t.debug t"));
  FunctionNames names = open("t");
  EXPECT_EQ(name_at(names, "two"), "two+2");
  EXPECT_EQ(names.source(), scratch_.path("t.debug"));
  EXPECT_TRUE(names.is_whole());
  EXPECT_EQ(name_at(open("t"), "two"), "two+2");
}

// Without symbols, unwind tables tell where functions are; one has the name that objdump would show.
TEST_F(FileNames, OfAStrippedProgramByAddress) {
  ASSERT_TRUE(build("-rdynamic") && scratch_.run("cp t t.full && strip t"));
  FunctionNames names = open("t");
  const uint64_t two = address_of("two"), end = size_of("two") + two;
  for (uint64_t at : {two, end - 1}) {
    auto found = names.find(at);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name, frame_function_name(two));
    EXPECT_EQ(found->offset, at - two);
    EXPECT_EQ(found->size, end - two);
    EXPECT_TRUE(found->is_derived);
    EXPECT_EQ(names.shown(*found), found->name);
  }
  EXPECT_EQ(name_at(names, "three"), "three+2"); // exported
  EXPECT_FALSE(names.find(address_of("three"))->is_derived);
  EXPECT_GE(names.count_derived(), 1u);
  EXPECT_LT(names.count_derived(), names.size());
  EXPECT_EQ(open("t").find(two)->name, frame_function_name(two)); // from the cache
}

// What jumps to other files' functions is no function, whether sections say so or not.
TEST_F(FileNames, StubsOfOtherFilesAreNoFunctions) {
  scratch_.write(
      "t.c",
      "#include <stdlib.h>\nint main(void) { return abs(rand()) + getenv(\"A\")[0] + system(\"\"); }\n");
  for (const char* options :
       {"", "-Wl,-z,lazy", "-fcf-protection=none -Wl,-z,now", "-fcf-protection -Wl,-z,ibtplt"}) {
    ASSERT_TRUE(scratch_.run("gcc -O1 " + std::string(options) + " t.c -o t && cp t t.full && strip t"));
    scratch_.run("readelf -SW t | awk '$2 ~ /^\\.plt/ {print $4} $3 ~ /^\\.plt/ {print $5}'");
    std::istringstream sections(scratch_.log());
    std::string plt;
    ASSERT_TRUE(sections >> plt) << options;
    std::string bytes = scratch_.read("t");
    std::memset(bytes.data() + 40, 0, 8); // e_shoff
    std::memset(bytes.data() + 60, 0, 4); // e_shnum, e_shstrndx
    scratch_.write("without", bytes);
    do {
      EXPECT_EQ(name(open("t"), std::stoull(plt, nullptr, 16) + 2), "") << options << plt;
      EXPECT_EQ(name(open("without"), std::stoull(plt, nullptr, 16) + 2), "") << options << plt;
    } while (sections >> plt);
    EXPECT_TRUE(name_at(open("without"), "main").starts_with("func_0x")) << options;
  }
}

TEST_F(FileNames, OfGoByItsOwnTable) {
  ASSERT_TRUE(build_go_table(scratch_, go_1_20, "t") && scratch_.run("cp t t.full"));
  FunctionNames names = open("t.stripped");
  EXPECT_EQ(name_at(names, "one"), "main.one+2");
  EXPECT_EQ(name_at(names, "two"), "main.(*T).two+2");
  EXPECT_EQ(names.count_derived(), 0u);
  EXPECT_EQ(names.source(), FunctionNames::source_go);
}

TEST(FunctionNames, NamesByAddress) {
  EXPECT_EQ(frame_function_name(0x4012a0), "func_0x4012a0");
  EXPECT_EQ(frame_function_address("func_0x4012a0"), std::optional<uint64_t>(0x4012a0));
  for (const char* other :
       {"func_0x", "func_0x12g", "func_12", "xfunc_0x12", "func_0x12345678901234567", "func_0x-1"})
    EXPECT_FALSE(frame_function_address(other)) << other;
}

// Two files may have one build-id, by copying or by malice.
TEST_F(FileNames, AnotherFileWithTheSameBuildIdHasItsOwnNames) {
  ASSERT_TRUE(build("-Wl,--build-id=0x1234567890") && scratch_.run("cp t t.full && cp t first"));
  EXPECT_EQ(name_at(open("first"), "two"), "two+2");
  ASSERT_TRUE(scratch_.run("objcopy --redefine-sym two=wrong t second"));
  EXPECT_EQ(name_at(open("second"), "two"), "wrong+2");
  EXPECT_EQ(name_at(open("first"), "two"), "two+2");
}

TEST_F(FileNames, WithoutACache) {
  ASSERT_TRUE(build("") && scratch_.run("cp t t.full"));
  auto file = format::ElfFile::open(scratch_.path("t"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(name_at(names_of_file(*file, scratch_.path("t"), {}, Cache("")), "two"), "two+2");
  EXPECT_EQ(name_at(names_of_file(*file, scratch_.path("t"), {}, Cache("/proc/no/such/folder")), "two"),
            "two+2");
}

} // namespace
} // namespace symbol
