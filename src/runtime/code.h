// A function of a language, from its code object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace runtime {

struct CompiledCode; // of code that a compiler made of several functions: hotspot_code.h

struct Code {
  std::string name, file;
  uint32_t first_line = 0;
  std::vector<std::byte> lines; // its table of locations, in the form of kind and version
  bool is_table_cut = false;    // the end of the table could not be read
  uint32_t kind = 0;            // LANGUAGE_…
  uint16_t version = 0;         // of the runtime, as its layout has it
  bool is_hidden = false;       // tracebacks of the language leave it out
  bool is_partial = false;      // some of it could not be read, as the program was moving it: later it may
  std::shared_ptr<const CompiledCode> compiled = {}; // nullptr: it is one function
};

// Fills all of the bytes; false: it cannot.
using ReadMemory = std::function<bool(uint64_t address, std::span<std::byte> to)>;

} // namespace runtime
