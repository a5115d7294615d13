// What one file says of its frames: the rows, and behind them all of .eh_frame and .debug_frame.
#pragma once

#include "dwarf/frame_rules.h"
#include "unwind/tables.h"

#include <optional>

namespace unwind {

class FileFrames {
public:
  // The files outlive this. `debug`: a separate debug file, which may have .debug_frame; nullptr: none.
  FileFrames(const format::ElfFile& file, Tables tables, const format::ElfFile* debug = nullptr)
      : FileFrames(dwarf::frame_tables_of(file, debug), std::move(tables)) {}
  // What `frames` are bytes of outlives this.
  FileFrames(const dwarf::FrameTables& frames, Tables tables) : tables_(std::move(tables)), lookup_(frames) {}

  const Tables& tables() const { return tables_; }
  // Everything that holds at an address of the file; nothing: no table tells of it, or it is damaged there.
  // One thread at a time.
  std::optional<dwarf::FrameRow> full_rule_at(uint64_t address) { return lookup_.find(address); }

private:
  Tables tables_;
  dwarf::FrameLookup lookup_;
};

} // namespace unwind
