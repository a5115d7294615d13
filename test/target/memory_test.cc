// Reading from areas: across their borders, up to a NUL, and why something is not there.
#include "fake_target.h"

#include <gtest/gtest.h>

namespace target {
namespace {

std::vector<uint64_t> text_words(std::string_view text) {
  std::vector<uint64_t> out((text.size() + 7) / 8);
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}

class MemoryTest : public testing::Test {
protected:
  MemoryTest() {
    t.add(0x1000, {0x0807060504030201, 0x1817161514131211});
    t.add(0x1010, {0x2827262524232221}); // next to it
    t.add(0x2000, text_words("hello, w"));
    t.add(0x2008, text_words(std::string_view("orld\0abc", 8)));
    t.add_missing(0x3000, 0x1000, Missing::not_dumped);
    t.add_missing(0x4000, 0x1000, Missing::truncated);
  }
  Missing read(uint64_t address, size_t size) {
    bytes.assign(size, std::byte{0xee});
    return t.memory().read(address, bytes);
  }
  FakeTarget t;
  std::vector<std::byte> bytes;
};

TEST_F(MemoryTest, AcrossAreasThatTouch) {
  ASSERT_EQ(read(0x1000, 24), Missing::none);
  EXPECT_EQ(bytes[23], std::byte{0x28});
  ASSERT_EQ(read(0x100e, 4), Missing::none);
  EXPECT_EQ(bytes[1], std::byte{0x18});
  EXPECT_EQ(bytes[2], std::byte{0x21});
  EXPECT_EQ(t.memory().word(0x100c), 0x2423222118171615u);
}

TEST_F(MemoryTest, WhyAByteIsNotThere) {
  EXPECT_EQ(read(0x1000, 25), Missing::unmapped);
  EXPECT_EQ(read(0xfff, 2), Missing::unmapped);
  EXPECT_EQ(read(0x3000, 1), Missing::not_dumped);
  EXPECT_EQ(read(0x3fff, 2), Missing::not_dumped); // of the first byte that is missing
  EXPECT_EQ(read(0x4000, 1), Missing::truncated);
  EXPECT_EQ(read(~uint64_t{0} - 3, 8), Missing::unmapped);
  EXPECT_EQ(read(0x9999, 0), Missing::none); // nothing is always there
  EXPECT_EQ(t.memory().word(0x1014), std::nullopt);
}

TEST_F(MemoryTest, TextsUpToTheirNul) {
  EXPECT_EQ(t.memory().text(0x2000, 100), "hello, world");
  EXPECT_EQ(t.memory().text(0x2007, 100), "world");
  EXPECT_EQ(t.memory().text(0x2000, 10), "hello, wor");
  EXPECT_EQ(t.memory().text(0x200c, 100), "");
  EXPECT_EQ(t.memory().text(0x200d, 3), "abc");
  EXPECT_EQ(t.memory().text(0x200d, 4), std::nullopt); // the memory ends before its NUL
  EXPECT_EQ(t.memory().text(0x5000, 4), std::nullopt);
  EXPECT_EQ(t.memory().text(0x5000, 0), "");
}

TEST_F(MemoryTest, ReasonsAreWords) {
  for (size_t i = 0; i < missing_kinds; i++) EXPECT_FALSE(to_string(static_cast<Missing>(i)).empty());
  EXPECT_EQ(to_string(Missing::unmapped), "is not mapped");
}

TEST(Window, HoldsWithoutOverflow) {
  const Window w = {.begin = 0x1000, .size = 0x10};
  EXPECT_TRUE(w.holds(0x1000, 0x10));
  EXPECT_TRUE(w.holds(0x100f, 1));
  EXPECT_FALSE(w.holds(0x1010, 0));
  EXPECT_FALSE(w.holds(0x1008, ~uint64_t{0}));
  EXPECT_FALSE(w.holds(0xfff, 1));
}

TEST(Modules, TheOneThatHoldsAnAddress) {
  FakeTarget t;
  t.modules_.push_back({.path = "/bin/a", .begin = 0x1000, .end = 0x2000, .build_id = {}, .problem = {}, .opened = {}, .root = {}, .file = {}});
  t.modules_.push_back({.path = "/lib/b", .begin = 0x3000, .end = 0x4000, .build_id = {}, .problem = {}, .opened = {}, .root = {}, .file = {}});
  EXPECT_EQ(t.module_at(0xfff), nullptr);
  EXPECT_EQ(t.module_at(0x1000)->path, "/bin/a");
  EXPECT_EQ(t.module_at(0x1fff)->path, "/bin/a");
  EXPECT_EQ(t.module_at(0x2000), nullptr);
  EXPECT_EQ(t.module_at(0x3fff)->path, "/lib/b");
  EXPECT_EQ(t.module_at(~uint64_t{0}), nullptr);
}

TEST(Vectors, FromWhatTheProcessorSaves) {
  Registers r = {};
  std::vector<std::byte> saved(160 + 256);
  saved[160] = std::byte{7}, saved[160 + 255] = std::byte{9};
  take_vectors(r, saved);
  EXPECT_EQ(r[general_registers], 7u);
  EXPECT_EQ(r.back() >> 56, 9u);
  Registers untouched = {};
  take_vectors(untouched, std::span(saved).first(415));
  EXPECT_EQ(untouched, Registers{});
}

} // namespace
} // namespace target
