// Which addresses of code an entry covers. Specification: DWARF 5, sections 2.17 and 7.28 (.debug_rnglists);
// DWARF 4, section 2.17.3 (.debug_ranges).
#pragma once

#include "dwarf/debug_info.h"

namespace dwarf {

struct AddressRange {
  uint64_t begin = 0, end = 0; // one past the last
  bool holds(uint64_t address) const { return address >= begin && address < end; }
};

// The attributes that tell of code; empty ones where the entry has none.
struct CodeAttributes {
  Attribute low_pc, high_pc, ranges;
  void take(const Attribute& a) {
    if (a.name == DW_AT_low_pc) low_pc = a;
    if (a.name == DW_AT_high_pc) high_pc = a;
    if (a.name == DW_AT_ranges) ranges = a;
  }
};

// Appends the ranges which these attributes of an entry of `unit` mean, in the order of the file. Empty ones
// and those of code that the linker dropped are left out. Of damaged lists what can be read is taken. The
// result: how many entries of a list were read.
size_t append_ranges(const Unit& unit, const CodeAttributes& attributes, std::vector<AddressRange>& out);
std::vector<AddressRange> ranges_of(const Die& die);

} // namespace dwarf
