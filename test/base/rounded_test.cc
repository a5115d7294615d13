#include "base/rounded.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

TEST(Rounded, HalvesGoAwayFromZero) {
  EXPECT_EQ(base::rounded(0.5), 1);
  EXPECT_EQ(base::rounded(-0.5), -1);
  EXPECT_EQ(base::rounded(1.5), 2);
  EXPECT_EQ(base::rounded(2.5), 3);
  EXPECT_EQ(base::rounded(-2.5), -3);
  EXPECT_EQ(base::rounded(2.4999999999999996), 2);
  EXPECT_EQ(base::rounded(-0.0), 0);
}

TEST(Rounded, TheNumberBeforeAHalfIsNotRoundedUp) {
  EXPECT_EQ(base::rounded(0.49999999999999994), 0); // where adding 0.5 gives 1
  EXPECT_EQ(base::rounded(-0.49999999999999994), 0);
}

TEST(Rounded, WholeNumbersAreThemselves) {
  EXPECT_EQ(base::rounded(0x1p52 + 1), (int64_t{1} << 52) + 1); // where adding 0.5 gives the next even one
  EXPECT_EQ(base::rounded(-0x1p63), std::numeric_limits<int64_t>::min());
}

TEST(Rounded, WhatDoesNotFitIsCut) {
  EXPECT_EQ(base::rounded(0x1p63), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(base::rounded(1e300), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(base::rounded(-1e300), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(base::rounded(INFINITY), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(base::rounded(NAN), 0);
}

} // namespace
