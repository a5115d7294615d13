// What a Binary keeps of its debug information. For use by binary*.cc.
#pragma once

#include "dwarf/unit_ranges.h"
#include "symbol/binary.h"
#include "symbol/debug_family.h"
#include "symbol/debug_index.h"

#include <map>

namespace symbol {

struct Binary::Debug {
  Debug(const format::ElfFile& file, const DebugFile& debug, const std::string& path,
        const DebugSearch& search)
      : file(file), debug(debug), path(path), search(search) {}

  // Decompresses sections, which takes long where the file is large: names can be looked up without it.
  DebugFamily& family() {
    if (!family_) family_.emplace(file, debug, path, search, true);
    return *family_;
  }
  // Those that an index is made of.
  std::vector<const format::ElfFile*> files() {
    bool may_be_split = file.has_section(".debug_addr"); // which skeletons have
    if (may_be_split) return family().files();
    return {&file, debug.alt.file ? &*debug.alt.file : nullptr};
  }

  const format::ElfFile& file;
  const DebugFile& debug;
  const std::string& path;
  const DebugSearch& search;
  std::optional<DebugFamily> family_;
  std::optional<DebugIndex> index; // all names, once somebody needed them
  bool index_tried = false;
  std::map<std::string, DebugIndex, std::less<>> parts; // enough for one name
  std::unique_ptr<dwarf::Types> types;
  std::optional<dwarf::UnitRanges> ranges;
  // The code of the functions of a unit, by address.
  struct Code {
    uint64_t begin, end, die;
  };
  std::map<size_t, std::vector<Code>> code;

  const std::vector<Code>& code_of(size_t index, const dwarf::Unit& unit);
};

} // namespace symbol
