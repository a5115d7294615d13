// Which function the code at an address belongs to, and through which calls it got inlined there.
// Specification: DWARF 5, sections 3.3.1, 3.3.5 and 3.3.8.
#pragma once

#include "dwarf/ranges.h"

namespace dwarf {

// A function's code, or a piece of it that is the inlined body of a call.
struct Scope {
  static constexpr uint32_t none = UINT32_MAX;
  uint64_t die = 0;       // offset of the entry in the unit's section
  uint64_t begin = 0;     // address of its first range
  uint32_t parent = none; // of an inlined call the scope it is in
  bool inlined = false;
  uint32_t call_line = 0, call_column = 0;
  uint64_t call_file = 0; // number of a file of the unit's line program
  Attribute origin;       // of an inlined call what was called
};

struct FoundScopes {
  std::vector<Scope> scopes;       // those that hold one of the addresses
  std::vector<uint32_t> innermost; // of each address, or Scope::none
};

// For addresses of the unit in ascending order; goes over the unit's entries once. Where two scopes of the
// same depth claim an address, the first one has it.
void find_scopes(const Unit& unit, std::span<const uint64_t> addresses, FoundScopes& out);

struct FunctionNames {
  std::string_view name;    // as in the source, without namespaces
  std::string_view linkage; // as the linker knows it; empty: the same, or it has none
};
// Of a function or an inlined call, also through abstract_origin and specification.
FunctionNames function_names(const Die& die);

} // namespace dwarf
