// Where a function gives back control to its caller: its return instructions, and the jumps to other functions
// that return in its place (tail calls). Also in the parts that compilers put aside ("f.cold"). And what it
// calls. Read with a disassembler (instructions.h) and the tables for exceptions, which say at each jump
// whether the function still has a frame: then the jump stays within the function.
#pragma once

#include "symbol/binary.h"
#include "symbol/function_symbols.h"

#include <cstdint>
#include <string>
#include <vector>

namespace symbol {

struct TailCall {
  uint64_t at = 0, target = 0; // the jump; the first instruction of the function that it leads to
};

struct FunctionEnds {
  std::vector<uint64_t> returns; // addresses of the instructions
  std::vector<TailCall> tail_calls;
  std::vector<uint64_t> callees;  // of direct calls
  bool calls_by_pointer = false;  // also
  std::string unknown;            // an end that cannot be followed: "it ends with a jump through a pointer at 0x12"
};

// Failure: its instructions cannot be read, or do what compilers don't.
base::Result<FunctionEnds> find_ends(Binary& binary, const FunctionSymbol& function);

// Whether the tables for exceptions tell of the code at an address. Where they don't, no exception passes.
bool has_exception_frame(const Binary& binary, uint64_t address);

} // namespace symbol
