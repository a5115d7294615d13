#!/usr/bin/env python3
"""Frames of CPython in user stacks: python.py ACU [--filter TEXT] [--all] [--python VERSION=PATH]

Each Python that is found (the system's, those of version managers) runs seeded.py (common.py); all cases with --all, else only the system's
version does. With --python, only that one does: it may be of another root.
Last line: `N passed, N failed, N skipped`.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from common import COUNTS, EVERY, LIMIT, PYTHONS, TRIGGERS, acu_run, check_seeded, check_shares, interpreter
from tally import SLOWNESS, Skipped, need, run_tests, take_filter

SHAPES = os.path.join(HERE, "shapes.py")
TMP = tempfile.mkdtemp(prefix="acu-languages-")

SYSTEM = "3.11"
VERSIONS = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"]


def seeded(version, script, how, *way):
    def test(acu):
        count = COUNTS[script] // (4 if way else 1)
        return check_seeded(acu, [interpreter(version), os.path.join(HERE, "seeded.py"), "FOLDER", "7", str(count), TRIGGERS.get(script, script), *way], script, how,
                            count // 2 if script == "spin" else count)
    return test


def has_shares(version):
    def test(acu):
        return check_shares(acu, [interpreter(version), SHAPES, "shares", "4"], {70: "seventy_[py]", 20: "twenty_[py]", 10: "ten_[py]"}, "shares_[py]")
    return test


GETPPID = "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ {{ printf(\"%s\\n\", ustack({})); }}"


def is_cut(version):
    def test(acu):
        """Of a recursion 2,000 deep the innermost 500 are shown, and it is counted."""
        done = acu_run(acu, "run", "-v", "-e", GETPPID.format(1000), "-c", f"{interpreter(version)} {SHAPES} deep 2000")
        frames = re.findall(r"^\s+descend .*shapes.py:(\d+)$", done.stdout, re.M)
        need(len(frames) == 500, f"{len(frames)} frames are shown, expected 500")
        need("more than 500 frames 1" in done.stderr, f"it is not counted: {done.stderr}")
    return test


def equal_stacks_are_one(version):
    def test(acu):
        """Samples within one line differ in the instruction, which is not shown: a map has each stack once."""
        text = acu_run(acu, "run", "-q", "-c", f"{interpreter(version)} {SHAPES} line 1", "-e", "profile:hz:499 /pid == cpid/ { @[ustack] = count() }").stdout
        stacks = re.findall(r"@\[\n(.*?)\n\]:", text, re.S)
        need(len(stacks) > 5 and len(set(stacks)) == len(stacks), f"{len(stacks)} stacks, {len(set(stacks))} of them different")
        need(any(stack.lstrip().startswith("line ") for stack in stacks), f"no sample in the line itself: {stacks[:3]}")
    return test


def ends_in_a_circle(version, previous):
    def test(acu):
        done = acu_run(acu, "run", "-v", "-e", GETPPID.format(1000), "-c", f"{interpreter(version)} {SHAPES} circle {previous}")
        frames = re.findall(r"^\s+circle .*shapes.py:(\d+)$", done.stdout, re.M)
        need(len(frames) == 500 and "more than 500 frames 1" in done.stderr, f"{len(frames)} frames: {done.stderr[-400:]}")
    return test


def waiting(words, then):
    """Starts the program that waits in a known stack; what `then` gives for its process, and the stack."""
    path = os.path.join(TMP, "frames")
    program = subprocess.Popen([*words, SHAPES, "waits", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        need(program.stdout.readline() == "ready\n", "the program is not ready")
        time.sleep(0.05 * SLOWNESS)  # it reads
        found = then(program.pid)
    finally:
        program.kill()
        program.wait()
    with open(path) as f:
        return found, [tuple(line.rstrip("\n").split("|")) for line in f]


def check_summary(acu_json, stack):
    """The first thread's language frames against what the program wrote; where it waits it has gone on to another line."""
    frames = [f for f in json.loads(acu_json)["stacks"][0]["frames"] if f.get("kind") == "python"]
    found = [(f["function"], *f["place"].rsplit(":", 1)) for f in frames]
    need([f[:2] for f in found] == [f[:2] for f in stack] and found[1:] == stack[1:], f"{found}, expected {stack}")


def fights(version):
    def test(acu):
        """The wait of two threads for the interpreter's lock is within 3% of what they measure, and who released it is shown."""
        path = os.path.join(TMP, "gil.folded")
        done = acu_run(acu, "flame", "gil", "--exact", "-q", "-o", path, "--", interpreter(version), SHAPES, "gil", str(6 * SLOWNESS))
        measured, total, released = float(done.stdout), 0, {"adds": 0, "multiplies": 0}
        for line in open(path):
            stack, weight = line.rsplit(" ", 1)
            waiter, _, releaser = stack.partition(";[waits for the GIL, released by")
            total += int(weight) if "fight_[py]" in waiter else 0
            for name, other in (("adds", "multiplies"), ("multiplies", "adds")):
                released[other] += int(weight) if f"{name}_[py]" in waiter and f"{other}_[py]" in releaser else 0
        need(abs(total / 1e9 / measured - 1) <= 0.03, f"{total / 1e9:.3f} s, measured {measured:.3f} s")
        need(min(released.values()) > total / 4, f"released by {released} of {total} ns")
        return f"{total / 1e9:.3f} s of {measured:.3f} s"
    return test


def stopped(version):
    def test(acu):
        text, stack = waiting([interpreter(version)], lambda pid: acu_run(acu, "snap", "--json", "-p", str(pid)).stdout)
        check_summary(text, stack)
    return test


def dumped(version):
    def test(acu):
        core = os.path.join(TMP, "core")

        def dump(pid):
            subprocess.run(["gcore", "-o", core, str(pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT)
            return acu_run(acu, "core", f"{core}.{pid}", "--json").stdout
        if not shutil.which("gcore"):
            raise Skipped("there is no gcore here")
        text, stack = waiting([interpreter(version)], dump)
        check_summary(text, stack)
    return test


def deleted_program(acu):
    """Attached after the interpreter was removed, as by an upgrade."""
    path = os.path.join(TMP, "python")
    shutil.copy(os.path.realpath("/usr/bin/python3"), path)

    def trace(pid):
        os.remove(path)
        return acu_run(acu, "run", "-q", "-p", str(pid), "-e", f"profile:hz:99 {{ @[ustack] = count() }} interval:ms:300 {{ exit() }}").stdout
    program = subprocess.Popen([path, SHAPES, "shares", "5"])
    try:
        time.sleep(0.3 * SLOWNESS)
        text = trace(program.pid)
    finally:
        program.kill()
        program.wait()
    need("seventy " + SHAPES in text, f"no frames: {text[:600]}")


def unknown_layout(acu):
    """A Python whose layout is not known is named, and its frames stay native."""
    found = glob.glob(os.path.expanduser("~/.pyenv/versions/3.7.*/bin/python3.7"))
    if not found:
        raise Skipped("there is no python3.7 here")
    done = acu_run(acu, "run", "-v", "-c", f"{found[0]} {SHAPES} shares 0.3", "-e", "profile:hz:99 /pid == cpid/ { @[ustack] = count() }")
    need("CPython 3.7." in done.stderr and "layout not known" in done.stderr and "_PyEval_EvalFrameDefault" in done.stdout, done.stderr)


def take_given(arguments):
    """The version of --python, whose path is then the only one that is looked at."""
    if "--python" not in arguments:
        return None
    at = arguments.index("--python")
    version, PYTHONS[:] = arguments[at + 1].split("=")[0], [arguments[at + 1].split("=")[1]]
    del arguments[at:at + 2]
    return version


def tests(given):
    if not given:
        for version, previous in (("3.11", 48), ("3.12", 8), ("3.13", 8)):
            yield f"{version} frames in a circle", ends_in_a_circle(version, previous)
        yield f"{SYSTEM} equal stacks", equal_stacks_are_one(SYSTEM)
        yield "deleted program", deleted_program
        yield "unknown layout", unknown_layout
    versions = [given] if given else VERSIONS
    for version in versions if EVERY or given else [SYSTEM]:
        yield f"{version} shares", has_shares(version)
        yield f"{version} deep", is_cut(version)
        yield f"{version} gil", fights(version)
        yield f"{version} stopped", stopped(version)
        yield f"{version} dumped", dumped(version)
    for version in versions:
        for script in COUNTS:
            for how in ("before", "after"):
                if given and (script, how) == ("uprobe", "before"):
                    continue  # in another root it is another libc
                if EVERY or given or version == SYSTEM or (script, how) in (("getppid", "before"), ("spin", "after")):
                    yield f"{version} {script}, attached {how} it starts", seeded(version, script, how)
    for version in versions if EVERY or given else [SYSTEM]:
        yield f"{version} threads", seeded(version, "getppid", "before", "threads", "4")
        yield f"{version} threads that wait for each other", seeded(version, "spin", "after", "threads", "4")
        yield f"{version} forked workers", seeded(version, "getppid", "before", "fork", "4")
        yield f"{version} event loop", seeded(version, "sleep", "before", "loop")


if __name__ == "__main__":
    only, given = take_filter(sys.argv), take_given(sys.argv)
    try:
        sys.exit(run_tests([(name, test) for name, test in tests(given) if only in name], os.path.abspath(sys.argv[1]), tells_reason=False))
    finally:
        shutil.rmtree(TMP, ignore_errors=True)
