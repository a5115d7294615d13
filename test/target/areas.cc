// Areas that overlap in any way, held against a plain byte-by-byte answer.
#include "target/areas.h"

#include <gtest/gtest.h>
#include <random>

namespace target {
namespace {

TEST(Areas, the_first_added_holds) {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(256);
  for (int turn = 0; turn < 500; turn++) {
    AreaMemory memory;
    std::vector<Window> added;
    for (size_t n = random() % 12; n; n--) {
      const uint64_t begin = random() % 200;
      added.push_back({begin, random() % 40, random() % 3 ? &bytes[begin] : nullptr, Missing::not_dumped});
      memory.add(added.back());
    }
    memory.set_outside(Missing::truncated);
    memory.sort();
    for (size_t i = 1; i < memory.areas().size(); i++)
      ASSERT_GE(memory.areas()[i].begin, memory.areas()[i - 1].begin + memory.areas()[i - 1].size);
    for (uint64_t address = 0; address < 256; address++) {
      const Window w = memory.window(address);
      ASSERT_TRUE(w.holds(address, 1));
      auto first =
          std::find_if(added.begin(), added.end(), [&](const Window& a) { return a.holds(address, 1); });
      const std::byte* wanted =
          first == added.end() || !first->bytes ? nullptr : first->bytes + (address - first->begin);
      ASSERT_EQ(w.bytes ? w.bytes + (address - w.begin) : nullptr, wanted) << address;
      if (!wanted) {
        ASSERT_EQ(w.why, first == added.end() ? Missing::truncated : Missing::not_dumped);
      }
    }
  }
}

TEST(Areas, up_to_the_last_address) {
  AreaMemory memory;
  std::byte byte{};
  memory.add({~uint64_t{0} - 10, 100, &byte, Missing::none});
  memory.add({~uint64_t{0}, 1, &byte, Missing::none});
  memory.add({5, 10, &byte, Missing::none});
  memory.sort();
  EXPECT_EQ(memory.window(~uint64_t{0} - 10).bytes, &byte);
  EXPECT_EQ(memory.window(20).bytes, nullptr);
}

} // namespace
} // namespace target
