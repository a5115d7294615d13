#!/usr/bin/env python3
"""All tests, one after the other: test/run_all.py [PRESET] [--only suite,suite]

What runs in a virtual machine, on one emulated processor, runs beside the others from the start, with what they leave of the CPUs.
Each suite prints its own lines; the last line of all is `N passed, N failed, N skipped`. A unit-test program
counts once per test in it (read from CTest's log), so that the sum says something. The exit status is not 0
when anything failed.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
UNSTEADY = []  # suites with cases that failed first and passed when they were run again (test/tally.py)
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


def run_ctest(preset):
    build = os.path.join(ROOT, "build", preset)
    log = os.path.join(build, "Testing", "Temporary", "LastTest.log")
    if os.path.exists(log):
        os.unlink(log)
    done = subprocess.run(["ctest", "--test-dir", build, "--output-on-failure", "--timeout", "300"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout.rstrip())
    text = open(log, errors="replace").read() if os.path.exists(log) else ""
    passed = sum(int(n) for n in re.findall(r"^\[  PASSED  \] (\d+) tests?\.", text, re.M))
    failed = sum(int(n) for n in re.findall(r"^\[  FAILED  \] (\d+) tests?, listed below", text, re.M))
    skipped = sum(int(n) for n in re.findall(r"^\[  SKIPPED \] (\d+) tests?, listed below", text, re.M))
    # A program that crashed or did not build says nothing itself: CTest's own count is the least.
    programs = re.search(r"(\d+) tests failed out of", done.stdout)
    failed = max(failed, int(programs.group(1)) if programs else 0, 1 if done.returncode else 0)
    if passed + failed == 0:
        failed = 1  # no tests at all is not success
    return passed, failed, skipped


def start_script(path, acu, output, nice=0):
    return subprocess.Popen(["nice", "-n", str(nice), sys.executable, os.path.join(ROOT, "test", path), acu],
                            stdout=output, stderr=subprocess.STDOUT, text=True)


def read_script(path, process, lines):
    """Its results; what it prints is printed."""
    counts, unsteady = None, 0
    for line in lines:
        sys.stdout.write(line)
        sys.stdout.flush()
        unsteady += line.startswith("unsteady ")
        found = SUMMARY.match(line.strip())
        if found:
            counts = tuple(int(n) for n in found.groups())
    status = process.wait()
    if unsteady:
        UNSTEADY.append(f"{path}: {unsteady}")
    if counts is None:
        return 0, 1, 0
    if status != 0 and counts[1] == 0:
        return counts[0], 1, counts[2]
    return counts


class Beside:
    """A suite that runs while others do; what it prints waits until it is its turn."""

    def __init__(self, path, acu):
        self.path, self.output = path, tempfile.TemporaryFile("w+")
        self.process = start_script(path, acu, self.output, nice=5)

    def results(self):
        self.process.wait()
        self.output.seek(0)
        return read_script(self.path, self.process, self.output)


SUITES = {
    "ctest": None,
    "runtime": "runtime/run.py",
    "diagnostics": "diagnostics/run.py",
    "arguments": "arguments/run.py",
    "cli": "cli/run.py",
    "dropin": "dropin/run.py",
    "environment": "environment/run.py",
    "tools": "tools/run.py",
    "one_liners": "tools/one_liners.py",
    "life": "life/run.py",
    "ending": "life/ending.py",
    "large": "large/run.py",
    "flame": "flame/run.py",
    "exports": "exports/run.py",
    "top": "top/run.py",
    "stacks": "stacks/run.py",
    "linkers": "stacks/linkers.py",
    "python": "languages/python.py",
    "python_values": "languages/python_values.py",
    "php": "languages/php.py",
    "perl": "languages/perl.py",
    "lua": "languages/lua.py",
    "names": "names/run.py",
    "trace": "trace/run.py",
    "stat": "stat/run.py",
    "slow": "slow/run.py",
    "waits": "waits/run.py",
    "recorder": "recorder/run.py",
    "timeline": "timeline/run.py",
    "sql": "sql/run.py",
    "mcp": "mcp/run.py",
    "learn": "learn/run.py",
    "own_tools": "own_tools/run.py",
    "dlang": "dlang/run.py",
    "emit": "emit/run.py",
    "stap": "stap/run.py",
    "emit_debuggers": "emit/run_debuggers.py",
    "emit_kernel": "emit/run_kernel.py",
    "why": "why/planted.py",
    "why_instruments": "why/instruments.py",
    "process_instruments": "why/process_instruments.py",
    "whose": "whose/run.py",
    "containers": "containers/run.py",
    "graph": "graph/run.py",
    "odd_names": "odd_names/run.py",
    "user": "user/run.py",
    "core": "core/run.py",
    "docs": "docs.py",
    "leftovers": "leftovers.py",
    "faults": "faults/run.py",
    "kernels": "kernels/run.py",
    "speculation": "speculation/run.py",
    "include_order": "include_order.py",
}
BESIDE = ("kernels",)


def main():
    arguments = sys.argv[1:]
    only = None
    if "--only" in arguments:
        at = arguments.index("--only")
        only = arguments[at + 1].split(",")
        del arguments[at:at + 2]
    preset = arguments[0] if arguments else "release"
    acu = os.path.join(ROOT, "build", preset, "acu")
    total = [0, 0, 0]
    summary = []
    suites = {name: script for name, script in SUITES.items() if not only or name in only}
    beside = {name: Beside(SUITES[name], acu) for name in BESIDE if name in suites}
    for name, script in suites.items():
        print(f"== {name}", flush=True)
        begin = time.monotonic()
        if script is None:
            counts = run_ctest(preset)
        elif name in beside:
            counts = beside[name].results()
        else:
            process = start_script(script, acu, subprocess.PIPE)
            counts = read_script(script, process, process.stdout)
        total = [a + b for a, b in zip(total, counts)]
        summary.append((name, *counts, time.monotonic() - begin))
    print("==")
    for line in summary:
        print("%-14s %5d passed %4d failed %4d skipped %5.0f s" % line)
    if UNSTEADY:
        print("unsteady, counted as passed: " + ", ".join(UNSTEADY))
    print("%d passed, %d failed, %d skipped" % tuple(total))
    return 1 if total[1] else 0


sys.exit(main())
