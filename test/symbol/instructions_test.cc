// Which instructions the kernel carries out itself, and where a probe at an entry is best put.
#include "symbol/binaries.h"
#include "symbol/instructions.h"

#include <gtest/gtest.h>
#include <initializer_list>
#include <vector>

namespace symbol {
namespace {

using Bytes = std::vector<std::byte>;

Bytes code(std::initializer_list<int> bytes) {
  Bytes out;
  for (int b : bytes) out.push_back(static_cast<std::byte>(b));
  return out;
}

TEST(Instructions, Emulated) {
  for (auto& bytes : {code({0x55}), code({0x41, 0x57}), code({0x90}), code({0x66, 0x90}), code({0xeb, 0x10}),
                      code({0xe9, 0, 0, 0, 0}), code({0xe8, 0, 0, 0, 0}), code({0x74, 0x10}),
                      code({0x0f, 0x84, 0, 0, 0, 0})})
    EXPECT_TRUE(is_emulated(bytes, false)) << std::to_integer<int>(bytes[0]);
  for (auto& bytes :
       {code({0xf3, 0x0f, 0x1e, 0xfa}), code({0x48, 0x83, 0xec, 0x08}), code({0x48, 0x89, 0xe5}),
        code({0xc3}), code({0x48, 0x55}), code({0x66, 0x55}), code({0x66, 0xe8, 0, 0}),
        code({0x0f, 0x1f, 0x44, 0, 0}), code({0x0f}), code({}), code({0x66, 0x66, 0x66, 0x66, 0x66})})
    EXPECT_FALSE(is_emulated(bytes, false));
  EXPECT_TRUE(is_emulated(code({0x0f, 0x1f, 0x44, 0, 0}), true));
  EXPECT_TRUE(is_nop5(code({0x0f, 0x1f, 0x44, 0, 0})));
  EXPECT_FALSE(is_nop5(code({0x0f, 0x1f, 0x44, 0})));
  EXPECT_TRUE(is_nop5(code({0x66, 0x0f, 0x1f, 0x40, 0})));
  EXPECT_TRUE(is_nop5(code({0x66, 0x66, 0x66, 0x66, 0x90})));
  EXPECT_FALSE(is_nop5(code({0x66, 0x66, 0x66, 0x90, 0x90})));
  EXPECT_FALSE(is_nop5(code({0x66, 0x0f, 0x1f, 0x44, 0, 0})));
  EXPECT_FALSE(is_nop5(code({0xf3, 0x0f, 0x1e, 0xfa, 0x90})));
}

TEST(Instructions, Refused) {
  for (auto& bytes : {code({0xf0, 0x0f, 0xb1, 0x0f}), code({0x2e, 0x90}), code({0x3e, 0xff, 0xe0}),
                      code({0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}), code({0x0f, 0x0b}), code({0xf4}),
                      code({0xcc}), code({0x48, 0xcf}), code({0xec}), code({0xc5, 0xf9, 0x6e, 0xc6}),
                      code({0xc5, 0xfd, 0x74, 0x07}), code({0x62, 0xe2, 0x7d, 0x28, 0x7a, 0xce}),
                      code({0xc5, 0xf8, 0x90, 0x07}), code({0xc4, 0xe1, 0x7d, 0xeb, 0xc0})}) {
    EXPECT_TRUE(is_refused(bytes));
    EXPECT_FALSE(is_emulated(bytes, true));
  }
  // What would be carried out as something else, or where the program would go on elsewhere.
  for (auto& bytes : {code({0x49, 0x90}),                         // xchg %r8,%rax
                      code({0xf3, 0x41, 0x90}),                   // xchg %r8d,%eax
                      code({0xc5, 0xfc, 0xc2, 0xc1, 0}),          // vcmpps
                      code({0xc4, 0xe2, 0x69, 0x9d, 0xc1}),       // vfnmadd132ss
                      code({0xc4, 0xe2, 0x69, 0x9a, 0xc1}),       // vfmsub132ps
                      code({0xc5, 0xf9, 0xea, 0xc1}),             // vpminsw
                      code({0x62, 0xf1, 0x7c, 0x28, 0xc2, 0, 0}), // vcmpps with a mask
                      code({0x0f, 0x05}), code({0x0f, 0x34}),     // syscall, sysenter
                      code({0x9c}), code({0x66, 0x9c}),           // pushf
                      code({0xf3, 0xa4}), code({0xf3, 0x48, 0xab}), code({0xf2, 0xae}), // rep …
                      code({0x8e, 0xd0}),                         // mov %eax,%ss
                      code({0x66, 0xe8, 0, 0}), code({0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0}),
                      code({0x66, 0x0f, 0x84, 0, 0})}) {
    EXPECT_TRUE(is_refused(bytes)) << std::to_integer<int>(bytes[0]);
    EXPECT_FALSE(is_emulated(bytes, true));
  }
  for (auto& bytes : {code({0x90}), code({0x66, 0x90}), code({0xf3, 0x90}), code({0x48, 0x90}), code({0xa4}),
                      code({0x9d}), code({0x8e, 0xc0}), code({0xf2, 0xe9, 0, 0, 0, 0}), code({0x67, 0xe8, 0, 0, 0, 0}),
                      code({0xff, 0xd0}), code({0xc3}), code({0xc2, 8, 0}), code({0x0f, 0xc2, 0xc1, 0}),
                      code({0xc5, 0xf8, 0x2e, 0xc1}),        // vucomiss
                      code({0xc4, 0xe2, 0x79, 0x40, 0xc1}),  // vpmulld
                      code({0xc4, 0xe3, 0x79, 0x0f, 0xc1, 4})}) // vpalignr
    EXPECT_FALSE(is_refused(bytes)) << std::to_integer<int>(bytes[0]);
  for (auto& bytes : {code({0x55}), code({0x41, 0x57}), code({0x48, 0x89, 0xe5}),
                      code({0xf3, 0x0f, 0x1e, 0xfa}), code({0x64, 0x48, 0x8b, 0x04, 0x25}), code({}),
                      code({0x66, 0x66}), code({0xe8, 0, 0, 0, 0}), code({0xc5, 0xfd, 0x10, 0x07})})
    EXPECT_FALSE(is_refused(bytes));
}

TEST(Instructions, PassedWithoutADifference) {
  EXPECT_EQ(passable_length(code({0xf3, 0x0f, 0x1e, 0xfa})), 4u);                // endbr64
  EXPECT_EQ(passable_length(code({0x48, 0x85, 0xff})), 3u);                      // test %rdi,%rdi
  EXPECT_EQ(passable_length(code({0x83, 0xff, 0x05})), 3u);                      // cmp $5,%edi
  EXPECT_EQ(passable_length(code({0x81, 0xff, 1, 2, 3, 4})), 6u);                // cmp $…,%edi
  EXPECT_EQ(passable_length(code({0x80, 0x3d, 1, 2, 3, 4, 0})), 7u);             // cmpb $0,…(%rip)
  EXPECT_EQ(passable_length(code({0x31, 0xc0})), 2u);                            // xor %eax,%eax
  EXPECT_EQ(passable_length(code({0x48, 0x89, 0xf8})), 3u);                      // mov %rdi,%rax
  EXPECT_EQ(passable_length(code({0x48, 0x8b, 0x05, 1, 2, 3, 4})), 7u);          // mov …(%rip),%rax
  EXPECT_EQ(passable_length(code({0x48, 0x8b, 0x44, 0x24, 0x08})), 5u);          // mov 8(%rsp),%rax
  EXPECT_EQ(passable_length(code({0x4c, 0x8d, 0x1d, 1, 2, 3, 4})), 7u);          // lea …(%rip),%r11
  EXPECT_EQ(passable_length(code({0xb8, 1, 0, 0, 0})), 5u);                      // mov $1,%eax
  EXPECT_EQ(passable_length(code({0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8})), 10u);   // movabs $…,%rax
  EXPECT_EQ(passable_length(code({0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0})), 9u); // a long nop
}

TEST(Instructions, NotPassed) {
  for (auto& bytes : {code({0x48, 0x83, 0xec, 0x08}),   // sub $8,%rsp
                      code({0x55}),                     // push
                      code({0x48, 0x89, 0xfb}),         // mov %rdi,%rbx: the caller's
                      code({0x48, 0x89, 0xfe}),         // mov %rdi,%rsi: an argument
                      code({0x48, 0x89, 0x07}),         // mov %rax,(%rdi): memory
                      code({0x31, 0xff}),               // xor %edi,%edi
                      code({0x31, 0xf8}),               // xor %edi,%eax: of two
                      code({0x83, 0xc7, 0x05}),         // add $5,%edi
                      code({0x49, 0x89, 0xfa}),         // mov %rdi,%r10
                      code({0xc3}), code({0xff, 0xe0}), // ret, jmp *%rax
                      code({0xf7, 0xd8}),               // neg %eax
                      code({0x0f, 0xb6, 0xc7}), code({0xf3, 0xa4}), code({0x48, 0x85}), code({0x48}),
                      code({}), code({0xbf, 1, 0, 0, 0})}) // mov $1,%edi
    EXPECT_EQ(passable_length(bytes), 0u) << (bytes.empty() ? 0 : std::to_integer<int>(bytes.back()));
}

TEST(Instructions, BestEntry) {
  Bytes function = code({0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3});
  EXPECT_EQ(best_entry(function, false), 4u);
  EXPECT_EQ(best_entry(code({0x55, 0x5d, 0xc3}), false), 0u); // good as it is
  EXPECT_EQ(best_entry(code({0x48, 0x83, 0xec, 0x08, 0x55, 0xc3}), false), 0u);
  EXPECT_EQ(best_entry(code({0xf3, 0x0f, 0x1e, 0xfa}), false), 0u); // nothing behind it
  // endbr64; test; je: the branch is the first that is carried out by the kernel.
  EXPECT_EQ(best_entry(code({0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x85, 0xff, 0x74, 0x01, 0xc3, 0xc3}), false), 7u);
  // A loop leads back behind the start: calls would be counted too often.
  EXPECT_EQ(best_entry(code({0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x5d, 0xeb, 0xfc, 0xc3}), false), 0u);
  EXPECT_EQ(best_entry(code({0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x5d, 0xe9, 0xf9, 0xff, 0xff, 0xff}), false), 0u);
  EXPECT_EQ(best_entry(code({0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x5d, 0x0f, 0x85, 0xf8, 0xff, 0xff, 0xff}), false),
            0u);
  // One to the very start makes no difference.
  EXPECT_EQ(best_entry(code({0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x5d, 0xeb, 0xf8, 0xc3}), false), 4u);
  // A nop of 5 bytes is only good where the kernel knows it.
  Bytes patchable = code({0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0, 0, 0x55, 0xc3});
  EXPECT_EQ(best_entry(patchable, true), 4u);
  EXPECT_EQ(best_entry(patchable, false), 9u);
}

TEST(Instructions, JumpTargets) {
  // At 0x100: jmp +3 (to 0x108), nop, je -12 (0f 84, to 0x100), filled up.
  Bytes bytes = code({0xe9, 3, 0, 0, 0, 0x90, 0x0f, 0x84, 0xf4, 0xff, 0xff, 0xff, 0x90, 0x90, 0x90});
  JumpTargets targets(bytes, 0x100);
  EXPECT_TRUE(targets.any(0x108, 0x108));
  EXPECT_TRUE(targets.any(0x101, 0x110));
  EXPECT_TRUE(targets.any(0x100, 0x100));
  EXPECT_FALSE(targets.any(0x101, 0x107));
  EXPECT_FALSE(targets.any(0x109, 0x10e));
  EXPECT_FALSE(targets.any(0, 0xff));
  EXPECT_FALSE(targets.any(0x200, 0x240));
  EXPECT_FALSE(JumpTargets(code({0xe9, 0, 0, 0}), 0).any(0, 10)); // cut off
  EXPECT_FALSE(JumpTargets({}, 0).any(0, 10));
  EXPECT_FALSE(JumpTargets().any(0, 10));
}

// All long branches of real code are among them.
TEST(Instructions, JumpTargetsOfLibc) {
  Binaries binaries;
  auto libc = binaries.find("libc");
  ASSERT_TRUE(libc.ok());
  Binary& b = *libc->front();
  auto f = b.find_functions("qsort_r").front();
  base::ByteSpan bytes = b.code_at(f.address, f.size);
  size_t found = 0;
  base::Status read =
      for_each_instruction(b, f.address, f.address + f.size, [&](const Instruction& one) {
        const uint64_t at = one.address, length = one.length;
        auto first = static_cast<uint8_t>(bytes[at - f.address]),
             second = static_cast<uint8_t>(bytes[at - f.address + 1]);
        bool is_long =
            (length == 5 && first == 0xe9) || (length == 6 && first == 0x0f && (second & 0xf0) == 0x80);
        if (!is_long) return true;
        int32_t distance;
        std::memcpy(&distance, &bytes[at - f.address + length - 4], 4);
        uint64_t target = at + length + static_cast<uint64_t>(int64_t{distance});
        EXPECT_TRUE(b.may_be_jumped_to(target, target));
        found++;
        return true;
      });
  if (!read.ok()) GTEST_SKIP() << read.error().message;
  EXPECT_GT(found, 2u);
}

TEST(Instructions, Boundaries) {
  Binaries binaries;
  auto libc = binaries.find("libc");
  ASSERT_TRUE(libc.ok());
  Binary& b = *libc->front();
  auto functions = b.find_functions("malloc");
  ASSERT_FALSE(functions.empty());
  const FunctionSymbol& f = functions[0];
  auto first = find_instruction(b, f.address, f.address);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(*first, f.address);
  std::vector<uint64_t> starts;
  base::Status read =
      for_each_instruction(b, f.address, f.address + f.size, [&](const Instruction& one) {
        starts.push_back(one.address);
        EXPECT_GE(one.length, 1u);
        EXPECT_LE(one.length, 15u);
        return true;
      });
  if (!read.ok()) GTEST_SKIP() << read.error().message;
  ASSERT_GT(starts.size(), 5u);
  for (size_t i = 0; i + 1 < starts.size() && i < 20; i++)
    for (uint64_t at = starts[i]; at < starts[i + 1]; at++)
      EXPECT_EQ(*find_instruction(b, f.address, at), starts[i]);
}

} // namespace
} // namespace symbol
