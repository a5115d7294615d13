// Any bytes as the content of .gnu_debugdata: xz, and an ELF file within. The first byte chooses whether the rest is
// taken as packed, or, so that the fuzzer also gets behind the checksums, as already unpacked.
#include "format/decompress.h"
#include "format/elf_file.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  base::ByteSpan rest = std::as_bytes(std::span(data + 1, size - 1));
  std::vector<std::byte> image(rest.begin(), rest.end());
  if (data[0] % 2 == 0) {
    image.clear();
    if (!format::decompress_xz(rest, image).empty() && !image.empty()) __builtin_trap();
  }
  auto file = format::ElfFile::of(std::move(image));
  if (!file.ok()) return 0;
  if (const format::ElfSection* table = file->elf().section(".symtab"))
    file->elf().for_each_symbol(*table, [](const format::ElfSymbol&) {});
  (void)file->packed_symbols();
  return 0;
}
