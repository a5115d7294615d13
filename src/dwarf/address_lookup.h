// From addresses to places of the source: file, line, column, and the function with the chain of calls that
// were inlined. Addresses are taken in batches; each unit that holds some is gone over once and then
// forgotten, so that the memory needed does not grow with the file, nor with the number of addresses but for
// 24 bytes each.
#pragma once

#include "dwarf/scopes.h"
#include "dwarf/unit_ranges.h"

#include <deque>
#include <string>
#include <unordered_set>

namespace dwarf {

struct LineProgram;

// One function of the chain at an address: the innermost first, each called (inlined) by the next.
struct SourceFrame {
  std::string_view name;    // of the function as in the source; empty: not known
  std::string_view linkage; // its mangled name; empty: it has none
  std::string_view file;    // as the compiler was told, completed by its folders; empty: not known
  uint32_t line = 0;        // where the code is, of outer functions where the call is; 0: not known
  uint32_t column = 0;      // 0: not known
  bool inlined = false;     // into the next one
  uint64_t begin = 0;       // address where the function's, or the inlined piece's, code begins
};

class AddressLookup {
public:
  // `info` must outlive this; its units are dropped along the way.
  explicit AddressLookup(DebugInfo& info) : info_(info) {}

  // The number of an address, and its frames; at least one. What the views point to lives as long as the file
  // (names of functions) and as this (names of files); the span itself until `take` returns.
  using Take = std::function<void(size_t index, std::span<const SourceFrame> frames)>;
  // Addresses (of the file, as the linker gave them) in any order, also repeated ones. Calls `take` once for
  // each that something is known of, in no particular order.
  void find(std::span<const uint64_t> addresses, const Take& take);

private:
  struct Wanted {
    uint32_t unit, index;
    uint64_t address;
  };
  struct UnitWork;
  void find_in_unit(std::span<const Wanted> wanted, const Take& take);
  void make_frames(UnitWork& work, size_t address, std::vector<SourceFrame>& out);
  std::string_view file_of(UnitWork& work, uint64_t number);
  FunctionNames names_of(UnitWork& work, const Scope& scope);

  DebugInfo& info_;
  std::optional<UnitRanges> ranges_;
  std::unordered_set<std::string> files_;
};

} // namespace dwarf
