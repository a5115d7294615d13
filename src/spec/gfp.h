// Flags of the kernel's memory allocations (GFP), by name: single bits and what combinations of them are
// called, in the order in which the kernel itself looks for them to print. Bits have moved between versions;
// the numbers here are those of Linux 6.12 to 6.18, and a running kernel's own come from its types
// (`___GFP_IO_BIT` and its like).
#pragma once

#include <cstdint>
#include <string_view>

namespace spec {

struct GfpBit {
  std::string_view name; // without `__GFP_`
  uint8_t bit;
};

inline constexpr uint8_t gfp_no_bit = 63; // only where the kernel's types tell

inline constexpr GfpBit gfp_bits[] = {
    {"DMA", 0},
    {"HIGHMEM", 1},
    {"DMA32", 2},
    {"MOVABLE", 3},
    {"RECLAIMABLE", 4},
    {"HIGH", 5},
    {"IO", 6},
    {"FS", 7},
    {"ZERO", 8},
    {"DIRECT_RECLAIM", 10},
    {"KSWAPD_RECLAIM", 11},
    {"WRITE", 12},
    {"NOWARN", 13},
    {"RETRY_MAYFAIL", 14},
    {"NOFAIL", 15},
    {"NORETRY", 16},
    {"MEMALLOC", 17},
    {"COMP", 18},
    {"NOMEMALLOC", 19},
    {"HARDWALL", 20},
    {"THISNODE", 21},
    {"ACCOUNT", 22},
    {"ZEROTAGS", 23},
    {"SKIP_ZERO", gfp_no_bit},
    {"SKIP_KASAN", gfp_no_bit},
    {"NOLOCKDEP", gfp_no_bit},
    {"NO_OBJ_EXT", gfp_no_bit},
};

// A name for several bits.
struct GfpName {
  std::string_view name;
  std::string_view bits; // words of gfp_bits
};

// Those of more bits first. A bit that a kernel has not is no part of a combination there.
inline constexpr GfpName gfp_names[] = {
    {"GFP_TRANSHUGE", "IO FS HARDWALL HIGHMEM MOVABLE COMP NOMEMALLOC NOWARN DIRECT_RECLAIM SKIP_KASAN"},
    {"GFP_TRANSHUGE_LIGHT", "IO FS HARDWALL HIGHMEM MOVABLE COMP NOMEMALLOC NOWARN SKIP_KASAN"},
    {"GFP_HIGHUSER_MOVABLE", "DIRECT_RECLAIM KSWAPD_RECLAIM IO FS HARDWALL HIGHMEM MOVABLE SKIP_KASAN"},
    {"GFP_HIGHUSER", "DIRECT_RECLAIM KSWAPD_RECLAIM IO FS HARDWALL HIGHMEM"},
    {"GFP_USER", "DIRECT_RECLAIM KSWAPD_RECLAIM IO FS HARDWALL"},
    {"GFP_KERNEL_ACCOUNT", "DIRECT_RECLAIM KSWAPD_RECLAIM IO FS ACCOUNT"},
    {"GFP_KERNEL", "DIRECT_RECLAIM KSWAPD_RECLAIM IO FS"},
    {"GFP_NOFS", "DIRECT_RECLAIM KSWAPD_RECLAIM IO"},
    {"GFP_ATOMIC", "HIGH KSWAPD_RECLAIM"},
    {"GFP_NOIO", "DIRECT_RECLAIM KSWAPD_RECLAIM"},
    {"GFP_NOWAIT", "KSWAPD_RECLAIM NOWARN"},
    {"GFP_DMA", "DMA"},
    {"GFP_DMA32", "DMA32"},
};

} // namespace spec
