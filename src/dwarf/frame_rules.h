// How the frame of the function at an address leads to its caller, as the tables for exceptions (.eh_frame)
// or debuggers (.debug_frame) tell for each instruction: where the frame begins (its canonical frame address,
// CFA: the value of the stack pointer before the call) and where the caller's registers are. Specification:
// DWARF 5, sections 6.4 and 7.24; for .eh_frame and its search table .eh_frame_hdr the Linux Standard Base,
// "Exception Frames". Registers are those of x86-64 (spec/arch_x86_64.h).
#pragma once

#include "dwarf/sections.h"
#include "spec/arch_x86_64.h"

#include <array>
#include <memory>
#include <optional>

namespace dwarf {

struct CfaRule {
  bool is_expression = false;
  uint64_t reg = 0;    // DWARF's number of the register, to which …
  int64_t offset = 0;  // … this is added
  ByteSpan expression; // or what leaves the CFA
};

// The caller's value of a register.
struct RegisterRule {
  enum Kind : uint8_t {
    unspecified,   // what the calling convention says
    undefined,     // lost
    same,          // as in this frame
    at_offset,     // in memory at CFA + offset
    is_offset,     // CFA + offset
    in_register,   // in the register `offset`
    at_expression, // in memory where the expression leads, which begins with the CFA on its stack
    is_expression, // what the expression leaves
  } kind = unspecified;
  uint32_t size = 0; // of the expression
  union {
    int64_t offset = 0;
    const std::byte* expression;
  };
  ByteSpan expression_bytes() const { return {expression, size}; }
  bool operator==(const RegisterRule& o) const {
    return kind == o.kind && size == o.size && offset == o.offset;
  }
};

// What holds for some instructions in a row.
struct FrameRow {
  static constexpr unsigned registers = spec::x86_64.dwarf_registers; // with the return address, the last one

  uint64_t begin = 0, end = 0;
  bool has_cfa = false;   // false: the tables forgot to tell
  bool is_signal = false; // the kernel made the frame for a handler of signals
  uint8_t address_size = 8;
  CfaRule cfa;
  std::array<RegisterRule, registers> rules;
  uint64_t return_register = registers - 1;
};

// Tables of one file, as plain bytes with the addresses they stand at.
struct FrameTables {
  ByteSpan eh_frame, eh_frame_hdr, debug_frame;
  uint64_t eh_frame_address = 0, eh_frame_hdr_address = 0;
  uint64_t text_address = 0, data_address = 0; // what some tables count from: .text, .got
  // Where .eh_frame ends is not known: `eh_frame` goes on behind it.
  bool is_open_ended = false;
};
// `debug` may have .debug_frame; nullptr: there is no other file.
FrameTables frame_tables_of(const format::ElfFile& file, const format::ElfFile* debug = nullptr);

// Looks up many addresses of one file. What the tables are bytes of outlives this.
class FrameLookup {
public:
  explicit FrameLookup(const FrameTables& tables);
  ~FrameLookup();
  FrameLookup(FrameLookup&&) noexcept;
  // Nothing: no table tells of this address, or it is damaged there.
  std::optional<FrameRow> find(uint64_t address);

private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same for a single address.
std::optional<FrameRow> frame_row_at(const FrameTables& tables, uint64_t address);
// The CFA alone; nothing also where the tables forgot to tell.
std::optional<CfaRule> cfa_rule_at(const FrameTables& tables, uint64_t address);

} // namespace dwarf
