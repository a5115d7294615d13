#include "base/base64.h"

#include <cstddef>
#include <cstdint>

namespace base {

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

} // namespace

std::string base64(std::string_view bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t word = 0;
    for (size_t i = 0; i < 3; i++) word = word << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0);
    for (size_t i = 0; i < 4; i++) out += at + i <= bytes.size() ? digits[word >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

std::string from_base64(std::string_view text) {
  std::string out;
  uint32_t word = 0, bits = 0;
  for (char c : text.substr(0, text.find('='))) {
    const size_t digit = digits.find(c);
    if (digit == digits.npos) return {};
    word = word << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(word >> bits & 0xff);
  }
  return out;
}

} // namespace base
