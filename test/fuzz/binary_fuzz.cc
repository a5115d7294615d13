// Any bytes as a program whose functions, versions and needed libraries are read.
#include "format/elf_dynamic.h"
#include "symbol/function_symbols.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto file = format::ElfFile::view({reinterpret_cast<const std::byte*>(data), size});
  if (!file.ok()) return 0;
  size_t total = format::library_name(file->elf()).size();
  for (std::string_view name : format::needed_libraries(file->elf())) total += name.size();
  symbol::for_each_function(*file, [&](const symbol::FunctionSymbol& f) {
    total += f.name.size() + f.version.size() + symbol::split_version(f.name).name.size();
  });
  return total == SIZE_MAX;
}
