// The index of names (dwarf/index.h) of a program's debug information, kept in the store of derived files:
// made once for a debug file as it is, then only mapped.
#pragma once

#include "dwarf/index.h"
#include "symbol/cache.h"

namespace symbol {

// From which size of .debug_info on an index is worth something, in bytes.
struct IndexSizes {
  uint64_t kept_from = 1 << 20;       // smaller ones are read in a few milliseconds
  uint64_t short_cut_from = 32 << 20; // from here on somebody would notice that it is read
};

class DebugIndex {
public:
  // The index of all files: the debug file, the one it shares with others (nullptr: none), its split files.
  // Small ones are made anew each time, which is quicker than to look for them. The files are only needed
  // now.
  static base::Result<DebugIndex> open(std::span<const format::ElfFile* const> files, const Cache& cache,
                                       const IndexSizes& sizes = IndexSizes());
  // Of these only the units of the debug file that tables in it name (dwarf/name_tables.h), where that is a
  // short cut: the file is large, has tables that know the name, and no index is kept yet. Else as `open`.
  // `is_whole` tells which; what a part lacks may still be there.
  static base::Result<DebugIndex> open_for(std::string_view name,
                                           std::span<const format::ElfFile* const> files, const Cache& cache,
                                           const IndexSizes& sizes = IndexSizes());

  const dwarf::Index& index() const { return index_; }
  bool is_whole() const { return is_whole_; }
  bool was_stored() const { return stored_.has_value(); }

private:
  DebugIndex() = default;
  static base::Result<DebugIndex> of_bytes(std::vector<std::byte> bytes);
  static std::optional<DebugIndex> find(const CacheKey& key, const Cache& cache);

  std::optional<CachedFile> stored_;
  std::vector<std::byte> made_; // if it is not stored
  dwarf::Index index_;
  bool is_whole_ = true;
};

} // namespace symbol
