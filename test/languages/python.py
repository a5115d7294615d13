#!/usr/bin/env python3
"""Frames of CPython in user stacks: python.py ACU [--filter TEXT]

Each Python that is found (the system's, those of version managers) runs seeded.py (common.py).
Last line: `N passed, N failed, N skipped`.
"""
import functools
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from common import TRIGGERS, check_seeded
from tally import Skipped, run_tests, take_filter

VERSIONS = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"]
PLACES = ["/usr/bin/python{}", "/usr/local/bin/python{}", "/root/.pyenv/versions/{}.*/bin/python{}"]
COUNTS = {"getppid": 2000, "uprobe": 2000, "sleep": 1000, "spin": 400}


@functools.cache
def interpreter(version):
    for place in PLACES:
        for path in sorted(glob.glob(place.replace("{}", version))):
            done = subprocess.run([path, "-c", "import ctypes, json, asyncio"], capture_output=True)
            if done.returncode == 0:
                return path
    raise Skipped(f"there is no python{version} here")


def seeded(version, script, how, *way):
    def test(acu):
        count = COUNTS[script] // (4 if way else 1)
        return check_seeded(acu, [interpreter(version), os.path.join(HERE, "seeded.py"), "FOLDER", "7", str(count), TRIGGERS.get(script, script), *way], script, how,
                            count // 2 if script == "spin" else count)
    return test


def tests():
    for version in VERSIONS:
        for script in COUNTS:
            for how in ("before", "after"):
                yield f"{version} {script}, attached {how} it starts", seeded(version, script, how)
        yield f"{version} threads", seeded(version, "getppid", "before", "threads", "4")
        yield f"{version} threads that wait for each other", seeded(version, "spin", "after", "threads", "4")
        yield f"{version} forked workers", seeded(version, "getppid", "before", "fork", "4")
        yield f"{version} event loop", seeded(version, "sleep", "before", "loop")


if __name__ == "__main__":
    only = take_filter(sys.argv)
    sys.exit(run_tests([(name, test) for name, test in tests() if only in name], os.path.abspath(sys.argv[1]), tells_reason=False))
