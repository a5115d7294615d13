// Offsets of Ruby's structures by version, for x86-64. The rows are printed by scripts/ruby_layouts.py, which compiles against the headers of each
// version; a row holds for all releases of its minor version.
#pragma once

#include "runtime/ruby_layout.h"

namespace runtime {

inline constexpr ruby_layout ruby_layouts[] = {
    // Ruby 2.7.4
    {.version = 0x0207, .vm_threads = 312, .thread_node = 0, .thread_id = 72, .thread_context = 32, .context_stack = 0,
     .context_stack_size = 8, .context_frame = 16, .frame_pc = 0, .frame_function = 16, .frame_environment = 32, .frame_bytes = 56,
     .function_body = 16, .body_instructions = 8, .body_count = 4, .body_path = 64, .body_name = 80, .body_first_line = 88,
     .first_line_is_tagged = 1, .body_lines = 120, .body_lines_count = 136, .body_positions = 144, .body_bytes = 152, .line_bytes = 8,
     .method_definition = 16, .definition_code = 8, .definition_name = 32, .symbols_ids = 16, .last_operator = 168, .text_length = 0,
     .text_heap_length = 16, .text_embedded = 16},
    // Ruby 3.1.2
    {.version = 0x0301, .vm_threads = 0, .thread_node = 0, .thread_id = 0, .thread_context = 40, .context_stack = 0,
     .context_stack_size = 8, .context_frame = 16, .frame_pc = 0, .frame_function = 16, .frame_environment = 32, .frame_bytes = 64,
     .function_body = 16, .body_instructions = 8, .body_count = 4, .body_path = 64, .body_name = 80, .body_first_line = 88,
     .first_line_is_tagged = 1, .body_lines = 120, .body_lines_count = 136, .body_positions = 144, .body_bytes = 152, .line_bytes = 12,
     .method_definition = 16, .definition_code = 8, .definition_name = 32, .symbols_ids = 16, .last_operator = 169, .text_length = 0,
     .text_heap_length = 16, .text_embedded = 16},
    // Ruby 3.3.8
    {.version = 0x0303, .vm_threads = 0, .thread_node = 0, .thread_id = 0, .thread_context = 48, .context_stack = 0,
     .context_stack_size = 8, .context_frame = 16, .frame_pc = 0, .frame_function = 16, .frame_environment = 32, .frame_bytes = 56,
     .function_body = 16, .body_instructions = 8, .body_count = 4, .body_path = 64, .body_name = 80, .body_first_line = 88,
     .first_line_is_tagged = 0, .body_lines = 112, .body_lines_count = 128, .body_positions = 136, .body_bytes = 144, .line_bytes = 12,
     .method_definition = 16, .definition_code = 8, .definition_name = 32, .symbols_ids = 16, .last_operator = 169, .text_length = 16,
     .text_heap_length = 16, .text_embedded = 24},
};

} // namespace runtime
