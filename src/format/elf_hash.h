// Finds one symbol among those that a file exports, by its hash table: the table is made for the loader, which asks each file for each name.
// Files without .gnu.hash (some static programs, very old ones) have no answer. Specification: "How To Write Shared Libraries", section 1.5.3
// (DT_GNU_HASH); System V ABI, chapter 4.
#pragma once

#include "format/elf_file.h"

#include <optional>
#include <string_view>

namespace format {

// The symbol of this name in .dynsym, defined in this file. Views live as long as the file.
std::optional<ElfSymbol> find_exported(const ElfFile& file, std::string_view name);

} // namespace format
