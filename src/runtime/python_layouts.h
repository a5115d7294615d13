// Offsets of CPython's structures by version, for x86-64 and builds without Py_DEBUG. The rows are printed by scripts/python_layouts.py, which
// compiles against the headers of each version; a row holds for all releases of its minor version. From 3.13 on the runtime publishes its
// offsets (python.cc).
#pragma once

#include "runtime/python_layout.h"

namespace runtime {

inline constexpr python_layout python_layouts[] = {
    // CPython 3.8.18
    {.version = 0x0308, .boundary = PYTHON_EACH_FRAME, .shim_owner = 0, .interpreters_head = 32, .interpreter_next = 0, .threads_head = 8,
     .thread_next = 8, .thread_id = 176, .thread_frame = 24, .cframe_frame = PYTHON_NO_FIELD, .frame_bytes = 112, .frame_previous = 24,
     .frame_code = 32, .frame_position = 104, .frame_owner = 0, .position_is_pointer = 0, .position_shift = 0, .code_bytes = 128,
     .code_size = 48, .code_first_line = 40, .code_file = 104, .code_name = 112, .code_lines = 120, .code_instructions = 0,
     .text_length = 16, .text_state = 32, .text_ascii = 48, .text_compact = 72, .bytes_size = 16, .bytes_data = 32},
    // CPython 3.9.18
    {.version = 0x0309, .boundary = PYTHON_EACH_FRAME, .shim_owner = 0, .interpreters_head = 32, .interpreter_next = 0, .threads_head = 8,
     .thread_next = 8, .thread_id = 176, .thread_frame = 24, .cframe_frame = PYTHON_NO_FIELD, .frame_bytes = 112, .frame_previous = 24,
     .frame_code = 32, .frame_position = 104, .frame_owner = 0, .position_is_pointer = 0, .position_shift = 0, .code_bytes = 128,
     .code_size = 48, .code_first_line = 40, .code_file = 104, .code_name = 112, .code_lines = 120, .code_instructions = 0,
     .text_length = 16, .text_state = 32, .text_ascii = 48, .text_compact = 72, .bytes_size = 16, .bytes_data = 32},
    // CPython 3.10.13
    {.version = 0x030a, .boundary = PYTHON_EACH_FRAME, .shim_owner = 0, .interpreters_head = 32, .interpreter_next = 0, .threads_head = 8,
     .thread_next = 8, .thread_id = 176, .thread_frame = 24, .cframe_frame = PYTHON_NO_FIELD, .frame_bytes = 104, .frame_previous = 24,
     .frame_code = 32, .frame_position = 96, .frame_owner = 0, .position_is_pointer = 0, .position_shift = 1, .code_bytes = 128,
     .code_size = 48, .code_first_line = 40, .code_file = 104, .code_name = 112, .code_lines = 120, .code_instructions = 0,
     .text_length = 16, .text_state = 32, .text_ascii = 48, .text_compact = 72, .bytes_size = 16, .bytes_data = 32},
    // CPython 3.11.7
    {.version = 0x030b, .boundary = PYTHON_ENTRY_FLAG, .shim_owner = 0, .interpreters_head = 40, .interpreter_next = 0, .threads_head = 16,
     .thread_next = 8, .thread_id = 152, .thread_frame = 56, .cframe_frame = 8, .frame_bytes = 72, .frame_previous = 48, .frame_code = 32,
     .frame_position = 56, .frame_owner = 68, .position_is_pointer = 1, .position_shift = 0, .code_bytes = 144, .code_size = 16,
     .code_first_line = 72, .code_file = 112, .code_name = 128, .code_lines = 136, .code_instructions = 184, .text_length = 16,
     .text_state = 32, .text_ascii = 48, .text_compact = 72, .bytes_size = 16, .bytes_data = 32},
    // CPython 3.12.1
    {.version = 0x030c, .boundary = PYTHON_SHIM, .shim_owner = 3, .interpreters_head = 40, .interpreter_next = 0, .threads_head = 72,
     .thread_next = 8, .thread_id = 136, .thread_frame = 56, .cframe_frame = 0, .frame_bytes = 72, .frame_previous = 8, .frame_code = 0,
     .frame_position = 56, .frame_owner = 70, .position_is_pointer = 1, .position_shift = 0, .code_bytes = 144, .code_size = 16,
     .code_first_line = 68, .code_file = 112, .code_name = 128, .code_lines = 136, .code_instructions = 192, .text_length = 16,
     .text_state = 32, .text_ascii = 40, .text_compact = 56, .bytes_size = 16, .bytes_data = 32},
};

} // namespace runtime
