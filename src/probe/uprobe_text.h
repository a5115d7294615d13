// How probes of user functions are written: what stands behind the binary.
//
//   FUNCTION   FUNCTION@VERSION   FUNCTION+OFFSET   *pattern*
//   cpp:ns::f   cpp:"ns::f(int)"   cpp:ns::f+OFFSET; where the symbol table has no FUNCTION, it is one of these as well
//   0x1234                          an address of the file
//   BINARY@FILE:LINE[:COLUMN], or BINARY:@FILE:LINE[:COLUMN]
#pragma once

#include "probe/kinds.h"

#include <string>

namespace probe {

struct UserPlace {
  std::string_view binary;
  std::string function;   // name or pattern; empty: by address or line
  bool by_source = false; // the name is as the source has it, demangled
  uint64_t offset = 0;
  bool has_offset = false;
  std::optional<uint64_t> address;
  std::string file;
  uint32_t line = 0, column = 0;
};

// Nothing: it is not written right, and `mismatch` tells how.
std::optional<UserPlace> parse_user_place(Machine& machine, std::string_view kind, Parts parts,
                                          Mismatch& mismatch);

} // namespace probe
