// Foreign bytes (ELF, …), read in order and never beyond their end: what is not there reads as zero, and the
// reader says so from then on. Numbers are little-endian.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace base {

using ByteSpan = std::span<const std::byte>;

// `size` bytes from `offset`; empty where not all of them are there.
inline ByteSpan slice(ByteSpan bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.subspan(offset, size);
}

// The text that begins at `offset` and ends with a NUL; empty where there is none.
inline std::string_view text_at(ByteSpan bytes, uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const char* begin = reinterpret_cast<const char*>(bytes.data()) + offset;
  const void* end = std::memchr(begin, 0, bytes.size() - offset);
  return end ? std::string_view(begin, static_cast<const char*>(end)) : std::string_view();
}

class Reader {
public:
  explicit Reader(ByteSpan bytes, uint64_t at = 0) : bytes_(bytes), at_(at), ok_(at <= bytes.size()) {}
  // False once something was read that is not there.
  bool ok() const { return ok_; }
  uint64_t at() const { return at_; }
  template<std::unsigned_integral T> T number() {
    T value = 0;
    ByteSpan from = take(sizeof(T));
    if (!from.empty()) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  void skip(uint64_t bytes) { take(bytes); }
  // The next bytes; empty where not all of them are there.
  ByteSpan bytes(uint64_t size) { return take(size); }
  // A number of 1 to 8 bytes.
  uint64_t number_of(unsigned size) {
    uint64_t value = 0;
    ByteSpan from = take(size);
    if (!from.empty() && size <= sizeof value) std::memcpy(&value, from.data(), size);
    return value;
  }
  // Numbers as long as they need to be, 7 bits in a byte (DWARF 5, section 7.6). Bits beyond 64 are dropped.
  uint64_t uleb128() { return leb128().value; }
  int64_t sleb128() {
    Leb leb = leb128();
    if (leb.negative && leb.bits < 64) leb.value |= ~uint64_t{0} << leb.bits;
    return static_cast<int64_t>(leb.value);
  }
  // The text up to the next NUL, which is passed.
  std::string_view text() {
    if (!ok_) return {};
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    const void* end = at_ < bytes_.size() ? std::memchr(begin, 0, bytes_.size() - at_) : nullptr;
    if (!end) return ok_ = false, std::string_view();
    std::string_view out(begin, static_cast<size_t>(static_cast<const char*>(end) - begin));
    at_ += out.size() + 1;
    return out;
  }

private:
  struct Leb {
    uint64_t value;
    unsigned bits;
    bool negative; // if it is a signed one
  };
  Leb leb128() {
    Leb out = {0, 0, false};
    while (ok_) {
      if (at_ >= bytes_.size()) return ok_ = false, Leb{0, 64, false};
      auto byte = static_cast<uint8_t>(bytes_[at_++]);
      if (out.bits < 64) out.value |= uint64_t{byte & 0x7fu} << out.bits;
      if (out.bits < 70) out.bits += 7;
      out.negative = byte & 0x40;
      if (!(byte & 0x80)) return out;
    }
    return {0, 64, false};
  }
  ByteSpan take(uint64_t size) {
    ok_ = ok_ && at_ <= bytes_.size() && size <= bytes_.size() - at_;
    if (!ok_) return {};
    ByteSpan out = bytes_.subspan(at_, size);
    at_ += size;
    return out;
  }

  ByteSpan bytes_;
  uint64_t at_ = 0;
  bool ok_ = true;
};

} // namespace base
