// What the words of a walked stack are taken for.
#include "spec/stack_entries.h"

#include <gtest/gtest.h>

#include <vector>

namespace spec {
namespace {

std::vector<StackEntry> entries(std::vector<uint64_t> words) {
  std::vector<StackEntry> out;
  for (std::span<const uint64_t> rest = words; !rest.empty();) out.push_back(take_entry(rest));
  return out;
}

TEST(StackEntries, TaggedOnesHaveTwoWords) {
  const auto found = entries({0x401000, tagged_word(FrameKind::test, 7), STACK_END + 3, 0x402000});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].tag, 0);
  EXPECT_EQ(found[0].address, 0x401000u);
  EXPECT_EQ(found[1].tag, row_of(FrameKind::test).tag);
  EXPECT_EQ(found[1].number, 7u);
  EXPECT_EQ(found[1].address, STACK_END + 3); // any value
  EXPECT_EQ(found[2].address, 0x402000u);
}

TEST(StackEntries, NumbersThatNoKindHasAreAddresses) {
  constexpr uint64_t garbage = 0xac7e000000000007, kernel = 0xffffffff81000000;
  const auto found = entries({garbage, kernel, 0xffff888000000000});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].address, garbage);
  EXPECT_EQ(found[1].address, kernel);
}

TEST(StackEntries, OneThatIsCutIsTheLast) {
  const auto found = entries({0x401000, tagged_word(FrameKind::test, 7)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].number, 7u);
  EXPECT_EQ(found[1].address, 0u);
}

TEST(StackEntries, UserStacksEndAtTheirReasonOrAtNowhere) {
  auto split = [](std::vector<uint64_t> words) {
    const UserStack stack = split_user_stack(words);
    return std::pair(stack.frames.size(), stack.end);
  };
  auto expected = [](size_t frames, uint64_t end) { return std::pair(frames, end); };
  const uint64_t tagged = tagged_word(FrameKind::test, 0);
  EXPECT_EQ(split({1, 2}), expected(2, 0));
  EXPECT_EQ(split({1, 2, STACK_END + 4}), expected(2, STACK_END + 4));
  EXPECT_EQ(split({1, 0, 2, STACK_END + 4}), expected(1, 0));
  EXPECT_EQ(split({1, tagged, 0, 2}), expected(4, 0)); // a second word is no address
  EXPECT_EQ(split({1, tagged, STACK_END}), expected(3, 0));
  EXPECT_EQ(split({}), expected(0, 0));
}

TEST(FrameKinds, TagsAndMarksTellKindsApart) {
  for (const FrameKindRow& a : frame_kinds)
    for (const FrameKindRow& b : frame_kinds) {
      if (a.kind == b.kind) continue;
      EXPECT_TRUE(!a.tag || a.tag != b.tag) << a.name;
      EXPECT_TRUE(a.mark.empty() || a.mark != b.mark) << a.name;
      EXPECT_NE(a.name, b.name);
    }
  for (const FrameKindRow& row : frame_kinds) EXPECT_TRUE(row.known_by != KnownBy::mark || !row.mark.empty()) << row.name;
}

} // namespace
} // namespace spec
