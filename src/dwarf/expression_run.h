// Carries out an expression for a thread at hand, live or dead: where something is, or what it is. Typed
// values (DWARF 5, section 2.5.1.4) are integers of at most 64 bits, float and double. Specification: DWARF
// 5, sections 2.5 and 2.6.
#pragma once

#include "dwarf/debug_info.h"
#include "dwarf/expression.h"

#include <functional>
#include <optional>
#include <span>

namespace dwarf {

// What an expression may ask of the thread and its program; nothing: that is not known. Functions that are
// missing know nothing.
struct ExpressionState {
  std::function<std::optional<uint64_t>(uint64_t number)> reg; // by DWARF's number
  std::function<bool(uint64_t address, std::span<std::byte> to)> read;
  std::function<std::optional<uint64_t>()> frame_base, cfa;
  std::function<std::optional<uint64_t>(uint64_t offset)> thread_variable;
  std::function<std::optional<uint64_t>(ByteSpan expression)> entry_value;
  std::optional<uint64_t> object; // what DW_OP_push_object_address gives
  uint64_t bias = 0;              // what the loader added to the file's addresses
};

// A part of the thing.
struct PlacePart {
  enum Kind : uint8_t {
    gone,    // optimised away
    memory,  // at the address `number`
    reg,     // in the register `number`
    value,   // no place, but this value: `number`
    bytes,   // likewise: `block`
    pointer, // a pointer to what the entry at `number` of .debug_info describes, `offset` bytes into it
  } kind = gone;
  uint64_t number = 0;
  int64_t offset = 0;
  ByteSpan block;
  uint64_t bits = 0;      // of the thing that are here; 0: all of it
  uint64_t first_bit = 0; // of the place
};

// The parts in the order of memory; a single one without `bits` where the thing is in one place. `unit`:
// whose expression it is. Failure: it is damaged, asks for what is not known, or does not end.
base::Result<std::vector<PlacePart>> run_expression(const Unit& unit, ByteSpan bytes,
                                                    const ExpressionState& state);

// An expression of the tables of frames, which belongs to no unit: the number that it leaves. `first` is on
// its stack before it begins. Failure also where it asks for what such an expression may not (DWARF 5,
// section 6.4.2).
base::Result<uint64_t> run_frame_expression(ByteSpan bytes, std::optional<uint64_t> first,
                                            const ExpressionState& state);

} // namespace dwarf
