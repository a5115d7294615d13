// Line programs: which file, line and column the code at each address comes from.
// Specification: DWARF 5, section 6.2, and the same section of the versions before.
#pragma once

#include "dwarf/debug_info.h"

#include <string>

namespace dwarf {

struct LineFile {
  std::string_view name;
  uint64_t folder = 0; // index of LineProgram::folders
};

// The header of the line program of a unit; the program itself is still bytes.
struct LineProgram {
  uint16_t version = 0;
  uint8_t address_size = 8;
  uint8_t min_instruction = 1, max_operations = 1;
  bool is_statement = true;
  int8_t line_base = 0;
  uint8_t line_range = 1, opcode_base = 1;
  bool relocatable = false;
  ByteSpan operand_counts; // of the standard operations 1, 2, …
  ByteSpan program;
  // Folder 0 is that of the compilation; numbers of files begin with 0 in version 5 and with 1 before.
  std::vector<std::string_view> folders;
  std::vector<LineFile> files;

  // "/usr/src/main.c": as the compiler was told, completed by its folders. Empty: there is no such file.
  std::string path(uint64_t file) const;
};

// The one of a unit, which must not be a split one: its skeleton has the lines. Nothing: it has none, or it
// is damaged.
std::optional<LineProgram> read_line_program(const Unit& unit);

struct LineRow {
  uint64_t address = 0;
  uint64_t file = 1;
  uint32_t line = 1, column = 0;
  bool is_statement = true;
  bool end_sequence = false; // the address is one past the last that the rows before tell of
};

// Runs the program: `take(const LineRow&)` gets each row of the table in order, and returns false to stop.
template<class Take> void for_each_row(const LineProgram& program, Take take);

// For addresses in ascending order: the row that tells where each comes from, if any. `found(i, row)`.
// Sequences of code that the linker dropped are passed over.
template<class Found>
void find_rows(const LineProgram& program, std::span<const uint64_t> addresses, Found found);

} // namespace dwarf

#include "dwarf/line_program_run.h"
