// Any bytes as a kept table of functions, and as an ELF file that a table is made of. What was made is
// searched at the places that its own numbers name.
#include "symbol/function_names_maker.h"

#include <cstdint>
#include <cstring>

namespace {

void search(base::ByteSpan bytes) {
  auto names = symbol::FunctionNames::of(bytes, nullptr);
  if (!names.ok()) return;
  uint64_t base = 0;
  if (bytes.size() >= 24) std::memcpy(&base, bytes.data() + 16, sizeof base);
  for (uint64_t i = 0; i < 256; i++)
    for (uint64_t address : {i, base + i * 16, base + (i << 24)})
      if (auto found = names->find(address)) (void)names->shown(*found);
  for (const symbol::CodeSegment& s : names->segments()) (void)names->address_of_offset(s.offset);
  (void)names->source();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size) std::memcpy(bytes.data(), data, size);
  search(bytes);
  auto file = format::ElfFile::of(bytes);
  if (file.ok()) search(symbol::make_function_names(*file, nullptr, {}));
  return 0;
}
