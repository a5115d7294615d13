#!/usr/bin/env python3
"""Prints the rows of src/runtime/php_layouts.h: php_layouts.py INCLUDE_DIR…

Each INCLUDE_DIR holds the headers of one PHP (such as /usr/include/php/20220829). A small C program is compiled against it, and its offsets are
read from the assembler's input. Constants that the walkers know (php_layout.h) must be those of the headers.
"""
import os
import re

from layouts import constants, print_rows, row

PROGRAM = r"""
#include "php.h"
#include "zend_closures.h"
#include "zend_generators.h"
#include "zend_globals.h"
#include "zend_vm_opcodes.h"
#include <stddef.h>
#define at offsetof
#define WORD(name, value) const unsigned name = value;
WORD(current, at(zend_executor_globals, current_execute_data))
WORD(before_exception, at(zend_executor_globals, opline_before_exception))
WORD(frame_opline, at(zend_execute_data, opline))
WORD(frame_function, at(zend_execute_data, func))
WORD(frame_this, at(zend_execute_data, This))
WORD(frame_call_info, at(zend_execute_data, This.u1.type_info))
WORD(frame_previous, at(zend_execute_data, prev_execute_data))
WORD(opline_size, sizeof(zend_op))
WORD(opline_extended, at(zend_op, extended_value))
WORD(opline_line, at(zend_op, lineno))
WORD(opline_code, at(zend_op, opcode))
WORD(function_type, at(zend_op_array, type))
WORD(function_name, at(zend_op_array, function_name))
WORD(function_scope, at(zend_op_array, scope))
WORD(function_handler, at(zend_internal_function, handler))
WORD(function_count, at(zend_op_array, last))
WORD(function_oplines, at(zend_op_array, opcodes))
WORD(function_file, at(zend_op_array, filename))
WORD(function_line, at(zend_op_array, line_start))
WORD(function_last_line, at(zend_op_array, line_end))
WORD(function_bytes, (at(zend_op_array, line_end) + 4 + 7) / 8 * 8)
WORD(class_name, at(zend_class_entry, name))
WORD(text_length, at(zend_string, len))
WORD(text_data, at(zend_string, val))
WORD(generator_frame, at(zend_generator, execute_data))
WORD(generator_parent, at(zend_generator, node.parent))
WORD(generator_fake, at(zend_generator, execute_fake))

#include "php_layout.h"
#define SAME(ours, theirs) _Static_assert(ours == (theirs), #theirs " has changed");
SAME(PHP_INTERNAL_FUNCTION, ZEND_INTERNAL_FUNCTION)
SAME(PHP_USER_FUNCTION, ZEND_USER_FUNCTION)
SAME(PHP_EVALUATED_CODE, ZEND_EVAL_CODE)
SAME(PHP_CALL_TOP, ZEND_CALL_TOP)
SAME(PHP_OBJECT, IS_OBJECT)
SAME(PHP_INCLUDE_OR_EVAL, ZEND_INCLUDE_OR_EVAL)
SAME(PHP_HANDLE_EXCEPTION, ZEND_HANDLE_EXCEPTION)
#ifdef ZEND_FRAMELESS_ICALL_0
SAME(PHP_FRAMELESS_CALL, ZEND_FRAMELESS_ICALL_0)
SAME(PHP_FRAMELESS_CALL + PHP_FRAMELESS_CALLS - 1, ZEND_FRAMELESS_ICALL_3)
#endif
SAME(PHP_EVAL, ZEND_EVAL)
SAME(PHP_INCLUDE, ZEND_INCLUDE)
SAME(PHP_INCLUDE_ONCE, ZEND_INCLUDE_ONCE)
SAME(PHP_REQUIRE, ZEND_REQUIRE)
SAME(PHP_REQUIRE_ONCE, ZEND_REQUIRE_ONCE)
_Static_assert(at(zend_internal_function, function_name) == at(zend_op_array, function_name), "both kinds of functions begin alike");
_Static_assert(at(zend_internal_function, scope) == at(zend_op_array, scope), "both kinds of functions begin alike");
_Static_assert((at(zend_op_array, line_end) + 4 + 7) / 8 * 8 <= PHP_KIND, "a function is too long");
_Static_assert(at(zend_execute_data, prev_execute_data) + 8 <= PHP_FRAME_BYTES && sizeof(zend_op) <= PHP_OPLINE_BYTES, "a frame is too long");
"""
RUNTIME = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src", "runtime")


def rows_of(include):
    header = open(os.path.join(include, "main", "php_version.h")).read()
    major, minor = (int(re.search(rf"PHP_{name}_VERSION\s+(\d+)", header).group(1)) for name in ("MAJOR", "MINOR"))
    title = "PHP " + re.search(r'PHP_VERSION "([^"]+)"', header).group(1)
    found = constants(PROGRAM, [*(os.path.join(include, part) for part in ("", "main", "Zend", "TSRM")), RUNTIME])
    return [row({"version": f"0x{major:02x}{minor:02x}", **found}, title)]


print_rows(__doc__, rows_of)
