// Numbers as long as they need to be, 7 bits in a byte (DWARF 5, section 7.6), written; Reader::uleb128() reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace base {

inline void put(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Its length, and its bytes.
inline void put(std::string& out, std::string_view text) {
  put(out, text.size());
  out += text;
}

} // namespace base
