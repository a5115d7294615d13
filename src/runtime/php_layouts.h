// Offsets of PHP's structures by version, for x86-64 and builds without threads. The rows are printed by scripts/php_layouts.py, which compiles
// against the headers of each version; a row holds for all releases of its minor version.
#pragma once

#include "runtime/php_layout.h"

namespace runtime {

inline constexpr php_layout php_layouts[] = {
    // PHP 8.2.36
    {.version = 0x0802, .current = 488, .frame_opline = 0, .frame_function = 24, .frame_call_info = 40, .frame_previous = 48,
     .opline_line = 24, .function_type = 0, .function_name = 8, .function_scope = 16, .function_handler = 72, .function_file = 152,
     .function_line = 160, .function_bytes = 168, .class_name = 8, .text_length = 16, .text_data = 24, .top = 131072},
};

} // namespace runtime
