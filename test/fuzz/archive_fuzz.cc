// Any bytes as a zip archive, and as the cache of the dynamic loader.
#include "format/archive.h"
#include "format/loader_cache.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  base::ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  if (auto found = format::find_in_archive(bytes, "x.so"); found.ok())
    if (base::slice(bytes, found->offset, found->size).size() != found->size) __builtin_trap();
  size_t total = 0;
  for (const format::CachedLibrary& library : format::read_loader_cache(bytes)) total += library.path.size();
  return total == SIZE_MAX;
}
