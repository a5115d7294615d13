#!/usr/bin/env python3
"""Frames of Ruby in user stacks: ruby.py ACU [--filter TEXT] [--ruby COMMAND]…

The system's Ruby runs seeded.rb (common.py), and each COMMAND does: another Ruby with its options, such as "chroot /srv/trixie /usr/bin/ruby".
Last line: `N passed, N failed, N skipped`.
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from common import COUNTS, LIMIT, STOPS, TRIGGERS, check_busy, check_seeded, check_shares, check_stopped
from tally import Skipped, need, run_tests, take_filter

# Native frames have an offset; functions in C have no file.
FRAME = re.compile(r"^\s+((?:block|rescue|ensure)\b.* in .+?|<[^+]*>|[^\s+]+|\+)(?: ([/<(].*):(\d+))?$")
SEEDED = os.path.join(HERE, "seeded.rb")
SHAPES = os.path.join(HERE, "shapes.rb")


class BeforeSleep:
    """FRAME of threads that sleep: one may wait for the GVL at the end of `ppid`, on the same line, before it sleeps."""

    @staticmethod
    def match(line):
        return FRAME.match(re.sub(r"^(\s+)ppid$", r"\1sleep", line))


def ruby(command):
    """Its words."""
    if not shutil.which(command[0]):
        raise Skipped(f"there is no {command[0]} here")
    return command


def seeded(command, script, how, *way, frame=FRAME):
    def test(acu):
        count = COUNTS[script] // (4 if way else 1)
        words = [*ruby(command), SEEDED, "FOLDER", "7", str(count), TRIGGERS.get(script, script), *way]
        total = count * int(way[1]) if way else count
        return check_seeded(acu, words, script, how, total // 2 if script == "spin" else total, frame)
    return test


def stopped(command, how):
    def test(acu):
        return check_stopped(acu, [*ruby(command), SEEDED, "FOLDER", "7", str(STOPS[how]), "ask"], how, STOPS[how])
    return test


def busy(command):
    def test(acu):
        return check_busy(acu, [*ruby(command), SEEDED, "FOLDER", "7", "100000000", "getppid"], "<main>", least=0.6)
    return test


def compiled(command, script):
    """Of code that YJIT makes (Debian's 3.1 has it), 99% of the stacks, too."""
    def test(acu):
        words = [*ruby(command), "--yjit", "--yjit-call-threshold=2"]
        if "+YJIT" not in subprocess.run([*words, "--version"], capture_output=True, text=True).stdout:
            raise Skipped(f"{' '.join(command)} has no YJIT")
        count = COUNTS[script] // 2
        return check_seeded(acu, [*words, SEEDED, "FOLDER", "7", str(count), script], script, "after", count // 2 if script == "spin" else count, FRAME)
    return test


def is_cut(command):
    def test(acu):
        """Of a recursion 2,000 deep the innermost 500 are shown, and it is counted; one 450 deep is complete."""
        for depth in (450, 2000):
            done = subprocess.run([acu, "run", "-v", "-e", "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { print(ustack(1000)); }", "-c",
                                   " ".join([*ruby(command), SHAPES, "deep", str(depth)])], capture_output=True, text=True, timeout=LIMIT)
            frames = re.findall(r"^\s+descend .*shapes.rb:\d+$", done.stdout, re.M)
            most = min(depth + 1, 499)
            need(len(frames) == most and ("more than 500 frames 1" in done.stderr) == (depth > 500),
                 f"{len(frames)} frames: {done.stdout[:300]} {done.stderr[-400:]}")
    return test


def has_shares(command):
    def test(acu):
        return check_shares(acu, [*ruby(command), SHAPES, "shares", "4"], {70: "seventy_[rb]", 20: "twenty_[rb]", 10: "ten_[rb]"}, "shares_[rb]")
    return test


def tests(commands):
    for number, command in enumerate(commands):
        name = " ".join(command)
        for script in COUNTS:
            for how in ("before", "after"):
                if script == "uprobe" and command[0] == "chroot":
                    continue  # there it is another libc
                if number and how == "before":
                    continue
                yield f"{name}, {script}, attached {how} it starts", seeded(command, script, how)
        yield f"{name}, forked", seeded(command, "getppid", "before", "fork", "3")
        yield f"{name}, threads", seeded(command, "getppid", "after", "threads", "4")
        yield f"{name}, threads that sleep", seeded(command, "sleep", "after", "threads", "4", frame=BeforeSleep)
        for script in ("getppid", "spin"):
            yield f"{name}, compiled, {script}", compiled(command, script)
        yield f"{name}, deep", is_cut(command)
        yield f"{name}, shares", has_shares(command)
        yield f"{name}, busy", busy(command)
        for how in STOPS:
            yield f"{name}, stopped, {how}", stopped(command, how)


if __name__ == "__main__":
    only = take_filter(sys.argv)
    found = [sys.argv[i + 1].split() for i, word in enumerate(sys.argv[:-1]) if word == "--ruby"]
    commands = [["/usr/bin/ruby"], *found]
    sys.exit(run_tests([(name, test) for name, test in tests(commands) if only in name], os.path.abspath(sys.argv[1]), tells_reason=False))
