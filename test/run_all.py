#!/usr/bin/env python3
"""All tests: test/run_all.py [PRESET] [--only suite,suite]

One suite after the other, and those of BESIDE from the start beside them.
Each suite prints its own lines; the last line of all is `N passed, N failed, N skipped`. A unit-test program
counts once per test in it (read from CTest's log), so that the sum says something. The exit status is not 0
when anything failed.

The second chance of a case (test/tally.py) comes while other suites still run, and may find the host as busy as the first. So where few cases
of a suite have failed, each is run once more when nothing else runs: one that passes then counts as passed, and is listed.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
UNSTEADY = []  # suites with cases that failed first and passed when they were run again (test/tally.py)
FAILURES = []  # (suite, what it printed of a case that failed)
ALONE_AT_MOST = 4  # cases of a suite: where more have failed it is not the load
NOT_IN_PARTS = ("kernels", "leftovers", "include_order")  # suites that cannot run one case
TOLD_AT_MOST = 40  # lines of one failed case in the list at the end
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


def end(process):
    """Its exit status and its seconds of CPU time, with those of its children."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


def run_ctest(preset):
    build = os.path.join(ROOT, "build", preset)
    log = os.path.join(build, "Testing", "Temporary", "LastTest.log")
    if os.path.exists(log):
        os.unlink(log)
    process = subprocess.Popen(["ctest", "--test-dir", build, "--output-on-failure", "--timeout", "300"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    printed = process.stdout.read()
    status, used = end(process)
    print(printed.rstrip())
    text = open(log, errors="replace").read() if os.path.exists(log) else ""
    passed = sum(int(n) for n in re.findall(r"^\[  PASSED  \] (\d+) tests?\.", text, re.M))
    failed = sum(int(n) for n in re.findall(r"^\[  FAILED  \] (\d+) tests?, listed below", text, re.M))
    skipped = sum(int(n) for n in re.findall(r"^\[  SKIPPED \] (\d+) tests?, listed below", text, re.M))
    # A program that crashed or did not build says nothing itself: CTest's own count is the least.
    programs = re.search(r"(\d+) tests failed out of", printed)
    failed = max(failed, int(programs.group(1)) if programs else 0, 1 if status else 0)
    FAILURES.extend(("ctest", [line]) for line in re.findall(r"^.*\(Failed\)$|^\[  FAILED  \] .*|^.*\(Timeout\)$", printed, re.M))
    if passed + failed == 0:
        failed = 1  # no tests at all is not success
    return (passed, failed, skipped), used


def start_script(path, acu, output, arguments=()):
    return subprocess.Popen([sys.executable, os.path.join(ROOT, "test", path), acu, *arguments],
                            stdout=output, stderr=subprocess.STDOUT, text=True, errors="replace")


def read_script(path, lines):
    """Prints what it prints. Its counts, or None."""
    counts, unsteady, failure = None, 0, None
    for line in lines:
        sys.stdout.write(line)
        sys.stdout.flush()
        unsteady += line.startswith("unsteady ")
        if line.startswith("FAILED "):
            failure = []
            FAILURES.append((path, failure))
        elif not line.startswith(" "):
            failure = None
        if failure is not None and len(failure) < TOLD_AT_MOST:
            failure.append(line.rstrip("\n"))
        found = SUMMARY.match(line.strip())
        if found:
            counts = tuple(int(n) for n in found.groups())
    if unsteady:
        UNSTEADY.append(f"{path}: {unsteady}")
    return counts


def pass_alone(suite, acu):
    """How many of the few cases of a suite that failed pass now that nothing else runs; what is known of these is taken out of the failures."""
    path = SUITES[suite]
    failed = [lines for where, lines in FAILURES if where == path]
    if not path or suite in NOT_IN_PARTS or len(failed) > ALONE_AT_MOST:
        return 0
    passed = 0
    for lines in failed:
        name = re.sub(r" \(twice\)$", "", lines[0].removeprefix("FAILED "))
        print(f"== {suite}, alone: {name}", flush=True)
        process = start_script(path, acu, subprocess.PIPE, arguments=("--filter", name))
        known = len(FAILURES)
        counts = read_script(path, process.stdout)
        status, _ = end(process)
        del FAILURES[known:]
        if status == 0 and counts and counts[0] and not counts[1]:
            FAILURES.remove((path, lines))
            UNSTEADY.append(f"{path}: {name}, passed when nothing else ran")
            passed += 1
    return passed


def judged(counts, status):
    if counts is None:
        return 0, 1, 0
    if status != 0 and counts[1] == 0:
        return counts[0], 1, counts[2]
    return counts


def run_beside(path, acu):
    """What a suite printed, its exit status, its seconds and those of CPU time."""
    output = tempfile.TemporaryFile("w+", errors="replace")
    begin = time.monotonic()
    status, used = end(start_script(path, acu, output))
    output.seek(0)
    return output, status, time.monotonic() - begin, used


def run_script(path, acu):
    """Its results, and its seconds of CPU time; what it prints is printed at once."""
    process = start_script(path, acu, subprocess.PIPE)
    counts = read_script(path, process.stdout)
    status, used = end(process)
    return judged(counts, status), used


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
    "trace_context": "trace_context/run.py",
    "linkers": "stacks/linkers.py",
    "python": "languages/python.py",
    "python_values": "languages/python_values.py",
    "php": "languages/php.py",
    "perl": "languages/perl.py",
    "lua": "languages/lua.py",
    "java": "languages/java.py",
    "ruby": "languages/ruby.py",
    "node": "languages/node.py",
    "go": "languages/go.py",
    "names": "names/run.py",
    "trace": "trace/run.py",
    "stat": "stat/run.py",
    "slow": "slow/run.py",
    "waits": "waits/run.py",
    "recorder": "recorder/run.py",
    "timeline": "timeline/run.py",
    "sql": "sql/run.py",
    "mcp": "mcp/run.py",
    "console": "console/run.py",
    "serve": "serve/run.py",
    "access": "serve/access.py",
    "push": "serve/push.py",
    "export_maps": "serve/export.py",
    "fleet": "fleet/run.py",
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
    "policy": "policy/run.py",
    "budget": "budget/run.py",
    "capabilities": "capabilities/run.py",
    "leftovers": "leftovers.py",
    "faults": "faults/run.py",
    "kernels": "kernels/run.py",
    "speculation": "speculation/run.py",
    "include_order": "include_order.py",
}
# What runs beside the other suites, one after the other in each line: what works in a virtual machine, on one emulated processor;
# what waits more than it works, and looks at its own processes alone.
BESIDE = (
    ("kernels",),
    ("docs", "console", "emit_debuggers", "core", "graph", "dropin", "linkers", "php", "perl", "ruby", "java", "user", "export_maps", "emit", "emit_kernel", "exports", "timeline",
     "mcp", "names", "python_values", "sql", "dlang", "stap", "own_tools", "diagnostics", "arguments", "cli"),
    ("process_instruments", "fleet", "push", "access", "go", "learn", "odd_names"),
)
# They look at what the whole host does, or count what the kernel has, and begin when those beside are done, but for the virtual machines.
LAST = ("tools", "one_liners", "leftovers", "faults", "capabilities")


def in_order(names):
    """Those that others run beside, those beside, the last ones."""
    beside = [name for line in BESIDE for name in line]
    machines = BESIDE[0]
    place = lambda name: 3 if name in machines else 2 if name in LAST else 1 if name in beside else 0
    return sorted(names, key=place)


def main():
    arguments = sys.argv[1:]
    only = None
    if "--only" in arguments:
        at = arguments.index("--only")
        only = arguments[at + 1].split(",")
        del arguments[at:at + 2]
    if unknown := set(only or ()) - set(SUITES):
        sys.exit(f"run_all.py: no such suite: {', '.join(sorted(unknown))}")
    preset = arguments[0] if arguments else "release"
    acu = os.path.join(ROOT, "build", preset, "acu")
    summary = []
    suites = in_order([name for name in SUITES if not only or name in only])
    beside = {}
    for line in BESIDE:
        pool = concurrent.futures.ThreadPoolExecutor(1)
        beside |= {name: pool.submit(run_beside, SUITES[name], acu) for name in line if name in suites}
    for name in suites:
        print(f"== {name}", flush=True)
        begin = time.monotonic()
        if name in beside:
            output, status, seconds, used = beside[name].result()
            counts = judged(read_script(SUITES[name], output), status)
        else:
            counts, used = run_script(SUITES[name], acu) if SUITES[name] else run_ctest(preset)
            seconds = time.monotonic() - begin
        summary.append([name, *counts, seconds, used])
    for line in summary:
        if line[2]:
            passed = pass_alone(line[0], acu)
            line[1] += passed
            line[2] -= passed
    total = [sum(line[i] for line in summary) for i in (1, 2, 3)]
    print("==")
    for line in summary:
        print("%-14s %5d passed %4d failed %4d skipped %5.0f s, %5.0f s of CPU time" % tuple(line))
    for suite, lines in FAILURES:
        print(f"in {suite}: " + "\n".join(lines))
    if UNSTEADY:
        print("unsteady, counted as passed: " + ", ".join(UNSTEADY))
    if failed := [f"{name}: {line[1]}" for name, *line in summary if line[1]]:
        print("failed: " + ", ".join(failed))
    print("%d passed, %d failed, %d skipped" % tuple(total))
    return 1 if total[1] else 0


sys.exit(main())
