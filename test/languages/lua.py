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
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from common import COUNTS, LIMIT, MANY, STOPS, TRIGGERS, check_busy, check_seeded, check_shares, check_stopped, first_stack
from tally import SLOWNESS, Skipped, need, run_tests, take_filter

SEEDED = os.path.join(HERE, "seeded.lua")
SHAPES = os.path.join(HERE, "shapes.lua")
# With names of tests.
COMMANDS = {"LuaJIT": ["luajit", "-joff"], "LuaJIT, compiled": ["luajit"], **{f"Lua {version}": [f"lua{version}"] for version in ("5.1", "5.2", "5.3", "5.4")}}


def interpreter(name):
    path = shutil.which(name)
    if not path:
        raise Skipped(f"there is no {name} here")
    if name == "luajit" and subprocess.run([path, "-e", "os.exit(require('ffi').abi('gc64') and 0 or 1)"]).returncode:
        raise Skipped("this LuaJIT has references of 32 bits: its layout is not known")
    return path


def is_in_another_root(name):
    """A script that executes chroot(8), as suites.py makes them."""
    path = shutil.which(name)
    return bool(path) and open(path, "rb").read(2) == b"#!"


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


def stopped(command, how):
    def test(acu):
        return check_stopped(acu, [interpreter(command[0]), *command[1:], SEEDED, "FOLDER", "7", str(STOPS[how]), "ask"], how, STOPS[how])
    return test


def turning(command, how):
    """Stopped while the innermost function of any stack runs."""
    def test(acu):
        count = STOPS[how] // 2
        return check_stopped(acu, [interpreter(command[0]), *command[1:], SEEDED, "FOLDER", "11", str(count), "turn"], how, count, waits=False)
    return test


def busy(command):
    def test(acu):
        return check_busy(acu, [interpreter(command[0]), *command[1:], SEEDED, "FOLDER", "7", "100000000", "getppid"], "main chunk seeded.lua")
    return test


def functions():
    """Of shapes.lua, by name: what acu calls them."""
    with open(SHAPES) as f:
        lines = [re.search(r"function (?:shapes\.)?(\w+)", line) for line in f]
    return {line.group(1): f"shapes.lua:{number}" for number, line in enumerate(lines, 1) if line}


def has_shares(command):
    def test(acu):
        names = functions()
        frames = {share: f"{names[name]}_[lua]" for share, name in ((70, "seventy"), (20, "twenty"), (10, "ten"))}
        return check_shares(acu, [interpreter(command[0]), *command[1:], SHAPES, "shares", "4"], frames, f"{names['shares']}_[lua]")
    return test


def running(command, how):
    """Stopped anywhere in a program that runs all the time: the stack is one of those that it has."""
    def test(acu):
        names, count = functions(), STOPS[how]
        program = subprocess.Popen([interpreter(command[0]), *command[1:], SHAPES, "shares", str(LIMIT)])
        try:
            time.sleep(0.2 * SLOWNESS)
            found = [first_stack(acu, how, program.pid) for _ in range(count)]
        finally:
            program.kill()
            program.wait()
        outer = [names["shares"], "main chunk shapes.lua"]
        right = [outer, *([names[name], *outer] for name in ("seventy", "twenty", "ten")), *([names["busy"], names[name], *outer] for name in ("seventy", "twenty", "ten"))]
        wrong = [stack for stack in found if [name for name, _, _ in stack] not in right or not all(line for _, _, line in stack)]
        need(not wrong, f"{len(wrong)} of {count} stacks are wrong, such as {wrong[:1]}")
        need(sum(len(stack) == 4 for stack in found) > count / 2, f"few stacks have all frames: {found[:3]}")
        return f"{count} of {count} stacks are right"
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
            if is_in_another_root("luajit") and (script, how) == ("uprobe", "before"):
                continue  # there it is another libc
            yield f"{script}, attached {how} it starts", seeded(script, how, "off")
        yield f"{script}, compiled", seeded(script, "after", "on")
    yield "deep", is_cut
    for name, command in COMMANDS.items():
        yield f"{name}, shares", has_shares(command)
        yield f"{name}, busy", busy(command)
        for how in STOPS:
            yield f"{name}, stopped, {how}", stopped(command, how)
            yield f"{name}, turning, {how}", turning(command, how)
            yield f"{name}, running, {how}", running(command, how)
    for version in ("5.1", "5.2", "5.3", "5.4"):
        for how in ("before", "after"):
            yield f"Lua {version}, unlink, attached {how} it starts", seeded_lua(version, "unlink", "getppid", MANY, how)
        yield f"Lua {version}, spin", seeded_lua(version, "unlink, spin", "spin", COUNTS["spin"], "after")


if __name__ == "__main__":
    only = take_filter(sys.argv)
    sys.exit(run_tests([(name, test) for name, test in tests() if only in name], os.path.abspath(sys.argv[1]), tells_reason=False))
