#!/usr/bin/env python3
"""What a new key of a map costs: keys.py --acu ACU [--rounds N] [--most KEYS] [--filter TEXT] [--out FILE]

A program makes N system calls, and each adds to a key of its own, `@[nsecs] = count()` and the like; then, in the same round, all
add to one key. The difference of the program's CPU time, divided by N, is what a new key costs where it is made. Apart from that:
how long it takes until probes are attached (maps for N keys are created), and the tracer's own CPU time for reading, sorting
and printing. acu and bpftrace (where it is installed) take turns. --out puts the section into a document.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from section import write_section

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KINDS = {"count()": (10_000, 100_000, 1_000_000, 2_000_000), **{kind: (100_000,) for kind in (
    "sum(1)", "avg(1)", "stats(1)", "min(1)", "max(1)", "hist(cpid)", "lhist(1, 0, 100, 10)")}}
NEW, SAME = "nsecs", "nsecs / 1000000000000000000"


def run(words, calls, folder):
    """Gives (ns of CPU a call, s until the load began, s of the tracer's CPU time, lines printed)."""
    told, printed = os.path.join(folder, "told"), os.path.join(folder, "printed")
    environment = dict(os.environ, ACU_MAX_MAP_KEYS=str(calls + 1000), BPFTRACE_MAP_KEYS_MAX=str(calls + 1000),
                       BPFTRACE_MAX_MAP_KEYS=str(calls + 1000))
    with open(printed, "w") as out:
        began = time.monotonic()
        process = subprocess.Popen(words, stdout=out, stderr=subprocess.DEVNULL, env=environment)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    start, _, cpu = map(float, open(told).read().split())
    os.unlink(told)
    with open(printed, "rb") as out:
        lines = sum(block.count(b"\n") for block in iter(lambda: out.read(1 << 20), b""))
    return cpu, start / 1e9 - began, used.ru_utime + used.ru_stime - cpu * calls / 1e9, lines


def tracers(acu):
    known = {"acu": lambda script, load: [acu, "run", "-q", "-e", script, "-c", load]}
    if shutil.which("bpftrace"):
        known["bpftrace"] = lambda script, load: ["bpftrace", "-e", script, "-c", load]
    return known


def measure(known, kind, calls, rounds, load, folder):
    """Of each tracer, by round: (ns of a new key, s to attach, s of its own CPU time); and whether all keys were printed."""
    results = {name: [] for name in known}
    command = f"{load} {calls} {os.path.join(folder, 'told')}"
    for _ in range(rounds):
        for name, words in known.items():
            script = "tracepoint:raw_syscalls:sys_enter /pid == cpid/ { @[%s] = %s }"
            new = run(words(script % (NEW, kind), command), calls, folder)
            same = run(words(script % (SAME, kind), command), calls, folder)
            if new[3] < calls:
                raise RuntimeError(f"{name}, {kind}: {new[3]} lines of {calls} keys")
            results[name].append((new[0] - same[0], new[1], new[2] - same[2]))
    return results


def table(known, rows):
    lines = ["| script | keys | tracer | new key, ns (min to max) | attached, ms | read and printed, ns a key | new key, acu/this |",
             "|---|---|---|---|---|---|---|"]
    for kind, calls, results in rows:
        own = statistics.median(r[0] for r in results["acu"])
        for name in known:
            new, attached, reading = ([r[i] for r in results[name]] for i in range(3))
            cost = statistics.median(new)
            lines.append(f"| {f'`@[nsecs] = {kind}`' if name == 'acu' else ''} | {f'{calls:,}' if name == 'acu' else ''} | {name} | "
                         f"{cost:,.0f} ({min(new):,.0f} to {max(new):,.0f}) | {statistics.median(attached) * 1000:,.1f} | "
                         f"{statistics.median(reading) / calls * 1e9:,.0f} | {'–' if name == 'acu' else f'{own / cost:.2f}'} |")
    return lines


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--acu", required=True)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--most", type=int, default=2_000_000, help="leave out rows with more keys")
    options.add_argument("--filter", default="", help="only the rows whose function has this in it; several with | between")
    options.add_argument("--out")
    given = options.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench: needs root")
    known, rows = tracers(os.path.abspath(given.acu)), []
    with tempfile.TemporaryDirectory(prefix="acu-bench-") as folder:
        load = os.path.join(folder, "keys")
        subprocess.run(["gcc", "-O2", "-o", load, os.path.join(ROOT, "bench", "load", "keys.c")], check=True)
        for kind, sizes in KINDS.items():
            if not any(text in kind for text in given.filter.split("|")):
                continue
            for calls in sizes:
                if calls > given.most:
                    continue
                rows.append((kind, calls, measure(known, kind, calls, given.rounds, load, folder)))
                print("\n".join(table(known, rows[-1:])[2:]), file=sys.stderr, flush=True)
    text = "\n".join(table(known, rows)) + "\n"
    print(text)
    if given.out:
        version = subprocess.run(["bpftrace", "--version"], capture_output=True, text=True).stdout.strip() if len(known) > 1 else "no bpftrace"
        section = (f"## New keys\n\nbench/keys.py, medians of {given.rounds} rounds, {time.strftime('%Y-%m-%d')}, Linux {os.uname().release}, "
                   f"{os.cpu_count()} CPUs; {version}. *New key*: the extra CPU time of the traced program for an event with a new key, compared with a known "
                   f"key. *Attached*: from exec, with maps for that many keys. *Read and printed*: the tracer's CPU time.\n\n{text}")
        write_section(given.out, "keys", section)


main()
