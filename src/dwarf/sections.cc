#include "dwarf/sections.h"

#include <elf.h>
#include <string>
#include <thread>

namespace dwarf {

// Whether .debug_info is to be decompressed, and so large that the other sections are done in the meantime.
static bool takes_long(const format::ElfFile& file) {
  const format::ElfSection* info = file.elf().section(".debug_info");
  return info && (info->flags & SHF_COMPRESSED) && info->size > 4 << 20;
}

Sections sections_of(const format::ElfFile& file, bool with_locations) {
  Sections out;
  out.split = !file.has_section(".debug_info") && file.has_section(".debug_info.dwo");
  out.relocatable = file.elf().is_relocatable();
  auto split_or_not = [&](const char* name) {
    return out.split ? file.section(std::string(name) + ".dwo") : file.section(name);
  };
  std::jthread beside;
  if (takes_long(file)) beside = std::jthread([&] { (void)file.section(".debug_info"); });
  out.abbrev = split_or_not(".debug_abbrev");
  out.line = split_or_not(".debug_line");
  out.str = split_or_not(".debug_str");
  out.str_offsets = split_or_not(".debug_str_offsets");
  out.rnglists = split_or_not(".debug_rnglists");
  out.types = split_or_not(".debug_types");
  out.line_str = file.section(".debug_line_str");
  out.addr = file.section(".debug_addr");
  out.ranges = file.section(".debug_ranges");
  out.aranges = file.section(".debug_aranges");
  out.names = file.section(".debug_names");
  out.gdb_index = file.section(".gdb_index");
  out.cu_index = file.section(".debug_cu_index");
  out.tu_index = file.section(".debug_tu_index");
  if (with_locations) {
    out.loc = split_or_not(".debug_loc");
    out.loclists = split_or_not(".debug_loclists");
  }
  out.info = split_or_not(".debug_info");
  return out;
}

} // namespace dwarf
