#!/usr/bin/env python3
"""What frames of a language cost: languages.py --acu PATH [--pairs 7] [--out FILE]

A Python server's work (docs/cookbook/requests.py without its pauses) as requests in a second of its own CPU time, bare and with `acu flame` attached
at 99 and 999 Hz, in turns, so that what else the host does meets all of them; the median of the ratios to the bare runs beside them. Then the time of a stack in a probe at
getppid(2), 3 and 30 Python functions deep, with language frames and without (--lang native): the least of several runs, less that of an empty probe.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from section import write_section

HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = r"""
import sys, time
source = open(sys.argv[1]).read().rsplit("\n\n\n", 2)[0]  # without what serves
exec(compile(source, sys.argv[1], "exec"))
catalog = Catalog()
end, requests, begin = time.monotonic() + float(sys.argv[2]), 0, time.process_time()
while time.monotonic() < end:
    handle(catalog)
    requests += 1
print("%.2f" % (requests / (time.process_time() - begin)))
"""
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


def requests_per_second(acu, python, server, rate, seconds):
    program = subprocess.Popen([python, server, os.path.join(HERE, "..", "docs", "cookbook", "requests.py"), str(seconds + 1)],
                               stdout=subprocess.PIPE, text=True)
    time.sleep(0.5)
    if rate:
        subprocess.run([acu, "flame", "-q", "-F", str(rate), "-p", str(program.pid), "-o", server + ".html"], check=True)
    return float(program.communicate()[0])


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
        server, depths = os.path.join(folder, "server.py"), os.path.join(folder, "depths.py")
        for path, text in ((server, SERVER), (depths, DEPTHS)):
            with open(path, "w") as f:
                f.write(text)
        ratios = {rate: [] for rate in RATES}
        for _ in range(options.pairs):
            for rate in RATES:
                bare = requests_per_second(acu, options.python, server, 0, options.seconds)
                ratios[rate].append(requests_per_second(acu, options.python, server, rate, options.seconds) / bare)
        version = subprocess.run([options.python, "--version"], capture_output=True, text=True).stdout.strip()
        text = (f"## Language frames\n\nbench/languages.py, {version}. A Python server at full speed, medians of {options.pairs} pairs of runs; then what a stack "
                f"costs in a probe at a system call.\n\n| attached | requests per second of CPU time, of bare |\n|---|---|\n")
        for rate in RATES:
            text += f"| `acu flame -F {rate}` | {100 * statistics.median(ratios[rate]):.1f}% |\n"
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
