// What a frame of a stack is called, whatever kind of code it is of: from its source (frame_source.h, symbolizer.h) to what
// is shown. Texts are views: whoever gives a frame says how long they live.
#pragma once

#include "spec/frame_kinds.h"

#include <cstdint>
#include <string_view>

namespace symbol {

struct Frame {
  std::string_view name;   // the function, as written in the source; empty: not known
  uint64_t offset = 0;     // bytes from its start
  std::string_view module; // file of the code, "[vdso]", "[kernel]", "/tmp/perf-PID.map"; empty: none is known
  uint64_t module_address = 0; // as the file counts, before the loader moves it; 0: in no file
  std::string_view file;         // of the source; empty: not known
  uint32_t line = 0, column = 0; // 0: not known
  spec::FrameKind kind = spec::FrameKind::user;
  bool is_derived = false; // the file has no name for the function: it is called by its address
  bool is_mapped = true;   // false: there is no code at the address
  bool is_as_stored = false; // the name may be one of C++ or Rust as linkers have them
};

} // namespace symbol
