// Any bytes as an ELF file: its sections made plain, its symbols, what it says of itself.
#include "format/elf_file.h"
#include "format/thread_variable.h"

#include <cstdint>

static void look(const format::ElfFile& file) {
  const format::Elf& elf = file.elf();
  size_t asked = 0;
  for (const format::ElfSection& s : elf.sections()) {
    if (asked++ > 64) break; // a file of headers alone would take all the time
    (void)file.section(s);
    std::string_view last;
    elf.for_each_symbol(s, [&](const format::ElfSymbol& symbol) {
      (void)elf.offset_of_address(symbol.value);
      last = symbol.name;
    });
    (void)format::find_thread_variable(file, last);
  }
  (void)file.section(".debug_info");
  (void)file.build_id();
  (void)file.debug_link();
  (void)file.debug_alt_link();
  (void)file.shared_id();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto file = format::ElfFile::view(std::as_bytes(std::span(data, size)));
  if (!file.ok()) return 0;
  look(*file);
  if (const format::ElfFile* packed = file->packed_symbols()) look(*packed);
  return 0;
}
