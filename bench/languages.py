#!/usr/bin/env python3
"""What frames of a language cost: languages.py --acu PATH [--pairs 7] [--out FILE]

Servers in Python, Lua (in nginx), Perl and PHP (php-fpm; language_servers.py): requests in a second of their own CPU time, bare and with `acu flame`
attached at 99 and 999 Hz, in turns, so that what else the host does meets all of them; the median of the ratios to the bare runs beside them. Then the time of a stack in a probe at
getppid(2), 3 and 30 Python functions deep, with language frames and without (--lang native): the least of several runs, less that of an empty probe.
"""
import argparse
import os
import re
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
RATES = (99, 999)


def cpu_ns(pid):
    return int(open(f"/proc/{pid}/schedstat").read().split()[0])


def requests_per_second(acu, make_server, rate, seconds):
    """Of CPU time of the process that answers."""
    with tempfile.TemporaryDirectory() as folder, make_server(folder) as (pid, ask):
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            ask()
        tracer = None
        if rate:
            tracer = subprocess.Popen([acu, "flame", "-q", "-F", str(rate), "-p", str(pid), "-o", os.path.join(folder, "out.html")])
            end = time.monotonic() + 0.7  # until it is attached
            while time.monotonic() < end:
                ask()
        begin, before, requests = time.monotonic(), cpu_ns(pid), 0
        while time.monotonic() < begin + seconds:
            ask()
            requests += 1
        spent = cpu_ns(pid) - before
        if tracer:
            tracer.send_signal(signal.SIGINT)
            if tracer.wait():
                raise RuntimeError("acu failed")
        return requests / spent * 1e9


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
    parser.add_argument("--out")
    options = parser.parse_args()
    acu = os.path.abspath(options.acu)
    with tempfile.TemporaryDirectory() as folder:
        depths = os.path.join(folder, "depths.py")
        with open(depths, "w") as f:
            f.write(DEPTHS)
        ratios = {(name, rate): [] for name in SERVERS for rate in RATES}
        for _ in range(options.pairs):
            for (name, rate), found in ratios.items():
                bare = requests_per_second(acu, SERVERS[name], 0, options.seconds)
                found.append(requests_per_second(acu, SERVERS[name], rate, options.seconds) / bare)
        version = subprocess.run([options.python, "--version"], capture_output=True, text=True).stdout.strip()
        text = (f"## Language frames\n\nbench/languages.py, {version}. Servers under requests one after the other, medians of {options.pairs} pairs of runs (in "
                f"parentheses the least and the most); then what a stack costs in a probe at a system call.\n\n"
                "| requests per second of CPU time, of bare | " + " | ".join(f"`acu flame -F {rate}`" for rate in RATES) + " |\n|---|" + "---|" * len(RATES) + "\n")
        for name in SERVERS:
            cells = [sorted(100 * ratio for ratio in ratios[name, rate]) for rate in RATES]
            text += f"| {name} | " + " | ".join(f"{statistics.median(c):.1f}% ({c[0]:.1f} to {c[-1]:.1f})" for c in cells) + " |\n"
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
