// /etc/ld.so.cache: where the dynamic loader finds libraries by name. The format is the one of glibc
// (sysdeps/generic/dl-cache.h), in its own words "glibc-ld.so.cache1.1", alone or behind the older one.
#pragma once

#include "base/reader.h"

#include <string_view>
#include <vector>

namespace format {

struct CachedLibrary {
  std::string_view name; // "libc.so.6"
  std::string_view path; // "/lib/x86_64-linux-gnu/libc.so.6"
};

// Those of this machine's kind (64 bits), in the order of the cache; views are of the bytes. Damaged entries
// are left out.
std::vector<CachedLibrary> read_loader_cache(base::ByteSpan bytes);

} // namespace format
