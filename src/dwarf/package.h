// The index of a DWARF package (.dwp): which part of each section belongs to which unit.
// Specification: DWARF 5, section 7.3.5; version 2 of GNU ("DWP file format").
#pragma once

#include "dwarf/constants.h"
#include "dwarf/sections.h"

#include <vector>

namespace dwarf {

// Where the parts of one unit begin in the package's sections.
struct Contribution {
  uint64_t signature = 0; // of a compile unit its dwo_id, of a type unit that of the type
  ByteSpan unit;          // empty if the section with the unit was not found
  uint64_t unit_offset = 0;
  bool in_types = false;                                                      // the unit is in .debug_types
  uint32_t abbrev = 0, line = 0, loclists = 0, str_offsets = 0, rnglists = 0; // offsets
};

// The rows of .debug_cu_index or .debug_tu_index, sorted by the place of their units. Damaged rows are left
// out.
std::vector<Contribution> read_package_index(ByteSpan index, const Sections& sections);

} // namespace dwarf
