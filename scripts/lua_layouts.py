#!/usr/bin/env python3
"""Prints the rows of src/runtime/lua_layouts.h: lua_layouts.py SOURCE_DIR…

Each SOURCE_DIR is the folder src of Lua 5.1 to 5.4, as `apt-get source lua5.4` has it. A small C program is compiled against its headers, and its
offsets are read from the object file.
"""
from layouts import constants, print_rows, row

PROGRAM = r"""
#include <stddef.h>
#include "lua.h"
#include "lobject.h"
#include "lstate.h"
#include "lfunc.h"
#define at offsetof
#define WORD(name, value) const unsigned name = value;
WORD(version, LUA_VERSION_NUM)
WORD(state_global, at(lua_State, l_G))
WORD(state_call, at(lua_State, ci))
WORD(state_first_call, at(lua_State, base_ci))
WORD(call_bytes, sizeof(CallInfo))
WORD(call_function, at(CallInfo, func))
WORD(closure_proto, at(LClosure, p))
WORD(proto_instructions, at(Proto, sizecode))
WORD(proto_code, at(Proto, code))
WORD(proto_lines, at(Proto, lineinfo))
WORD(proto_file, at(Proto, source))
WORD(proto_first_line, at(Proto, linedefined))
WORD(proto_bytes, sizeof(Proto))
#if LUA_VERSION_NUM == 501
WORD(state_pc, at(lua_State, savedpc))
WORD(call_pc, at(CallInfo, savedpc))
WORD(closure_tag, LUA_TFUNCTION)
WORD(closure_is_c, at(LClosure, isC))
WORD(closure_type, LUA_TFUNCTION)
WORD(proto_type, LUA_TPROTO)
#else
WORD(call_previous, at(CallInfo, previous))
WORD(call_pc, at(CallInfo, u.l.savedpc))
WORD(call_status, at(CallInfo, callstatus))
#if LUA_VERSION_NUM == 504
WORD(closure_tag, ctb(LUA_VLCL))
WORD(closure_type, LUA_VLCL)
WORD(proto_absolute_count, at(Proto, sizeabslineinfo))
WORD(proto_absolute_lines, at(Proto, abslineinfo))
#else
WORD(closure_tag, ctb(LUA_TLCL))
WORD(closure_type, LUA_TLCL)
#endif
WORD(proto_type, LUA_TPROTO)
#if LUA_VERSION_NUM == 502
WORD(continues, CIST_REENTRY)
#else
WORD(is_fresh, CIST_FRESH)
#endif
#endif
"""
# As struct lua_layout (src/runtime/lua_layout.h) declares them.
ORDER = ["version", "state_global", "state_call", "state_first_call", "state_pc", "call_bytes", "call_function", "call_previous", "call_pc",
         "call_status", "is_fresh", "continues", "closure_tag", "closure_type", "closure_is_c", "closure_proto", "proto_type", "proto_instructions",
         "proto_code", "proto_lines", "proto_absolute_count", "proto_absolute_lines", "proto_file", "proto_first_line", "proto_bytes"]


def rows_of(include):
    found = constants(PROGRAM, [include])
    return [row({name: found.get(name, 0) for name in ORDER})]


print_rows(__doc__, rows_of)
