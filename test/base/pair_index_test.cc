#include "base/pair_index.h"

#include <gtest/gtest.h>

namespace {

TEST(PairIndex, EachPairHasTheNumberThatItWasGiven) {
  base::PairIndex index;
  constexpr uint64_t side = 300; // grows several times
  for (uint64_t a = 0; a < side; a++)
    for (uint64_t b = 0; b < side; b++) {
      const auto number = static_cast<uint32_t>(a * side + b);
      ASSERT_EQ(index.find_or_add(a << 40 | a, b, number), std::pair(number, true));
    }
  for (uint64_t a = 0; a < side; a++)
    for (uint64_t b = 0; b < side; b++) ASSERT_EQ(index.find_or_add(a << 40 | a, b, 7), std::pair(static_cast<uint32_t>(a * side + b), false));
}

TEST(PairIndex, ThePairIsInOrder) {
  base::PairIndex index;
  EXPECT_TRUE(index.find_or_add(1, 2, 0).second);
  EXPECT_TRUE(index.find_or_add(2, 1, 1).second);
  EXPECT_TRUE(index.find_or_add(0, 0, 2).second);
  EXPECT_TRUE(index.find_or_add(UINT64_MAX, UINT64_MAX, 3).second);
  EXPECT_EQ(index.find_or_add(0, 0, 9), std::pair(2u, false));
  index.clear();
  EXPECT_EQ(index.find_or_add(1, 2, 5), std::pair(5u, true));
}

} // namespace
