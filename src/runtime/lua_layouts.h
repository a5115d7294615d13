// Layouts of Lua by version. Printed by scripts/lua_layouts.py.
#pragma once

#include "runtime/lua_layout.h"

namespace runtime {

inline constexpr lua_layout lua_layouts[] = {
    {.version = 501, .state_global = 32, .state_call = 40, .state_first_call = 80, .state_pc = 48, .call_bytes = 40, .call_function = 8,
     .call_previous = 0, .call_pc = 24, .call_status = 0, .is_fresh = 0, .continues = 0, .closure_tag = 6, .closure_type = 6,
     .closure_is_c = 10, .closure_proto = 32, .proto_type = 9, .proto_instructions = 80, .proto_code = 24, .proto_lines = 40,
     .proto_absolute_count = 0, .proto_absolute_lines = 0, .proto_file = 64, .proto_first_line = 96, .proto_bytes = 120},
    {.version = 502, .state_global = 24, .state_call = 32, .state_first_call = 128, .state_pc = 0, .call_bytes = 80, .call_function = 0,
     .call_previous = 16, .call_pc = 56, .call_status = 34, .is_fresh = 0, .continues = 4, .closure_tag = 70, .closure_type = 6,
     .closure_is_c = 0, .closure_proto = 24, .proto_type = 9, .proto_instructions = 88, .proto_code = 24, .proto_lines = 40,
     .proto_absolute_count = 0, .proto_absolute_lines = 0, .proto_file = 72, .proto_first_line = 104, .proto_bytes = 128},
    {.version = 503, .state_global = 24, .state_call = 32, .state_first_call = 96, .state_pc = 0, .call_bytes = 72, .call_function = 0,
     .call_previous = 16, .call_pc = 40, .call_status = 66, .is_fresh = 8, .continues = 0, .closure_tag = 70, .closure_type = 6,
     .closure_is_c = 0, .closure_proto = 24, .proto_type = 9, .proto_instructions = 24, .proto_code = 56, .proto_lines = 72,
     .proto_absolute_count = 0, .proto_absolute_lines = 0, .proto_file = 104, .proto_first_line = 40, .proto_bytes = 120},
    {.version = 504, .state_global = 24, .state_call = 32, .state_first_call = 96, .state_pc = 0, .call_bytes = 64, .call_function = 0,
     .call_previous = 16, .call_pc = 32, .call_status = 62, .is_fresh = 4, .continues = 0, .closure_tag = 70, .closure_type = 6,
     .closure_is_c = 0, .closure_proto = 24, .proto_type = 10, .proto_instructions = 24, .proto_code = 64, .proto_lines = 88,
     .proto_absolute_count = 40, .proto_absolute_lines = 96, .proto_file = 112, .proto_first_line = 44, .proto_bytes = 128},
};

} // namespace runtime
