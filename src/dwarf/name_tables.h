// The tables of names that some compilers, linkers and debuggers leave in a file: .debug_names and
// .gdb_index. They tell in which units a name is defined, so that for one question only these need to be read
// (`build_index` with `units`), where there is no index yet and the file is large.
//
// They are a short cut to some entry of a name, no more: .debug_names has no enumerators and no constants,
// .gdb_index made by linkers no types inside of classes, made by gdb no functions that are only inlined.
// Whoever wants all entries of a name, or to know that there is none, needs the whole index.
// Specification: DWARF 5, section 6.1.1; gdb manual, "Index Section Format" (versions 7 to 9).
#pragma once

#include "dwarf/index.h"

namespace dwarf {

// Whether there are such tables.
inline bool has_name_tables(const Sections& sections) {
  return !sections.names.empty() || !sections.gdb_index.empty();
}

// The units (of DebugInfo::units(), ascending) which define something with the last part of a name (written as
// for Index::find), as far as tables know, together with all units that no table covers. Nothing: no table
// knows the name, or they are damaged.
std::optional<std::vector<size_t>> units_with(DebugInfo& info, std::string_view name);

} // namespace dwarf
