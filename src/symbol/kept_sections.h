// Debug information that is stored compressed, kept plain in the store of derived files: what takes half a
// second to decompress is only mapped.
#pragma once

#include "format/elf_file.h"
#include "symbol/cache.h"

namespace symbol {

// From which plain size on a section is kept, and up to which.
struct KeptSizes {
  uint64_t from = 1 << 20; // smaller ones are decompressed in some milliseconds
  uint64_t to = Cache::default_limit / 4;
};

// The same file, whose sections are from here on looked for in the cache.
const format::ElfFile& keep_sections(const format::ElfFile& file, Cache cache = Cache::of_user(),
                                     const KeptSizes& sizes = KeptSizes());

} // namespace symbol
