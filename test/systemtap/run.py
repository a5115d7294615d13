#!/usr/bin/env python3
"""Scripts in SystemTap itself, on Debian's kernel 6.1 in a virtual machine: run.py ACU [--filter PART]

- emitted: each script of test/emit/run_kernel.py, written by `acu emit --to stap`, prints what `acu run` prints of the same load there.
- tools: SystemTap finds nothing wrong with acu's tools as emitted.
- cases: what the scripts of test/stap/cases.py are said to print is what they print.

Each script is a module that takes SystemTap some 20 seconds to make (modules.py keeps them), so this is part of `make test-long`.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [TESTS, os.path.join(TESTS, "emit"), os.path.join(TESTS, "stap")]
import modules
import run_kernel
from cases import CASES
from packages import Missing
from tally import Skipped, need, run_suite

TMP = os.path.join(os.path.dirname(TESTS), "build", "systemtap")  # always the same: modules have the load's path in them
LOAD = os.path.join(TMP, "emitload")
# Lines of acu that SystemTap prints otherwise, and why.
OTHERWISE = {
    r"^@div\[.*": None,                   # acu divides as numbers without a sign, with a warning
    r"^(0 +0\|0 +\|0 )0x0": r"\g<1>0",     # `%#x` of 0
    r"^@fine:\n(?:(?!@).*\n)+": None,        # one bucket for each power of two
}
NO_DEBUG_INFORMATION = "kernel/module debuginfo"
SECONDS = 60  # for one run in the virtual machine

# Runs in the machine: each module, and the script that it was made of where there is one.
INSIDE = """
import json, subprocess, sys
folder = sys.argv[1]
for name, module, acu in json.load(open(folder + "/wanted")):
    said = {}
    for engine, words in (("systemtap", ["staprun", "-c", folder + "/emitload 2>/dev/null", folder + "/" + module]), ("acu", acu)):
        if words:
            try:
                done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=SECONDS)
                said[engine] = [done.returncode, done.stdout, done.stderr]
            except subprocess.TimeoutExpired:
                said[engine] = [124, "", "did not end"]
    json.dump(said, open(folder + "/" + name + ".said", "w"))
"""


def emitted(acu):
    """Name -> (what SystemTap is given, or why it is not, what acu is given)."""
    out = {}
    subprocess.run(["gcc", "-g", "-O1", "-o", LOAD, os.path.join(TESTS, "emit/kernel_load.c")], check=True)
    for name, script in {**run_kernel.SCRIPTS, **run_kernel.LIBBPF_ONLY}.items():
        text = run_kernel.text_of(script).replace(run_kernel.LOAD, LOAD)
        done = run_kernel.call(acu, "emit", "--to", "stap", "--no-warnings", "-e", text)
        out["emitted_" + name] = (done.stdout if done.returncode == 0 else None, done.stderr, [acu, "run", "-q", "-e", text, "-c", LOAD])
    return out


def prepare(acu, only):
    """Runs all in one machine; name -> what each printed, or why it has not run."""
    wanted = emitted(acu)
    wanted |= {"case_" + re.sub(r"\W", "_", name): (script, "", None) for name, script, expected in CASES if expected is not None}
    for name in ACU_FORM:
        wanted.pop(name)
    wanted = {name: parts for name, parts in wanted.items() if only in name}
    said, runs = {}, []
    for name, (script, why, words) in wanted.items():
        if script is None:
            said[name] = "acu emit: " + why
            continue
        path, why = modules.module(script)
        if path is None:
            said[name] = f"SystemTap does not compile it:\n{why}\n{script}"
            continue
        shutil.copy(path, TMP)
        runs.append((name, os.path.basename(path), words))
    with open(os.path.join(TMP, "wanted"), "w") as file:
        json.dump(runs, file)
    with open(os.path.join(TMP, "inside.py"), "w") as file:
        file.write(INSIDE.replace("SECONDS", str(SECONDS)))
    if not runs:
        return said
    subprocess.run([sys.executable, os.path.join(TESTS, "kernels/vm.py"), "--timeout", str(60 + 30 * len(runs)), "--writable", TMP, modules.KERNEL, "--",
                    "/usr/bin/python3", TMP + "/inside.py", TMP], check=False)
    for name, *_ in runs:
        path = os.path.join(TMP, name + ".said")
        said[name] = json.load(open(path)) if os.path.exists(path) else "the machine ended before"
    return said


BUCKETS = (re.compile(r"^\[(\w+)[],].* (\d+) \|.*\|$"), re.compile(r"^ *(-?\d+) \|@* +(\d+)$"))


def bucket(line):
    """The lower bound and the number of a line of a histogram, in either layout."""
    for layout in BUCKETS:
        if found := layout.match(line):
            bound = re.fullmatch(r"(\d+)([KMG]?)", found[1])
            return f"{int(bound[1]) << ' KMG'.index(bound[2] or ' ') * 10} {found[2]}"
    return line


# Cases whose output has the form that acu gives to maps.
ACU_FORM = ("case_unread", "case_log_histogram")
# Tools that SystemTap does not take here, and why.
OLDER = "Linux 6.1 lacks the tracepoint, or a value of it"
PRIVATE = "no header of the kernel has the structure: its debug information is needed"
NOT_TAKEN = {"biocgroup": OLDER, "biotop": OLDER, "filelife": OLDER, "redis-forks": OLDER, "shortlived": OLDER, "udptop": OLDER, "cgroupcpu": PRIVATE, "runqlen": PRIVATE, "slabgrowth": PRIVATE,
             "pthreadlocks": "SystemTap knows libc's functions by their first names", "threadsnoop": "SystemTap knows libc's functions by their first names"}


def tool(path):
    name = os.path.basename(path)[:-len(".bt")]

    def test(acu):
        done = run_kernel.call(acu, "emit", "--to", "stap", "--no-warnings", path)
        if done.returncode:
            raise Skipped("it is not carried over to SystemTap, or not compiled here")
        if name in NOT_TAKEN:
            raise Skipped(NOT_TAKEN[name])
        wrong = modules.mistakes(done.stdout)
        need(not wrong, wrong)

    test.__name__ = "tool_" + name
    return test


def lines_of(text):
    """Sorted: entries with equal values come in any order. Without empty lines and empty buckets."""
    for pattern, other in OTHERWISE.items():
        text = re.sub(pattern, other or "", text, flags=re.M)
    lines = (bucket(line.rstrip()) for line in text.split("\n") if line.strip() and not line.lstrip().startswith("value |"))
    return sorted(line for line in lines if not re.fullmatch(r"\d+ 0", line))


def case(name, said, expected):
    def test():
        if NO_DEBUG_INFORMATION in said:
            raise Skipped("debug information of the kernel is not fetched (a gigabyte)")
        need(not isinstance(said, str), said)
        status, printed, wrong = said["systemtap"]
        need(status == 0, f"SystemTap: {wrong}")
        wanted = expected
        if wanted is None:
            need(said["acu"][0] == 0, f"acu: {said['acu'][2]}")
            wanted = said["acu"][1]
        need(lines_of(printed) == lines_of(wanted), f"SystemTap:\n{printed}{wrong}\nexpected:\n{wanted}")

    test.__name__ = name
    return test


def main():
    acu = os.path.abspath(sys.argv[1])
    os.makedirs(TMP, exist_ok=True)
    only = sys.argv[sys.argv.index("--filter") + 1] if "--filter" in sys.argv else ""
    expected = {"case_" + re.sub(r"\W", "_", name): text for name, _, text in CASES}
    try:
        said = prepare(acu, only)
    except Missing as missing:
        shutil.rmtree(TMP, ignore_errors=True)
        print(f"skipped 1: {missing}\n0 passed, 0 failed, 1 skipped")
        return 0
    tools = sorted(glob.glob(os.path.join(os.path.dirname(TESTS), "tools", "*.bt")))
    return run_suite([case(name, value, expected.get(name)) for name, value in said.items()] + [tool(path) for path in tools], TMP)


if __name__ == "__main__":
    sys.exit(main())
