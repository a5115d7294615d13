#!/usr/bin/env python3
"""What frames of a language cost: languages.py --acu PATH [--pairs 7] [--seconds 3] [--only NAME] [--out FILE]

Servers in Python, Lua (in nginx), Perl, PHP (php-fpm), Ruby, Node.js, Java and Go (language_servers.py): requests in a second of their own CPU time, bare and with `acu flame`
attached at 99 Hz, or `perf record -g`, whose stacks have no frames of a language; in turns, so that what else the host does meets all of them. The median of the ratios to the bare
runs beside them, and the recorder's CPU time. What 99 Hz costs is less than such runs differ by, so it is also measured at 4,999 Hz: a sample costs the same at each rate. Then the time of a stack in a probe at getppid(2), 3 and 30 Python functions deep, with language frames and without (--lang native): the least
of several runs, less that of an empty probe.
"""
import argparse
import contextlib
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from language_servers import SERVERS
from section import write_section

DEPTHS = r"""
import os, sys, time
def descend(n):
    if n > 1: return descend(n - 1)
    begin = time.perf_counter_ns()
    for _ in range(100000): os.getppid()
    return (time.perf_counter_ns() - begin) / 100000
print("%.1f" % descend(int(sys.argv[1]) - 1))
"""
# By the name in the table: a command line with ACU, PID and OUT.
USUAL, HIGH = 99, 4999  # Hz
RECORDERS = {**{f"acu flame -F {rate}": f"ACU flame -q -F {rate} -p PID -o OUT.html" for rate in (USUAL, HIGH)},
             f"perf record -g -F {USUAL}": f"perf record -q -g -F {USUAL} -p PID -o OUT.data"}


def cpu_ns(pid):
    """Of all its threads."""
    return sum(int(open(f"/proc/{pid}/task/{tid}/schedstat").read().split()[0]) for tid in os.listdir(f"/proc/{pid}/task"))


@contextlib.contextmanager
def recording(acu, recorder, pid, folder):
    """Its process, or None."""
    if not recorder:
        yield None
        return
    places = {"ACU": acu, "PID": str(pid)}
    words = [places.get(word, word.replace("OUT", os.path.join(folder, "out"))) for word in RECORDERS[recorder].split()]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        if process.wait() not in (0, -signal.SIGINT):
            raise RuntimeError(f"{' '.join(words)} failed")


def measure(acu, make_server, warm_up, recorder, seconds):
    """Requests in a second of CPU time of the process that answers, and the recorder's CPU time in a second."""
    def ask_until(end):
        requests = 0
        while time.monotonic() < end:
            ask()
            requests += 1
        return requests
    with tempfile.TemporaryDirectory() as folder, make_server(folder) as (pid, ask):
        ask_until(time.monotonic() + warm_up)
        with recording(acu, recorder, pid, folder) as process:
            ask_until(time.monotonic() + 0.7 * bool(process))  # until it is attached
            begin = (time.monotonic(), cpu_ns(pid), cpu_ns(process.pid) if process else 0)
            requests = ask_until(begin[0] + seconds)
            end = (time.monotonic(), cpu_ns(pid), cpu_ns(process.pid) if process else 0)
        return requests / (end[1] - begin[1]) * 1e9, (end[2] - begin[2]) / (end[0] - begin[0]) / 1e9


def stack_ns(acu, python, program, depth, action, options, runs):
    script = "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { %s }" % action
    out = []
    for _ in range(runs):
        done = subprocess.run([acu, "run", "-q", *options, "-c", f"{python} {program} {depth}", "-e", script + " end { clear(@) }"],
                              capture_output=True, text=True, check=True)
        out.append(float(re.search(r"^[\d.]+$", done.stdout, re.M).group()))
    return min(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--acu", required=True)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--only", default="", help="servers whose name has this")
    parser.add_argument("--out")
    options = parser.parse_args()
    acu = os.path.abspath(options.acu)
    with tempfile.TemporaryDirectory() as folder:
        depths = os.path.join(folder, "depths.py")
        with open(depths, "w") as f:
            f.write(DEPTHS)
        servers = {name: (make, warm_up) for name, (make, program, warm_up) in SERVERS.items() if options.only in name and shutil.which(program)}
        ratios, costs = ({(name, recorder): [] for name in servers for recorder in RECORDERS} for _ in range(2))
        for _ in range(options.pairs):
            for name, (make_server, warm_up) in servers.items():
                for recorder in RECORDERS:
                    bare, _ = measure(acu, make_server, warm_up, None, options.seconds)
                    speed, cost = measure(acu, make_server, warm_up, recorder, options.seconds)
                    ratios[name, recorder].append(speed / bare)
                    costs[name, recorder].append(cost)
        missing = [name for name, (_, program, _) in SERVERS.items() if options.only in name and not shutil.which(program)]
        version = subprocess.run([options.python, "--version"], capture_output=True, text=True).stdout.strip()
        text = (f"## Language frames\n\nbench/languages.py, {version}. Servers under requests one after the other, medians of {options.pairs} pairs of runs (in "
                f"parentheses the middle half); the stacks of `perf record -g` have no frames of a language. *CPU*: of the recorder while it records. "
                + (f"Not installed here: {', '.join(missing)}. " if missing else "") +
                "Load average of the host at the end: " + open("/proc/loadavg").read().split()[0] + ". Then what a stack costs in a probe at a system call.\n\n"
                "| server | recorder | requests per second of CPU time, of bare | CPU |\n|---|---|---|---|\n")
        for (name, recorder), found in ratios.items():
            low, middle, high = (100 * part for part in statistics.quantiles(found, n=4))
            text += f"| {name} | `{recorder}` | {middle:.1f}% ({low:.1f} to {high:.1f}) | {100 * statistics.median(costs[name, recorder]):.2f}% |\n"
        text += f"\nRequests per second of CPU time at {USUAL} Hz, by what {HIGH:,} Hz cost:\n\n| server | of bare |\n|---|---|\n"
        for name in servers:
            low, middle, high = (100 + 100 * (part - 1) * USUAL / HIGH for part in statistics.quantiles(ratios[name, f"acu flame -F {HIGH}"], n=4))
            text += f"| {name} | {middle:.2f}% ({low:.2f} to {high:.2f}) |\n"
        text += "\n| Python functions | native frames only (us) | with Python frames (us) |\n|---|---|---|\n"
        for depth in (3, 30):
            empty = stack_ns(acu, options.python, depths, depth, "@ = count()", [], 5)
            times = [stack_ns(acu, options.python, depths, depth, "@[ustack(500)] = count()", lang, 5) - empty for lang in (["--lang", "native"], [])]
            text += f"| {depth} | {times[0] / 1000:.2f} | {times[1] / 1000:.2f} |\n"
    print(text)
    if options.out:
        write_section(options.out, "languages", text.rstrip("\n") + "\n")


if __name__ == "__main__":
    sys.exit(main())
