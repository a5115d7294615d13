// Any bytes as debug information: every entry as a type, a function, a variable and as text.
// The input: sizes of .debug_abbrev and .debug_str (2 bytes each), these two, then .debug_info.
#include "../dwarf/decode_types.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  const uint8_t* at = data + 4;
  std::vector<std::byte> copies[3]; // each with an end of its own
  auto take = [&](std::vector<std::byte>& to, size_t bytes) {
    bytes = std::min(bytes, static_cast<size_t>(data + size - at));
    std::span<const std::byte> from = std::as_bytes(std::span(at, bytes));
    to.assign(from.begin(), from.end());
    to.shrink_to_fit();
    at += bytes;
    return base::ByteSpan(to);
  };
  dwarf::Sections sections;
  sections.abbrev = take(copies[0], static_cast<size_t>(data[0] | data[1] << 8));
  sections.str = sections.line_str = take(copies[1], static_cast<size_t>(data[2] | data[3] << 8));
  sections.info = take(copies[2], size);
  samples::decode_types(sections);
  return 0;
}
