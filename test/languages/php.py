#!/usr/bin/env python3
"""Frames of PHP in user stacks: php.py ACU [--filter TEXT]

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

# Native frames have an offset; functions in C have no file.
FRAME = re.compile(r"^\s+([^\s+]+)(?: ([/<].*):(\d+))?$")


def seeded(script, how, *way):
    def test(acu):
        if not shutil.which("php"):
            raise Skipped("there is no php here")
        count = COUNTS[script] // (4 if way else 1)
        command = ["php", "-d", "memory_limit=-1", "-d", "error_reporting=0", os.path.join(HERE, "seeded.php"), "FOLDER", "7", str(count), TRIGGERS.get(script, script), *way]
        return check_seeded(acu, command, script, how, count // 2 if script == "spin" else count, FRAME)
    return test


def is_cut(acu):
    """Of a recursion 2,000 deep the innermost 500 are shown, and it is counted."""
    if not shutil.which("php"):
        raise Skipped("there is no php here")
    code = "function f($n) { if ($n) return f($n - 1); return posix_getppid(); } f(2000);"
    done = subprocess.run([acu, "run", "-v", "-e", 'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack(1000)); }', "-c", f"php -r '{code}'"],
                          capture_output=True, text=True, timeout=LIMIT)
    frames = re.findall(r"^\s+f Command line code:\d+$", done.stdout, re.M)
    need(len(frames) == 499 and "more than 500 frames 1" in done.stderr, f"{len(frames)} frames: {done.stderr[-400:]}")


def tests():
    for script in COUNTS:
        for how in ("before", "after"):
            yield f"{script}, attached {how} it starts", seeded(script, how)
    yield "forked workers", seeded("getppid", "before", "fork", "4")
    yield "deep", is_cut


if __name__ == "__main__":
    only = take_filter(sys.argv)
    sys.exit(run_tests([(name, test) for name, test in tests() if only in name], os.path.abspath(sys.argv[1]), tells_reason=False))
