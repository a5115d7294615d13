// What the loader and the linker do with parts of an ELF file: needed libraries, relocations, words in loaded data.
#include "format/elf_dynamic.h"
#include "format/elf_relocate.h"
#include "format/elf_words.h"

#include "format/elf_builder.h"

#include <gtest/gtest.h>

namespace format {
namespace {

template<class T> std::string raw(const T& value) { return ElfBuilder::number(value); }

std::string dynamic(std::initializer_list<std::pair<uint64_t, uint64_t>> entries) {
  std::string out;
  for (auto [tag, value] : entries) out += raw(tag) + raw(value);
  return out;
}

struct Libraries {
  std::vector<std::string> needed, folders;
  std::string name;
};
Libraries libraries(const std::string& entries, const std::string& names, uint32_t link = 2) {
  ElfBuilder b;
  b.add(".dynamic", entries, SHT_DYNAMIC, SHF_ALLOC, link);
  b.add(".dynstr", names, SHT_STRTAB);
  const std::string file = b.build();
  auto elf = Elf::parse(std::as_bytes(std::span(file)));
  Libraries out;
  for (std::string_view n : needed_libraries(*elf)) out.needed.emplace_back(n);
  for (std::string_view f : library_folders(*elf)) out.folders.emplace_back(f);
  out.name = library_name(*elf);
  return out;
}

TEST(ElfDynamic, NeededLibrariesInTheirOrder) {
  const std::string names("\0libm.so.6\0libc.so.6\0libself.so\0", 32);
  auto found = libraries(dynamic({{DT_NEEDED, 1}, {DT_SONAME, 21}, {DT_NEEDED, 11}, {DT_NULL, 0}, {DT_NEEDED, 1}}), names); // nothing counts behind the end
  EXPECT_EQ(found.needed, (std::vector<std::string>{"libm.so.6", "libc.so.6"}));
  EXPECT_EQ(found.name, "libself.so");
}

TEST(ElfDynamic, FoldersOfLibraries) {
  const std::string names("\0$ORIGIN/../lib:/opt/lib\0/usr/own\0", 34);
  auto found = libraries(dynamic({{DT_RUNPATH, 1}, {DT_RPATH, 25}, {DT_NULL, 0}}), names);
  EXPECT_EQ(found.folders, (std::vector<std::string>{"/usr/own", "$ORIGIN/../lib", "/opt/lib"}));
}

TEST(ElfDynamic, DamagedOnes) {
  const std::string names("\0libm.so.6", 10); // without an end
  EXPECT_TRUE(libraries(dynamic({{DT_NEEDED, 1}, {DT_NEEDED, 1000}, {DT_NEEDED, ~uint64_t{0}}}), names).needed.empty());
  EXPECT_TRUE(libraries(dynamic({{DT_NEEDED, 1}}).substr(0, 15), names + '\0').needed.empty());
  EXPECT_TRUE(libraries(dynamic({{DT_NEEDED, 1}}), names + '\0', 99).needed.empty()); // names in a section that is not there
  EXPECT_EQ(libraries("", "").name, "");
}

// A section of 32 zeroes with relocations; section 1 has an address of 0, symbols are in section 3.
class Relocate : public testing::Test {
protected:
  struct Entry {
    uint64_t place;
    uint32_t type;
    uint64_t symbol;
    int64_t addend;
  };
  std::string problem;
  std::string run(std::initializer_list<Entry> entries, uint32_t link = 3) {
    std::string table, symbols = raw(Elf64_Sym{});
    for (const Entry& e : entries) table += raw(Elf64_Rela{.r_offset = e.place, .r_info = ELF64_R_INFO(e.symbol, e.type), .r_addend = e.addend});
    symbols += raw(Elf64_Sym{.st_name = 0, .st_info = 0, .st_other = 0, .st_shndx = SHN_ABS, .st_value = 0x11223344, .st_size = 0});
    ElfBuilder b;
    b.add(".debug_info", std::string(32, '\0'));
    b.add(".rela.debug_info", table, SHT_RELA, 0, link, 1);
    b.add(".symtab", symbols, SHT_SYMTAB);
    const std::string file = b.build();
    auto elf = Elf::parse(std::as_bytes(std::span(file)));
    const ElfSection* relocations = relocations_of(*elf, 1);
    EXPECT_NE(relocations, nullptr);
    EXPECT_EQ(relocations_of(*elf, 2), nullptr);
    std::string bytes(32, '\0');
    problem = relocate(*elf, 1, *relocations, elf->content(*relocations), std::as_writable_bytes(std::span(bytes)));
    return bytes;
  }
  static uint64_t word(const std::string& bytes, size_t at) {
    uint64_t out = 0;
    std::memcpy(&out, bytes.data() + at, 8);
    return out;
  }
};

TEST_F(Relocate, Kinds) {
  const std::string bytes = run({{0, R_X86_64_64, 1, 5}, {8, R_X86_64_32, 1, -4}, {16, R_X86_64_PC64, 1, 0}, {24, R_X86_64_NONE, 1, 9}});
  EXPECT_EQ(problem, "");
  EXPECT_EQ(word(bytes, 0), 0x11223349u);
  EXPECT_EQ(word(bytes, 8), 0x11223340u); // four bytes only
  EXPECT_EQ(word(bytes, 16), 0x11223344u - 16);
  EXPECT_EQ(word(bytes, 24), 0u);
}

TEST_F(Relocate, PlacesOutsideAreLeftOut) {
  const std::string bytes = run({{25, R_X86_64_64, 1, 0}, {32, R_X86_64_32, 1, 0}, {~uint64_t{0}, R_X86_64_64, 1, 0}, {28, R_X86_64_32, 1, 0}});
  EXPECT_EQ(problem, "");
  EXPECT_EQ(word(bytes, 24), uint64_t{0x11223344} << 32);
}

TEST_F(Relocate, UnknownKindsAndSymbols) {
  EXPECT_EQ(word(run({{0, R_X86_64_GOTPCREL, 1, 0}, {8, R_X86_64_64, 1, 0}}), 8), 0x11223344u); // the others are done
  EXPECT_EQ(problem, "a relocation of an unknown kind (9)");
  EXPECT_EQ(word(run({{0, R_X86_64_64, 1000, 7}}), 0), 7u); // a symbol that is not there is 0
  run({{0, R_X86_64_64, 1, 0}}, 99);
  EXPECT_EQ(problem, "its relocations have no symbols");
}

// A program with one segment, loaded to 0x10000: a header, the dynamic section, relocations, three words.
struct Program {
  std::string bytes;
  static constexpr uint64_t base = 0x10000, dynamic_at = 0x200, table_at = 0x300, words_at = 0x400;
  explicit Program(std::initializer_list<std::pair<uint64_t, uint64_t>> entries, std::initializer_list<Elf64_Rela> table, uint32_t flags = PF_R | PF_W) : bytes(0x420, '\0') {
    Elf64_Ehdr h = {};
    std::memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64, h.e_ident[EI_DATA] = ELFDATA2LSB;
    h.e_type = ET_DYN, h.e_machine = EM_X86_64, h.e_phoff = sizeof h, h.e_phentsize = sizeof(Elf64_Phdr), h.e_phnum = 2;
    put(0, h);
    put(sizeof h, Elf64_Phdr{.p_type = PT_LOAD, .p_flags = flags, .p_offset = 0, .p_vaddr = base, .p_paddr = 0, .p_filesz = bytes.size(), .p_memsz = 0x2000, .p_align = 4096});
    put(sizeof h + sizeof(Elf64_Phdr), Elf64_Phdr{.p_type = PT_DYNAMIC, .p_flags = PF_R, .p_offset = dynamic_at, .p_vaddr = base + dynamic_at, .p_paddr = 0, .p_filesz = 0x100, .p_memsz = 0x100, .p_align = 8});
    uint64_t at = dynamic_at;
    for (auto [tag, value] : entries) put(at, tag), put(at + 8, value), at += 16;
    at = table_at;
    for (const Elf64_Rela& r : table) put(at, r), at += sizeof r;
    put(words_at, uint64_t{0x1111}), put(words_at + 8, uint64_t{0x2222}), put(words_at + 16, uint64_t{0x1111});
  }
  template<class T> void put(uint64_t at, const T& value) { std::memcpy(bytes.data() + at, &value, sizeof value); }
  ElfFile file() const { return std::move(*ElfFile::view(std::as_bytes(std::span(bytes)))); }
};

TEST(ElfWords, WordsAndWhatTheLoaderMakesOfThem) {
  const Program p({{DT_RELA, Program::base + Program::table_at}, {DT_RELASZ, 2 * sizeof(Elf64_Rela)}}, {{.r_offset = Program::base + 0x408, .r_info = R_X86_64_RELATIVE, .r_addend = 0x1111}, {.r_offset = Program::base + 0x100, .r_info = R_X86_64_GLOB_DAT, .r_addend = 0x9999}});
  const ElfFile file = p.file();
  const ElfWords words(file);
  EXPECT_EQ(words.at(Program::base + 0x400), 0x1111u);
  EXPECT_EQ(words.at(Program::base + 0x408), 0x1111u); // the file has 0x2222 there
  EXPECT_EQ(words.at(Program::base + 0x100), 0u);      // of another kind: not known before it runs
  EXPECT_EQ(words.at(Program::base + 0x419), std::nullopt);
  EXPECT_EQ(words.at(Program::base + 0x1000), std::nullopt); // of the file nothing is there
  EXPECT_EQ(words.at(0), std::nullopt);
  EXPECT_EQ(words.find(0x1111, 10), (std::vector<uint64_t>{Program::base + 0x408, Program::base + 0x310 /* in the table */, Program::base + 0x400, Program::base + 0x410}));
  EXPECT_EQ(words.find(0x1111, 2).size(), 2u);
  EXPECT_TRUE(words.find(0x3333, 10).empty());
}

// What is found must be writable before the loader is done.
TEST(ElfWords, OnlyWhatCanBeWritten) {
  const Program p({}, {}, PF_R | PF_X);
  const ElfFile file = p.file();
  const ElfWords words(file);
  EXPECT_EQ(words.at(Program::base + 0x400), 0x1111u);
  EXPECT_TRUE(words.find(0x1111, 10).empty());
}

TEST(ElfWords, SizesThatAreTooLarge) {
  const Program p({{DT_RELA, Program::base + Program::table_at}, {DT_RELASZ, ~uint64_t{0}}}, {{.r_offset = Program::base + 0x408, .r_info = R_X86_64_RELATIVE, .r_addend = 0x7777}});
  const ElfFile file = p.file();
  EXPECT_EQ(ElfWords(file).at(Program::base + 0x408), 0x7777u);
  const Program outside({{DT_RELA, 0x5000000}, {DT_RELASZ, 24}}, {});
  const ElfFile other = outside.file();
  EXPECT_EQ(ElfWords(other).at(Program::base + 0x408), 0x2222u);
}

} // namespace
} // namespace format
