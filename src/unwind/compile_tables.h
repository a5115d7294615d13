// All of .eh_frame and .debug_frame to rows.
#pragma once

#include "dwarf/frame_rules.h"
#include "unwind/tables.h"

#include <vector>

namespace unwind {

// Code of a file: addresses that are loaded and executed, and their bytes.
struct CodeRange {
  uint64_t begin = 0, end = 0;
  base::ByteSpan bytes;
};

// A rule for code that no table tells of, known by what the code looks like.
struct KnownCode {
  uint64_t begin = 0, end = 0;
  unwind_rule rule;
};

// `ranges` are in order and apart. Entries for code outside of them are those of functions that the linker
// left out.
Tables compile_tables(const dwarf::FrameTables& tables, const std::vector<CodeRange>& ranges,
                      std::vector<KnownCode> known);

} // namespace unwind
