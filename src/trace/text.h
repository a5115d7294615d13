// Parts of strace's notation.
#pragma once

#include "base/reader.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace trace {

// How the time of a call is shown: as strace's -t, -tt and -ttt do.
enum class ClockTimes : uint8_t { none, seconds, microseconds, since_epoch };
// "14:31:01", "14:31:01.123456", "1234567890.123456": of ns since 1970.
std::string clock_text(uint64_t ns, ClockTimes how);

std::string hexadecimal(uint64_t value); // "0x1f"
std::string pointer(uint64_t value);     // the same, "NULL"
std::string octal(uint64_t value);       // "0644"
// In quotes, with C escapes; followed by `...` if truncated.
std::string quoted(base::ByteSpan bytes, bool is_cut);
// From now on text of the traced programs is not shown: quoted() gives its size, "<11 bytes>".
void redact_text(bool is_redacted);
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
