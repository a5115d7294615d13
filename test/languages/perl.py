#!/usr/bin/env python3
"""Frames of Perl in user stacks: perl.py ACU [--filter TEXT] [--perl PATH]…

The system's Perl and those of version managers run seeded.pl (common.py), and each given PATH does.
Last line: `N passed, N failed, N skipped`.
"""
import functools
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from common import COUNTS, EVERY, LANGUAGE_FRAME, LIMIT, STOPS, TRIGGERS, check_seeded, check_shares, check_stopped
from tally import Skipped, need, run_tests, take_filter

SYSTEM = "/usr/bin/perl"
PLACES = [os.path.expanduser("~/perl5/perlbrew/perls/*/bin/perl"), os.path.expanduser("~/.plenv/versions/*/bin/perl"), "/usr/local/bin/perl"]


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


def stopped(perl, how):
    def test(acu):
        if not answer(perl, "1", "List::Util"):
            raise Skipped(f"there is no {perl} with List::Util here")
        return check_stopped(acu, [perl, os.path.join(HERE, "seeded.pl"), "FOLDER", "7", str(STOPS[how]), "ask"], how, STOPS[how])
    return test


def has_shares(perl):
    def test(acu):
        if not answer(perl, "1", "Time::HiRes"):
            raise Skipped(f"there is no {perl} with Time::HiRes here")
        frames = {70: "main::seventy_[pl]", 20: "main::twenty_[pl]", 10: "main::ten_[pl]"}
        return check_shares(acu, [perl, os.path.join(HERE, "shapes.pl"), "shares", "4"], frames, "main::shares_[pl]")
    return test


def is_cut(acu):
    """Of a recursion 2,000 deep the innermost 500 are shown, and it is counted."""
    code = "select(undef, undef, undef, 0.2); sub f { my $n = shift; return $n ? f($n - 1) : getppid() } f(2000)"
    done = subprocess.run([acu, "run", "-v", "-e", "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack(1000)); }", "-c", f"{SYSTEM} -e '{code}'"],
                          capture_output=True, text=True, timeout=LIMIT)
    frames = re.findall(r"^\s+main::f -e:1$", done.stdout, re.M)
    need(len(frames) == 500 and "more than 500 frames 1" in done.stderr, f"{len(frames)} frames: {done.stderr[-400:]}")


def under_another_name(acu):
    """Nothing tells that this is a Perl before the process is met: only then its walker is loaded."""
    with tempfile.TemporaryDirectory(prefix="acu-languages-") as folder:
        os.chmod(folder, 0o755)
        return seeded(shutil.copy(SYSTEM, os.path.join(folder, "server")), "getppid", "after")(acu)


def maps_stay(acu):
    """A program is loaded anew when the first Perl is met, and goes on with the same maps. A histogram of many buckets has two, as counters have."""
    code = "select(undef, undef, undef, 0.5); open(F, '/dev/zero'); sysseek(F, 1 << $_, 0) for 0 .. 11"
    script = ('tracepoint:syscalls:sys_enter_lseek /comm == "server" && args.offset > 0/ { @sizes["x"] = hist(args.offset); @calls["x"] = count(); @by[ustack(3)] = count(); }')
    with tempfile.TemporaryDirectory(prefix="acu-languages-") as folder:
        server = shutil.copy(SYSTEM, os.path.join(folder, "server"))
        done = subprocess.run([acu, "run", "-q", "-e", script, "-c", f'{server} -e "{code}"'], capture_output=True, text=True, timeout=LIMIT)
    counts = [int(n) for n in re.findall(r"^\[.*\)? +(\d+) \|", done.stdout, re.M)]
    need("@calls[x]: 12\n" in done.stdout and sum(counts) == 12 and len([n for n in counts if n]) == 12, done.stdout + done.stderr)
    need("(main) -e:1" in done.stdout, f"no frames of Perl: {done.stdout}")


def has_places(perl):
    def test(acu):
        """Each function in C that calls Perl is on top of the sub that called it, and no evaluation function is left."""
        if not answer(perl, "1", "List::Util"):
            raise Skipped(f"there is no {perl} with List::Util here")
        callers = ["main::by_first", "main::by_reduce", "main::by_any", "main::by_sum", "main::by_pairs"]
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/stacks")
            done = subprocess.run([acu, "run", "-q", "-B", "full", "-e", "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack(500)); }", "-c",
                                   f"{perl} {os.path.join(HERE, 'seeded.pl')} {folder}/stacks 11 1000 getppid"], capture_output=True, text=True, timeout=LIMIT)
        stacks = [[line for line in text.split("\n") if line.strip()] for text in done.stdout.split("\n\n")]
        stacks = [stack for stack in stacks if any(LANGUAGE_FRAME.match(line) for line in stack)]
        right = [not LANGUAGE_FRAME.match(stack[i - 1]) for stack in stacks for i, line in enumerate(stack) if line.split()[0] in callers]
        need(len(stacks) >= 950 and len(right) > 500 and all(right), f"{sum(right)} of {len(right)} are in their place, {len(stacks)} stacks: {done.stderr[-400:]}")
        need(not re.search("_runops_", "".join(line for stack in stacks for line in stack)), "an evaluation function is shown")
        return f"{sum(right)} of {len(right)} functions in C are in their place"
    return test


def tests():
    given = [sys.argv[i + 1] for i, word in enumerate(sys.argv[:-1]) if word == "--perl"]
    perls = [SYSTEM, *given, *(path for place in PLACES for path in sorted(glob.glob(place)))]
    yield "deep", is_cut
    yield "under another name", under_another_name
    yield "maps stay", maps_stay
    for perl in perls:
        name = f"Perl {answer(perl, 'substr $^V, 1') or 'of ' + perl}{'' if perl == SYSTEM else ' ' + perl}"
        for script in COUNTS:
            for how in ("before", "after"):
                if perl != SYSTEM and (script, how) == ("uprobe", "before"):
                    continue  # in another root it is another libc
                if EVERY or perl == SYSTEM or (script, how) in (("getppid", "before"), ("spin", "after")):
                    yield f"{name} {script}, attached {how} it starts", seeded(perl, script, how)
        yield f"{name} places", has_places(perl)
        yield f"{name} shares", has_shares(perl)
        for how in STOPS:
            yield f"{name} stopped, {how}", stopped(perl, how)
        yield f"{name} threads", seeded(perl, "getppid", "before", "threads", "4")
        yield f"{name} forked workers", seeded(perl, "getppid", "before", "fork", "4")


if __name__ == "__main__":
    only = take_filter(sys.argv)
    sys.exit(run_tests([(name, test) for name, test in tests() if only in name], os.path.abspath(sys.argv[1]), tells_reason=False))
