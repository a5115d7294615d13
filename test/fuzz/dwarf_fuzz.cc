// Any bytes as an ELF file with debug information: units, entries, lines, ranges, and the lookup of
// addresses.
#include "../dwarf/look_everywhere.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto file = format::ElfFile::view(std::as_bytes(std::span(data, size)));
  if (!file.ok()) return 0;
  (void)samples::Look(dwarf::sections_of(*file, true)).everywhere();
  return 0;
}
