// The sections with debug information of one file, as plain bytes; empty where the file has none.
// Specification: DWARF 5, section 7.3 and appendix B; for .gdb_index the manual of gdb; for dwz
// (.gnu_debugaltlink) see format/elf_file.h.
#pragma once

#include "base/reader.h"
#include "format/elf_file.h"

namespace dwarf {

using base::ByteSpan;

struct Sections {
  ByteSpan info, abbrev, line, str, line_str, str_offsets, addr, ranges, rnglists, loc, loclists, aranges,
      types, names, gdb_index, cu_index, tu_index;
  bool split = false;       // of a .dwo or .dwp file: the sections' names end in ".dwo" there
  bool relocatable = false; // of an object file or kernel module: addresses are not settled
};

// The spans are as long valid as what `file` holds. Compressed sections are decompressed here, so the lists
// of locations, which only those need who want to know where variables are, come only if they are asked for.
// The .dwo sections are taken only if there are no others with entries.
Sections sections_of(const format::ElfFile& file, bool with_locations = false);

} // namespace dwarf
