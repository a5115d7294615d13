#!/usr/bin/env python3
"""What a question costs whom it is about: why.py --acu PATH [--pairs 3] [--filter TEXT] [--out FILE]

The programs and servers of test/why/planted.py, each with its cause. In turn the work of some seconds is counted without and with `acu why -p`, in alternating order: requests
that a program counts itself, else its calls of read and write (/proc/PID/io). The table has the median of the pairs' ratios, how long the answer took, and the CPU time of acu.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "test", "why"), os.path.join(ROOT, "test")]
import planted
from section import write_section
from tally import Skipped

LEAST = 50  # requests in a run; what does less is not measured


class Work:
    """What a process has done."""

    def __init__(self, pid, path):
        self.pid, self.path = pid, path

    def amount(self):
        done = int.from_bytes(open(self.path, "rb").read(8), "little") if os.path.exists(self.path) else 0
        if done:
            return done
        io = dict(line.split(": ") for line in open(f"/proc/{self.pid}/io").read().splitlines())
        return int(io["syscr"]) + int(io["syscw"])

    def rate(self, run):
        before, begin = self.amount(), time.monotonic()
        run()
        seconds = time.monotonic() - begin
        return (self.amount() - before) / seconds, self.amount() - before


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(acu, plant, pairs, path):
    """(ratios of rates, seconds to the answer, CPU seconds of acu), or nothing if it does too little."""
    ratios, seconds, cpus = [], [], []
    if os.path.exists(path):
        os.unlink(path)
    with plant.start("has") as pid:
        time.sleep(plant.patience)
        work = Work(pid, path)

        def ask():
            before = cpu_of_children()
            done = subprocess.run([acu, "why", plant.kind, "-p", str(pid), "-f", "json", "-q"], capture_output=True, text=True, check=True)
            cpus.append(cpu_of_children() - before)
            seconds.append(json.loads(done.stdout)["duration_ns"] / 1e9)

        ask()  # its files are in the cache then, as those of a host where acu is used
        cpus.clear(), seconds.clear()
        for i in range(pairs):
            runs = [("with", ask), ("without", lambda: time.sleep(6))]
            rates = {}
            for name, run in runs if i % 2 else reversed(runs):
                rates[name], amount = work.rate(run)
                if amount < LEAST:
                    return None
            ratios.append(rates["with"] / rates["without"])
    return ratios, seconds, cpus


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--acu", required=True)
    options.add_argument("--pairs", type=int, default=3)
    options.add_argument("--filter", default="")
    options.add_argument("--out")
    options = options.parse_args()
    acu = os.path.abspath(options.acu)
    rows, left_out = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = os.environ["ACU_DONE"] = os.path.join(folder, "done")
        for plant in planted.PLANTS:
            if options.filter not in plant.name:
                continue
            try:
                found = measure(acu, plant, options.pairs, path)
            except Skipped as e:
                print(f"{plant.name}: {e}", file=sys.stderr)
                found = None
            if not found:
                left_out.append(plant.name)
                continue
            ratios, seconds, cpus = (statistics.median(f) for f in found)
            rows.append((plant.name, ratios, min(found[0]), max(found[0]), seconds, cpus))
            print(f"{plant.name}: {100 * (ratios - 1):+.1f}% in {seconds:.1f} s", file=sys.stderr, flush=True)
    text = ["## Asking why", "", f"Requests of a program in a second while `acu why -p` asks about it, compared with those without it: medians of {options.pairs} pairs, and the pairs that went worst and best "
            "(`bench/why.py`; programs with a cause of slowness each, of test/why/planted.py). *answer*: seconds; *CPU*: CPU seconds of acu in all, with its compiling and reading.", "",
            "| program | requests | worst | best | answer | CPU |", "|---|---|---|---|---|---|"]
    for name, ratio, worst, best, seconds, cpu in rows:
        text.append(f"| {name} | {100 * (ratio - 1):+.1f}% | {100 * (worst - 1):+.1f}% | {100 * (best - 1):+.1f}% | {seconds:.1f} | {cpu:.2f} |")
    if rows:
        text.append(f"| median of {len(rows)} | {100 * (statistics.median(r[1] for r in rows) - 1):+.1f}% | | | {statistics.median(r[4] for r in rows):.1f} | {statistics.median(r[5] for r in rows):.2f} |")
    if left_out:
        text += ["", "Not measured, as they do no work that can be counted: " + ", ".join(left_out) + "."]
    text = "\n".join(text) + "\n"
    print(text)
    if options.out:
        write_section(options.out, "why", text)


if __name__ == "__main__":
    main()
