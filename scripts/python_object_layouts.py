#!/usr/bin/env python3
"""Prints the rows of src/runtime/python_object_layouts.h: python_object_layouts.py INCLUDE_DIR…

Each INCLUDE_DIR is one of CPython 3.8 to 3.13 (such as /usr/include/python3.11), with its internal headers.
"""
import os
import re

from layouts import constants, print_rows, row

PROGRAM = r"""
#define Py_BUILD_CORE 1
#include "Python.h"
#include "frameobject.h"
#include "structmember.h"
#include <stddef.h>
#if PY_VERSION_HEX >= 0x03090000
#include "internal/pycore_interp.h"
#else
#include "internal/pycore_pystate.h"
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include "internal/pycore_frame.h"
#endif
#define at offsetof
#define WORD(name, value) const unsigned name = value;
#if PY_VERSION_HEX >= 0x030c0000
WORD(interpreter_modules, at(PyInterpreterState, imports.modules))
#elif PY_VERSION_HEX >= 0x030b0000
WORD(interpreter_modules, at(PyInterpreterState, modules))
#else
WORD(interpreter_modules, at(struct _is, modules))
#endif
#if PY_VERSION_HEX >= 0x030b0000
WORD(frame_variables, at(_PyInterpreterFrame, localsplus))
WORD(frame_namespace, at(_PyInterpreterFrame, f_locals))
WORD(frame_stack_top, at(_PyInterpreterFrame, stacktop))
WORD(code_variables, at(PyCodeObject, co_localsplusnames))
WORD(code_kinds, at(PyCodeObject, co_localspluskinds))
WORD(generator_frame, at(PyGenObject, gi_iframe))
WORD(generator_state, at(PyGenObject, gi_frame_state))
#else
WORD(frame_variables, at(PyFrameObject, f_localsplus))
WORD(frame_namespace, at(PyFrameObject, f_locals))
WORD(frame_stack, at(PyFrameObject, f_valuestack))
#if PY_VERSION_HEX >= 0x030a0000
WORD(frame_stack_top, at(PyFrameObject, f_stackdepth))
WORD(frame_state, at(PyFrameObject, f_state))
#else
WORD(frame_stack_top, at(PyFrameObject, f_stacktop))
WORD(frame_state, at(PyFrameObject, f_executing))
#endif
WORD(code_variables, at(PyCodeObject, co_varnames))
WORD(code_cells, at(PyCodeObject, co_cellvars))
WORD(code_free, at(PyCodeObject, co_freevars))
WORD(code_bytecode, at(PyCodeObject, co_code))
WORD(generator_frame, at(PyGenObject, gi_frame))
#endif
WORD(code_flags, at(PyCodeObject, co_flags))
WORD(code_arguments, at(PyCodeObject, co_argcount))
WORD(code_keyword_only, at(PyCodeObject, co_kwonlyargcount))
WORD(generator_name, at(PyGenObject, gi_qualname))
WORD(function_name, at(PyFunctionObject, func_qualname))
WORD(function_closure, at(PyFunctionObject, func_closure))
WORD(type_keys, at(PyHeapTypeObject, ht_cached_keys))
WORD(type_name, at(PyTypeObject, tp_name))
WORD(type_size, at(PyTypeObject, tp_basicsize))
WORD(type_item_size, at(PyTypeObject, tp_itemsize))
WORD(type_repr, at(PyTypeObject, tp_repr))
WORD(type_flags, at(PyTypeObject, tp_flags))
WORD(type_base, at(PyTypeObject, tp_base))
WORD(type_dict_offset, at(PyTypeObject, tp_dictoffset))
"""
# As struct PythonObjectLayout (src/runtime/python_object_layout.h) declares them.
ORDER = ["interpreter_modules", "frame_variables", "frame_namespace", "frame_stack", "frame_stack_top", "frame_state", "code_variables",
         "code_kinds", "code_cells", "code_free", "code_bytecode", "code_flags", "code_arguments", "code_keyword_only", "generator_frame",
         "generator_state", "generator_name", "function_name", "function_closure", "type_keys", "type_name", "type_size", "type_item_size",
         "type_repr", "type_flags", "type_base", "type_dict_offset"]


def rows_of(include):
    version = re.search(r'#define PY_VERSION\s+"([^"]+)"', open(os.path.join(include, "patchlevel.h")).read()).group(1)
    minor = int(version.split(".")[1])
    found = constants(PROGRAM, [include, os.path.join(include, "internal")])
    fields = {name: found.get(name, "python_no_field") for name in ORDER}
    return [row({"version": f"0x03{minor:02x}", **fields}, "CPython " + version)]


print_rows(__doc__, rows_of)
