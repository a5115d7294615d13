// The index of names against a plain walk over all entries, which follows every reference and knows every
// parent. It is slow and short; where the two differ, the index is wrong.
#pragma once

#include "dwarf/index.h"

#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace samples {

// Kind, whether in .debug_types, offset of the entry, has a place, is inlined, full name.
using Listed = std::tuple<dwarf::NameKind, bool, uint64_t, bool, bool, std::string>;

struct Plain {
  std::set<Listed> entries;
  std::set<std::pair<std::string, uint64_t>> linkage; // names for the linker, with the entry
};
// Of all entries of a file; its companions are those it needs.
Plain walk(dwarf::DebugInfo& info);

// What an index lists of one file.
std::set<Listed> listed(const dwarf::Index& index, uint32_t file);

// A program with all that has names, and its parts; C++ without headers.
extern const char* const cpp_source;
extern const char* const c_source;

} // namespace samples
