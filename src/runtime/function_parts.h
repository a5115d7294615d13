// Code of a function in an ELF file, for recognising runtimes.
#pragma once

#include "format/elf_file.h"
#include "runtime/language.h"

namespace runtime {

// The bytes of the file that are loaded at an address; empty: not all of them are there.
base::ByteSpan bytes_at(const format::ElfFile& file, uint64_t address, uint64_t size);

// The part of a function that its compiler has put aside ("f.cold"); 0 to 0: none is known.
language_code cold_part(const format::ElfFile& file, const language_code& hot);

} // namespace runtime
