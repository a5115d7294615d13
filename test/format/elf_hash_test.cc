// Symbols found by the hash table of a file.
#include "format/elf_hash.h"

#include "format/elf_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <random>
#include <set>

namespace format {
namespace {

// ------------------------------------------------------------------------------------- the C library of this process

class CLibrary : public testing::Test {
protected:
  void SetUp() override {
    Dl_info about = {}; // of a function that sanitizers do not replace
    if (!::dladdr(::dlsym(RTLD_DEFAULT, "lldiv"), &about) || std::string_view(about.dli_fname).find("libc") == std::string_view::npos)
      GTEST_SKIP() << "no shared C library in this process";
    auto opened = ElfFile::open(about.dli_fname);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    file.emplace(std::move(*opened));
    const ElfSection* table = file->elf().section(".dynsym");
    if (!table || !file->has_section(".gnu.hash")) GTEST_SKIP() << about.dli_fname << " has no .gnu.hash";
    file->elf().for_each_symbol(*table, [&](const ElfSymbol& s) {
      if (s.section && s.binding != STB_LOCAL) defined.emplace(s.name, s);
      if (!s.section && !s.name.empty()) undefined.emplace(s.name);
    });
  }
  std::optional<ElfFile> file;
  std::multimap<std::string, ElfSymbol, std::less<>> defined; // a name may have several versions
  std::set<std::string> undefined;
};

TEST_F(CLibrary, EachSymbolIsFound) {
  EXPECT_GT(defined.size(), 1000u);
  for (const auto& [name, symbol] : defined) {
    auto found = find_exported(*file, name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->name, name);
    const auto [begin, end] = defined.equal_range(name);
    EXPECT_TRUE(std::any_of(begin, end, [&](const auto& each) {
      const ElfSymbol& s = each.second;
      return s.value == found->value && s.size == found->size && s.type == found->type && s.binding == found->binding && s.section == found->section;
    })) << name;
  }
}

TEST_F(CLibrary, OtherNamesAreNotFound) {
  for (const auto& [name, symbol] : defined)
    for (const std::string& other : {name + "_", name.substr(1), "_" + name})
      EXPECT_EQ(find_exported(*file, other).has_value(), defined.contains(other)) << other;
  EXPECT_FALSE(find_exported(*file, ""));
  EXPECT_FALSE(find_exported(*file, std::string(100'000, 'x')));
}

TEST_F(CLibrary, UndefinedSymbolsAreNotFound) {
  for (const std::string& name : undefined) EXPECT_EQ(find_exported(*file, name).has_value(), defined.contains(name)) << name;
}

// --------------------------------------------------------------------------------------------- tables made by hand

struct Symbol {
  std::string name;
  uint64_t value;
  uint16_t section = 1;
};

uint32_t hash_of(std::string_view name) {
  uint32_t hash = 5381;
  for (const char c : name) hash = (hash << 5) + hash + static_cast<uint8_t>(c);
  return hash;
}

// A library with these symbols, sorted by bucket as linkers do it; those that are not hashed come before.
struct Library {
  uint32_t buckets = 3, filter_words = 2, shift = 6;
  std::vector<Symbol> not_hashed = {{"", 0, 0}};
  std::vector<Symbol> hashed;
  bool has_hash = true;

  std::string build() const {
    std::vector<Symbol> sorted = hashed;
    std::ranges::stable_sort(sorted, {}, [&](const Symbol& s) { return hash_of(s.name) % buckets; });
    std::string names, symbols;
    for (const std::vector<Symbol>* list : {&not_hashed, static_cast<const std::vector<Symbol>*>(&sorted)})
      for (const Symbol& s : *list) {
        const Elf64_Sym symbol = {.st_name = static_cast<uint32_t>(names.size()), .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_other = 0,
                                  .st_shndx = s.section, .st_value = s.value, .st_size = 16};
        symbols += ElfBuilder::number(symbol);
        names += s.name + '\0';
      }
    const auto first = static_cast<uint32_t>(not_hashed.size());
    std::vector<uint64_t> filter(filter_words);
    std::vector<uint32_t> heads(buckets), chains;
    for (size_t i = 0; i < sorted.size(); i++) {
      const uint32_t hash = hash_of(sorted[i].name), bucket = hash % buckets;
      filter[hash / 64 % filter_words] |= uint64_t{1} << hash % 64 | uint64_t{1} << (hash >> shift) % 64;
      if (!heads[bucket]) heads[bucket] = first + static_cast<uint32_t>(i);
      const bool is_last = i + 1 == sorted.size() || hash_of(sorted[i + 1].name) % buckets != bucket;
      chains.push_back((hash & ~1u) | is_last);
    }
    std::string table;
    for (const uint32_t n : {buckets, first, filter_words, shift}) table += ElfBuilder::number(n);
    for (const uint64_t n : filter) table += ElfBuilder::number(n);
    for (const uint32_t n : heads) table += ElfBuilder::number(n);
    for (const uint32_t n : chains) table += ElfBuilder::number(n);
    ElfBuilder b;
    b.add(".dynsym", symbols, SHT_DYNSYM, SHF_ALLOC, 2);
    b.add(".dynstr", names, SHT_STRTAB, SHF_ALLOC);
    if (has_hash) b.add(".gnu.hash", table, SHT_GNU_HASH, SHF_ALLOC, 1);
    return b.build();
  }
};

std::optional<ElfSymbol> find(const std::string& image, std::string_view name) {
  auto file = ElfFile::view(std::as_bytes(std::span(image)));
  return file.ok() ? find_exported(*file, name) : std::nullopt;
}

Library library_of(size_t symbols) {
  Library out;
  for (size_t i = 0; i < symbols; i++) out.hashed.push_back({"function_" + std::to_string(i), 0x1000 + 16 * i});
  return out;
}

TEST(ElfHash, SymbolsOfAllShapesOfTables) {
  for (const uint32_t buckets : {1u, 2u, 7u, 64u})
    for (const uint32_t words : {1u, 2u, 8u})
      for (const uint32_t shift : {0u, 6u, 31u}) {
        Library library = library_of(20);
        library.buckets = buckets, library.filter_words = words, library.shift = shift;
        const std::string image = library.build();
        for (const Symbol& s : library.hashed) {
          auto found = find(image, s.name);
          ASSERT_TRUE(found) << s.name << " " << buckets << " " << words << " " << shift;
          EXPECT_EQ(found->value, s.value);
          EXPECT_TRUE(found->is_function());
        }
        for (const char* other : {"function_20", "function_", "function_1\n"}) EXPECT_FALSE(find(image, other));
      }
}

// "aB" and "b!" have the same hash.
TEST(ElfHash, NamesWithTheSameHash) {
  ASSERT_EQ(hash_of("aB"), hash_of("b!"));
  Library library;
  library.hashed = {{"aB", 0x1000}};
  EXPECT_TRUE(find(library.build(), "aB"));
  EXPECT_FALSE(find(library.build(), "b!"));
  library.hashed.push_back({"b!", 0x2000});
  EXPECT_EQ(find(library.build(), "aB")->value, 0x1000u);
  EXPECT_EQ(find(library.build(), "b!")->value, 0x2000u);
}

// The end of a chain is in the lowest bit, which a hash loses.
TEST(ElfHash, NamesWhoseHashesDifferInTheLowestBit) {
  ASSERT_EQ(hash_of("fa") ^ hash_of("fb"), 1u);
  Library library;
  library.buckets = 1;
  library.hashed = {{"fa", 0x1000}, {"fb", 0x2000}};
  EXPECT_EQ(find(library.build(), "fa")->value, 0x1000u);
  EXPECT_EQ(find(library.build(), "fb")->value, 0x2000u);
}

// What is behind the end of a chain belongs to another bucket.
TEST(ElfHash, AChainEndsAtItsMark) {
  Library library;
  library.buckets = 1;
  library.hashed = {{"fa", 0x1000}, {"fb", 0x2000}};
  std::string image = library.build();
  const size_t chain = image.find(ElfBuilder::number(hash_of("fa") & ~1u));
  ASSERT_NE(chain, std::string::npos);
  image[chain] = static_cast<char>(image[chain] | 1);
  EXPECT_TRUE(find(image, "fa"));
  EXPECT_FALSE(find(image, "fb"));
}

TEST(ElfHash, NamesThatAreNotAscii) {
  Library library = library_of(3);
  library.hashed.push_back({"gr\u00f6\u00dfe", 0x9000});
  auto found = find(library.build(), "gr\u00f6\u00dfe");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, 0x9000u);
}

TEST(ElfHash, UndefinedSymbols) {
  Library library;
  library.not_hashed.push_back({"malloc", 0, 0});
  library.hashed = {{"free", 0, 0}, {"calloc", 0x1000}};
  const std::string image = library.build();
  EXPECT_FALSE(find(image, "malloc"));
  EXPECT_FALSE(find(image, "free"));
  EXPECT_TRUE(find(image, "calloc"));
}

TEST(ElfHash, WithoutATableThereIsNoAnswer) {
  Library library = library_of(4);
  ASSERT_TRUE(find(library.build(), "function_1"));
  library.has_hash = false;
  EXPECT_FALSE(find(library.build(), "function_1"));
  EXPECT_FALSE(find(library_of(0).build(), "function_1"));
  EXPECT_FALSE(find(ElfBuilder().build(), "function_1"));
}

// Whatever is in it, there is an answer, and it has the name that was asked for.
void damage(const std::string& image, const std::vector<std::string>& names, unsigned turns) {
  std::minstd_rand random(7);
  const size_t begin = sizeof(Elf64_Ehdr) + 5 * sizeof(Elf64_Shdr); // headers have tests of their own (elf_test.cc)
  size_t found = 0;
  for (unsigned turn = 0; turn < turns; turn++) {
    std::string damaged = image;
    for (size_t n = 1 + random() % 8; n; n--) damaged[begin + random() % (image.size() - begin)] = static_cast<char>(random() >> 8);
    for (const std::string& name : names)
      if (auto symbol = find(damaged, name)) {
        found++;
        EXPECT_TRUE(symbol->section);
      }
  }
  EXPECT_GT(found, 0u);
  EXPECT_LT(found, turns * names.size());
}

TEST(ElfHash, DamagedTables) {
  const Library library = library_of(12);
  damage(library.build(), {"function_0", "function_5", "function_11", "none"}, 2000);
}

TEST(ElfHash, TruncatedTables) {
  const std::string image = library_of(12).build();
  for (size_t size = 0; size < image.size(); size++)
    for (const char* name : {"function_0", "function_11", "none"}) {
      auto symbol = find(image.substr(0, size), name);
      EXPECT_TRUE(!symbol || symbol->name.size() == std::strlen(name));
    }
}

// Numbers of the header and heads of chains that lead out of the file, or to a chain that has no end.
TEST(ElfHash, NumbersThatLeadOutOfTheTable) {
  const std::string image = library_of(12).build();
  const std::string header = ElfBuilder::number(uint32_t{3}) + ElfBuilder::number(uint32_t{1}) + ElfBuilder::number(uint32_t{2});
  const size_t table = image.find(header);
  ASSERT_NE(table, std::string::npos);
  for (size_t word = 0; word < 11; word++)
    for (const uint32_t value : {0u, 1u, 2u, 100u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
      std::string damaged = image;
      std::memcpy(damaged.data() + table + 4 * word, &value, sizeof value);
      for (int i = 0; i < 12; i++) {
        const std::string name = "function_" + std::to_string(i);
        auto found = find(damaged, name);
        EXPECT_TRUE(!found || found->name.size() == name.size()) << word << " " << value;
      }
    }
  std::string endless = image;
  for (size_t at = table + 16 + 16 + 12; at + 4 <= table + 16 + 16 + 12 + 12 * 4; at += 4) endless[at] = static_cast<char>(endless[at] & ~1);
  EXPECT_FALSE(find(endless, "none"));
  EXPECT_TRUE(find(endless, "function_3"));
}

} // namespace
} // namespace format
