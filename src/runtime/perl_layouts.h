// Offsets of Perl's structures by version, for x86-64 and builds without -DDEBUGGING. The rows are printed by scripts/perl_layouts.py, which
// compiles against the headers of each version; a row holds for all releases of its minor version.
#pragma once

#include "runtime/perl_layout.h"

namespace runtime {

inline constexpr perl_layout perl_layouts[] = {
    // Perl 5.28.3, with threads
    {.version = 0x051c, .has_threads = 1, .aux_in_body = 0, .current_stack = 240, .current_statement = 224, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 96, .context_statement = 16, .context_return = 48,
     .context_code = 64, .context_name = 56, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 0, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.28.3, without threads
    {.version = 0x051c, .has_threads = 0, .aux_in_body = 0, .current_stack = 0, .current_statement = 0, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 96, .context_statement = 16, .context_return = 48,
     .context_code = 64, .context_name = 56, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 0, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.30.0, with threads
    {.version = 0x051e, .has_threads = 1, .aux_in_body = 0, .current_stack = 240, .current_statement = 224, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 96, .context_statement = 16, .context_return = 48,
     .context_code = 64, .context_name = 56, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 0, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.30.0, without threads
    {.version = 0x051e, .has_threads = 0, .aux_in_body = 0, .current_stack = 0, .current_statement = 0, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 96, .context_statement = 16, .context_return = 48,
     .context_code = 64, .context_name = 56, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 0, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.32.1, with threads
    {.version = 0x0520, .has_threads = 1, .aux_in_body = 0, .current_stack = 240, .current_statement = 224, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 104, .context_statement = 16, .context_return = 48,
     .context_code = 72, .context_name = 64, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 0, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.32.1, without threads
    {.version = 0x0520, .has_threads = 0, .aux_in_body = 0, .current_stack = 0, .current_statement = 0, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 104, .context_statement = 16, .context_return = 48,
     .context_code = 72, .context_name = 64, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 0, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.34.0, with threads
    {.version = 0x0522, .has_threads = 1, .aux_in_body = 0, .current_stack = 224, .current_statement = 208, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 104, .context_statement = 16, .context_return = 48,
     .context_code = 72, .context_name = 64, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 0, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.34.0, without threads
    {.version = 0x0522, .has_threads = 0, .aux_in_body = 0, .current_stack = 0, .current_statement = 0, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 104, .context_statement = 16, .context_return = 48,
     .context_code = 72, .context_name = 64, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 0, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.36.0, with threads
    {.version = 0x0524, .has_threads = 1, .aux_in_body = 1, .current_stack = 224, .current_statement = 208, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 104, .context_statement = 16, .context_return = 48,
     .context_code = 72, .context_name = 64, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 32, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.36.0, without threads
    {.version = 0x0524, .has_threads = 0, .aux_in_body = 1, .current_stack = 0, .current_statement = 0, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 104, .context_statement = 16, .context_return = 48,
     .context_code = 72, .context_name = 64, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 32, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.38.2, with threads
    {.version = 0x0526, .has_threads = 1, .aux_in_body = 1, .current_stack = 224, .current_statement = 208, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 104, .context_statement = 16, .context_return = 48,
     .context_code = 72, .context_name = 64, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 32, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.38.2, without threads
    {.version = 0x0526, .has_threads = 0, .aux_in_body = 1, .current_stack = 0, .current_statement = 0, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 104, .context_statement = 16, .context_return = 48,
     .context_code = 72, .context_name = 64, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 32, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.40.1, with threads
    {.version = 0x0528, .has_threads = 1, .aux_in_body = 1, .current_stack = 224, .current_statement = 208, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 104, .context_statement = 16, .context_return = 48,
     .context_code = 72, .context_name = 64, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 32, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
    // Perl 5.40.1, without threads
    {.version = 0x0528, .has_threads = 0, .aux_in_body = 1, .current_stack = 0, .current_statement = 0, .stack_bytes = 40,
     .stack_contexts = 8, .stack_previous = 16, .stack_top = 32, .context_bytes = 104, .context_statement = 16, .context_return = 48,
     .context_code = 72, .context_name = 64, .statement_line = 36, .statement_file = 48, .statement_sequence = 60, .value_body = 0,
     .value_pointer = 16, .code_bytes = 96, .code_stash = 32, .code_name = 56, .code_flags = 92, .glob_name = 32, .glob_stash = 40,
     .glob_effective = 56, .stash_max = 24, .stash_aux = 32, .aux_name = 0, .aux_names = 28, .key_length = 4, .key_text = 8,
     .code_is_named = 32768, .code_is_lexical = 65536},
};

} // namespace runtime
