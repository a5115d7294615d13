#!/usr/bin/env python3
"""Frames of Perl in user stacks: perl.py ACU [--filter TEXT] [--perl PATH]…

The system's Perl and those of version managers run seeded.pl (common.py), and each given PATH does.
Last line: `N passed, N failed, N skipped`.
"""
import functools
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from common import COUNTS, LIMIT, TRIGGERS, check_seeded
from tally import Skipped, need, run_tests, take_filter

SYSTEM = "/usr/bin/perl"
PLACES = ["/root/perl5/perlbrew/perls/*/bin/perl", "/root/.plenv/versions/*/bin/perl", "/usr/local/bin/perl"]


@functools.cache
def answer(perl, code, module="strict"):
    done = subprocess.run([perl, f"-M{module}", "-e", f"print {code}"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def seeded(perl, script, how, *way):
    def test(acu):
        if not answer(perl, "1", "List::Util"):
            raise Skipped(f"there is no {perl} with List::Util here")
        if "threads" in way and not answer(perl, "1", "threads"):
            raise Skipped(f"{perl} has no threads")
        count = COUNTS[script] // (4 if way else 1)
        command = [perl, os.path.join(HERE, "seeded.pl"), "FOLDER", "7", str(count), TRIGGERS.get(script, script), *way]
        return check_seeded(acu, command, script, how, count // 2 if script == "spin" else count)
    return test


def is_cut(acu):
    """Of a recursion 2,000 deep the innermost 500 are shown, and it is counted."""
    code = "sub f { my $n = shift; return $n ? f($n - 1) : getppid() } f(2000)"
    done = subprocess.run([acu, "run", "-v", "-e", "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack(1000)); }", "-c", f"{SYSTEM} -e '{code}'"],
                          capture_output=True, text=True, timeout=LIMIT)
    frames = re.findall(r"^\s+main::f -e:1$", done.stdout, re.M)
    need(len(frames) == 500 and "more than 500 frames 1" in done.stderr, f"{len(frames)} frames: {done.stderr[-400:]}")


def replaces_evaluation(acu):
    """Frames are where the evaluation function is, on top of what calls it."""
    code = "use List::Util q(first); first { getppid() } 1"
    done = subprocess.run([acu, "run", "-q", "-e", "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack); }", "-c", f"{SYSTEM} -e '{code}'"],
                          capture_output=True, text=True, timeout=LIMIT)
    names = [line.split()[0].split("+")[0] for line in done.stdout.split("\n") if line.startswith(" ")]
    at = names.index("main::__ANON__") if "main::__ANON__" in names else 0
    need(at and names[at + 1:at + 3] == ["XS_List__Util_first", "(main)"] and not any("runops" in n for n in names), f"{names}: {done.stderr[-400:]}")


def tests():
    given = [sys.argv[i + 1] for i, word in enumerate(sys.argv[:-1]) if word == "--perl"]
    perls = [SYSTEM, *given, *(path for place in PLACES for path in sorted(glob.glob(place)))]
    yield "deep", is_cut
    yield "places", replaces_evaluation
    for perl in perls:
        name = f"Perl {answer(perl, 'substr $^V, 1') or 'of ' + perl}{'' if perl == SYSTEM else ' ' + perl}"
        for script in COUNTS:
            for how in ("before", "after"):
                if perl == SYSTEM or (script, how) in (("getppid", "before"), ("spin", "after")):
                    yield f"{name} {script}, attached {how} it starts", seeded(perl, script, how)
        yield f"{name} threads", seeded(perl, "getppid", "before", "threads", "4")
        yield f"{name} forked workers", seeded(perl, "getppid", "before", "fork", "4")


if __name__ == "__main__":
    only = take_filter(sys.argv)
    sys.exit(run_tests([(name, test) for name, test in tests() if only in name], os.path.abspath(sys.argv[1]), tells_reason=False))
