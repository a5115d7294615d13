// ELF files: one that is built here byte by byte, this program itself, and damaged ones.
#include "format/elf.h"

#include "base/text.h"

#include <cstring>
#include <elf.h>
#include <gtest/gtest.h>

namespace format {
namespace {

base::ByteSpan bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// A file with a text segment at 0x401000, which is at 0x1000 in the file, and two symbols.
std::string small_file() {
  std::string out(0x2000, '\0');
  auto put = [&](size_t at, const auto& value) { std::memcpy(out.data() + at, &value, sizeof value); };
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_EXEC;
  header.e_machine = EM_X86_64;
  header.e_phoff = 0x40;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shoff = 0x100;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 3;
  put(0, header);
  put(0x40, Elf64_Phdr{.p_type = PT_LOAD,
                       .p_flags = PF_X,
                       .p_offset = 0x1000,
                       .p_vaddr = 0x401000,
                       .p_paddr = 0,
                       .p_filesz = 0x800,
                       .p_memsz = 0x900,
                       .p_align = 0x1000});
  auto section = [&](int index, uint32_t name, uint32_t type, uint64_t offset, uint64_t size, uint32_t link) {
    put(0x100 + static_cast<size_t>(index) * sizeof(Elf64_Shdr), Elf64_Shdr{.sh_name = name,
                                                                            .sh_type = type,
                                                                            .sh_flags = 0,
                                                                            .sh_addr = 0,
                                                                            .sh_offset = offset,
                                                                            .sh_size = size,
                                                                            .sh_link = link,
                                                                            .sh_info = 0,
                                                                            .sh_addralign = 1,
                                                                            .sh_entsize = 24});
  };
  const char names[] = "\0.symtab\0.strtab\0.shstrtab";
  const char texts[] = "\0first\0second";
  section(1, 1, SHT_SYMTAB, 0x300, 2 * sizeof(Elf64_Sym), 2);
  section(2, 9, SHT_STRTAB, 0x400, sizeof texts, 0);
  section(3, 17, SHT_STRTAB, 0x500, sizeof names, 0);
  put(0x300, Elf64_Sym{1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x401010, 0x20});
  put(0x300 + sizeof(Elf64_Sym), Elf64_Sym{7, ELF64_ST_INFO(STB_LOCAL, STT_GNU_IFUNC), 0, 1, 0x401100, 0});
  std::memcpy(out.data() + 0x400, texts, sizeof texts);
  std::memcpy(out.data() + 0x500, names, sizeof names);
  return out;
}

std::vector<ElfSymbol> symbols_of(const Elf& elf, std::string_view table) {
  std::vector<ElfSymbol> out;
  if (const ElfSection* s = elf.section(table))
    elf.for_each_symbol(*s, [&](const ElfSymbol& symbol) { out.push_back(symbol); });
  return out;
}

TEST(Elf, SectionsSegmentsAndSymbols) {
  std::string file = small_file();
  auto elf = Elf::parse(bytes(file));
  ASSERT_TRUE(elf.ok()) << elf.error().message;
  EXPECT_TRUE(elf->is_executable());
  EXPECT_EQ(elf->machine(), EM_X86_64);
  ASSERT_EQ(elf->sections().size(), 4u);
  EXPECT_EQ(elf->sections()[3].name, ".shstrtab");
  EXPECT_EQ(elf->section(".dynsym"), nullptr);
  auto symbols = symbols_of(*elf, ".symtab");
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols[0].name, "first");
  EXPECT_EQ(symbols[0].value, 0x401010u);
  EXPECT_EQ(symbols[0].size, 0x20u);
  EXPECT_TRUE(symbols[0].is_function());
  EXPECT_EQ(symbols[1].name, "second");
  EXPECT_TRUE(symbols[1].is_function());
}

TEST(Elf, PlacesInTheFileAndAddresses) {
  std::string file = small_file();
  auto elf = Elf::parse(bytes(file));
  ASSERT_TRUE(elf.ok());
  EXPECT_EQ(elf->offset_of_address(0x401010), 0x1010u);
  EXPECT_FALSE(elf->offset_of_address(0x401800)); // zeroes that are not in the file
  EXPECT_FALSE(elf->offset_of_address(0x400fff));
}

TEST(Elf, OtherFilesAreRefused) {
  EXPECT_FALSE(Elf::parse({}).ok());
  EXPECT_FALSE(Elf::parse(bytes("#!/bin/sh\n")).ok());
  std::string narrow = small_file();
  narrow[EI_CLASS] = ELFCLASS32;
  EXPECT_FALSE(Elf::parse(bytes(narrow)).ok());
  std::string big_endian = small_file();
  big_endian[EI_DATA] = ELFDATA2MSB;
  EXPECT_FALSE(Elf::parse(bytes(big_endian)).ok());
}

TEST(Elf, CountsAreNotBelieved) {
  std::string file = small_file();
  uint16_t many = 0xffff;
  std::memcpy(file.data() + offsetof(Elf64_Ehdr, e_shnum), &many, 2);
  std::memcpy(file.data() + offsetof(Elf64_Ehdr, e_phnum), &many, 2);
  auto elf = Elf::parse(bytes(file));
  ASSERT_TRUE(elf.ok());
  EXPECT_LE(elf->sections().size(), (file.size() - 0x100) / sizeof(Elf64_Shdr));
  EXPECT_EQ(symbols_of(*elf, ".symtab").size(), 2u);
}

TEST(Elf, ThisProgram) {
  auto file = base::read_file("/proc/self/exe");
  ASSERT_TRUE(file.ok());
  auto elf = Elf::parse(bytes(*file));
  ASSERT_TRUE(elf.ok());
  bool has_main = false;
  for (const ElfSymbol& s : symbols_of(*elf, ".symtab")) has_main |= s.name == "main" && s.is_function();
  EXPECT_TRUE(has_main);
}

// Everything that can be asked of a file, whatever is in it.
size_t look_everywhere(base::ByteSpan file) {
  auto elf = Elf::parse(file);
  if (!elf.ok()) return 0;
  size_t seen = 0;
  for (const ElfSection& s : elf->sections()) {
    seen += s.name.size() + elf->content(s).size();
    elf->for_each_symbol(s, [&](const ElfSymbol& symbol) {
      seen += symbol.name.size() + elf->offset_of_address(symbol.value).value_or(0);
    });
  }
  return seen;
}

TEST(Elf, DamagedFilesDoNoHarm) {
  auto file = base::read_file("/bin/ls");
  if (!file.ok()) GTEST_SKIP() << "no /bin/ls here";
  EXPECT_GT(look_everywhere(bytes(*file)), 0u);
  for (size_t size : {0, 1, 4, 63, 64, 65, 500, 4096, 100000})
    look_everywhere(bytes(file->substr(0, std::min<size_t>(size, file->size()))));
  uint64_t state = 88172645463325252;
  auto random = [&] { return state ^= state << 13, state ^= state >> 7, state ^= state << 17; };
  for (int round = 0; round < 200; round++) {
    std::string damaged = *file;
    uint64_t tables;
    std::memcpy(&tables, damaged.data() + offsetof(Elf64_Ehdr, e_shoff), sizeof tables);
    for (int i = 0; i < 20; i++) {
      // Mostly where the headers are, where it hurts.
      size_t at = random() % 3 == 0   ? random() % damaged.size()
                  : random() % 2 == 0 ? random() % 1024
                                      : tables + random() % (damaged.size() - tables);
      damaged[at] = static_cast<char>(random());
    }
    if (round % 4 == 0) damaged.resize(random() % damaged.size());
    look_everywhere(bytes(damaged));
  }
}

} // namespace
} // namespace format
