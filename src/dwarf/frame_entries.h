// The entries of .eh_frame and .debug_frame: an FDE for each function's code, and the CIE that several of
// them share. Nothing is trusted: an entry that cannot be read is passed over and counted. Specification:
// DWARF 5, section 6.4.1; Linux Standard Base, "Exception Frames".
#pragma once

#include "dwarf/frame_rules.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace dwarf {

// One of the two tables.
struct FrameTable {
  ByteSpan bytes;
  uint64_t address = 0; // of its first byte
  bool is_eh = false;
  const FrameTables* all = nullptr;
};

struct FrameCie {
  uint8_t encoding = 0, address_size = 8;
  bool has_sizes = false; // entries tell how long what is added to them is
  bool is_signal = false;
  uint64_t code_factor = 1;
  int64_t data_factor = 1;
  uint64_t return_register = 16;
  ByteSpan program;
  // What `program` leaves: where each FDE's own begins; nullptr: it is damaged. Filled by FrameEntries.
  std::shared_ptr<const FrameRow> initial;
};

struct FrameFde {
  uint64_t begin = 0, end = 0;
  uint64_t at = 0; // place of the entry in its table
  const FrameCie* cie = nullptr;
  ByteSpan program;
};

// An address as `encoding` (DW_EH_PE_…) says; nothing: not known how, or cut off.
std::optional<uint64_t> read_frame_address(const FrameTable& table, base::Reader& r, uint8_t encoding,
                                           uint8_t address_size);

class FrameEntries {
public:
  // `tables` and its bytes outlive this.
  FrameEntries(const FrameTables& tables, bool is_eh);
  const FrameTable& table() const { return table_; }
  // The next FDE in the order of the file; nothing: that was the last one.
  std::optional<FrameFde> next();
  // The one at a place; nothing: there is none.
  std::optional<FrameFde> at(uint64_t place);
  // Entries passed over by `next`.
  uint32_t damaged() const { return damaged_; }

private:
  struct Entry;
  std::optional<Entry> read_entry(uint64_t at) const;
  std::optional<FrameFde> read_fde(const Entry& entry);
  const FrameCie* cie_at(uint64_t place);
  std::optional<FrameCie> read_cie(uint64_t place) const;
  bool read_augmentation(base::Reader& r, std::string_view letters, FrameCie& out) const;

  FrameTable table_;
  bool is_open_ended_;
  uint64_t at_ = 0;
  uint32_t damaged_ = 0;
  std::unordered_map<uint64_t, std::optional<FrameCie>> cies_;
  uint64_t last_place_ = UINT64_MAX;
  const FrameCie* last_ = nullptr;
};

// Where the search table says that the entry for an address is in .eh_frame; nothing: it is none that we
// read.
std::optional<uint64_t> search_frame_header(const FrameTables& tables, uint64_t address);

} // namespace dwarf
