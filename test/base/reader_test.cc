// Foreign bytes: every number at every place, and nothing beyond the end.
#include "base/reader.h"

#include <gtest/gtest.h>

#include <string>

namespace base {
namespace {

ByteSpan bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Reader, NumbersAreLittleEndian) {
  Reader r(bytes_of("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"));
  EXPECT_EQ(r.number<uint8_t>(), 1u);
  EXPECT_EQ(r.number<uint16_t>(), 0x0302u);
  EXPECT_EQ(r.number<uint32_t>(), 0x07060504u);
  EXPECT_EQ(r.number<uint64_t>(), 0x0f0e0d0c0b0a0908u);
  EXPECT_TRUE(r.ok());
  EXPECT_EQ(r.at(), 15u);
}

// What is not there reads as zero, and so does all that follows.
TEST(Reader, TheEndIsRemembered) {
  Reader r(bytes_of("\x01\x02\x03"));
  EXPECT_EQ(r.number<uint32_t>(), 0u);
  EXPECT_FALSE(r.ok());
  EXPECT_EQ(r.number<uint8_t>(), 0u);
  EXPECT_EQ(r.uleb128(), 0u);
  EXPECT_EQ(r.sleb128(), 0);
  EXPECT_EQ(r.text(), "");
  EXPECT_TRUE(r.bytes(0).empty());
  EXPECT_FALSE(r.ok());
}

TEST(Reader, SizesThatWrapAround) {
  Reader r(bytes_of("abc"), 1);
  r.skip(~uint64_t{0});
  EXPECT_FALSE(r.ok());
  EXPECT_FALSE(Reader(bytes_of("abc"), 4).ok());
  EXPECT_TRUE(Reader(bytes_of("abc"), 3).ok());
  EXPECT_FALSE(Reader(bytes_of("abc"), ~uint64_t{0}).ok());
}

TEST(Reader, NumbersOfAnySize) {
  for (unsigned size = 1; size <= 8; size++) {
    Reader r(bytes_of("\x01\x02\x03\x04\x05\x06\x07\x08"));
    EXPECT_EQ(r.number_of(size), 0x0807060504030201u & ~uint64_t{0} >> (64 - 8 * size));
    EXPECT_EQ(r.at(), size);
  }
  Reader none(bytes_of("abc"));
  EXPECT_EQ(none.number_of(0), 0u);
  EXPECT_TRUE(none.ok());
}

TEST(Reader, Leb128) {
  auto u = [](std::string_view text) { return Reader(bytes_of(text)).uleb128(); };
  auto s = [](std::string_view text) { return Reader(bytes_of(text)).sleb128(); };
  // DWARF 5, figures C.1 and C.2.
  EXPECT_EQ(u("\x02"), 2u);
  EXPECT_EQ(u("\x7f"), 127u);
  EXPECT_EQ(u(std::string_view("\x80\x01", 2)), 128u);
  EXPECT_EQ(u("\xb9\x64"), 12857u);
  EXPECT_EQ(s("\x02"), 2);
  EXPECT_EQ(s("\x7e"), -2);
  EXPECT_EQ(s(std::string_view("\xff\x00", 2)), 127);
  EXPECT_EQ(s("\x81\x7f"), -127);
  EXPECT_EQ(s(std::string_view("\x80\x01", 2)), 128);
  EXPECT_EQ(s("\x80\x7f"), -128);
  EXPECT_EQ(u("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), ~uint64_t{0});
  EXPECT_EQ(s(std::string_view("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10)), INT64_MIN);
  EXPECT_EQ(s(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10)), INT64_MAX);
}

TEST(Reader, Leb128OfMoreThan64Bits) {
  const std::string zeroes = std::string(30, '\x80') + '\0', ones = std::string(30, '\xff') + "\x7f";
  Reader padded(bytes_of(zeroes));
  EXPECT_EQ(padded.uleb128(), 0u);
  EXPECT_TRUE(padded.ok());
  Reader large(bytes_of(ones));
  EXPECT_EQ(large.uleb128(), ~uint64_t{0});
  EXPECT_EQ(large.at(), 31u);
  Reader minus(bytes_of(ones));
  EXPECT_EQ(minus.sleb128(), -1);
  Reader cut(bytes_of("\x80\x80"));
  EXPECT_EQ(cut.uleb128(), 0u);
  EXPECT_FALSE(cut.ok());
}

TEST(Reader, Texts) {
  Reader r(bytes_of(std::string_view("ab\0\0cd", 6)));
  EXPECT_EQ(r.text(), "ab");
  EXPECT_EQ(r.text(), "");
  EXPECT_EQ(r.at(), 4u);
  EXPECT_TRUE(r.ok());
  EXPECT_EQ(r.text(), ""); // it has no NUL
  EXPECT_FALSE(r.ok());
}

TEST(Slices, WithinTheBytesOrEmpty) {
  const ByteSpan all = bytes_of("abcdef");
  EXPECT_EQ(slice(all, 2, 4).size(), 4u);
  EXPECT_EQ(slice(all, 6, 0).size(), 0u);
  for (auto [offset, size] : {std::pair<uint64_t, uint64_t>{2, 5}, {7, 0}, {~uint64_t{0}, 1}, {1, ~uint64_t{0}}, {~uint64_t{0}, ~uint64_t{0}}}) EXPECT_TRUE(slice(all, offset, size).empty());
  EXPECT_EQ(text_at(bytes_of(std::string_view("ab\0c", 4)), 1), "b");
  EXPECT_EQ(text_at(bytes_of(std::string_view("ab\0c", 4)), 3), "");
  EXPECT_EQ(text_at(bytes_of(std::string_view("ab\0c", 4)), ~uint64_t{0}), "");
}

} // namespace
} // namespace base
