#!/usr/bin/env python3
"""System calls told and counted: trace.py --acu ACU [--runs N] [--out FILE]

A program that does nothing but system calls (dd of one byte each: read, write), and one that does them as programs do (find),
bare, under acu and under strace; all in each round, the medians. --out puts the section into a document.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

from section import write_section

CALLS = 100_000
PROGRAMS = {
    f"dd, {2 * CALLS:,} calls": ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", f"count={CALLS}"],
    "find /usr -maxdepth 4": ["find", "/usr", "-maxdepth", "4"],
}


def tracers(acu):
    own = {"acu trace -c": [acu, "trace", "-c", "--"], "acu trace": [acu, "trace", "-o", "/dev/null", "--"]}
    if shutil.which("strace"):
        own |= {"strace -f -c": ["strace", "-f", "-c", "-o", "/dev/null"], "strace -f": ["strace", "-f", "-o", "/dev/null"]}
    return own


def seconds(tracer, words):
    """Of the program itself, without the start and the end of the tracer: dd tells its own, of find the shell's clock."""
    if words[0] == "dd":
        done = subprocess.run([*tracer, *words], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
        return float(re.search(r"copied, ([\d.e-]+) s", done.stderr)[1])
    script = 's=${EPOCHREALTIME/./}; "$@" >/dev/null; e=${EPOCHREALTIME/./}; echo "took $((e - s))"'
    done = subprocess.run([*tracer, "bash", "-c", script, "bash", *words], capture_output=True, text=True)
    return int(re.search(r"took (\d+)", done.stdout)[1]) / 1e6


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--acu", required=True)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--out")
    given = options.parse_args()
    compared = {"bare": [], **tracers(os.path.abspath(given.acu))}
    lines = ["| program | tracer | seconds | time/bare |", "|---|---|---|---|"]
    for program, words in PROGRAMS.items():
        taken = {name: [] for name in compared}
        for _ in range(given.runs):
            for name, tracer in compared.items():
                taken[name].append(seconds(tracer, words))
        for name, times in taken.items():
            ratio = statistics.median(t / bare for t, bare in zip(times, taken["bare"]))
            lines.append(f"| {program} | {name} | {statistics.median(times):.3f} | {ratio:.1f} |")
            print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    print(text)
    if given.out:
        section = f"## System calls\n\nbench/trace.py, medians of {given.runs} rounds, {time.strftime('%Y-%m-%d')}.\n\n{text}"
        write_section(given.out, "trace", section)


main()
