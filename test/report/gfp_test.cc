#include "report/gfp.h"

#include <gtest/gtest.h>

namespace report {
namespace {

// Bits 0 to 11 are the same in all kernels of the last years.
TEST(Gfp, NamesOfCombinationsComeFirst) {
  EXPECT_EQ(gfp_text(0), "none");
  EXPECT_EQ(gfp_text(0xcc0), "GFP_KERNEL");
  EXPECT_EQ(gfp_text(0xdc0), "GFP_KERNEL|__GFP_ZERO");
  EXPECT_EQ(gfp_text(0xc00), "GFP_NOIO");
  EXPECT_EQ(gfp_text(0x822), "GFP_ATOMIC|__GFP_HIGHMEM");
  EXPECT_EQ(gfp_text(0x4c0), "__GFP_IO|__GFP_FS|__GFP_DIRECT_RECLAIM");
  EXPECT_EQ(gfp_text(0x800), "__GFP_KSWAPD_RECLAIM");
}

TEST(Gfp, UnknownBitsAreHex) {
  EXPECT_EQ(gfp_text(0x10000000000), "0x10000000000");
  EXPECT_EQ(gfp_text(0x10000000cc0), "GFP_KERNEL|0x10000000000");
}

} // namespace
} // namespace report
