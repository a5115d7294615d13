// Notes and operands of USDT probes: well formed, damaged, and as the compiler writes them.
#include "format/elf_file.h"
#include "format/usdt.h"
#include "spec/arch.h"

#include "format/elf_builder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <elf.h>
#include <random>

using format::parse_usdt_arguments;
using format::UsdtNote;
using format::UsdtOperand;

namespace {

uint32_t place(std::string_view name) { return spec::find_register(name).value(); }

UsdtOperand parse(std::string_view text) {
  auto all = parse_usdt_arguments(text, EM_X86_64);
  EXPECT_EQ(all.size(), 1u) << text;
  return all.empty() ? UsdtOperand() : all.front();
}

std::string reason(std::string_view text) {
  UsdtOperand o = parse(text);
  EXPECT_EQ(o.form, UsdtOperand::unsupported) << text;
  return o.reason;
}

struct Expected {
  UsdtOperand::Form form;
  int size; // negative: signed
  std::string_view base, index = {};
  int scale = 1;
  int64_t offset = 0;
  std::string_view symbol = {};
  bool is_thread_local = false;
  int shift = 0;
};

void check(std::string_view text, const Expected& e) {
  SCOPED_TRACE(text);
  UsdtOperand o = parse(text);
  EXPECT_EQ(o.form, e.form) << o.reason;
  EXPECT_EQ(o.is_signed ? -o.size : o.size, e.size);
  EXPECT_EQ(o.base, e.base.empty() ? std::nullopt : spec::find_register(e.base));
  EXPECT_EQ(o.index, e.index.empty() ? std::nullopt : spec::find_register(e.index));
  EXPECT_EQ(o.scale, e.scale);
  EXPECT_EQ(o.offset, e.offset);
  EXPECT_EQ(o.symbol, e.symbol);
  EXPECT_EQ(o.is_thread_local, e.is_thread_local);
  EXPECT_EQ(o.shift, e.shift);
  EXPECT_EQ(o.text, text);
}

std::string note(std::string_view provider, std::string_view name, std::string_view arguments,
                 uint64_t address, uint64_t base = 0, uint64_t counter = 0,
                 std::string_view owner = "stapsdt", uint32_t kind = 3) {
  auto number = [](auto n) { return ElfBuilder::number(n); };
  std::string texts = std::string(provider) + '\0' + std::string(name) + '\0' + std::string(arguments) + '\0';
  std::string description = number(address) + number(base) + number(counter) + texts;
  std::string out = number(static_cast<uint32_t>(owner.size() + 1)) +
                    number(static_cast<uint32_t>(description.size())) + number(kind) + std::string(owner) +
                    '\0';
  out.resize((out.size() + 3) & ~size_t{3});
  out += description;
  out.resize((out.size() + 3) & ~size_t{3});
  return out;
}

base::ByteSpan bytes(const std::string& s) { return std::as_bytes(std::span(s)); }

} // namespace

TEST(UsdtNotes, ProviderNamePlaceAndArguments) {
  std::string all =
      note("app", "start", "", 0x1000) + note("app", "done", "-4@%eax 8@%rdi", 0x1010, 0, 0x4000);
  auto notes = format::read_usdt_notes(bytes(all), std::nullopt);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0].provider, "app");
  EXPECT_EQ(notes[0].name, "start");
  EXPECT_EQ(notes[0].arguments, "");
  EXPECT_EQ(notes[0].address, 0x1000u);
  EXPECT_EQ(notes[0].counter, 0u);
  EXPECT_EQ(notes[1].arguments, "-4@%eax 8@%rdi");
  EXPECT_EQ(notes[1].counter, 0x4000u);
}

TEST(UsdtNotes, FollowFilesThatWereMoved) {
  std::string all = note("app", "x", "", 0x1000, 0x8000, 0x4000) + note("app", "y", "", 0x1000, 0x8000);
  auto notes = format::read_usdt_notes(bytes(all), 0x18000);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0].address, 0x11000u);
  EXPECT_EQ(notes[0].counter, 0x14000u);
  EXPECT_EQ(notes[1].counter, 0u) << "no counter stays none";
}

TEST(UsdtNotes, OthersArePassedOver) {
  std::string all = note("a", "x", "", 1, 0, 0, "GNU") + note("a", "y", "", 2, 0, 0, "stapsdt", 2) +
                    note("", "z", "", 3) + note("a", "", "", 4) + note("a", "x\x1b[2J", "", 6) +
                    note("a\n", "x", "", 6) + note("a", "last", "", 5);
  auto notes = format::read_usdt_notes(bytes(all), std::nullopt);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].name, "last");
}

TEST(UsdtNotes, DamagedOnesEndTheList) {
  std::string good = note("app", "start", "8@%rdi", 0x1000);
  for (size_t cut = 0; cut < good.size(); cut++) {
    std::string part = good.substr(0, cut);
    EXPECT_LE(format::read_usdt_notes(bytes(part), 0).size(), cut + 3 >= good.size() ? 1u : 0u) << cut;
  }
  std::string huge = good;
  huge.replace(4, 4, "\xff\xff\xff\xff", 4);
  EXPECT_TRUE(format::read_usdt_notes(bytes(huge), 0).empty());
  huge = good;
  huge.replace(0, 4, "\xff\xff\xff\xff", 4);
  EXPECT_TRUE(format::read_usdt_notes(bytes(huge), 0).empty());
  std::mt19937 random(7);
  for (int i = 0; i < 20000; i++) {
    std::string bad = good + good + good;
    for (int n = 0; n < 4; n++) bad[random() % bad.size()] = static_cast<char>(random());
    for (const UsdtNote& n : format::read_usdt_notes(bytes(bad), 0x1234))
      (void)parse_usdt_arguments(n.arguments, EM_X86_64);
  }
}

TEST(UsdtNotes, TheirNumberHasALimit) {
  std::string one = note("a", "b", "", 1), all;
  for (size_t i = 0; i < format::usdt_limit + 10; i++) all += one;
  EXPECT_EQ(format::read_usdt_notes(bytes(all), std::nullopt).size(), format::usdt_limit);
}

TEST(UsdtOperands, Registers) {
  using enum UsdtOperand::Form;
  check("8@%rdi", {.form = reg, .size = 8, .base = "di"});
  check("-4@%eax", {.form = reg, .size = -4, .base = "ax"});
  check("-2@%cx", {.form = reg, .size = -2, .base = "cx"});
  check("1@%sil", {.form = reg, .size = 1, .base = "si"});
  check("1@%bpl", {.form = reg, .size = 1, .base = "bp"});
  check("-1@%al", {.form = reg, .size = -1, .base = "ax"});
  check("1@%bh", {.form = reg, .size = 1, .base = "bx", .shift = 8});
  check("8@%r8", {.form = reg, .size = 8, .base = "r8"});
  check("4@%r15d", {.form = reg, .size = 4, .base = "r15"});
  check("2@%r9w", {.form = reg, .size = 2, .base = "r9"});
  check("-1@%r10b", {.form = reg, .size = -1, .base = "r10"});
  check("8@%rsp", {.form = reg, .size = 8, .base = "sp"});
  check("2@%rdx", {.form = reg, .size = 2, .base = "dx"}); // the low part
  check("8@%edx", {.form = reg, .size = 4, .base = "dx"}); // no more than it has
  check("%rbx", {.form = reg, .size = 8, .base = "bx"});   // no size: the register's
  check("%ebx", {.form = reg, .size = 4, .base = "bx"});
}

TEST(UsdtOperands, Constants) {
  using enum UsdtOperand::Form;
  check("4@$-5", {.form = constant, .size = 4, .base = "", .offset = -5});
  check("-4@$-5", {.form = constant, .size = -4, .base = "", .offset = -5});
  check("8@$0x10", {.form = constant, .size = 8, .base = "", .offset = 16});
  check("8@$0xfffffffffffffff0", {.form = constant, .size = 8, .base = "", .offset = -16});
  check("-8@$-9223372036854775808", {.form = constant, .size = -8, .base = "", .offset = INT64_MIN});
  check("$7", {.form = constant, .size = 8, .base = "", .offset = 7});
  check("8@$table+24", {.form = constant, .size = 8, .base = "", .offset = 24, .symbol = "table"});
}

TEST(UsdtOperands, Memory) {
  using enum UsdtOperand::Form;
  check("8@(%rax)", {.form = memory, .size = 8, .base = "ax"});
  check("-4@-16(%rbp)", {.form = memory, .size = -4, .base = "bp", .offset = -16});
  check("8@0x20(%r13)", {.form = memory, .size = 8, .base = "r13", .offset = 32});
  check("8@-16(%rbp,%rax,8)",
        {.form = memory, .size = 8, .base = "bp", .index = "ax", .scale = 8, .offset = -16});
  check("1@(%rdx,%rcx)", {.form = memory, .size = 1, .base = "dx", .index = "cx"});
  check("1@-1(%rdx, %rcx, 1)", {.form = memory, .size = 1, .base = "dx", .index = "cx", .offset = -1});
  check("4@16(,%r9,4)", {.form = memory, .size = 4, .base = "", .index = "r9", .scale = 4, .offset = 16});
  check("8@global(%rip)", {.form = memory, .size = 8, .base = "", .symbol = "global"});
  check("8@foo+4(%rip)", {.form = memory, .size = 8, .base = "", .offset = 4, .symbol = "foo"});
  check("-4@4+foo(%rip)", {.form = memory, .size = -4, .base = "", .offset = 4, .symbol = "foo"});
  check("8@foo-8(%rip)", {.form = memory, .size = 8, .base = "", .offset = -8, .symbol = "foo"});
  check("8@8+_ZN2ns1xE+8(%rip)",
        {.form = memory, .size = 8, .base = "", .offset = 16, .symbol = "_ZN2ns1xE"});
  check("8@count.0(%rip)", {.form = memory, .size = 8, .base = "", .symbol = "count.0"});
  check("4@table(,%rax,4)",
        {.form = memory, .size = 4, .base = "", .index = "ax", .scale = 4, .symbol = "table"});
  check("4@table+8(%rbx)", {.form = memory, .size = 4, .base = "bx", .offset = 8, .symbol = "table"});
  check("4@plain", {.form = memory, .size = 4, .base = "", .symbol = "plain"});
  check("4@0x404040", {.form = memory, .size = 4, .base = "", .offset = 0x404040});
  check("8@%fs:-16", {.form = memory, .size = 8, .base = "", .offset = -16, .is_thread_local = true});
  check("8@%fs:0xfffffffffffffff8",
        {.form = memory, .size = 8, .base = "", .offset = -8, .is_thread_local = true});
  check("8@%fs:(%rax)", {.form = memory, .size = 8, .base = "ax", .is_thread_local = true});
  check("-4@%fs:own@tpoff",
        {.form = memory, .size = -4, .base = "", .symbol = "own", .is_thread_local = true});
}

TEST(UsdtOperands, WhatCannotBeReadTellsWhy) {
  EXPECT_EQ(reason("8f@%xmm0"), "it is in the vector register %xmm0, which the kernel does not show");
  EXPECT_EQ(reason("16f@8(%rsp)"), "it is a number of floating point of 16 bytes; those of 4 and 8 can be read");
  EXPECT_EQ(reason("4@%xmm3"), "it is in the vector register %xmm3, which the kernel does not show");
  EXPECT_EQ(reason("16@%rax"), "it has 16 bytes; values of 1, 2, 4 and 8 can be read");
  EXPECT_EQ(reason("8@%rfoo"), "there is no register %rfoo");
  EXPECT_EQ(reason("8@%rax)"), "`)` behind %rax is not understood");
  EXPECT_EQ(reason("8@slot@GOTPCREL(%rip)"),
            "it stands behind `@GOTPCREL`, a place that only the linker knew");
  EXPECT_EQ(reason("8@%fs:own"), "what is at %fs:own is not known");
  EXPECT_EQ(reason("8@4(%rip)"), "what lies beside the instruction is not known without a name");
  EXPECT_EQ(reason("8@8(%eax)"), "an address is not counted from %eax");
  EXPECT_EQ(reason("8@8(%rax,%rbx,3)"), "its address is not understood");
  EXPECT_EQ(reason("8@8(%rax"), "its address is not understood");
  EXPECT_EQ(reason("8@8()"), "its address is not understood");
  EXPECT_EQ(reason("8@a+b(%rip)"), "`(%rip)` is not understood");
  EXPECT_EQ(reason("8@$"), "its constant is not understood");
  EXPECT_EQ(reason("8@$5x"), "its constant is not understood");
  EXPECT_EQ(reason("8@"), "it is empty");
  EXPECT_EQ(reason("8@%fs:"), "it is empty");
  EXPECT_EQ(reason("8@#"), "`#` is not understood");
  EXPECT_EQ(parse_usdt_arguments("8@x0", EM_AARCH64)[0].reason,
            "operands of this kind of machine are not read");
}

TEST(UsdtOperands, InARow) {
  auto all = parse_usdt_arguments("8@%rdi  -4@-20(%rbp, %rax, 4) 8f@%xmm0 4@$1 ", EM_X86_64);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].text, "-4@-20(%rbp, %rax, 4)");
  EXPECT_EQ(all[2].form, UsdtOperand::unsupported);
  EXPECT_EQ(all[3].offset, 1);
  EXPECT_TRUE(parse_usdt_arguments("", EM_X86_64).empty());
  EXPECT_TRUE(parse_usdt_arguments("   ", EM_X86_64).empty());
  std::string many;
  for (int i = 0; i < 1000; i++) many += "8@%rax ";
  EXPECT_EQ(parse_usdt_arguments(many, EM_X86_64).size(), format::usdt_argument_limit);
}

TEST(UsdtOperands, AnyText) {
  std::mt19937 random(3);
  constexpr std::string_view parts[] = {"8@",  "-4@", "%",     "rax", "(",   ")",    ",",
                                        "$",   "-",   "+",     "5",   "sym", "@",    " ",
                                        "fs:", "0x",  "tpoff", "[",   "]",   "%rip", "99999999999999999999"};
  for (int i = 0; i < 50000; i++) {
    std::string text;
    for (uint32_t n = random() % 12; n > 0; n--) text += parts[random() % std::size(parts)];
    for (const UsdtOperand& o : parse_usdt_arguments(text, EM_X86_64)) {
      EXPECT_EQ(o.form == UsdtOperand::unsupported, !o.reason.empty()) << text;
      EXPECT_TRUE(o.size == 1 || o.size == 2 || o.size == 4 || o.size == 8) << text;
    }
  }
}

// As <sys/sdt.h> and the compiler write them.
TEST(UsdtNotes, OfACompiledProgram) {
  if (std::system("test -e /usr/include/x86_64-linux-gnu/sys/sdt.h") != 0)
    GTEST_SKIP() << "systemtap-sdt-dev is not installed";
  std::string folder = testing::TempDir() + "usdt_" + std::to_string(getpid());
  std::string command = "mkdir -p " + folder + " && cat >" + folder +
                        "/a.c <<'END'\n"
                        "#define _SDT_HAS_SEMAPHORES 1\n"
                        "#include <sys/sdt.h>\n"
                        "unsigned short app_counted_semaphore __attribute__((section(\".probes\")));\n"
                        "int main(int n, char **v) {\n"
                        "  STAP_PROBE(app, counted);\n"
                        "  STAP_PROBE3(app, counted, (short)n, v, -7);\n"
                        "  return 0;\n"
                        "}\n"
                        "END\n"
                        "cd " +
                        folder + " && gcc -O2 -g a.c -o a && strip -o stripped a";
  ASSERT_EQ(std::system(command.c_str()), 0);
  for (const char* name : {"/a", "/stripped"}) {
    auto file = format::ElfFile::open(folder + name);
    ASSERT_TRUE(file.ok()) << file.error().message;
    auto notes = format::read_usdt(*file);
    ASSERT_EQ(notes.size(), 2u) << name;
    EXPECT_EQ(notes[1].provider, "app");
    EXPECT_EQ(notes[1].name, "counted");
    EXPECT_NE(notes[1].counter, 0u);
    EXPECT_TRUE(file->elf().offset_of_address(notes[1].counter));
    auto at = file->elf().offset_of_address(notes[0].address);
    ASSERT_TRUE(at);
    EXPECT_EQ(static_cast<uint8_t>(file->bytes()[*at]), 0x90) << "a nop";
    auto operands = parse_usdt_arguments(notes[1].arguments, file->elf().machine());
    ASSERT_EQ(operands.size(), 3u) << notes[1].arguments;
    EXPECT_EQ(operands[0].form, UsdtOperand::reg);
    EXPECT_EQ(operands[0].base, place("di"));
    EXPECT_TRUE(operands[0].is_signed && operands[0].size == 2);
    EXPECT_EQ(operands[1].base, place("si"));
    EXPECT_EQ(operands[2].form, UsdtOperand::constant);
    EXPECT_EQ(operands[2].offset, -7);
  }
  EXPECT_EQ(std::system(("rm -r " + folder).c_str()), 0);
}
