// What is found of the runtime in programs made by the assembler, which have the table of functions of Go 1.20 and as much code and data of the runtime as is
// read; moved, without parts, and damaged. Real programs of Go are those of test/languages/go.py.
#include "format/go_waits.h"
#include "scratch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

namespace format {
namespace {

struct Source {
  std::string compare = "cmp 0x10(%r14), %rsp";
  std::string store = "mov %cl, 0xb8(%r8)";
  std::string execute = "runtime.execute", each = "runtime.forEachG";
  std::string second = "IO wait";
};

std::string text_of(const Source& s) {
  auto record = [](const std::string& label) { return label + "_record: .long " + label + " - park, " + label + "_name - names\n .skip 48\n"; };
  auto entry = [](const std::string& label) { return " .long " + label + " - park, " + label + "_record - functions\n"; };
  auto word = [](const std::string& label, size_t length) { return " .quad " + label + ", " + std::to_string(length) + "\n"; };
  std::string out = ".text\n.globl _start\n_start:\npark: " + s.compare + "\n jbe 1f\n mov %cl, 0x18(%rsp)\n " + s.store + "\n1: ret\n";
  out += "execute: cmp 0x10(%r14), %rsp\n jbe 1f\n.skip 200, 0x90\n1: ret\n";
  out += "each: mov 8(%rsp), %rax\n mov other(%rip), %rax\n mov list(%rip), %rcx\n mov list + 8(%rip), %rdx\n ret\nend:\n";
  out += ".section .gopclntab,\"aw\"\n.balign 32\ntable: .long 0xfffffff1\n .byte 0, 0, 1, 8\n .quad 3, 1, park\n";
  for (const char* part : {"names", "lists", "files", "numbers", "functions"}) out += " .quad " + std::string(part) + " - table\n";
  out += "names: .byte 0\npark_name: .asciz \"runtime.gopark\"\nexecute_name: .asciz \"" + s.execute + "\"\neach_name: .asciz \"" + s.each + "\"\n";
  out += "lists: .long 0\nfiles: .byte 0\nnumbers: .byte 0\n.balign 8\nfunctions:\n" + entry("park") + entry("execute") + entry("each") + " .long end - park\n";
  out += record("park") + record("execute") + record("each");
  out += ".section .rodata\n.ascii \"GC assist marking\"\nfirst: .ascii \"GC assist marking\"\nsecond: .ascii \"" + s.second + "\"\nthird: .ascii \"chan receive\"\n";
  out += ".data\n.balign 8\nreasons: .quad 0, 0\n" + word("first", 17) + word("second", s.second.size()) + word("third", 12) + " .quad 0, 0\n";
  return out + ".bss\n.balign 8\n .globl list\nother: .skip 8\n.skip 8\nlist: .skip 24\n";
}

class GoWaitsTest : public testing::Test {
protected:
  void build(const std::string& name, const Source& source, const std::string& flags = {}) {
    scratch_.write(name + ".s", text_of(source));
    ASSERT_TRUE(scratch_.run("as -o " + name + ".o " + name + ".s && ld " + flags + " -o " + name + " " + name + ".o && strip -o " + name + ".stripped " + name)) << scratch_.log();
  }
  ElfFile open(const std::string& name) const {
    auto file = ElfFile::open(scratch_.path(name));
    EXPECT_TRUE(file.ok());
    return file.ok() ? std::move(*file) : std::move(*ElfFile::open("/bin/sh"));
  }
  uint64_t address_of(const std::string& name, const std::string& symbol) const {
    scratch_.run("nm " + name + " | awk '$3==\"" + symbol + "\"{print $1}'");
    return std::stoull("0" + scratch_.log(), nullptr, 16);
  }
  void expect_all(const std::string& name) const {
    ElfFile file = open(name + ".stripped");
    EXPECT_TRUE(looks_like_go(file));
    auto found = find_go_waits(file);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->park, address_of(name, "park"));
    EXPECT_EQ(found->execute, address_of(name, "execute"));
    EXPECT_EQ(found->goroutines, address_of(name, "list"));
    EXPECT_EQ(found->reason_at, 0xb8u);
    EXPECT_EQ(found->reasons, (std::vector<std::string>{"", "GC assist marking", "IO wait", "chan receive"}));
  }
  std::string why_not(const Source& source) {
    build("other", source);
    auto found = find_go_waits(open("other"));
    return found.ok() ? "" : found.error().message;
  }
  Scratch scratch_;
};

TEST_F(GoWaitsTest, FindsAll) {
  build("plain", {});
  expect_all("plain");
}

TEST_F(GoWaitsTest, FindsAllInMovablePrograms) {
  build("movable", {}, "-pie --no-dynamic-linker");
  expect_all("movable");
}

TEST_F(GoWaitsTest, KnowsOtherPlacesOfTheReason) {
  build("older", {.store = "mov %cl, 0xb0(%rax)"});
  auto found = find_go_waits(open("older"));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->reason_at, 0xb0u);
}

TEST_F(GoWaitsTest, LeavesOutWhatIsMissing) {
  build("bare", {.store = "mov %dl, 0xb8(%r8)", .each = "runtime.other", .second = "I/O wait"});
  auto found = find_go_waits(open("bare"));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->reason_at, 0u);
  EXPECT_EQ(found->goroutines, 0u);
  EXPECT_TRUE(found->reasons.empty());
}

TEST_F(GoWaitsTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(why_not({.compare = "cmp 0x10(%rcx), %rsp"}), "runtime.gopark does not begin as that of Go 1.17 to 1.24");
  EXPECT_EQ(why_not({.execute = "runtime.other"}), "the runtime has no functions runtime.gopark and runtime.execute");
  auto found = find_go_waits(open("/../../bin/sh"));
  ASSERT_FALSE(found.ok());
  EXPECT_FALSE(looks_like_go(open("/../../bin/sh")));
}

// Whatever a byte is changed to, nothing is read outside of the file.
TEST_F(GoWaitsTest, DamagedFiles) {
  build("plain", {});
  const std::string whole = scratch_.read("plain.stripped");
  size_t found = 0;
  for (size_t i = 64; i < whole.size(); i += 3)
    for (char value : {'\0', '\x7f', '\xff'}) {
      std::vector<std::byte> bytes(whole.size());
      std::memcpy(bytes.data(), whole.data(), whole.size());
      bytes[i] = static_cast<std::byte>(value);
      auto file = ElfFile::of(std::move(bytes));
      if (file.ok()) found += find_go_waits(*file).ok();
    }
  EXPECT_GT(found, 0u);
}

} // namespace
} // namespace format
