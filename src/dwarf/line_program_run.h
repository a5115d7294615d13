// The state machine of line programs, a template so that what is done with a row is compiled into it: these
// programs are long. Specification: DWARF 5, section 6.2.5.
#pragma once

#include "dwarf/line_program.h"

#include <algorithm>

namespace dwarf {

struct LineMachine {
  const LineProgram& program;
  LineRow row;
  uint32_t operation = 0; // of a bundle of instructions; 0 on all but few machines

  void reset() {
    row = LineRow();
    row.is_statement = program.is_statement;
    operation = 0;
  }
  void advance(uint64_t operations) {
    if (program.max_operations <= 1) {
      row.address += operations * program.min_instruction;
      return;
    }
    operations += operation;
    row.address += operations / program.max_operations * program.min_instruction;
    operation = static_cast<uint32_t>(operations % program.max_operations);
  }
  void add_line(int64_t lines) { row.line = static_cast<uint32_t>(row.line + static_cast<uint64_t>(lines)); }
  void special(uint8_t code) {
    unsigned by = code - program.opcode_base;
    advance(by / program.line_range);
    add_line(program.line_base + static_cast<int>(by % program.line_range));
  }
  // True: the row is to be given out.
  bool standard(uint8_t code, base::Reader& r) {
    switch (code) {
    case DW_LNS_copy: return true;
    case DW_LNS_advance_pc: advance(r.uleb128()); break;
    case DW_LNS_advance_line: add_line(r.sleb128()); break;
    case DW_LNS_set_file: row.file = r.uleb128(); break;
    case DW_LNS_set_column: row.column = static_cast<uint32_t>(r.uleb128()); break;
    case DW_LNS_negate_stmt: row.is_statement = !row.is_statement; break;
    case DW_LNS_set_basic_block:
    case DW_LNS_set_prologue_end:
    case DW_LNS_set_epilogue_begin: break;
    case DW_LNS_const_add_pc: advance((255u - program.opcode_base) / program.line_range); break;
    case DW_LNS_fixed_advance_pc:
      row.address += r.number<uint16_t>();
      operation = 0;
      break;
    default: // of a later version: its operands are LEB128 numbers
      for (auto n = static_cast<uint8_t>(program.operand_counts[code - 1u]); n > 0; n--) r.uleb128();
    }
    return false;
  }
  bool extended(base::Reader& r) {
    uint64_t size = r.uleb128(), begin = r.at();
    auto code = size > 0 ? r.number<uint8_t>() : uint8_t{0};
    if (code == DW_LNE_end_sequence) return row.end_sequence = true;
    if (code == DW_LNE_set_address && size <= 9) {
      row.address = r.number_of(static_cast<unsigned>(size - 1));
      operation = 0;
    } else if (size > 0) {
      r.skip(size - (r.at() - begin));
    }
    return false;
  }
};

template<class Take> void for_each_row(const LineProgram& program, Take take) {
  LineMachine machine{program, {}};
  machine.reset();
  base::Reader r(program.program);
  while (r.ok() && r.at() < program.program.size()) {
    auto code = r.number<uint8_t>();
    bool is_row = true;
    if (code >= program.opcode_base)
      machine.special(code);
    else if (code > 0)
      is_row = machine.standard(code, r);
    else
      is_row = machine.extended(r);
    if (!is_row || !r.ok()) continue;
    if (!take(static_cast<const LineRow&>(machine.row))) return;
    if (machine.row.end_sequence) machine.reset();
  }
}

template<class Found>
void find_rows(const LineProgram& program, std::span<const uint64_t> addresses, Found found) {
  LineRow last;
  last.end_sequence = true;
  bool dropped = false;
  size_t next = 0; // the first address that is not before last.address
  size_t finds = 0, most_finds = 1024 + 16 * addresses.size(); // damaged programs go back and forth
  for_each_row(program, [&](const LineRow& row) {
    if (last.end_sequence) dropped = row.address == 0 && !program.relocatable;
    if (last.end_sequence || row.address < last.address)
      next = static_cast<size_t>(std::lower_bound(addresses.begin(), addresses.end(), row.address) -
                                 addresses.begin());
    else if (!dropped)
      for (; next < addresses.size() && addresses[next] < row.address; next++, finds++) found(next, last);
    last = row;
    return finds <= most_finds;
  });
}

} // namespace dwarf
