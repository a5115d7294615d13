// Which expression tells where a variable is, for the code at an address: lists of locations.
// Specification: DWARF 5, sections 2.6.2 and 7.29 (.debug_loclists); DWARF 4, section 2.6.2 (.debug_loc);
// GNU's split DWARF 4 (.debug_loc.dwo).
#pragma once

#include "dwarf/ranges.h"
#include "dwarf/types.h"

namespace dwarf {

// What holds for one stretch of code. An empty expression: the variable is nowhere there.
struct LocationRange {
  AddressRange code;
  ByteSpan expression;
  bool is_default = false; // holds wherever no other one does; `code` says nothing
};

// The list that `location` (of kind list or list_index) of an entry of `unit` means, in the order of the
// file, without empty stretches. Of a damaged one what can be read. `location` of another kind: none.
std::vector<LocationRange> location_list(const Unit& unit, const Location& location);

// The one expression that holds at an address; nothing: the variable is nowhere there. A single expression
// holds everywhere; of stretches that overlap the first is taken. `entry`: where the function begins, if
// nothing of it was carried out yet that matters; what holds there only comes first then.
std::optional<ByteSpan> expression_at(const Unit& unit, const Location& location, uint64_t address,
                                      std::optional<uint64_t> entry = std::nullopt);

} // namespace dwarf
