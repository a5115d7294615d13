// HotSpot's compressed streams of numbers (UNSIGNED5): numbers of 1 to 5 bytes, 6 bits each but for the last. From release 20 on no byte is 0.
// Source: utilities/unsigned5.hpp, code/compressedStream.cpp of OpenJDK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace runtime {

class HotspotStream {
public:
  HotspotStream(std::span<const std::byte> bytes, size_t at, unsigned release) : bytes_(bytes), at_(at), excluded_(release >= 20 ? 1 : 0) {}

  bool ok() const { return is_ok_; } // false: it ended within a number
  uint8_t byte() {
    if (at_ >= bytes_.size()) return is_ok_ = false, uint8_t{0};
    return std::to_integer<uint8_t>(bytes_[at_++]);
  }
  uint32_t number() {
    constexpr uint32_t more = 64, most_bytes = 5;
    const uint32_t last = 256 - more - excluded_; // bytes from here on are followed by others
    uint32_t sum = 0;
    for (uint32_t i = 0; i < most_bytes; i++) {
      const uint32_t b = byte() - excluded_;
      sum += b << 6 * i;
      if (b < last || !is_ok_) break;
    }
    return sum;
  }
  int32_t signed_number() {
    const uint32_t n = number();
    return static_cast<int32_t>(n >> 1) ^ -static_cast<int32_t>(n & 1);
  }

private:
  std::span<const std::byte> bytes_;
  size_t at_;
  uint32_t excluded_;
  bool is_ok_ = true;
};

} // namespace runtime
