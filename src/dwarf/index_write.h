// Writes what was gathered for an index as the bytes that index_format.h describes.
#pragma once

#include "dwarf/index_part.h"

namespace dwarf {

// A unit of the files that an index is made of.
struct UnitPlace {
  uint32_t file = 0;
  uint32_t number = 0; // in its file
  UnitHeader header;
};

// Failure: it is too large for offsets of 32 bits.
base::Result<std::vector<std::byte>> write_index(const IndexPart& part, const std::vector<UnitPlace>& units);

} // namespace dwarf
