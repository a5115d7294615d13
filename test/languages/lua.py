#!/usr/bin/env python3
"""Frames of LuaJIT and Lua 5.1 to 5.4 in user stacks: lua.py ACU [--filter TEXT]

Of compiled code the innermost frame is that of the function which the trace has entered; its line is where the trace begins, and other functions
that are inlined in the trace are not shown.

Last line: `N passed, N failed, N skipped`.
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from common import COUNTS, LIMIT, TRIGGERS, check_seeded
from tally import Skipped, need, run_tests, take_filter

SEEDED = os.path.join(HERE, "seeded.lua")


def interpreter(name):
    path = shutil.which(name)
    if not path:
        raise Skipped(f"there is no {name} here")
    return path


def seeded(script, how, jit):
    def test(acu):
        command = [interpreter("luajit"), f"-j{jit}", SEEDED, "FOLDER", "7", str(COUNTS[script]), TRIGGERS.get(script, script)]
        return check_seeded(acu, command, script, how, int(COUNTS[script] * (0.5 if script == "spin" else 0.99)), lines=jit == "off")
    return test


def seeded_lua(version, script, trigger, count, how):
    def test(acu):
        command = [interpreter(f"lua{version}"), SEEDED, "FOLDER", "7", str(count), trigger]
        return check_seeded(acu, command, script, how, int(count * (0.5 if trigger == "spin" else 0.99)))
    return test


def is_cut(acu):
    """Of a recursion 2,000 deep the innermost 500 are shown, and it is counted."""
    code = "local ffi = require 'ffi' ffi.cdef 'int getppid(void); int usleep(unsigned);' ffi.C.usleep(200000) local function f(n) if n == 0 then return ffi.C.getppid() end return 1 + f(n - 1) end f(2000)"
    done = subprocess.run([acu, "run", "-v", "-e", "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack(1000)); }", "-c",
                           f'{interpreter("luajit")} -joff -e "{code}"'], capture_output=True, text=True, timeout=LIMIT)
    frames = re.findall(r"^\s+\S.*:1 \S.*:1$", done.stdout, re.M)
    need(len(frames) == 500 and "more than 500 frames 1" in done.stderr, f"{len(frames)} frames: {done.stdout[:300]} {done.stderr[-400:]}")


def tests():
    for script in COUNTS:
        for how in ("before", "after"):
            yield f"{script}, attached {how} it starts", seeded(script, how, "off")
        yield f"{script}, compiled", seeded(script, "after", "on")
    yield "deep", is_cut
    for version in ("5.1", "5.2", "5.3", "5.4"):
        for how in ("before", "after"):
            yield f"Lua {version}, unlink, attached {how} it starts", seeded_lua(version, "unlink", "getppid", 2000, how)
        yield f"Lua {version}, spin", seeded_lua(version, "unlink, spin", "spin", 400, "after")


if __name__ == "__main__":
    only = take_filter(sys.argv)
    sys.exit(run_tests([(name, test) for name, test in tests() if only in name], os.path.abspath(sys.argv[1]), tells_reason=False))
