#include "net/backoff.h"

#include <gtest/gtest.h>

namespace net {
namespace {

TEST(Backoff, DoublesUpToItsLimitAndBeginsAnew) {
  for (unsigned seed = 1; seed <= 100; seed++) {
    Backoff backoff(1, 60, seed);
    for (const bool is_again : {false, true}) {
      for (const double delay : {1, 2, 4, 8, 16, 32, 60, 60, 60}) {
        const double next = backoff.next();
        EXPECT_GE(next, delay / 2) << seed << is_again;
        EXPECT_LE(next, delay) << seed << is_again;
      }
      backoff.reset();
    }
  }
}

TEST(Backoff, IsTheLongestWhereWaitingChangesNothing) {
  Backoff backoff(1, 60, 7);
  backoff.slow_down();
  for (int i = 0; i < 2; i++) EXPECT_GE(backoff.next(), 30);
  backoff.reset();
  EXPECT_LE(backoff.next(), 1);
}

// A hundred clients that fail together: any tenth of the time in which they come back has some of them, and no more than a third.
TEST(Backoff, SpreadsThoseThatFailedTogether) {
  int tenths[10] = {};
  for (unsigned seed = 1; seed <= 100; seed++) {
    Backoff backoff(20, 60, seed * 2'654'435'761);
    tenths[static_cast<int>(backoff.next()) - 10]++;
  }
  for (int n : tenths) {
    EXPECT_GT(n, 0);
    EXPECT_LT(n, 33);
  }
}

} // namespace
} // namespace net
