// Any bytes as .debug_names or .gdb_index (by the first byte) of a file with four units, 16 bytes each.
#include "dwarf/name_tables.h"

#include <cstdint>
#include <cstring>
#include <memory>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  std::byte info[64] = {};
  for (size_t unit = 0; unit < 4; unit++) {
    info[16 * unit] = std::byte{12};    // what follows
    info[16 * unit + 4] = std::byte{4}; // version
    info[16 * unit + 10] = std::byte{8};
  }
  auto table = std::make_unique<std::byte[]>(size - 1); // with an end of its own
  std::memcpy(table.get(), data + 1, size - 1);
  dwarf::Sections sections;
  sections.info = info;
  sections.str = std::as_bytes(std::span("main\0a::b<int>\0x"));
  (data[0] & 1 ? sections.names : sections.gdb_index) = dwarf::ByteSpan(table.get(), size - 1);
  dwarf::DebugInfo debug(sections);
  (void)dwarf::units_with(debug, "main");
  (void)dwarf::units_with(debug, "x::b");
  return 0;
}
