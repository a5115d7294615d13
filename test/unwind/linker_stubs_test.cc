// Rules for the jumps that linkers write: each form as bytes, with the distance from rsp to the CFA expected
// at each instruction.
#include "unwind/linker_stubs.h"

#include "unwind/compile_rule.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

using namespace unwind;
using namespace std::string_literals;

namespace {

constexpr uint64_t address = 0x1020;

// By offset; -1: no rule.
int distance_at(const std::vector<KnownCode>& rules, uint64_t offset) {
  for (const KnownCode& k : rules)
    if (address + offset >= k.begin && address + offset < k.end) {
      EXPECT_EQ(int{k.rule.cfa}, UNWIND_CFA_RSP);
      return k.rule.cfa_offset;
    }
  return -1;
}

void expect(const std::string& code, const std::map<uint64_t, int>& distances) {
  const std::vector<KnownCode> rules = rules_of_stubs(address, std::as_bytes(std::span(code)));
  for (auto [offset, distance] : distances) EXPECT_EQ(distance_at(rules, offset), distance) << offset;
  for (size_t i = 1; i < rules.size(); i++) EXPECT_LE(rules[i - 1].end, rules[i].begin);
}

} // namespace

TEST(LinkerStubs, LazyBinding) {
  expect("\xff\x35\1\0\0\0\xff\x25\1\0\0\0\x0f\x1f\x40\0" // push module; jmp *resolver
         "\xff\x25\1\0\0\0\x68\0\0\0\0\xe9\1\0\0\0"s,     // jmp *function; push $0; jmp first
         {{0, 16}, {6, 24}, {16, 8}, {22, 8}, {27, 16}});
}

TEST(LinkerStubs, MoldKeepsTheNumberInARegister) {
  expect("\xf3\x0f\x1e\xfa\x41\x53\xff\x35\1\0\0\0\xff\x25\1\0\0\0\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc"
         "\xcc\xcc\xcc\xcc"
         "\xf3\x0f\x1e\xfa\x41\xbb\0\0\0\0\xff\x25\1\0\0\0"s, // endbr64; mov $0, %r11d; jmp *function
         {{0, 8}, {4, 8}, {6, 16}, {12, 24}, {32, 8}, {36, 8}, {42, 8}});
}

TEST(LinkerStubs, BranchTargets) {
  expect("\xff\x35\1\0\0\0\xf2\xff\x25\1\0\0\0\x0f\x1f\0"     // push module; bnd jmp *resolver
         "\xf3\x0f\x1e\xfa\x68\0\0\0\0\xf2\xe9\1\0\0\0\x90"s, // endbr64; push $0; bnd jmp first
         {{0, 16}, {6, 24}, {16, 8}, {20, 8}, {25, 16}});
  expect("\xf3\x0f\x1e\xfa\xf2\xff\x25\1\0\0\0\x0f\x1f\x44\0\0"s, {{0, 8}, {4, 8}}); // .plt.sec
}

TEST(LinkerStubs, WithoutLazyBinding) {
  expect("\xff\x25\1\0\0\0\x66\x90\xff\x25\1\0\0\0\x66\x90"s, {{0, 8}, {8, 8}});
}

TEST(LinkerStubs, Retpolines) {
  expect(
      "\xff\x35\1\0\0\0\x4c\x8b\x1d\1\0\0\0\xe8\x0e\0\0\0\xf3\x90\x0f\xae\xe8\xeb\xf9\xcc\xcc\xcc\xcc\xcc\xcc"
      "\xcc"
      "\x4c\x89\x1c\x24\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc"
      "\x4c\x8b\x1d\1\0\0\0\xe8\xe4\xff\xff\xff\xe9\xd1\xff\xff\xff\x68\0\0\0\0\xe9\xb5\xff\xff\xff\xcc\xcc\xcc\xcc\xcc"s,
      {{0, 16}, {6, 24}, {13, 24}, {32, 16}, {36, 16}, {48, 8}, {55, 8}, {65, 8}, {70, 16}});
}

TEST(LinkerStubs, OtherInstructionsEndWhatIsKnown) {
  expect("\xff\x25\1\0\0\0\x48\x89\xe5\xff\x25\1\0\0\0\xff\xff\x25\1\0\0\0"s,
         {{0, 8}, {6, -1}, {9, -1}, {16, 8}});
  expect("\xff\x25\1\0"s, {{0, -1}}); // cut
  expect("", {});
}
