// Lists of CPUs as the kernel writes them (lib/bitmap.c, %*pbl).
#include "host/cpus.h"

#include <gtest/gtest.h>

namespace host {
namespace {

TEST(Cpus, ListsOfTheKernel) {
  EXPECT_EQ(count_cpus("0\n"), 1u);
  EXPECT_EQ(count_cpus("0-3\n"), 4u);
  EXPECT_EQ(count_cpus("0-3,6"), 5u);
  EXPECT_EQ(count_cpus("0,2,4-7,255\n"), 7u);
  EXPECT_EQ(count_cpus("0-65535"), 65536u);
  EXPECT_EQ(count_cpus("\n"), 0u);
  EXPECT_EQ(count_cpus(""), 0u);
}

TEST(Cpus, TheHighestNumberOfAList) {
  EXPECT_EQ(end_of_cpus("0\n"), 1u);
  EXPECT_EQ(end_of_cpus("0-3,6\n"), 7u);
  EXPECT_EQ(end_of_cpus("8-11"), 12u);
  EXPECT_EQ(end_of_cpus(""), 0u);
}

TEST(Cpus, WhatCannotBeReadEndsTheList) {
  EXPECT_EQ(count_cpus("0-1,x,5"), 2u);
  EXPECT_EQ(count_cpus("0-1,5-3,7"), 2u);
  EXPECT_EQ(count_cpus("0-"), 0u);
  EXPECT_EQ(count_cpus("0-1,"), 2u);
  EXPECT_EQ(count_cpus("-1"), 0u);
  EXPECT_EQ(count_cpus("0-4294967295"), 0u);
  EXPECT_EQ(count_cpus("99999999999999999999"), 0u);
  EXPECT_EQ(count_cpus("1 2"), 1u);
}

TEST(Cpus, OfThisHost) {
  EXPECT_GE(possible_cpus(), 1u);
  EXPECT_EQ(possible_cpus(), possible_cpus());
  EXPECT_GE(online_cpus(), 1u);
  EXPECT_LE(online_cpus(), possible_cpus());
}

} // namespace
} // namespace host
