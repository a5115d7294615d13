#!/usr/bin/env python3
"""What waiting for the slow call costs: slow.py --acu ACU [--runs N] [--out FILE]

A program serves 100,000 requests of 5 us (test/slow/requests.cc, without exceptions: its calls may be probed), one of which waits 50 ms
for a lock: bare; under `acu slow`, which probes calls until it knows what that costs, and then finds them by their waits; and with
each call probed (--exact); with bpftrace too, where it is installed: entry and return of
the function. All in each round; what is compared is the time of all requests without the 50 ms, and the processor's time of the
thread. --out puts the section into a document.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from section import write_section

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REQUESTS, OUTLIER = 100_000, 0.05
SCRIPT = """uprobe:PROGRAM:FUNCTION { @s[tid] = nsecs }
uretprobe:PROGRAM:FUNCTION /@s[tid]/ { if (nsecs - @s[tid] > 10000000) { printf("%d\\n", (nsecs - @s[tid]) / 1000); } delete(@s[tid]); }"""


def ways(acu, program):
    own = {"bare": [program, str(REQUESTS)], "acu slow": [acu, "slow", "-q", "serve_request", "--", program, str(REQUESTS)],
           "acu slow --exact": [acu, "slow", "-q", "--exact", "serve_request", "--", program, str(REQUESTS)]}
    if shutil.which("bpftrace"):
        script = SCRIPT.replace("PROGRAM", program).replace("FUNCTION", "_Z13serve_requesti")
        own["bpftrace, entry and return"] = ["bpftrace", "-e", script, "-c", f"{program} {REQUESTS}"]
    return own


def measure(words):
    """Seconds of all requests without the outlier, of the processor; and whether the outlier was told."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    took = re.search(r"^([\d.]+) ([\d.]+) ([\d.]+)$", done.stdout, re.M)
    whole, processor, longest = (float(t) for t in took.groups())
    found = re.search(r"waiting for the lock g_cache_lock.*held by rebuilder", done.stdout, re.S) is not None
    return whole - longest, processor, found


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--acu", required=True)
    options.add_argument("--runs", type=int, default=15)
    options.add_argument("--out")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="acu-bench-") as folder:
        program = os.path.join(folder, "requests")
        subprocess.run(["g++", "-O2", "-g", "-fno-exceptions", "-o", program, os.path.join(ROOT, "test", "slow", "requests.cc"), "-pthread"], check=True)
        compared = ways(os.path.abspath(given.acu), program)
        rounds = {name: [] for name in compared}
        for _ in range(given.runs):
            for name, words in compared.items():
                rounds[name].append(measure(words))
    lines = ["| tracer | requests, s | slower by | thread's CPU time, s | more by | slow call found, with lock and holder |", "|---|---|---|---|---|---|"]
    for name, took in rounds.items():
        bare = rounds["bare"]
        more = [statistics.median(t[i] / b[i] for t, b in zip(took, bare)) * 100 - 100 for i in (0, 1)]
        found = sum(t[2] for t in took)
        lines.append(f"| {name} | {statistics.median(t[0] for t in took):.3f} | {more[0]:.1f}% | {statistics.median(t[1] for t in took):.3f} | "
                     f"{more[1]:.1f}% | {'' if name == 'bare' else f'{found} of {len(took)}'} |")
        print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    print(text)
    if given.out:
        section = (f"## Finding a slow call\n\nbench/slow.py, medians of {given.runs} rounds, {time.strftime('%Y-%m-%d')}: {REQUESTS:,} requests of 5 us "
                   f"in one thread, one of which waits 50 ms for a lock.\n\n{text}")
        write_section(given.out, "slow", section)


main()
