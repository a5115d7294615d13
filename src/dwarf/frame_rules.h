// Where the frame of the function at an address begins: its canonical frame address (CFA), which is the value
// of the stack pointer before the call, as the tables for exceptions (.eh_frame) or debuggers (.debug_frame)
// tell for each instruction. Specification: DWARF 5, sections 6.4 and 7.24; for .eh_frame and its search
// table .eh_frame_hdr the Linux Standard Base, "Exception Frames".
#pragma once

#include "dwarf/sections.h"

#include <optional>

namespace dwarf {

struct CfaRule {
  bool is_expression = false;
  uint64_t reg = 0;            // DWARF's number of the register, to which …
  int64_t offset = 0;          // … this is added
  ByteSpan expression;         // or what leaves the CFA
  uint64_t begin = 0, end = 0; // of the function's code that the table tells of
  bool is_signal = false;      // the frame is one that the kernel made for a handler of signals
};

// Tables of one file, as plain bytes with the addresses they stand at.
struct FrameTables {
  ByteSpan eh_frame, eh_frame_hdr, debug_frame;
  uint64_t eh_frame_address = 0, eh_frame_hdr_address = 0;
  uint64_t text_address = 0, data_address = 0; // what some tables count from: .text, .got
};
// `debug` may have .debug_frame; nullptr: there is no other file.
FrameTables frame_tables_of(const format::ElfFile& file, const format::ElfFile* debug = nullptr);

// Nothing: no table tells of this address, or it is damaged there.
std::optional<CfaRule> cfa_rule_at(const FrameTables& tables, uint64_t address);

} // namespace dwarf
