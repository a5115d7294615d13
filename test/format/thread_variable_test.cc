// Variables of threads, by what the loader is told of them: small libraries that have a symbol, and relocations of each kind. test/trace_context compares
// what real compilers and linkers make.
#include "format/thread_variable.h"

#include "format/elf_builder.h"

#include <gtest/gtest.h>

#include <cstring>

namespace format {
namespace {

using spec::ThreadVariable;

struct Relocation {
  uint32_t kind = 0, symbol = 0;
  uint64_t place = 0x5000, addend = 0;
};

constexpr uint64_t value = 0x70;
constexpr std::string_view name = "the_variable";

// Symbols: 1 the variable, 2 another one of threads. `needed`: a library.
std::string library(const std::vector<Relocation>& dyn, const std::vector<Relocation>& plt = {}, uint8_t type = STT_TLS, const std::string& needed = "libc.so.6") {
  const std::string names = '\0' + std::string(name) + '\0' + "other" + '\0' + needed + '\0';
  const auto symbol = [&](size_t at, uint8_t kind, uint64_t where) {
    return ElfBuilder::number(Elf64_Sym{.st_name = static_cast<uint32_t>(at), .st_info = static_cast<uint8_t>(ELF64_ST_INFO(STB_GLOBAL, kind)), .st_other = 0, .st_shndx = 5, .st_value = where, .st_size = 8});
  };
  const auto bytes = [](const std::vector<Relocation>& all) {
    std::string out;
    for (const Relocation& r : all) out += ElfBuilder::number(Elf64_Rela{.r_offset = r.place, .r_info = ELF64_R_INFO(uint64_t{r.symbol}, r.kind), .r_addend = static_cast<int64_t>(r.addend)});
    return out;
  };
  ElfBuilder elf;
  elf.add(".dynstr", names, SHT_STRTAB);
  elf.add(".dynsym", ElfBuilder::number(Elf64_Sym{}) + symbol(1, type, value) + symbol(2 + name.size(), STT_TLS, 8), SHT_DYNSYM, 0, 1);
  elf.add(".dynamic", ElfBuilder::number(Elf64_Dyn{.d_tag = DT_NEEDED, .d_un = {.d_val = 2 + name.size() + 6}}) + ElfBuilder::number(Elf64_Dyn{}), SHT_DYNAMIC, 0, 1);
  elf.add(".rela.dyn", bytes(dyn), SHT_RELA, 0, 2);
  elf.add(".rela.plt", bytes(plt), SHT_RELA, 0, 2);
  return elf.build();
}

std::optional<ThreadVariable> find(const std::string& bytes) {
  auto file = ElfFile::view(std::as_bytes(std::span(bytes)));
  if (!file.ok()) return std::nullopt;
  return find_thread_variable(*file, name);
}

std::string shown(const std::optional<ThreadVariable>& v) {
  return v ? std::to_string(v->how) + " at " + std::to_string(v->place) + ", offset " + std::to_string(v->offset) + ", entries of " + std::to_string(v->entry_bytes) : "nothing";
}

TEST(ThreadVariable, EachKindOfRelocation) {
  EXPECT_EQ(shown(find(library({{R_X86_64_TLSDESC, 1}}))), "4 at 20488, offset 0, entries of 16"); // 0x5000 and 8
  EXPECT_EQ(shown(find(library({}, {{R_X86_64_TLSDESC, 1}}))), "4 at 20488, offset 0, entries of 16");
  EXPECT_EQ(shown(find(library({{R_X86_64_TPOFF64, 1}}))), "2 at 20480, offset 0, entries of 16");
  EXPECT_EQ(shown(find(library({{R_X86_64_DTPMOD64, 1}, {R_X86_64_DTPOFF64, 1}}))), "3 at 20480, offset 112, entries of 16");
}

// Of a library that is linked to its own: without a symbol, with the offset.
TEST(ThreadVariable, RelocationsWithoutSymbol) {
  EXPECT_EQ(shown(find(library({{R_X86_64_TLSDESC, 0, 0x5000, value}}))), "4 at 20488, offset 0, entries of 16");
  EXPECT_EQ(shown(find(library({{R_X86_64_TPOFF64, 0, 0x5000, value}}))), "2 at 20480, offset 0, entries of 16");
  EXPECT_EQ(shown(find(library({{R_X86_64_DTPMOD64, 0}}))), "3 at 20480, offset 112, entries of 16");
  EXPECT_EQ(shown(find(library({{R_X86_64_TLSDESC, 0, 0x5000, value + 8}}))), "nothing"); // another one
}

TEST(ThreadVariable, OthersAreNot) {
  EXPECT_EQ(shown(find(library({{R_X86_64_TLSDESC, 2}, {R_X86_64_TPOFF64, 2}, {R_X86_64_64, 1}}))), "nothing");
  EXPECT_EQ(shown(find(library({{R_X86_64_TLSDESC, 1}}, {}, STT_OBJECT))), "nothing"); // no variable of threads
  EXPECT_EQ(shown(find(library({}))), "nothing");
  EXPECT_EQ(shown(find(library({{R_X86_64_TLSDESC, 77}}))), "nothing"); // there is no such symbol
}

TEST(ThreadVariable, ProgramsOfMusl) { EXPECT_EQ(shown(find(library({{R_X86_64_DTPMOD64, 1}}, {}, STT_TLS, "libc.musl-x86_64.so.1"))), "3 at 20480, offset 112, entries of 8"); }

// Any byte may be wrong, and any number of them be missing.
TEST(ThreadVariable, DamagedFiles) {
  const std::string whole = library({{R_X86_64_DTPMOD64, 1}}, {{R_X86_64_TLSDESC, 1}});
  for (size_t size = 0; size < whole.size(); size++) find(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); at++)
    for (const char with : {'\0', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = with;
      find(damaged);
    }
}

} // namespace
} // namespace format
