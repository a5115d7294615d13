// What a linker does to the debug sections of a relocatable file (a compiler's output, a kernel module):
// fills in addresses and places in other sections. Only the simple kinds occur there. Specification: System V
// ABI, "Relocation"; psABI of x86-64, table 4.10; ELF for the Arm 64-bit architecture, "Static data
// relocations".
#pragma once

#include "format/elf.h"

#include <string>

namespace format {

// The section with the relocations of another, by that one's index; nullptr: it has none.
const ElfSection* relocations_of(const Elf& elf, size_t section);

// `bytes`: of the section with that index, changed in place; `entries`: what relocations_of found, with its
// bytes. Addresses are those of `elf.sections()`. What was not understood, or "".
std::string relocate(const Elf& elf, size_t section, const ElfSection& relocations, base::ByteSpan entries,
                     std::span<std::byte> bytes);

} // namespace format
