// Offsets of PHP's structures by version, for x86-64, with and without threads. The rows are printed by scripts/php_layouts.py, which compiles
// against the headers of each version; a row holds for all releases of its minor version.
#pragma once

#include "runtime/php_layout.h"

namespace runtime {

inline constexpr php_layout php_layouts[] = {
    // PHP 7.4.33
    {.version = 0x0704, .current = 488, .before_exception = 880, .frame_opline = 0, .frame_function = 24, .frame_this = 32,
     .frame_call_info = 40, .frame_previous = 48, .opline_size = 32, .opline_extended = 20, .opline_line = 24, .opline_code = 28,
     .function_type = 0, .function_name = 8, .function_scope = 16, .function_handler = 48, .function_count = 60, .function_oplines = 64,
     .function_file = 136, .function_line = 144, .function_last_line = 148, .function_bytes = 152, .class_name = 8, .text_length = 16,
     .text_data = 24, .generator_frame = 64, .generator_parent = 160, .generator_fake = 200},
    // PHP 8.1.2-1ubuntu2.29
    {.version = 0x0801, .current = 488, .before_exception = 880, .frame_opline = 0, .frame_function = 24, .frame_this = 32,
     .frame_call_info = 40, .frame_previous = 48, .opline_size = 32, .opline_extended = 20, .opline_line = 24, .opline_code = 28,
     .function_type = 0, .function_name = 8, .function_scope = 16, .function_handler = 56, .function_count = 68, .function_oplines = 72,
     .function_file = 144, .function_line = 152, .function_last_line = 156, .function_bytes = 160, .class_name = 8, .text_length = 16,
     .text_data = 24, .generator_frame = 56, .generator_parent = 152, .generator_fake = 184},
    // PHP 8.2.36
    {.version = 0x0802, .current = 488, .before_exception = 880, .frame_opline = 0, .frame_function = 24, .frame_this = 32,
     .frame_call_info = 40, .frame_previous = 48, .opline_size = 32, .opline_extended = 20, .opline_line = 24, .opline_code = 28,
     .function_type = 0, .function_name = 8, .function_scope = 16, .function_handler = 72, .function_count = 80, .function_oplines = 88,
     .function_file = 152, .function_line = 160, .function_last_line = 164, .function_bytes = 168, .class_name = 8, .text_length = 16,
     .text_data = 24, .generator_frame = 56, .generator_parent = 152, .generator_fake = 184},
    // PHP 8.3.6
    {.version = 0x0803, .current = 488, .before_exception = 880, .frame_opline = 0, .frame_function = 24, .frame_this = 32,
     .frame_call_info = 40, .frame_previous = 48, .opline_size = 32, .opline_extended = 20, .opline_line = 24, .opline_code = 28,
     .function_type = 0, .function_name = 8, .function_scope = 16, .function_handler = 72, .function_count = 76, .function_oplines = 80,
     .function_file = 144, .function_line = 152, .function_last_line = 156, .function_bytes = 160, .class_name = 8, .text_length = 16,
     .text_data = 24, .generator_frame = 56, .generator_parent = 152, .generator_fake = 184},
    // PHP 8.4.27
    {.version = 0x0804, .current = 488, .before_exception = 952, .frame_opline = 0, .frame_function = 24, .frame_this = 32,
     .frame_call_info = 40, .frame_previous = 48, .opline_size = 32, .opline_extended = 20, .opline_line = 24, .opline_code = 28,
     .function_type = 0, .function_name = 8, .function_scope = 16, .function_handler = 88, .function_count = 96, .function_oplines = 104,
     .function_file = 168, .function_line = 176, .function_last_line = 180, .function_bytes = 184, .class_name = 8, .text_length = 16,
     .text_data = 24, .generator_frame = 56, .generator_parent = 152, .generator_fake = 184},
};

} // namespace runtime
