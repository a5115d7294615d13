// V8's objects by its version. Node.js 18 has V8 10.2, 20 has 11.3, 22 has 12.4 and 24 has 13.6; the layout did not change within these. Sources: the
// symbols v8dbg_… of node's executables; src/objects/*.tq, src/deoptimizer/translation-opcode.h of V8.
#pragma once

#include "runtime/node_layout.h"

#include <array>
#include <span>

namespace runtime {

// Of instructions that describe the frames of optimised code, for deoptimization: how many operands each has, and what those are that matter.
struct NodeTranslations {
  std::span<const uint8_t> operands;
  uint8_t begin[2], interpreted[2], continuation[2]; // continuation: of a builtin that is a function of JavaScript
  bool is_compact; // an operation may be that of an earlier description (the last operation), and operations are bytes
};

struct NodeLayout {
  uint16_t version;
  node_layout walk; // but for what is in the file
  // Types of objects (Map::instance_type).
  uint16_t scope_info, shared, script, bytecode, code;
  uint16_t bytecode_positions; // BytecodeArray: a table of positions in the source
  bool has_scope_positions;    // ScopeInfo: where the function begins is before the names; else behind them
  // Code. `code_inline`: the instructions follow its header of that size; 0: they are in an object of their own, which has the Code, and a header.
  uint16_t code_inline, stream_header;
  uint16_t code_data, code_positions; // deoptimization data, or the bytecode of baseline code; table of bytecode offsets of baseline code
  uint16_t code_stream, code_start, code_flags, code_size;
  uint8_t baseline; // CodeKind
  bool has_maglev;  // the form of its tables of safepoints is known
  uint8_t safepoint_length; // tables of safepoints: where their length is; from 13.6 on it is behind the size of the frame
  uint8_t deopt_literals, deopt_first; // indices in the deoptimization data
  NodeTranslations translations;
};

namespace node_operands {
inline constexpr uint8_t v10_2[] = {2, 1, 0, 3, 1, 1, 3, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5, 3, 3, 4, 1, 1, 1, 1, 1, 2};
inline constexpr uint8_t v11_3[] = {1, 0, 3, 3, 1, 1, 3, 1, 3, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 5, 3, 3, 3, 4, 0, 1, 1, 1, 1, 1, 2, 1};
inline constexpr uint8_t v12_4[] = {5, 3, 3, 3, 2, 1, 3, 4, 3, 2, 1, 0, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2, 1};
inline constexpr uint8_t v13_6[] = {6, 4, 3, 3, 2, 1, 3, 4, 3, 3, 3, 1, 0, 0, 3, 3, 1, 1, 1, 0, 1, 1, 1, 1, 1,
                                    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2, 1};
} // namespace node_operands

inline constexpr std::array node_layouts = {
    NodeLayout{.version = 1020,
               .walk = {.function_shared = 24, .shared_data = 8, .shared_other_data = 8, .shared_name = 16, .shared_script = 32, .shared_counts = 40, .shared_literal = 52, .scope_names = 32, .scope_flags_shift = 32, .bytecode_data = 56},
               .scope_info = 256, .shared = 257, .script = 170, .bytecode = 195, .code = 240,
               .bytecode_positions = 32, .has_scope_positions = false,
               .code_inline = 128, .stream_header = 0, .code_data = 16, .code_positions = 24, .code_stream = 0, .code_start = 0, .code_flags = 48, .code_size = 40,
               .baseline = 11, .has_maglev = false, .safepoint_length = 0, .deopt_literals = 2, .deopt_first = 11,
               .translations = {node_operands::v10_2, {3, 3}, {18, 18}, {19, 20}, false}},
    NodeLayout{.version = 1130,
               .walk = {.function_shared = 24, .shared_data = 8, .shared_other_data = 8, .shared_name = 16, .shared_script = 32, .shared_counts = 40, .shared_literal = 52, .scope_names = 32, .scope_flags_shift = 32, .bytecode_data = 54},
               .scope_info = 261, .shared = 262, .script = 167, .bytecode = 191, .code = 245,
               .bytecode_positions = 32, .has_scope_positions = false,
               .code_inline = 0, .stream_header = 16, .code_data = 16, .code_positions = 24, .code_stream = 32, .code_start = 40, .code_flags = 48, .code_size = 56,
               .baseline = 11, .has_maglev = false, .safepoint_length = 0, .deopt_literals = 2, .deopt_first = 11,
               .translations = {node_operands::v11_3, {2, 3}, {23, 24}, {25, 26}, true}},
    NodeLayout{.version = 1240,
               .walk = {.function_shared = 32, .shared_data = 8, .shared_other_data = 8, .shared_name = 16, .shared_script = 32, .shared_counts = 40, .shared_literal = 52, .scope_names = 32, .scope_flags_shift = 32, .bytecode_data = 64},
               .scope_info = 272, .shared = 274, .script = 167, .bytecode = 205, .code = 206,
               .bytecode_positions = 24, .has_scope_positions = false,
               .code_inline = 0, .stream_header = 32, .code_data = 8, .code_positions = 16, .code_stream = 32, .code_start = 40, .code_flags = 48, .code_size = 52,
               .baseline = 10, .has_maglev = false, .safepoint_length = 0, .deopt_literals = 2, .deopt_first = 11,
               .translations = {node_operands::v12_4, {12, 13}, {0, 1}, {2, 3}, true}},
    NodeLayout{.version = 1360,
               .walk = {.function_shared = 32, .shared_data = 8, .shared_other_data = 16, .shared_name = 24, .shared_script = 40, .shared_counts = 48, .shared_literal = 60, .scope_names = 48, .scope_flags_shift = 0, .bytecode_data = 64},
               .scope_info = 280, .shared = 282, .script = 167, .bytecode = 186, .code = 187,
               .bytecode_positions = 24, .has_scope_positions = true,
               .code_inline = 0, .stream_header = 32, .code_data = 8, .code_positions = 16, .code_stream = 32, .code_start = 40, .code_flags = 52, .code_size = 56,
               .baseline = 10, .has_maglev = true, .safepoint_length = 4, .deopt_literals = 3, .deopt_first = 12,
               .translations = {node_operands::v13_6, {14, 15}, {0, 1}, {2, 3}, true}},
};

} // namespace runtime
