// Where the loader put an ELF file, from the mappings of it that a process has.
//
// The kernel and the loader map whole pages: the first page of a segment begins with bytes of the segment
// before it. GNU ld begins each segment on a page of its own in the file, so that the offset of a mapping
// names its segment. lld, mold and gold do not: their segments share pages of the file, each is mapped from
// the same offset, and only the addresses differ (0x5a0 of the file is 0x5a0 in the first mapping and 0x15a0
// in the second). Then the rights of the mapping, its size and the other mappings of the file decide which
// segment it is. Specification: System V ABI, chapter 5, "Program Loading"; fs/binfmt_elf.c (elf_map).
#pragma once

#include "format/elf.h"

#include <optional>
#include <span>
#include <vector>

namespace format {

// Pages of a file in memory.
struct MappedPages {
  uint64_t begin = 0, end = 0;
  uint64_t offset = 0;                 // of `begin` in the file
  std::optional<bool> may_be_executed; // nothing: not known
};

// The segments that are mapped from the page of the file with this offset; linkers that save room let several
// share one.
std::vector<const ElfSegment*> segments_of_page(std::span<const ElfSegment> segments, uint64_t offset);

// Whatever may have been added to the file's addresses for these pages to be there, the most likely first;
// empty: no segment has them.
std::vector<uint64_t> possible_biases(std::span<const ElfSegment> segments, const MappedPages& pages);

// The one of them that most other mappings of the file agree with. `biases` are not empty.
uint64_t agreed_bias(std::span<const ElfSegment> segments, std::span<const uint64_t> biases,
                     std::span<const MappedPages> others);

// Both in one.
std::optional<uint64_t> bias_of(std::span<const ElfSegment> segments, const MappedPages& pages,
                                std::span<const MappedPages> others = {});

} // namespace format
