// Tables made of small files: which rule holds where, what is kept in the cache, what damage does.
#include "unwind/tables.h"

#include "symbol/vdso.h"
#include "unwind/compile_rule.h"

#include "scratch.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>

namespace unwind {
namespace {

// Each label is an address that a test asks for; those with "_n" stand for the instruction before.
constexpr char sample[] = R"(
.text
.globl plain, moved, framed, after_push, in_frame, drap, drap_frame, switched, lost, outermost, odd, odd_return
.globl bare, far, other, signal, kept_below, damaged
plain: .cfi_startproc
  nop
moved: .cfi_def_cfa_offset 4104
  ret
.cfi_endproc
.balign 16
framed: .cfi_startproc
  push %rbp
after_push: .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  mov %rsp, %rbp
in_frame: .cfi_def_cfa_register %rbp
  ret
.cfi_endproc
.balign 16
drap: .cfi_startproc
  .cfi_def_cfa %r10, 0
  nop
drap_frame: .cfi_escape 0x0f, 3, 0x76, 0x78, 0x06      # CFA: *(rbp - 8)
  .cfi_escape 0x10, 6, 2, 0x76, 0x00                   # rbp: at rbp + 0
  nop
switched: .cfi_escape 0x0f, 6, 0x77, 0xf0, 0x00, 0x06, 0x23, 0x08 # CFA: *(rsp + 112) + 8
  .cfi_offset %rbp, -16
  nop
lost: .cfi_def_cfa %rsp, 8
  .cfi_undefined %rbp
  nop
outermost: .cfi_undefined %rip
  ret
.cfi_endproc
.balign 16
odd: .cfi_startproc
  .cfi_escape 0x0f, 4, 0x77, 0x08, 0x31, 0x22            # CFA: rsp + 8 + 1
  nop
odd_return: .cfi_def_cfa %rsp, 8
  .cfi_offset %rip, -24
  ret
.cfi_endproc
.balign 16
bare: .skip 64, 0x90
signal: .cfi_startproc
  .cfi_signal_frame
  .cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06            # CFA: *(rsp + 160)
  .cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01              # rip: at rsp + 168
  .cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0x00               # rbp: at rsp + 120
  .cfi_escape 0x10, 7, 3, 0x77, 0xa0, 0x01               # rsp: at rsp + 160
  nop
.cfi_endproc
.balign 16
kept_below: .cfi_startproc
  .cfi_escape 0x10, 6, 2, 0x77, 0x78                     # rbp: at rsp - 8
  .skip 200000, 0x90
far: .cfi_def_cfa_offset 64
  ret
.cfi_endproc
.balign 16
damaged: .cfi_startproc
  nop
  .cfi_escape 0x3f
  .cfi_def_cfa_offset 99
  nop
other: ret
.cfi_endproc
)";

class Sample : public testing::Test {
protected:
  void SetUp() override {
    scratch_.write("sample.s", sample);
    ASSERT_TRUE(scratch_.run("gcc -shared -nostdlib -Wl,--build-id sample.s -o sample.so")) << scratch_.log();
    auto opened = format::ElfFile::open(scratch_.path("sample.so"));
    ASSERT_TRUE(opened.ok());
    file_.emplace(std::move(*opened));
    file_->elf().for_each_symbol(*file_->elf().section(".dynsym"),
                                 [&](const format::ElfSymbol& s) { labels_[std::string(s.name)] = s.value; });
  }
  unwind_rule at(const Tables& tables, const std::string& label) {
    EXPECT_TRUE(labels_.contains(label)) << label;
    return tables.rule_at(labels_[label]);
  }

  Scratch scratch_;
  std::optional<format::ElfFile> file_;
  std::map<std::string, uint64_t> labels_;
};

unwind_rule with_rbp(unwind_rule rule, uint8_t kind, int16_t offset) {
  rule.rbp = kind;
  rule.rbp_offset = offset;
  return rule;
}

void expect_rule(const unwind_rule& found, const unwind_rule& wanted) {
  EXPECT_EQ(int{found.cfa}, int{wanted.cfa});
  EXPECT_EQ(found.cfa_offset, wanted.cfa_offset);
  EXPECT_EQ(int{found.rbp}, int{wanted.rbp});
  EXPECT_EQ(found.rbp_offset, wanted.rbp_offset);
}

} // namespace

TEST_F(Sample, RulesAreWhatTheTablesSay) {
  Tables tables = make_tables(*file_);
  std::vector<std::pair<std::string, unwind_rule>> wanted = {
      {"plain", rule_of(UNWIND_CFA_RSP, 8)},
      {"moved", rule_of(UNWIND_CFA_RSP, 4104)},
      {"framed", rule_of(UNWIND_CFA_RSP, 8)},
      {"after_push", with_rbp(rule_of(UNWIND_CFA_RSP, 16), UNWIND_RBP_AT_CFA, -16)},
      {"in_frame", with_rbp(rule_of(UNWIND_CFA_RBP, 16), UNWIND_RBP_AT_CFA, -16)},
      {"drap", rule_of_parts(UNWIND_CFA_REGISTER, 0, 10)},
      {"drap_frame", with_rbp(rule_of_parts(UNWIND_CFA_RBP_MEMORY, -8, 0), UNWIND_RBP_AT_RBP, 0)},
      {"switched", with_rbp(rule_of_parts(UNWIND_CFA_RSP_MEMORY, 112, 8), UNWIND_RBP_AT_CFA, -16)},
      {"lost", with_rbp(rule_of(UNWIND_CFA_RSP, 8), UNWIND_RBP_UNDEFINED, 0)},
      {"outermost", rule_of(UNWIND_CFA_END)},
      {"odd", rule_of(UNWIND_CFA_NOT_HELD)},
      {"odd_return", rule_of(UNWIND_CFA_NOT_HELD)},
      {"bare", rule_of(UNWIND_CFA_NO_TABLE)},
      {"signal", rule_of_parts(UNWIND_CFA_SIGNAL, 0, 0)},
      {"kept_below", with_rbp(rule_of(UNWIND_CFA_RSP, 8), UNWIND_RBP_AT_RSP, -8)},
      {"far", with_rbp(rule_of(UNWIND_CFA_RSP, 64), UNWIND_RBP_AT_RSP, -8)},
      {"damaged", rule_of(UNWIND_CFA_RSP, 8)},
      {"other", rule_of(UNWIND_CFA_NOT_HELD)},
  };
  for (const auto& [label, rule] : wanted) {
    SCOPED_TRACE(label);
    expect_rule(at(tables, label), rule);
  }
  EXPECT_EQ(tables.header().damaged, 1u);
  // In the middle of pages that hold no row of their own.
  for (uint64_t bytes = 0; bytes < 200000; bytes += 10000)
    expect_rule(tables.rule_at(labels_["kept_below"] + bytes), wanted[14].second);
  expect_rule(tables.rule_at(0), rule_of(UNWIND_CFA_NO_TABLE));
  expect_rule(tables.rule_at(UINT64_MAX), rule_of(UNWIND_CFA_NO_TABLE));
}

TEST_F(Sample, PagesBeginWithWhatHoldsThere) {
  Tables tables = make_tables(*file_);
  EXPECT_GE(tables.header().pages, 4u);
  for (size_t page = 0; page < tables.header().pages; page++) {
    auto rows =
        tables.rows().subspan(tables.starts()[page], tables.starts()[page + 1] - tables.starts()[page]);
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(rows[0].address, 0);
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(),
                               [](unwind_row a, unwind_row b) { return a.address < b.address; }));
  }
}

TEST_F(Sample, LinkersTablesOfJumpsAreKnown) {
  scratch_.write("calls.c", "int puts(const char *); int main(void) { return puts(\"\") + puts(\"x\"); }");
  ASSERT_TRUE(scratch_.run("gcc -O2 -Wl,-z,lazy calls.c -o with && cp with without && "
                           "objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr without"))
      << scratch_.log();
  for (const std::string name : {"with", "without"}) {
    SCOPED_TRACE(name);
    auto file = format::ElfFile::open(scratch_.path(name));
    ASSERT_TRUE(file.ok());
    const format::ElfSection* plt = file->elf().section(".plt");
    ASSERT_NE(plt, nullptr);
    Tables tables = make_tables(*file);
    expect_rule(tables.rule_at(plt->address + 2), rule_of(UNWIND_CFA_RSP, 16));
    expect_rule(tables.rule_at(plt->address + 8), rule_of(UNWIND_CFA_RSP, 24));
    unwind_rule entry = tables.rule_at(plt->address + 16);
    EXPECT_EQ(int{entry.cfa}, UNWIND_CFA_PLT);
    EXPECT_EQ(entry.cfa_parts.offset, 8);
    EXPECT_EQ(entry.cfa_parts.extra, 11);
  }
}

TEST_F(Sample, ReturnsFromSignalsAreKnownWithoutTables) {
  scratch_.write("restore.s", ".text\n.globl one, two, end\n.skip 6000, 0x90\none: mov $15, %rax\n syscall\n"
                              ".skip 3000, 0x90\ntwo: mov $15, %eax\n syscall\nend: nop\n.skip 3000, 0x90\n");
  ASSERT_TRUE(scratch_.run("gcc -shared -nostdlib restore.s -o restore.so")) << scratch_.log();
  auto file = format::ElfFile::open(scratch_.path("restore.so"));
  ASSERT_TRUE(file.ok());
  file->elf().for_each_symbol(*file->elf().section(".dynsym"),
                              [&](const format::ElfSymbol& s) { labels_[std::string(s.name)] = s.value; });
  Tables tables = make_tables(*file);
  for (const std::string label : {"one", "two"}) {
    EXPECT_EQ(int{at(tables, label).cfa}, UNWIND_CFA_SIGNAL) << label;
    EXPECT_EQ(int{tables.rule_at(labels_[label] - 1).cfa}, UNWIND_CFA_SIGNAL) << label; // a return address
    EXPECT_EQ(int{tables.rule_at(labels_[label] - 2).cfa}, UNWIND_CFA_NO_TABLE) << label;
  }
  EXPECT_EQ(int{at(tables, "end").cfa}, UNWIND_CFA_NO_TABLE);
}

// Assemblers that describe each function alike, as Go's does, say of this one that it was called.
TEST_F(Sample, ReturnsFromSignalsAreKnownWhereTablesTakeThemForFunctions) {
  scratch_.write("called.s", ".cfi_sections .debug_frame\n.text\n.globl before, one, two, three\n"
                             "before: .cfi_startproc\n nop\n ret\n.cfi_endproc\n.balign 32, 0xcc\n"
                             "one: .cfi_startproc\n mov $15, %rax\n syscall\n int3\n.cfi_endproc\n.balign 32, 0xcc\n"
                             "two: .cfi_startproc\n mov $15, %eax\n syscall\n int3\n.cfi_endproc\n.balign 32, 0xcc\n"
                             "three: .cfi_startproc\n mov $15, %eax\n syscall\n.skip 40, 0x90\n ret\n.cfi_endproc\n");
  ASSERT_TRUE(scratch_.run("gcc -shared -nostdlib called.s -o called.so")) << scratch_.log();
  auto file = format::ElfFile::open(scratch_.path("called.so"));
  ASSERT_TRUE(file.ok());
  file->elf().for_each_symbol(*file->elf().section(".dynsym"),
                              [&](const format::ElfSymbol& s) { labels_[std::string(s.name)] = s.value; });
  Tables tables = make_tables(*file);
  for (const std::string label : {"one", "two"}) {
    for (int from : {-1, 0, 5}) EXPECT_EQ(int{tables.rule_at(labels_[label] + static_cast<uint64_t>(from)).cfa}, UNWIND_CFA_SIGNAL) << label << from;
  }
  for (const std::string label : {"before", "three"}) expect_rule(at(tables, label), rule_of(UNWIND_CFA_RSP, 8));
}

TEST_F(Sample, OfDebuggersOnly) {
  scratch_.write("one.c", "int g(int); int f(int a) { return g(a) + 1; } int g(int a) { return a; }");
  ASSERT_TRUE(scratch_.run("gcc -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables -shared -fPIC "
                           "-nostdlib one.c -o one.so && objcopy --only-keep-debug one.so one.debug && "
                           "strip -g one.so"))
      << scratch_.log();
  auto file = format::ElfFile::open(scratch_.path("one.so"));
  auto debug = format::ElfFile::open(scratch_.path("one.debug"));
  ASSERT_TRUE(file.ok() && debug.ok());
  uint64_t f = 0;
  file->elf().for_each_symbol(*file->elf().section(".dynsym"), [&](const format::ElfSymbol& s) {
    if (s.name == "f") f = s.value;
  });
  expect_rule(make_tables(*file).rule_at(f), rule_of(UNWIND_CFA_NO_TABLE));
  expect_rule(make_tables(*file, &*debug).rule_at(f), rule_of(UNWIND_CFA_RSP, 8));
}

TEST_F(Sample, SectionsNeedNotBeListed) {
  scratch_.write("two.c",
                 "int g(int a) { return a; } int f(int a) { char b[a]; b[0] = 1; return g(b[a / 2]); }");
  ASSERT_TRUE(scratch_.run("gcc -O0 -shared -fPIC -nostdlib two.c -o two.so")) << scratch_.log();
  auto file = format::ElfFile::open(scratch_.path("two.so"));
  ASSERT_TRUE(file.ok());
  std::vector<std::byte> image(file->bytes().begin(), file->bytes().end());
  std::memset(image.data() + 40, 0, 8); // where the section headers are
  std::memset(image.data() + 60, 0, 4); // how many, and which has their names
  auto bare = format::ElfFile::of(std::move(image));
  ASSERT_TRUE(bare.ok());
  ASSERT_TRUE(bare->elf().sections().empty());
  Tables wanted = make_tables(*file), tables = make_tables(*bare);
  EXPECT_GT(wanted.header().rows, 5u);
  EXPECT_TRUE(std::ranges::equal(tables.bytes(), wanted.bytes()));
}

TEST(Tables, OfTheKernelsCodeInProcesses) {
  base::ByteSpan image = symbol::vdso_image();
  if (image.empty()) GTEST_SKIP() << "this process has no vdso";
  auto file = format::ElfFile::view(image);
  ASSERT_TRUE(file.ok());
  Tables tables = make_tables(*file);
  EXPECT_GT(tables.header().rows, 10u);
  EXPECT_EQ(tables.header().damaged, 0u);
  const format::ElfSection* text = file->elf().section(".text");
  ASSERT_NE(text, nullptr);
  EXPECT_NE(int{tables.rule_at(text->address).cfa}, UNWIND_CFA_NO_TABLE);
}

TEST_F(Sample, AreKeptByBuildId) {
  symbol::Cache cache(scratch_.path("cache"));
  symbol::CacheKey key{.kind = "unwind", .version = 4, .build_id = file_->build_id()};
  // Some of this file's entries are damaged: it may be one that is being written.
  (void)tables_of_file(*file_, cache);
  EXPECT_FALSE(cache.find(key));
  scratch_.write("whole.s", std::string(sample).substr(0, std::string_view(sample).find("damaged: ")));
  ASSERT_TRUE(scratch_.run("sed -i s/,.damaged// whole.s && "
                           "gcc -shared -nostdlib -Wl,--build-id whole.s -o whole.so"))
      << scratch_.log();
  auto whole = format::ElfFile::open(scratch_.path("whole.so"));
  ASSERT_TRUE(whole.ok());
  file_.emplace(std::move(*whole));
  key.build_id = file_->build_id();
  Tables made = tables_of_file(*file_, cache);
  auto kept = cache.find(key);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(std::ranges::equal(kept->bytes(), made.bytes()));
  Tables again = tables_of_file(*file_, cache);
  EXPECT_NE(again.bytes().data(), made.bytes().data());
  expect_rule(at(again, "in_frame"), at(made, "in_frame"));
  // Something else under that name, with a right checksum: made again.
  std::vector<std::byte> other(made.bytes().begin(), made.bytes().end());
  other[4] = std::byte{0xff};
  ASSERT_TRUE(cache.store(key, other).ok());
  expect_rule(at(tables_of_file(*file_, cache), "in_frame"), at(made, "in_frame"));
}

TEST_F(Sample, BytesThatAreNoTablesAreRefused) {
  Tables made = make_tables(*file_);
  auto bytes = std::make_shared<std::vector<std::byte>>(made.bytes().begin(), made.bytes().end());
  ASSERT_TRUE(Tables::of(*bytes, bytes).ok());
  for (size_t size = 0; size < bytes->size(); size += 3)
    EXPECT_FALSE(Tables::of(base::ByteSpan(*bytes).first(size), bytes).ok()) << size;
  // Whatever one byte becomes: refused, or searched without leaving the bytes.
  for (size_t i = 0; i < bytes->size(); i++) {
    std::byte before = (*bytes)[i];
    (*bytes)[i] ^= std::byte{0x81};
    if (auto tables = Tables::of(*bytes, bytes); tables.ok())
      for (uint64_t address = 0; address < 0x50000; address += 0xfff) (void)tables->rule_at(address);
    (*bytes)[i] = before;
  }
}

TEST_F(Sample, DamagedFilesGiveFewerRows) {
  const format::ElfSection* section = file_->elf().section(".eh_frame");
  ASSERT_NE(section, nullptr);
  for (uint64_t i = 0; i < section->size; i++) {
    std::vector<std::byte> image(file_->bytes().begin(), file_->bytes().end());
    image[section->offset + i] ^= std::byte{0xff};
    auto file = format::ElfFile::of(std::move(image));
    ASSERT_TRUE(file.ok());
    Tables tables = make_tables(*file);
    EXPECT_TRUE(Tables::of(tables.bytes(), nullptr).ok());
    for (const auto& [label, address] : labels_) (void)tables.rule_at(address);
  }
}

} // namespace unwind
