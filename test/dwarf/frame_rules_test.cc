// Rules for frames against what readelf makes of the same tables.
#include "dwarf/frame_rules.h"

#include "compiled.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace {

// Compares each row that readelf shows; how many there were.
int compare_rows(const std::string& path) {
  SCOPED_TRACE(path);
  static const std::map<std::string, uint64_t> numbers = {
      {"rax", 0}, {"rdx", 1}, {"rcx", 2}, {"rbx", 3},  {"rsi", 4},  {"rdi", 5},  {"rbp", 6},
      {"rsp", 7}, {"r8", 8},  {"r9", 9},  {"r10", 10}, {"r11", 11}, {"r12", 12}, {"r13", 13}};
  auto file = format::ElfFile::open(path);
  EXPECT_TRUE(file);
  if (!file) return 0;
  dwarf::FrameTables tables = dwarf::frame_tables_of(*file), searched = tables;
  searched.eh_frame_hdr = {}; // as if there were no search table
  std::istringstream text(samples::output_of("readelf --debug-dump=frames-interp " + path + " 2> /dev/null; true"));
  int rows = 0;
  bool in_entry = false;
  for (std::string line; std::getline(text, line);) {
    if (line.find(" FDE ") != std::string::npos) in_entry = true;
    if (line.find(" CIE ") != std::string::npos || line.empty()) in_entry = false;
    std::istringstream words(line);
    std::string place, rule;
    if (!in_entry || !(words >> place >> rule) || place.size() != 16 ||
        line.find(" FDE ") != std::string::npos)
      continue;
    uint64_t address = std::stoull(place, nullptr, 16);
    std::optional<dwarf::CfaRule> found = dwarf::cfa_rule_at(tables, address);
    EXPECT_TRUE(found) << line;
    if (!found) continue;
    rows++;
    size_t sign = rule.find_first_of("+-");
    if (rule == "exp") {
      EXPECT_TRUE(found->is_expression && !found->expression.empty()) << line;
    } else if (sign != std::string::npos && numbers.contains(rule.substr(0, sign))) {
      EXPECT_FALSE(found->is_expression) << line;
      EXPECT_EQ(found->reg, numbers.at(rule.substr(0, sign))) << line;
      EXPECT_EQ(found->offset, std::stoll(rule.substr(sign))) << line;
    }
    if (rows > 300) continue; // going over all entries takes long
    std::optional<dwarf::CfaRule> again = dwarf::cfa_rule_at(searched, address);
    EXPECT_TRUE(again && again->reg == found->reg && again->offset == found->offset) << line;
  }
  return rows;
}

constexpr char sample[] = R"(
#include <stdlib.h>
#include <stdio.h>
__attribute__((noinline)) int deep(int n, char *to) {
  char local[n + 1];
  for (int i = 0; i <= n; i++) local[i] = to[i];
  return n > 0 ? deep(n - 1, local) + local[n / 2] : local[0];
}
__attribute__((target("avx2"), noinline)) void aligned(double *to) {
  double block[64] __attribute__((aligned(64)));
  for (int i = 0; i < 64; i++) block[i] = to[i] * i;
  printf("%p", (void *)block);
}
int main(int argc, char **argv) { double d[64] = { 0 }; aligned(d); return deep(argc, argv[0]); }
)";

} // namespace

TEST(FrameRules, AreThoseOfReadelf) {
  samples::Folder folder;
  std::string source = folder.write("sample.c", sample);
  for (const std::string options :
       {"-O0", "-O2", "-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -g -fno-exceptions",
        "-O2 -no-pie"}) {
    std::string program = folder.file("sample");
    ASSERT_EQ(samples::output_of("gcc " + options + " " + source + " -o " + program + " && echo done"),
              "done\n");
    EXPECT_GT(compare_rows(program), 10) << options;
  }
  EXPECT_GT(compare_rows("/lib64/ld-linux-x86-64.so.2"), 1000);
}

TEST(FrameRules, DamagedTablesGiveNothing) {
  dwarf::FrameTables tables;
  EXPECT_FALSE(dwarf::cfa_rule_at(tables, 0));
  std::vector<std::byte> bytes(64, std::byte{0xff});
  tables.eh_frame = tables.debug_frame = tables.eh_frame_hdr = bytes;
  EXPECT_FALSE(dwarf::cfa_rule_at(tables, 0x1000));
}
