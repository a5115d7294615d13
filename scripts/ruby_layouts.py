#!/usr/bin/env python3
"""Prints the rows of src/runtime/ruby_layouts.h: ruby_layouts.py SOURCE_DIR…

Each SOURCE_DIR holds the sources of one Ruby (as `apt-get source ruby3.1` has them), with ruby/config.h in its folder include: by its configure, or
that of the package ruby-dev. A small C program is compiled against the headers, and its offsets are read from the assembler's input. Constants that
the walkers know (ruby_layout.h) must be those of the headers.
"""
import os
import re

from layouts import constants, print_rows, row

PROGRAM = r"""
#include "ruby/ruby.h"
#include "ruby/encoding.h"
#include "vm_core.h"
#include "iseq.h"
#include "symbol.h"
#include "method.h"
#if __has_include("internal/imemo.h")
#include "internal/imemo.h"
#else
#include "internal.h"
#endif
#include <stddef.h>
#define at offsetof
#define WORD(name, value) const unsigned name = value;
#ifdef HAS_LIST
WORD(vm_threads, at(rb_vm_t, living_threads))
WORD(thread_node, at(rb_thread_t, vmlt_node))
WORD(thread_id, at(rb_thread_t, thread_id))
#endif
WORD(thread_context, at(rb_thread_t, ec))
WORD(context_stack, at(rb_execution_context_t, vm_stack))
WORD(context_stack_size, at(rb_execution_context_t, vm_stack_size))
WORD(context_frame, at(rb_execution_context_t, cfp))
WORD(frame_pc, at(rb_control_frame_t, pc))
WORD(frame_function, at(rb_control_frame_t, iseq))
WORD(frame_environment, at(rb_control_frame_t, ep))
WORD(frame_bytes, sizeof(rb_control_frame_t))
WORD(function_body, at(rb_iseq_t, body))
WORD(body_instructions, at(struct rb_iseq_constant_body, iseq_encoded))
WORD(body_count, at(struct rb_iseq_constant_body, iseq_size))
WORD(body_path, at(struct rb_iseq_constant_body, location.pathobj))
WORD(body_name, at(struct rb_iseq_constant_body, location.label))
WORD(body_first_line, at(struct rb_iseq_constant_body, location.first_lineno))
WORD(first_line_is_tagged, sizeof(((struct rb_iseq_constant_body *)0)->location.first_lineno) == sizeof(VALUE))
WORD(body_lines, at(struct rb_iseq_constant_body, insns_info.body))
WORD(body_lines_count, at(struct rb_iseq_constant_body, insns_info.size))
WORD(body_positions, at(struct rb_iseq_constant_body, insns_info.succ_index_table))
WORD(line_bytes, sizeof(struct iseq_insn_info_entry))
WORD(method_definition, at(rb_method_entry_t, def))
WORD(definition_code, at(rb_method_definition_t, body.cfunc.func))
WORD(definition_name, at(rb_method_definition_t, original_id))
WORD(symbols_ids, at(rb_symbols_t, ids))
WORD(last_operator, tLAST_OP_ID)
WORD(text_length, TEXT_LENGTH)
WORD(text_heap_length, TEXT_HEAP_LENGTH)
WORD(text_embedded, TEXT_EMBEDDED)

#include "ruby_layout.h"
#define SAME(ours, theirs) _Static_assert(ours == (theirs), #theirs " has changed");
SAME(RUBY_FINISH, VM_FRAME_FLAG_FINISH)
SAME(RUBY_FRAME_KIND, VM_FRAME_MAGIC_MASK)
SAME(RUBY_C_FRAME, VM_FRAME_MAGIC_CFUNC)
SAME(RUBY_STRING, T_STRING)
SAME(RUBY_ARRAY, T_ARRAY)
SAME(RUBY_OBJECT_KIND, T_MASK)
SAME(RUBY_TEXT_IS_ELSEWHERE, RSTRING_NOEMBED)
SAME(RUBY_ARRAY_IS_EMBEDDED, RARRAY_EMBED_FLAG)
SAME(RUBY_METHOD_IN_C, VM_METHOD_TYPE_CFUNC)
SAME(RUBY_METHOD_ENTRY, imemo_ment)
SAME(RUBY_INTERNAL_OBJECT, T_IMEMO)
SAME(RUBY_INTERNAL_SHIFT, FL_USHIFT)
SAME(RUBY_TEXT_AT, at(struct RString, as.heap.ptr))
SAME(RUBY_ARRAY_AT, at(struct RArray, as.heap.ptr))
SAME(RUBY_EMBEDDED_AT, at(struct RArray, as.ary))
SAME(RUBY_ID_SHIFT, RUBY_ID_SCOPE_SHIFT)
SAME(-1, VM_ENV_DATA_INDEX_SPECVAL)
SAME(-2, VM_ENV_DATA_INDEX_ME_CREF)
_Static_assert(at(struct rb_iseq_constant_body, insns_info.succ_index_table) + 8 <= RUBY_IS_IN_C, "a body is too long");
_Static_assert(at(rb_control_frame_t, ep) + 8 <= RUBY_FRAME_READ, "a frame is too long");
"""
RUNTIME = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src", "runtime")


# As struct ruby_layout (src/runtime/ruby_layout.h) declares them.
ORDER = ["vm_threads", "thread_node", "thread_id", "thread_context", "context_stack", "context_stack_size", "context_frame", "frame_pc",
         "frame_function", "frame_environment", "frame_bytes", "function_body", "body_instructions", "body_count", "body_path", "body_name",
         "body_first_line", "first_line_is_tagged", "body_lines", "body_lines_count", "body_positions", "body_bytes", "line_bytes",
         "method_definition", "definition_code", "definition_name", "symbols_ids", "last_operator", "text_length", "text_heap_length",
         "text_embedded"]


def text_fields(source, major):
    """Where strings have their length (embedded, elsewhere) and their text, as C expressions: the structure changed without a version of its own."""
    own = "0", "at(struct RString,as.heap.len)", "at(struct RString,as.ary)"
    if major < 3:
        return own
    header = open(os.path.join(source, "include", "ruby", "internal", "core", "rstring.h")).read()
    if re.search(r"^    long len;", header, re.M):
        return "at(struct RString,len)", "at(struct RString,len)", "at(struct RString,as.embed.ary)"
    return own[0], own[1], "at(struct RString,as.embed.ary)"


def rows_of(source):
    header = open(os.path.join(source, "version.h")).read() + open(os.path.join(source, "include", "ruby", "version.h")).read()
    major, minor = (int(re.search(rf"RUBY_API_VERSION_{name}\s+(\d+)", header).group(1)) for name in ("MAJOR", "MINOR"))
    teeny = re.search(r"RUBY_VERSION_TEENY\s+(\d+)", header).group(1)
    defines = dict(zip(("TEXT_LENGTH", "TEXT_HEAP_LENGTH", "TEXT_EMBEDDED"), text_fields(source, major)))
    if major < 3:
        defines["HAS_LIST"] = 1
    folders = [source, os.path.join(source, "include"), os.path.join(source, "include", f"ruby-{major}.{minor}"), RUNTIME]
    found = constants(PROGRAM, folders, [f"-D{name}={value}" for name, value in defines.items()])
    found["body_bytes"] = (max(value + 8 for name, value in found.items() if name.startswith("body_")) + 7) // 8 * 8
    fields = {"version": f"0x{major:02x}{minor:02x}", **{name: found.get(name, 0) for name in ORDER}}
    return [row(fields, f"Ruby {major}.{minor}.{teeny}")]


print_rows(__doc__, rows_of)
