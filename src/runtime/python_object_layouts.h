// Offsets of the fields of CPython's objects by version, for x86-64 and builds without Py_DEBUG. The rows are printed by
// scripts/python_object_layouts.py, which compiles against the headers of each version; a row holds for all releases of its minor version. From
// 3.13 on, what the runtime publishes takes precedence (python.cc).
#pragma once

#include "runtime/python_object_layout.h"

namespace runtime {

inline constexpr PythonObjectLayout python_object_layouts[] = {
    // CPython 3.8.18
    {.version = 0x0308, .interpreter_modules = 56, .frame_variables = 360, .frame_namespace = 56, .frame_stack = 64, .frame_stack_top = 72,
     .frame_state = 116, .code_variables = 72, .code_kinds = python_no_field, .code_cells = 88, .code_free = 80, .code_bytecode = 48,
     .code_flags = 36, .code_arguments = 16, .code_keyword_only = 24, .generator_frame = 16, .generator_state = python_no_field,
     .generator_name = 56, .function_name = 104, .function_closure = 48, .type_keys = 872, .type_name = 24, .type_size = 32,
     .type_item_size = 40, .type_repr = 88, .type_flags = 168, .type_base = 256, .type_dict_offset = 288},
    // CPython 3.9.18
    {.version = 0x0309, .interpreter_modules = 856, .frame_variables = 360, .frame_namespace = 56, .frame_stack = 64, .frame_stack_top = 72,
     .frame_state = 116, .code_variables = 72, .code_kinds = python_no_field, .code_cells = 88, .code_free = 80, .code_bytecode = 48,
     .code_flags = 36, .code_arguments = 16, .code_keyword_only = 24, .generator_frame = 16, .generator_state = python_no_field,
     .generator_name = 56, .function_name = 104, .function_closure = 48, .type_keys = 864, .type_name = 24, .type_size = 32,
     .type_item_size = 40, .type_repr = 88, .type_flags = 168, .type_base = 256, .type_dict_offset = 288},
    // CPython 3.10.13
    {.version = 0x030a, .interpreter_modules = 856, .frame_variables = 352, .frame_namespace = 56, .frame_stack = 64, .frame_stack_top = 80,
     .frame_state = 108, .code_variables = 72, .code_kinds = python_no_field, .code_cells = 88, .code_free = 80, .code_bytecode = 48,
     .code_flags = 36, .code_arguments = 16, .code_keyword_only = 24, .generator_frame = 16, .generator_state = python_no_field,
     .generator_name = 48, .function_name = 40, .function_closure = 72, .type_keys = 872, .type_name = 24, .type_size = 32,
     .type_item_size = 40, .type_repr = 88, .type_flags = 168, .type_base = 256, .type_dict_offset = 288},
    // CPython 3.11.7
    {.version = 0x030b, .interpreter_modules = 888, .frame_variables = 72, .frame_namespace = 24, .frame_stack = python_no_field,
     .frame_stack_top = 64, .frame_state = python_no_field, .code_variables = 96, .code_kinds = 104, .code_cells = python_no_field,
     .code_free = python_no_field, .code_bytecode = python_no_field, .code_flags = 48, .code_arguments = 56, .code_keyword_only = 64,
     .generator_frame = 80, .generator_state = 75, .generator_name = 40, .function_name = 40, .function_closure = 72, .type_keys = 872,
     .type_name = 24, .type_size = 32, .type_item_size = 40, .type_repr = 88, .type_flags = 168, .type_base = 256, .type_dict_offset = 288},
    // CPython 3.12.1
    {.version = 0x030c, .interpreter_modules = 944, .frame_variables = 72, .frame_namespace = 40, .frame_stack = python_no_field,
     .frame_stack_top = 64, .frame_state = python_no_field, .code_variables = 96, .code_kinds = 104, .code_cells = python_no_field,
     .code_free = python_no_field, .code_bytecode = python_no_field, .code_flags = 48, .code_arguments = 52, .code_keyword_only = 60,
     .generator_frame = 72, .generator_state = 67, .generator_name = 32, .function_name = 40, .function_closure = 72, .type_keys = 880,
     .type_name = 24, .type_size = 32, .type_item_size = 40, .type_repr = 88, .type_flags = 168, .type_base = 256, .type_dict_offset = 288},
    // CPython 3.13.0
    {.version = 0x030d, .interpreter_modules = 7656, .frame_variables = 72, .frame_namespace = 40, .frame_stack = python_no_field,
     .frame_stack_top = 64, .frame_state = python_no_field, .code_variables = 96, .code_kinds = 104, .code_cells = python_no_field,
     .code_free = python_no_field, .code_bytecode = python_no_field, .code_flags = 48, .code_arguments = 52, .code_keyword_only = 60,
     .generator_frame = 72, .generator_state = 67, .generator_name = 32, .function_name = 40, .function_closure = 72, .type_keys = 880,
     .type_name = 24, .type_size = 32, .type_item_size = 40, .type_repr = 88, .type_flags = 168, .type_base = 256, .type_dict_offset = 288},
};

} // namespace runtime
