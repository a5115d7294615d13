// The rows of one ELF file (rule.h), made from .eh_frame and .debug_frame or taken from the cache, where they
// lie by build-id. They are a piece of bytes that is searched where it lies:
//
//   header      see Tables::Header
//   rules       unwind_rule, 8 bytes each; the first UNWIND_FIXED_RULES are the same everywhere
//   starts      of pages: number of the first row of each, 32 bits each, and the number of all rows
//   rows        unwind_row, 4 bytes each
//
// Numbers are little-endian. Whatever the bytes hold, a search stays inside of them.
#pragma once

#include "format/elf_file.h"
#include "symbol/cache.h"
#include "unwind/rule.h"

#include <memory>
#include <span>
#include <vector>

namespace unwind {

class Tables {
public:
  struct Header {
    uint32_t magic = 0x55756341;             // "AcuU"
    uint32_t rules = 0, pages = 0, rows = 0; // how many there are of each
    uint64_t first_page = 0;                 // address >> UNWIND_PAGE_BITS
    uint32_t not_held = 0;                   // rows with UNWIND_RULE_NOT_HELD
    uint32_t damaged = 0;                    // entries of the file's tables that could not be read
  };

  // No code has a rule.
  Tables() = default;
  // `bytes` are aligned to 8 and live as long as `owner`. Failure: they are no such tables.
  static base::Result<Tables> of(base::ByteSpan bytes, std::shared_ptr<const void> owner);

  const Header& header() const { return header_; }
  uint64_t first_page() const { return header_.first_page; }
  std::span<const unwind_rule> rules() const { return rules_; }
  std::span<const uint32_t> starts() const { return starts_; } // one more than there are pages
  std::span<const unwind_row> rows() const { return rows_; }   // their rules count in rules()
  base::ByteSpan bytes() const { return bytes_; }

  // The rule for the code at an address of the file.
  unwind_rule rule_at(uint64_t address) const;

private:
  std::shared_ptr<const void> owner_;
  base::ByteSpan bytes_;
  Header header_;
  std::span<const unwind_rule> rules_;
  std::span<const uint32_t> starts_;
  std::span<const unwind_row> rows_;
};

// Makes them. Never fails: what is damaged gives no rows and is counted. `debug`: a separate debug file,
// which may have .debug_frame; nullptr: none.
Tables make_tables(const format::ElfFile& file, const format::ElfFile* debug = nullptr);

// From the cache, or made and put there. A file without build-id is not cached.
Tables tables_of_file(const format::ElfFile& file, const symbol::Cache& cache);

} // namespace unwind
