// Pieces of the notation.
#pragma once

#include "base/reader.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace trace {

std::string hexadecimal(uint64_t value); // "0x1f"
std::string pointer(uint64_t value);     // the same, "NULL"
std::string octal(uint64_t value);       // "0644"
// In quotes, with C's escapes; `...` behind it if it is cut.
std::string quoted(base::ByteSpan bytes, bool is_cut);
// "SIGCHLD"
std::string signal(uint64_t number);
// "[INT CHLD]", "~[KILL STOP]"
std::string signal_set(uint64_t bits);

// The number at an offset; 0 where the bytes end before.
template<class T> T number_at(base::ByteSpan bytes, size_t offset) {
  T out = {};
  if (offset + sizeof(T) <= bytes.size()) std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return out;
}

} // namespace trace
