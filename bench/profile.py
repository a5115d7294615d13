#!/usr/bin/env python3
"""Recording a CPU-bound program, side by side with perf: profile.py --acu PATH [--seconds 10] [--out FILE]

Each way records the same C++ program at 999 Hz, acu at 99 Hz too; perf without stacks shows what the samples alone cost. Measured: the time from its end to the finished page (of perf: to
folded stacks, with perf script and a few lines of ours), CPU time and memory of the recorder, what it wrote, the share of stacks that reach main, and what the program's own work
slowed down by (loops a second of its own CPU time, against a run without a recorder). Medians of --runs.
"""
import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

from section import write_section

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = r"""
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>
static double now(clockid_t c) { timespec t; clock_gettime(c, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
__attribute__((noinline)) static uint32_t leaf(uint32_t x, int n) { for (int i = 0; i < n; i++) x = x * 1664525 + 1013904223 + (x >> 7); return x; }
__attribute__((noinline)) static uint32_t tree(uint32_t x, int depth) {
  volatile uint32_t keep = x;
  if (!depth) return leaf(x, 2000) + keep;
  return (depth & 1 ? tree(x + 1, depth - 1) : tree(x ^ 5, depth - 1)) + keep;
}
int main(int, char** argv) {
  double seconds = atof(argv[1]), start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  uint64_t loops = 0; uint32_t x = 1;
  while (now(CLOCK_MONOTONIC) - start < seconds) { x = tree(x, 18); loops++; }
  cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  std::printf("%.1f %.6f %.6f\n", loops / cpu, now(CLOCK_MONOTONIC), cpu);
  return x == 0;
}
"""


def children():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def timed(command, **more):
    """Output, seconds of its own CPU time (its children's included), peak memory in MB."""
    before = children()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    out, err = process.communicate(timeout=600)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: {err.strip()[:400]}")
    return out, err, children() - before


def fold(script, to):
    """What stackcollapse does: equal stacks on one line, with their number."""
    counts = {}
    for block in open(script, errors="replace").read().split("\n\n"):
        lines = block.strip("\n").split("\n")
        frames = [re.sub(r"\+0x[0-9a-f]+$", "", line.split(None, 1)[1].rsplit(" (", 1)[0]) for line in lines[1:] if len(line.split(None, 1)) > 1]
        key = ";".join([lines[0].split()[0] if lines[0].split() else "", *reversed(frames)])
        counts[key] = counts.get(key, 0) + 1
    with open(to, "w") as file:
        file.writelines(f"{key} {n}\n" for key, n in counts.items())


def measure(name, seconds, program, acu, folder):
    row = {"name": name}
    files = []
    if name == "none":
        out, _, _ = timed([program, str(seconds)])
        row["speed"] = float(out.split()[0])
        return row
    if name.startswith("acu"):
        page, rate = os.path.join(folder, "page.html"), "99" if name.endswith("99 Hz") else "999"
        out, err, cpu = timed([acu, "flame", "-F", rate, "-o", page, "--", program, str(seconds)])
        row["after"] = time.monotonic() - float(out.split()[1])
        own = re.search(r"acu itself: ([\d.]+) (ms|s) of CPU time.*?([\d.]+) MiB", err)
        row["cpu"] = float(own.group(1)) * (0.001 if own.group(2) == "ms" else 1)
        row["memory"] = float(own.group(3))
        in_kernel, samples = re.search(r"([\d.]+) ms in probes in the kernel", err), re.search(r"^samples ([\d,]+)", err, re.M)
        if in_kernel and samples:
            row["sample_us"] = 1000 * float(in_kernel.group(1)) / int(samples.group(1).replace(",", ""))
        record = os.path.join(folder, "again.acu")
        timed([acu, "record", "-q", "-F", "999", "-o", record, "--", program, "1"])
        table = json.loads(subprocess.run([acu, "report", record, "--json"], capture_output=True, text=True, check=True).stdout)
        row["whole"] = table["complete"] / max(1, table["samples"])
        files = [page]
    else:
        data = os.path.join(folder, "perf.data")
        how = {"perf -g": ["-g"], "perf dwarf": ["--call-graph", "dwarf"], "perf, no stacks": []}[name]
        command = ["/usr/bin/time", "-f", "%M", "perf", "record", "-B", "-N", "-q", "-e", "cpu-clock", "-F", "999", *how, "-o", data, "--", program, str(seconds)]
        if not os.path.exists("/usr/bin/time"):
            command = command[3:]
        out, err, cpu = timed(command)
        ended, own = float(out.split()[1]), float(out.split()[2])
        before, mine = children(), time.process_time()
        script = os.path.join(folder, "script")
        with open(script, "w") as text:
            subprocess.run(["perf", "script", "-i", data], stdout=text, stderr=subprocess.DEVNULL, check=True, timeout=900)
        fold(script, os.path.join(folder, "folded"))
        row["after"] = time.monotonic() - ended
        row["cpu"] = cpu - own + children() - before + time.process_time() - mine
        memory = re.findall(r"^(\d+)$", err, re.M)
        row["memory"] = int(memory[-1]) / 1024 if memory else float("nan")
        stacks = [s for s in open(script).read().split("\n\n") if "\n" in s.strip()]
        row["whole"] = sum(" main+" in s or " main (" in s for s in stacks) / max(1, len(stacks))
        files = [data]
    row["speed"] = float(out.split()[0])
    row["bytes"] = sum(os.path.getsize(f) for f in files)
    return row


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--acu", required=True)
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--out")
    given = options.parse_args()
    folder = tempfile.mkdtemp(prefix="acu-bench-")
    source, program = os.path.join(folder, "program.cc"), os.path.join(folder, "program")
    with open(source, "w") as file:
        file.write(PROGRAM)
    subprocess.run(["g++", "-O2", "-g", "-fomit-frame-pointer", "-o", program, source], check=True)
    names = ["none", "acu flame", "acu flame, 99 Hz"] + (["perf -g", "perf dwarf", "perf, no stacks"] if shutil.which("perf") else [])
    rows = {name: [] for name in names}
    for _ in range(given.runs):
        for name in names:
            rows[name].append(measure(name, given.seconds, program, os.path.abspath(given.acu), folder))
    shutil.rmtree(folder)

    def median(name, key):
        return statistics.median(r[key] for r in rows[name])

    def slower(name):
        """Against the run without a recorder of the same round."""
        return 100 * (1 - statistics.median(r["speed"] / plain["speed"] for r, plain in zip(rows[name], rows["none"])))

    lines = ["| recorder | page or text after the end | CPU of the recorder | memory | written | complete stacks | program slower by |",
             "|---|---|---|---|---|---|---|"]
    for name in names[1:]:
        lines.append(f"| {name} | {1000 * median(name, 'after'):.0f} ms | {median(name, 'cpu'):.2f} s | {median(name, 'memory'):.0f} MB | "
                     f"{median(name, 'bytes') / 1e6:.2f} MB | {100 * median(name, 'whole'):.1f}% | {slower(name):.1f}% |")
    text = "\n".join(lines) + "\n"
    if all("sample_us" in r for r in rows["acu flame"]):
        text += f"\nOne sample of acu, with 24 user frames and a few kernel frames, takes {median('acu flame', 'sample_us'):.1f} µs in the kernel.\n"
    print(text)
    if given.out:
        section = f"## Recording a program ({given.seconds:g} s at 999 Hz, no frame pointers)\n\nbench/profile.py. For `perf`, the time after the end is that of `perf script` " \
                  f"and of folding its stacks in this benchmark; Debian 12 packages neither the usual folding script nor the one that draws the flame graph. " \
                  f"Load average of the host at the end: {os.getloadavg()[1]:.0f}.\n\n{text}"
        write_section(given.out, "profile", section)


main()
