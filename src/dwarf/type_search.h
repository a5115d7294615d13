// Types and enumerators by name, through an index of names.
#pragma once

#include "dwarf/index.h"
#include "dwarf/types.h"

namespace dwarf {

// The files that an index was built of, in the same order; nullptr: not at hand.
using IndexedFiles = std::vector<DebugInfo*>;

std::optional<Die> die_of(const IndexedFiles& files, const IndexEntry& entry);
// Looks for types in `index`, which must outlive the result.
Types::Find search_types(const Index& index, IndexedFiles files);
// The first enumerator of this name.
std::optional<Die> find_enumerator(const Index& index, const IndexedFiles& files, std::string_view name);

} // namespace dwarf
