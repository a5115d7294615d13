// Which Java methods run at a position of code that HotSpot's compilers made: the debug information of an nmethod, decoded once. Sources:
// code/pcDesc.hpp, code/scopeDesc.cpp, code/compressedStream.hpp of OpenJDK.
#pragma once

#include "runtime/runtimes.h"

#include <cstdint>
#include <vector>

namespace runtime {

// Code::version of code that is of no method.
inline constexpr uint16_t hotspot_stub = 1;

struct CompiledCode {
  struct Call {
    uint64_t method = 0;
    uint32_t check = 0;
    uint32_t position = 0; // in its bytecode, or HOTSPOT_NO_POSITION
    bool operator==(const Call&) const = default;
  };
  struct Place {
    uint32_t end = 0;               // position in the machine code: a return address, or the last before which this holds
    uint32_t first = 0, count = 0; // of `calls`, the innermost first
  };
  std::vector<Place> places; // by end
  std::vector<Call> calls;
  std::vector<Call> methods; // each once; the compiled method itself is the first
  std::span<const Call> at(uint64_t position) const;
};

// Of an nmethod that hotspot_walk.h has read into `blob`.
CompiledCode read_compiled_code(const hotspot_layout& layout, uint64_t blob, std::span<const std::byte> header, const ReadMemory& read);

} // namespace runtime
