// What is known of an address, as text or JSON: for `acu sym`.
#pragma once

#include "symbol/symbolizer.h"

#include <string>

namespace report {

// A line for each frame, the innermost first:
//
//   0x401139: square at /src/t.c:3:10
//    (inlined by) main+0x29 at /src/t.c:15:3 (/bin/t)
//
// Where no function is known the place in the module is told: `0x7f01: /lib/libx.so+0x1f01`; `??` where
// nothing is. `with_module`: tell the module of functions too.
void append_place(std::string& out, const symbol::Place& place, bool with_module);

// {"address": "0x401139", "module": …, "module_offset": "0x1139", "function": …, "offset": 41, "frames":
// [{"function": …, "file": …, "line": 3, "column": 10}, …]} and a newline; what is not known is left out.
void append_place_json(std::string& out, const symbol::Place& place);

} // namespace report
