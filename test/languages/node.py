#!/usr/bin/env python3
"""Frames of JavaScript in user stacks: node.py ACU [--filter TEXT] [--node COMMAND]… [--all]

The system's Node.js runs seeded.js (common.py), and so does each COMMAND: another Node.js. No option is given that would help to find frames; options
that choose how code is compiled are. Last line: `N passed, N failed, N skipped`.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from common import EVERY, MANY, STOPS, acu_run, check_seeded, check_shares, check_stopped, first_stack, take_commands, wait_for_read
from tally import Skipped, need, run_tests, take_filter

# Native frames have an offset. What triggers (node:fs) is not written down, nor are functions of the engine, which have no file.
FRAME = re.compile(r"^\s+(\S.*?) ((?:/|node:(?!fs:)).*):(\d+)$")
SEEDED = os.path.join(HERE, "seeded.js")
SHAPES = os.path.join(HERE, "shapes.js")
# Functions are optimised early: up to V8 11.3, and later.
EARLY = [["--interrupt-budget=2000"], ["--invocation-count-for-maglev=8", "--invocation-count-for-turbofan=30"]]
TIERS = [["--jitless"], ["--no-opt"], ["--always-sparkplug"]]


def node(command, options=()):
    """Its words."""
    if not shutil.which(command[0]):
        raise Skipped(f"there is no {command[0]} here")
    done = subprocess.run([*command, *options, "-e", "0"], capture_output=True, text=True)
    if done.returncode:
        raise Skipped(f"{' '.join([*command, *options])} does not run: {done.stderr[:200]}")
    return [*command, *options]


def early(command):
    """The options of EARLY that it knows."""
    words = node(command)
    return next((options for options in EARLY if subprocess.run([*words, *options, "-e", "0"], capture_output=True).returncode == 0), EARLY[0])


def seeded(command, options, script, trigger, count, how="before", *way):
    def test(acu):
        words = [*node(command, early(command) if options is EARLY else options), SEEDED, "FOLDER", "7", str(count), trigger, *way]
        all_stacks = count * (int(way[0]) if way else 1)
        return check_seeded(acu, words, script, how, all_stacks, FRAME, lines=trigger == "unlink")
    return test


def is_deep(command):
    def test(acu):
        """Of a recursion 2,000 deep the innermost 500 frames are shown."""
        done = acu_run(acu, "run", "-e", 'tracepoint:syscalls:sys_enter_unlink /str(args.pathname) == "/nonexistent/acu-shapes"/ { print(ustack(500)); }', "-c",
                       " ".join([*node(command), SHAPES, "deep", "2000"]))
        frames = re.findall(r"^\s+descend /.*shapes.js:\d+$", done.stdout, re.M)
        need(480 <= len(frames) <= 500, f"{len(frames)} frames: {done.stdout[:600]}")
    return test


def has_shares(command, options):
    def test(acu):
        frames = {70: "seventy_[js]", 20: "twenty_[js]", 10: "ten_[js]"}
        return check_shares(acu, [*node(command, options), SHAPES, "shares", "3"], frames, "shares_[js]")
    return test


def is_inlined(command):
    def test(acu):
        """Samples of optimised code show functions that are inlined there."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "inlined.folded")
            acu_run(acu, "flame", "-q", "-F", "997", "-o", path, "--", *node(command), SHAPES, "inlined", "2")
            with open(path) as f:
                stacks = [line.rsplit(" ", 1) for line in f]
        total = sum(int(weight) for stack, weight in stacks if "outer_[js]" in stack)
        found = sum(int(weight) for stack, weight in stacks if "outer_[js];middle_[js]" in stack)
        need(total and found >= 0.5 * total, f"{found} of {total} samples show inlined functions: {stacks[:3]}")
        return f"{found} of {total} samples show inlined functions"
    return test


def is_right_while_code_changes(command):
    def test(acu):
        """Functions that are made, optimised, thrown away and collected all the time: a frame has its name, or says that it has none."""
        options = node(command, ["--expose-gc", *early(command)])
        done = acu_run(acu, "run", "-q", "-B", "full", "-e",
                       'tracepoint:syscalls:sys_enter_unlink /str(args.pathname) == "/nonexistent/acu-shapes"/ { printf("#\\n%s", ustack(30)); }', "-c",
                       " ".join([*options, SHAPES, "changing", "1000"]))
        stacks = [re.findall(r"^\s+(\[code object gone\]|\S+)(?: .*(?:shapes.js|<anonymous>):\d+)?$", text, re.M) for text in done.stdout.split("#\n")[1:]]
        stacks = [stack[stack.index("pull"):][:4] for stack in stacks if "pull" in stack]
        expected = [["pull", f"made{number // 3 % 97}", "<anonymous>", "changing"] for number in range(len(stacks))]
        wrong = [(a, b) for a, b in zip(expected, stacks) if any(y not in (x, "[code object gone]") for x, y in zip(a, b)) or len(a) != len(b)]
        right = sum(a == b for a, b in zip(expected, stacks))
        need(len(stacks) == 3000 and right >= 0.99 * len(stacks) and not wrong, f"{right} of {len(stacks)} stacks are right, {len(wrong)} wrong, such as {wrong[:2]}")
        return f"{right} of {len(stacks)} stacks are right, none is wrong"
    return test


def seeded_stack(acu, how, pid):
    """As first_stack() in common.py, of frames that have a file."""
    wait_for_read(pid, pid)
    return [frame for frame in first_stack(acu, how, pid, pid) if frame[1] and frame[1] != "node:fs"]


def stopped(command, how):
    def test(acu):
        count = STOPS[how]
        return check_stopped(acu, [*node(command), SEEDED, "FOLDER", "7", str(count), "ask"], how, count, waits=False, find=seeded_stack)
    return test


def tests(commands):
    for command in commands:
        name = " ".join(command)
        yield f"{name}: unlink, attached before it starts", seeded(command, (), "unlink", "unlink", MANY)
        yield f"{name}: unlink, attached after it starts", seeded(command, (), "unlink", "unlink", MANY, "after")
        yield f"{name}: spin", seeded(command, (), "spin", "spin", 2000 if EVERY else 400)
        yield f"{name}: sleep", seeded(command, (), "unlink, sleep", "sleep", 2000 if EVERY else 400)
        yield f"{name}: threads", seeded(command, (), "unlink", "unlink", 300, "before", "4")
        yield f"{name}: deep", is_deep(command)
        yield f"{name}: inlined", is_inlined(command)
        yield f"{name}: code that changes", is_right_while_code_changes(command)
        for how in STOPS if EVERY else ["snap"]:
            yield f"{name}: stopped, {how}", stopped(command, how)
        for options in TIERS:
            yield f"{name}: {' '.join(options)}", seeded(command, options, "unlink", "unlink", 2000 if EVERY else 500)
        yield f"{name}: optimised early", seeded(command, EARLY, "unlink", "unlink", 2000 if EVERY else 500)
        yield f"{name}: shares", has_shares(command, ())


if __name__ == "__main__":
    only, commands = take_filter(sys.argv), take_commands(sys.argv, "node")
    sys.exit(run_tests([(name, test) for name, test in tests(commands) if only in name], os.path.abspath(sys.argv[1]), tells_reason=False))
