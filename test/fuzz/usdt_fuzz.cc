// Any bytes as the notes of USDT probes, as operands, and as a file that has them.
#include "format/elf_file.h"
#include "format/usdt.h"

#include <cstdint>
#include <elf.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  base::ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  for (const format::UsdtNote& note : format::read_usdt_notes(bytes, size))
    (void)format::parse_usdt_arguments(note.arguments, EM_X86_64);
  (void)format::parse_usdt_arguments({reinterpret_cast<const char*>(data), size}, EM_X86_64);
  if (auto file = format::ElfFile::view(bytes); file.ok())
    for (const format::UsdtNote& note : format::read_usdt(*file))
      (void)format::parse_usdt_arguments(note.arguments, file->elf().machine());
  return 0;
}
