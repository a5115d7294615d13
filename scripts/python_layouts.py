#!/usr/bin/env python3
"""Prints the rows of src/runtime/python_layouts.h: python_layouts.py INCLUDE_DIR…

Each INCLUDE_DIR is one of CPython 3.8 to 3.12 (such as /usr/include/python3.11), with its internal headers. A small C program is compiled
against it, and its offsets are read from the object file. From 3.13 on the runtime publishes its offsets, and no row is needed.
"""
import os
import re

from layouts import constants, print_rows, row

PROGRAM = r"""
#define Py_BUILD_CORE 1
#include "Python.h"
#include "frameobject.h"
#include <stddef.h>
#if PY_VERSION_HEX >= 0x03090000
#include "internal/pycore_interp.h"
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include "internal/pycore_frame.h"
#endif
#if PY_VERSION_HEX >= 0x03090000
#include "internal/pycore_runtime.h"
#else
#include "internal/pycore_pystate.h"
#endif
#define at offsetof
#define WORD(name, value) const unsigned name = value;
WORD(interpreters_head, at(_PyRuntimeState, interpreters.head))
#if PY_VERSION_HEX >= 0x030b0000
WORD(interpreter_next, at(PyInterpreterState, next))
WORD(threads_head, at(PyInterpreterState, threads.head))
#else
WORD(interpreter_next, at(struct _is, next))
WORD(threads_head, at(struct _is, tstate_head))
#endif
WORD(thread_next, at(PyThreadState, next))
WORD(thread_id, at(PyThreadState, thread_id))
#if PY_VERSION_HEX >= 0x030b0000
WORD(thread_frame, at(PyThreadState, cframe))
WORD(cframe_frame, at(_PyCFrame, current_frame))
WORD(frame_bytes, at(_PyInterpreterFrame, localsplus))
WORD(frame_previous, at(_PyInterpreterFrame, previous))
WORD(frame_code, at(_PyInterpreterFrame, f_code))
WORD(frame_position, at(_PyInterpreterFrame, prev_instr))
#if PY_VERSION_HEX >= 0x030c0000
WORD(frame_owner, at(_PyInterpreterFrame, owner))
#else
WORD(frame_owner, at(_PyInterpreterFrame, is_entry))
#endif
WORD(position_shift, 0)
WORD(code_size, at(PyVarObject, ob_size))
WORD(code_name, at(PyCodeObject, co_qualname))
WORD(code_instructions, at(PyCodeObject, co_code_adaptive))
#else
WORD(thread_frame, at(PyThreadState, frame))
WORD(frame_bytes, at(PyFrameObject, f_lasti) + 8)
WORD(frame_previous, at(PyFrameObject, f_back))
WORD(frame_code, at(PyFrameObject, f_code))
WORD(frame_position, at(PyFrameObject, f_lasti))
#if PY_VERSION_HEX >= 0x030a0000
WORD(position_shift, 1)
#else
WORD(position_shift, 0)
#endif
WORD(code_size, at(PyCodeObject, co_code))
WORD(code_name, at(PyCodeObject, co_name))
#endif
WORD(code_first_line, at(PyCodeObject, co_firstlineno))
WORD(code_file, at(PyCodeObject, co_filename))
#if PY_VERSION_HEX >= 0x030a0000
WORD(code_lines, at(PyCodeObject, co_linetable))
#else
WORD(code_lines, at(PyCodeObject, co_lnotab))
#endif
WORD(text_length, at(PyASCIIObject, length))
WORD(text_state, at(PyASCIIObject, state))
WORD(text_ascii, sizeof(PyASCIIObject))
WORD(text_compact, sizeof(PyCompactUnicodeObject))
WORD(bytes_size, at(PyVarObject, ob_size))
WORD(bytes_data, at(PyBytesObject, ob_sval))
"""
BOUNDARIES = {8: "PYTHON_EACH_FRAME", 9: "PYTHON_EACH_FRAME", 10: "PYTHON_EACH_FRAME", 11: "PYTHON_ENTRY_FLAG", 12: "PYTHON_SHIM"}
# As struct python_layout (src/runtime/python_layout.h) declares them.
ORDER = ["interpreters_head", "interpreter_next", "threads_head", "thread_next", "thread_id", "thread_frame", "cframe_frame", "frame_bytes",
         "frame_previous", "frame_code", "frame_position", "frame_owner", "position_is_pointer", "position_shift", "code_bytes", "code_size",
         "code_first_line", "code_file", "code_name", "code_lines", "code_instructions", "text_length", "text_state", "text_ascii",
         "text_compact", "bytes_size", "bytes_data"]
NOT_THERE = {"cframe_frame": "PYTHON_NO_FIELD"}


def rows_of(include):
    version = re.search(r'#define PY_VERSION\s+"([^"]+)"', open(os.path.join(include, "patchlevel.h")).read()).group(1)
    minor = int(version.split(".")[1])
    found = constants(PROGRAM, [include, os.path.join(include, "internal")])
    # As long as all fields that are read, but no longer: what is behind a frame may not be mapped.
    found["code_bytes"] = max(found[f] for f in ("code_lines", "code_name", "code_file")) + 8
    found["position_is_pointer"] = int(minor >= 11)
    fields = {"version": f"0x03{minor:02x}", "boundary": BOUNDARIES[minor], "shim_owner": 3 if minor == 12 else 0}
    return [row({**fields, **{name: found.get(name, NOT_THERE.get(name, 0)) for name in ORDER}}, "CPython " + version)]


print_rows(__doc__, rows_of)
