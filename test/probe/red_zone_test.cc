// The trial of a probe on a nop of 5 bytes.
#include "probe/red_zone.h"

#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>

extern "C" uint64_t acu_red_zone_trial();
extern "C" const char acu_red_zone_nop[];

namespace probe {
namespace {

TEST(RedZone, TrialOfItselfChangesNothing) {
#if defined(__x86_64__)
  EXPECT_EQ(acu_red_zone_trial(), 0u);
#endif
}

TEST(RedZone, AskedOnceAndTakenBack) {
#if defined(__x86_64__)
  bool answer = nop5_keeps_red_zone(host::this_host());
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; i++) EXPECT_EQ(nop5_keeps_red_zone(host::this_host()), answer);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
  // The nop is one again, and what runs over it leaves all as it is.
  const unsigned char nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
  for (size_t i = 0; i < sizeof nop; i++)
    EXPECT_EQ(static_cast<unsigned char>(reinterpret_cast<const volatile char*>(acu_red_zone_nop)[i]),
              nop[i]);
  EXPECT_EQ(acu_red_zone_trial(), 0u);
#endif
}

} // namespace
} // namespace probe
