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

private:
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
