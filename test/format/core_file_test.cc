// Core dumps: what the kernel writes, what is cut off, damaged, or no core at all.
#include "format/core_file.h"

#include "core_builder.h"

#include <gtest/gtest.h>

#include <csignal>

namespace format {
namespace {

base::ByteSpan bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

CoreBuilder sample() {
  CoreBuilder b;
  b.thread(100, SIGSEGV, 1000);
  b.note("CORE", NT_PRFPREG, std::string(512, 'f'));
  b.note("LINUX", NT_X86_XSTATE, std::string(600, 'x'));
  b.process(100, "worker", "worker --fast -n 5    ");
  b.signal(SIGSEGV, SEGV_MAPERR, 0x10);
  b.note("CORE", NT_AUXV, CoreBuilder::raw(uint64_t{AT_PHDR}) + CoreBuilder::raw(uint64_t{0x400040}) + CoreBuilder::raw(uint64_t{AT_NULL}) + CoreBuilder::raw(uint64_t{0}));
  b.files({{0x7000, 0x8000, 2, "/lib/libx.so"}, {0x4000, 0x6000, 0, "/bin/worker"}});
  b.thread(101, 0, 2000);
  b.note("CORE", NT_PRFPREG, std::string(512, 'g'));
  b.memory(0x9000, "data of the second", 0x1000);
  b.memory(0x4000, "first", 0x2000, PF_R | PF_X);
  return b;
}

std::string refusal(const std::string& file) {
  auto core = CoreFile::view(bytes_of(file));
  return core.ok() ? "read" : core.error().message;
}

TEST(CoreFile, WhatTheKernelWrites) {
  const std::string file = sample().build();
  auto core = CoreFile::view(bytes_of(file));
  ASSERT_TRUE(core.ok()) << core.error().message;
  ASSERT_EQ(core->threads().size(), 2u);
  EXPECT_EQ(core->threads()[0].id, 100u);
  EXPECT_EQ(core->threads()[0].signal, SIGSEGV);
  for (size_t i = 0; i < core_registers; i++) EXPECT_EQ(core->threads()[0].registers[i], 1000 + i);
  EXPECT_EQ(core->threads()[0].extended.size(), 600u); // the larger state counts
  EXPECT_EQ(core->threads()[1].extended.size(), 512u); // the only one
  EXPECT_EQ(core->process()->id, 100u);
  EXPECT_EQ(core->process()->parent, 7u);
  EXPECT_EQ(core->process()->user, 1000u);
  EXPECT_EQ(core->process()->group, 100u);
  EXPECT_EQ(core->process()->name, "worker");
  EXPECT_EQ(core->process()->arguments, "worker --fast -n 5");
  EXPECT_EQ(core->signal()->number, SIGSEGV);
  EXPECT_EQ(core->signal()->address, 0x10u);
  EXPECT_EQ(core->auxiliary(AT_PHDR), 0x400040u);
  EXPECT_EQ(core->auxiliary(AT_ENTRY), std::nullopt);
  ASSERT_EQ(core->mappings().size(), 2u);
  EXPECT_EQ(core->mappings()[0].path, "/bin/worker"); // by address
  EXPECT_EQ(core->mappings()[1].offset, 2u * 4096);   // counted in pages
  ASSERT_EQ(core->segments().size(), 2u);
  EXPECT_EQ(core->segments()[0].begin, 0x4000u);
  EXPECT_EQ(core->segments()[0].end, 0x6000u);
  EXPECT_EQ(core->segments()[0].bytes.size(), 5u);
  EXPECT_EQ(core->segments()[1].flags, static_cast<uint32_t>(PF_R | PF_W));
  EXPECT_FALSE(core->is_cut());
  EXPECT_TRUE(core->problems().empty());
}

// A name of 16 bytes, and arguments that fill their room, have no NUL.
TEST(CoreFile, FullTextsHaveNoEnd) {
  CoreBuilder b;
  b.thread(1, 0, 0);
  b.process(1, "0123456789abcdefXX", std::string(200, 'a'));
  const std::string file = b.build();
  auto core = CoreFile::view(bytes_of(file));
  EXPECT_EQ(core->process()->name, "0123456789abcdef");
  EXPECT_EQ(core->process()->arguments, std::string(80, 'a'));
}

TEST(CoreFile, CutAnywhere) {
  const std::string whole = sample().build();
  for (size_t size = 0; size < whole.size(); size++) {
    const std::string cut = whole.substr(0, size);
    auto core = CoreFile::view(bytes_of(cut));
    if (!core.ok()) {
      EXPECT_LT(size, sizeof(Elf64_Ehdr)) << core.error().message;
      continue;
    }
    EXPECT_TRUE(core->is_cut()) << size;
    ASSERT_FALSE(core->problems().empty()) << size;
    for (const CoreSegment& s : core->segments()) EXPECT_GE(s.promised, s.bytes.size());
  }
  EXPECT_EQ(CoreFile::view(bytes_of(whole.substr(0, whole.size() - 1)))->problems(), std::vector<std::string>{"it is cut: it has " + std::to_string(whole.size() - 1) + " of " + std::to_string(whole.size()) + " bytes"});
}

TEST(CoreFile, OneStretchIsNotSeveral) {
  const std::string whole = sample().build();
  auto problem = [&](size_t stretches) { return CoreFile::view(bytes_of(whole.substr(0, sizeof(Elf64_Ehdr) + (3 - stretches) * sizeof(Elf64_Phdr))))->problems()[0]; };
  EXPECT_EQ(problem(1), "it is cut within the table of its memory: 1 stretch is unknown");
  EXPECT_EQ(problem(2), "it is cut within the table of its memory: 2 stretches are unknown");
}

TEST(CoreFile, StretchesThatOverlap) {
  CoreBuilder b;
  b.thread(1, 0, 0);
  b.memory(0x2000, "second", 0x1000), b.memory(0x1000, "first", 0x1001), b.memory(0x5000, "third", 0x1000);
  std::string file = b.build();
  auto core = CoreFile::view(bytes_of(file));
  EXPECT_EQ(core->segments().size(), 2u);
  EXPECT_EQ(core->problems(), std::vector<std::string>{"1 stretch of its memory overlaps another and is left out: it is damaged"});
  b.memory(0x5800, "fourth", 0x1000);
  file = b.build();
  EXPECT_EQ(CoreFile::view(bytes_of(file))->problems(), std::vector<std::string>{"2 stretches of its memory overlap others and are left out: it is damaged"});
}

TEST(CoreFile, StretchesUpToTheLastAddress) {
  CoreBuilder b;
  b.thread(1, 0, 0);
  b.memory(~uint64_t{0} - 0xfff, "vsyscall", 0xfff);
  b.memory(~uint64_t{0} - 0xff, "beyond", 0x1000); // it would go on at 0
  b.memory(0x1000, "", 0);
  const std::string file = b.build();
  auto core = CoreFile::view(bytes_of(file));
  ASSERT_EQ(core->segments().size(), 1u);
  EXPECT_EQ(core->segments()[0].end, ~uint64_t{0});
}

// More segments than 16 bits count: their number is in the first section header.
TEST(CoreFile, ManySegments) {
  CoreBuilder b = sample();
  const std::string plain = b.build();
  b.header.e_phnum = PN_XNUM;
  b.header.e_shoff = plain.size();
  Elf64_Shdr first = {};
  first.sh_info = 3;
  std::string file = b.build() + CoreBuilder::raw(first);
  auto core = CoreFile::view(bytes_of(file));
  ASSERT_TRUE(core.ok()) << core.error().message;
  EXPECT_EQ(core->segments().size(), 2u);
  EXPECT_EQ(refusal(b.build()), "it has more segments than its header can count, and is cut before their number");
}

TEST(CoreFile, DamagedListsOfFiles) {
  auto mappings = [](const std::string& content) {
    CoreBuilder b;
    b.thread(1, 0, 0);
    b.note("CORE", NT_FILE, content);
    const std::string file = b.build();
    return CoreFile::view(bytes_of(file))->mappings().size();
  };
  auto words = [](std::initializer_list<uint64_t> all) {
    std::string out;
    for (uint64_t w : all) out += CoreBuilder::raw(w);
    return out;
  };
  EXPECT_EQ(mappings(words({1, 4096, 0x1000, 0x2000, 0}) + std::string("/a", 3)), 1u);
  EXPECT_EQ(mappings(words({2, 4096, 0x1000, 0x2000, 0, 0x3000, 0x4000, 0}) + std::string("/a", 3)), 1u); // one path is missing
  EXPECT_EQ(mappings(words({1, 4096, 0x2000, 0x1000, 0}) + std::string("/a", 3)), 0u);                    // it ends before it begins
  EXPECT_EQ(mappings(words({~uint64_t{0}, 4096, 0x1000, 0x2000, 0}) + std::string("/a", 3)), 0u);
  EXPECT_EQ(mappings(words({1})), 0u);
  EXPECT_EQ(mappings(""), 0u);
}

TEST(CoreFile, OtherNotesArePassedOver) {
  CoreBuilder b;
  b.note("GNU", NT_PRSTATUS, std::string(336, 'z'));
  b.note("CORE", 0x1234, "abc");
  b.note("CORE", NT_PRSTATUS, "too short");
  b.note("LINUX", NT_X86_XSTATE, "of no thread");
  b.thread(5, 0, 0);
  const std::string file = b.build();
  auto core = CoreFile::view(bytes_of(file));
  ASSERT_EQ(core->threads().size(), 1u);
  EXPECT_EQ(core->threads()[0].id, 5u);
  EXPECT_TRUE(core->threads()[0].extended.empty());
}

TEST(CoreFile, WithoutThreads) {
  CoreBuilder b;
  b.memory(0x1000, "x", 0x1000);
  const std::string file = b.build();
  EXPECT_EQ(CoreFile::view(bytes_of(file))->problems(), std::vector<std::string>{"it has no registers of threads (no NT_PRSTATUS note)"});
}

TEST(CoreFile, WhatIsNoCore) {
  EXPECT_EQ(refusal(""), "the file is empty: was the core dump cut off by a limit (ulimit -c)?");
  EXPECT_EQ(refusal("hello"), "it is no core dump: it does not begin as an ELF file");
  for (const char* packed : {"\x28\xb5\x2f\xfd....", "\x1f\x8b.....", "\xfd"
                                                                      "7zXZ...",
                             "\x04\x22\x4d\x18...."})
    EXPECT_TRUE(refusal(packed).starts_with("it is compressed: unpack it first")) << refusal(packed);
  for (auto [type, word] : {std::pair(ET_EXEC, "a program"), std::pair(ET_DYN, "a program or library"), std::pair(ET_REL, "an object file"), std::pair(9, "an ELF file of kind 9")}) {
    CoreBuilder b;
    b.header.e_type = static_cast<uint16_t>(type);
    EXPECT_EQ(refusal(b.build()), std::string("it is ") + word + ", not a core dump");
  }
  for (auto [machine, word] : {std::pair(EM_386, "32-bit x86"), std::pair(EM_AARCH64, "ARM64 (aarch64)"), std::pair(EM_RISCV, "RISC-V"), std::pair(4711, "machine number 4711")}) {
    CoreBuilder b;
    b.header.e_machine = static_cast<uint16_t>(machine);
    EXPECT_EQ(refusal(b.build()), std::string("it is a core of ") + word + "; acu reads those of x86-64");
  }
  CoreBuilder x32;
  x32.header.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(refusal(x32.build()), "it is a core of the x32 kind; acu reads those of x86-64");
  CoreBuilder big;
  big.header.e_ident[EI_DATA] = ELFDATA2MSB;
  EXPECT_EQ(refusal(big.build()), "it is the core of a big-endian machine; acu reads those of x86-64");
  CoreBuilder none;
  none.header.e_phoff = 0;
  EXPECT_EQ(refusal(none.build()), "its header names no segments: it is damaged");
}

// sigaction(2): which codes have an address, and what they mean.
TEST(CoreSignal, Meanings) {
  EXPECT_TRUE(has_address({.number = SIGSEGV, .code = SEGV_MAPERR}));
  EXPECT_TRUE(has_address({.number = SIGFPE, .code = FPE_INTDIV}));
  EXPECT_FALSE(has_address({.number = SIGSEGV, .code = SI_USER}));
  EXPECT_FALSE(has_address({.number = SIGSEGV, .code = SI_KERNEL}));
  EXPECT_FALSE(has_address({.number = SIGSEGV, .code = SI_TKILL}));
  EXPECT_FALSE(has_address({.number = SIGABRT, .code = SEGV_MAPERR}));
  EXPECT_EQ(meaning_of({.number = SIGSEGV, .code = SEGV_MAPERR}), "nothing is mapped there");
  EXPECT_EQ(meaning_of({.number = SIGABRT, .code = SI_TKILL}), "sent by tgkill() or raise()");
  EXPECT_EQ(meaning_of({.number = SIGTERM, .code = SI_USER}), "sent by kill()");
  EXPECT_EQ(meaning_of({.number = SIGBUS, .code = BUS_ADRERR}), "behind the end of the mapped file");
  EXPECT_EQ(meaning_of({.number = SIGSEGV, .code = 77}), "");
}

TEST(CoreFile, AnyByteMayBeDamaged) {
  const std::string whole = sample().build();
  for (size_t i = 0; i < whole.size(); i++)
    for (int value : {0, 1, 0x7f, 0xff}) {
      std::string file = whole;
      file[i] = static_cast<char>(value);
      auto core = CoreFile::view(bytes_of(file));
      if (!core.ok()) continue;
      uint64_t end = 0;
      for (const CoreSegment& s : core->segments()) {
        ASSERT_GE(s.begin, end) << i;
        ASSERT_GT(s.end, s.begin);
        ASSERT_LE(s.bytes.size(), s.end - s.begin);
        end = s.end;
      }
    }
}

} // namespace
} // namespace format
