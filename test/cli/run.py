#!/usr/bin/env python3
"""Runs test/cli/*.case: run.py ACU [--filter TEXT]

A case is lines of `KEY: value`; other lines are comments. RUN is given to /bin/sh in an empty folder, with the
program under test as `acu`; what it must print is told as in test/runtime (EXPECT, EXPECT_REGEX, EXPECT_SOME,
EXPECT_NOT, EXPECT_STDERR, EXPECT_NO_STDERR, BLANKS, STATUS, NEEDS). Cases that attach probes need root.

  RUN: acu -l 'software:*'
  EXPECT_SOME: ^software:page-faults:$

Last line: `N passed, N failed, N skipped`.
"""
import concurrent.futures
import glob
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import take_filter

LINE = re.compile(r"^([A-Z_]+):(?: (.*))?$")


def load_judge():
    """What test/runtime/run.py says of an output."""
    spec = importlib.util.spec_from_file_location("runtime_cases", os.path.join(os.path.dirname(HERE), "runtime", "run.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


JUDGE = load_judge()


class Case:
    def __init__(self, path):
        self.name = os.path.basename(path)[:-len(".case")]
        self.one, self.many, self.lines = {}, {}, []
        for line in open(path):
            found = LINE.match(line.rstrip("\n"))
            if not found:
                continue
            key, value = found.group(1), found.group(2) or ""
            if key in JUDGE.LINE_KINDS:
                self.lines.append((key, value))
            else:
                self.one[key] = value
                self.many.setdefault(key, []).append(value)


def run(acu, case):
    with tempfile.TemporaryDirectory(prefix="acu-cli-") as folder:
        programs = os.path.join(folder, "bin")
        os.mkdir(programs)
        os.symlink(acu, os.path.join(programs, "acu"))
        environment = dict(os.environ, PATH=programs + ":" + os.environ["PATH"], TZ="UTC", LC_ALL="C.UTF-8")
        script = "\n".join(case.many.get("RUN", []))
        try:
            done = subprocess.run(["/bin/sh", "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
                                  errors="replace", timeout=20, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return ["timed out"]
    return JUDGE.judge(case, done.stdout, done.stderr, done.returncode)


def main():
    arguments = sys.argv[1:]
    only = take_filter(arguments)
    acu = os.path.abspath(arguments[0])
    if not os.access(acu, os.X_OK):
        print(f"cli: no program {acu}")
        print("0 passed, 1 failed, 0 skipped")
        return 1
    cases, skipped = [], 0
    for path in sorted(glob.glob(os.path.join(HERE, "*.case"))):
        case = Case(path)
        if only not in case.name:
            continue
        if any(not os.path.exists(p) for p in case.many.get("NEEDS", [])):
            skipped += 1
        elif "root" in case.many.get("AS", []) and os.geteuid() != 0:
            skipped += 1
        else:
            cases.append(case)
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, wrong in zip(cases, pool.map(lambda c: run(acu, c), cases)):
            if wrong:
                failed += 1
                print(f"FAILED {case.name}")
                print("\n".join("  " + line for line in wrong), flush=True)
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


sys.exit(main())
