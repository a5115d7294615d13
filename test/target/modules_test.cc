// Which files are in memory: from the headers that lie there, and from the loader's list, whole and damaged.
#include "target/modules.h"

#include "fake_target.h"

#include <gtest/gtest.h>

#include <elf.h>

namespace target {
namespace {

template<class T> std::string raw(const T& value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

// The first page of a file as it is in memory: its headers, and a note with the build-id.
struct Image {
  uint64_t base;              // what the loader added
  std::string build_id = "\x12\x34";
  uint64_t memory_size = 0x3000;
  uint64_t dynamic = 0;       // where the dynamic section is; 0: it has none
  static constexpr uint64_t note_at = 0x800;

  std::string bytes() const {
    const std::string note = raw(Elf64_Nhdr{.n_namesz = 4, .n_descsz = static_cast<uint32_t>(build_id.size()), .n_type = NT_GNU_BUILD_ID}) + std::string("GNU\0", 4) + build_id;
    std::vector<Elf64_Phdr> headers = {
        {.p_type = PT_PHDR, .p_flags = PF_R, .p_offset = 64, .p_vaddr = 64, .p_paddr = 64, .p_filesz = 0, .p_memsz = 0, .p_align = 8},
        {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = 0, .p_vaddr = 0, .p_paddr = 0, .p_filesz = 0x1000, .p_memsz = memory_size, .p_align = 0x1000},
        {.p_type = PT_NOTE, .p_flags = PF_R, .p_offset = note_at, .p_vaddr = note_at, .p_paddr = note_at, .p_filesz = note.size(), .p_memsz = note.size(), .p_align = 4}};
    if (dynamic) headers.push_back({.p_type = PT_DYNAMIC, .p_flags = PF_R, .p_offset = 0, .p_vaddr = dynamic - base, .p_paddr = 0, .p_filesz = 64, .p_memsz = 64, .p_align = 8});
    Elf64_Ehdr h = {};
    std::memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64, h.e_ident[EI_DATA] = ELFDATA2LSB;
    h.e_type = ET_DYN, h.e_machine = EM_X86_64, h.e_phoff = 64, h.e_phentsize = sizeof(Elf64_Phdr), h.e_phnum = static_cast<uint16_t>(headers.size());
    std::string out = raw(h);
    for (const Elf64_Phdr& p : headers) out += raw(p);
    out.resize(note_at), out += note, out.resize(0x1000);
    return out;
  }
};

class ModulesTest : public testing::Test {
protected:
  void put(uint64_t address, const std::string& bytes) {
    std::vector<uint64_t> words((bytes.size() + 7) / 8);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    t.add(address, std::move(words));
  }
  void put_words(uint64_t address, std::vector<uint64_t> words) { t.add(address, std::move(words)); }
  // A program whose dynamic section leads to the list at `first`.
  void put_program(uint64_t first) {
    const Image program{.base = 0x400000, .dynamic = 0x500000};
    put(program.base, program.bytes());
    put_words(0x500000, {DT_DEBUG, 0x501000, DT_NULL, 0});
    put_words(0x501000, {1, first});
    put(0x502000, std::string("/no/such/program", 17));
  }
  struct Node {
    uint64_t at, moved, name, next;
  };
  void put_list(std::initializer_list<Node> nodes) {
    for (const Node& n : nodes) put_words(n.at, {n.moved, n.name, 0, n.next, 0});
  }
  std::vector<Module> loaded() { return find_loaded(t.memory(), 0x400000 + 64, 4, 0x502000, {}); }
  FakeTarget t;
};

TEST_F(ModulesTest, OfTheLoadersList) {
  put_program(0x600000);
  const Image library{.base = 0x7f0000000000, .build_id = "\xab\xcd"};
  put(library.base, library.bytes());
  put(0x700000, std::string("\0", 1)); // the program has no name there
  put(0x701000, std::string("/no/such/library.so", 20));
  put(0x702000, std::string("linux-vdso.so.1", 16));
  put_list({{0x600000, 0x400000, 0x700000, 0x601000}, {0x601000, 0x7ffff000, 0x702000, 0x602000}, {0x602000, library.base, 0x701000, 0}});
  const std::vector<Module> found = loaded();
  ASSERT_EQ(found.size(), 2u); // the vdso is no file
  EXPECT_EQ(found[0].path, "/no/such/program");
  EXPECT_EQ(found[0].begin, 0x400000u);
  EXPECT_EQ(found[0].end, 0x403000u);
  EXPECT_EQ(format::to_hex(found[0].build_id), "1234");
  EXPECT_EQ(found[0].state, Module::missing);
  EXPECT_FALSE(found[0].problem.empty());
  EXPECT_EQ(found[1].path, "/no/such/library.so");
  EXPECT_EQ(found[1].bias, library.base);
  EXPECT_EQ(format::to_hex(found[1].build_id), "abcd");
}

// A damaged list may lead back to itself: each entry counts once.
TEST_F(ModulesTest, ListsInACircle) {
  put_program(0x600000);
  put(0x700000, std::string("\0", 1));
  put(0x702000, std::string("no path", 8));
  put_list({{0x600000, 0x400000, 0x700000, 0x601000}, {0x601000, 0x1000, 0x702000, 0x601000}});
  EXPECT_EQ(loaded().size(), 1u);
}

TEST_F(ModulesTest, CirclesOfFiles) {
  put_program(0x600000);
  put(0x700000, std::string("\0", 1));
  const Image library{.base = 0x7f0000000000};
  put(library.base, library.bytes());
  put(0x701000, std::string("/no/such/library.so", 20));
  put_list({{0x600000, 0x400000, 0x700000, 0x602000}, {0x602000, library.base, 0x701000, 0x600000}});
  EXPECT_EQ(loaded().size(), 2u);
}

TEST_F(ModulesTest, ListsThatBreakOff) {
  put_program(0x600000);
  put(0x700000, std::string("\0", 1));
  put_list({{0x600000, 0x400000, 0x700000, 0x999000}}); // the next is not there
  EXPECT_EQ(loaded().size(), 1u);
}

TEST_F(ModulesTest, HeadersThatAreNotThere) {
  EXPECT_TRUE(loaded().empty());
  put_program(0);
  EXPECT_TRUE(loaded().empty()); // the list is empty
  for (uint64_t count : {uint64_t{0}, uint64_t{257}, ~uint64_t{0}}) EXPECT_TRUE(find_loaded(t.memory(), 0x400000 + 64, count, 0x502000, {}).empty());
}

TEST_F(ModulesTest, OfMappings) {
  const Image program{.base = 0x400000, .memory_size = 0x100000}, library{.base = 0x440000, .build_id = "\x77"};
  put(program.base, program.bytes());
  put(library.base, library.bytes());
  put(0x900000, std::string(0x1000, 'd'));
  const std::vector<FileMapping> mappings = {{0x400000, 0x401000, 0, "/no/such/program"},       {0x401000, 0x402000, 0x1000, "/no/such/program"}, {0x440000, 0x441000, 0, "/no/such/library.so"},
                                             {0x900000, 0x901000, 0, "/no/such/database.sqlite"}, {0xa00000, 0xa01000, 0, "/no/such/unreadable"}};
  std::vector<Module> found = find_modules(mappings, t.memory(), {});
  ASSERT_EQ(found.size(), 2u); // data are no modules
  EXPECT_EQ(found[0].path, "/no/such/program");
  EXPECT_EQ(found[0].bias, program.base);
  EXPECT_EQ(found[0].end, 0x440000u); // its zeroed memory ends where the next file begins
  EXPECT_EQ(found[1].begin, 0x440000u);
  EXPECT_EQ(format::to_hex(found[1].build_id), "77");
  mark_program(found, 0x400040);
  EXPECT_TRUE(found[0].is_program);
  EXPECT_FALSE(found[1].is_program);
}

// A file may be loaded twice, as a plugin in two namespaces of the linker.
TEST_F(ModulesTest, AFileThatIsThereTwice) {
  for (uint64_t base : {0x400000u, 0x410000u}) put(base, Image{.base = base}.bytes());
  const std::vector<FileMapping> mappings = {{0x400000, 0x401000, 0, "/no/such/x.so"}, {0x410000, 0x411000, 0, "/no/such/x.so"}};
  const std::vector<Module> found = find_modules(mappings, t.memory(), {});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].bias, 0x400000u);
  EXPECT_EQ(found[1].bias, 0x410000u);
}

TEST_F(ModulesTest, DamagedHeadersInMemory) {
  const std::string whole = Image{.base = 0x400000}.bytes();
  const std::vector<FileMapping> mappings = {{0x400000, 0x401000, 0, "/no/such/program"}};
  for (size_t i = 0; i < 64 + 3 * sizeof(Elf64_Phdr); i++)
    for (int value : {0, 1, 0x7f, 0xff}) {
      FakeTarget damaged;
      std::string bytes = whole;
      bytes[i] = static_cast<char>(value);
      std::vector<uint64_t> words(bytes.size() / 8);
      std::memcpy(words.data(), bytes.data(), bytes.size());
      damaged.add(0x400000, std::move(words));
      for (const Module& m : find_modules(mappings, damaged.memory(), {})) ASSERT_LE(m.begin, m.end) << i;
      find_vdso(damaged.memory(), 0x400000);
    }
}

TEST_F(ModulesTest, TheVdso) {
  EXPECT_EQ(find_vdso(t.memory(), 0x400000).state, Module::missing);
  Image vdso{.base = 0x7fff0000};
  vdso.memory_size = 0x1000;
  put(vdso.base, vdso.bytes());
  const Module m = find_vdso(t.memory(), vdso.base);
  EXPECT_EQ(m.state, Module::found);
  EXPECT_EQ(m.path, "[vdso]");
  EXPECT_EQ(m.end, vdso.base + 0x1000);
  EXPECT_EQ(format::to_hex(m.build_id), "1234");
}

} // namespace
} // namespace target
