// Exported symbols by the file's own hash table.
#include "format/elf_hash.h"

#include <gtest/gtest.h>

#include <elf.h>
#include <map>
#include <random>

namespace format {
namespace {

constexpr const char* library = "/lib/x86_64-linux-gnu/libm.so.6";

TEST(ElfHash, EachDefinedNameIsFound) {
  auto file = ElfFile::open(library);
  if (!file.ok()) GTEST_SKIP() << file.error().message;
  std::multimap<std::string_view, uint64_t> values; // one name may have several versions
  file->elf().for_each_symbol(*file->elf().section(".dynsym"), [&](const ElfSymbol& s) {
    if (s.section != SHN_UNDEF && !s.name.empty()) values.emplace(s.name, s.value);
  });
  ASSERT_GT(values.size(), 500u);
  for (const auto& [name, value] : values) {
    const auto found = find_exported(*file, name);
    ASSERT_TRUE(found) << name;
    const auto [begin, end] = values.equal_range(name);
    EXPECT_TRUE(std::any_of(begin, end, [&](const auto& v) { return v.second == found->value; })) << name;
  }
}

TEST(ElfHash, OthersAreNot) {
  auto file = ElfFile::open(library);
  if (!file.ok()) GTEST_SKIP() << file.error().message;
  for (const char* name : {"", "no_such_function", "sinn", "malloc", "__libc_start_main"}) EXPECT_FALSE(find_exported(*file, name)) << name;
}

TEST(ElfHash, DamagedFilesHaveFewer) {
  auto map = base::FileMap::open(library);
  if (!map.ok()) GTEST_SKIP() << map.error().message;
  const std::vector<std::byte> whole(map->bytes().begin(), map->bytes().end());
  std::mt19937 random(3);
  for (int i = 0; i < 60; i++) {
    std::vector<std::byte> bytes = whole;
    for (int n = 0; n < 400; n++) bytes[random() % 0x9000] = static_cast<std::byte>(random());
    auto file = ElfFile::of(std::move(bytes));
    if (!file.ok()) continue;
    for (const char* name : {"sin", "cos", "no_such_function"}) (void)find_exported(*file, name);
  }
}

} // namespace
} // namespace format
