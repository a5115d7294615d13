// Which unit an address belongs to: from .debug_aranges, and for the units which that leaves out (clang
// writes none) from the units' own entries. Specification: DWARF 5, section 6.1.2.
#pragma once

#include "dwarf/ranges.h"

namespace dwarf {

struct UnitRange {
  uint64_t begin = 0, end = 0;
  uint32_t unit = 0; // index of DebugInfo::units()
};

class UnitRanges {
public:
  explicit UnitRanges(DebugInfo& info);
  // The index of the unit.
  std::optional<size_t> find(uint64_t address) const;
  // Sorted; they do not overlap.
  const std::vector<UnitRange>& all() const { return ranges_; }

private:
  std::vector<UnitRange> ranges_;
};

} // namespace dwarf
