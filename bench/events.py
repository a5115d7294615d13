#!/usr/bin/env python3
"""A million events a second to user space for a minute: events.py --acu ACU [--out FILE] [--seconds N] [--rate N]

A program makes system calls at a steady rate on one CPU, and each is sent: by acu to text in a file, by a hand-written program (bench/floor) to a counter.
The reader runs on the other CPU, or on the same one. Each line of the file, each record and each lost one is counted: sent = received + lost.
"""
import argparse
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

from section import write_section

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build", "bench")
SCRIPT = 'tracepoint:raw_syscalls:sys_enter /args.id == 110/ { printf("%d\\n", args.id); }'


def build():
    os.makedirs(BUILD, exist_ok=True)
    source = lambda *p: os.path.join(ROOT, "bench", *p)
    machine = os.uname().machine
    for command in (["gcc", "-O2", source("load", "paced.c"), "-o", os.path.join(BUILD, "paced")],
                    ["clang", "-O2", "-g", "-target", "bpf", f"-I/usr/include/{machine}-linux-gnu", "-c", source("floor", "floors.bpf.c"), "-o", os.path.join(BUILD, "floors.bpf.o")],
                    ["gcc", "-O2", source("floor", "floor.c"), "-o", os.path.join(BUILD, "floor"), "-lbpf", "-lelf", "-lz"]):
        subprocess.run(command, check=True)


def lines_in(path):
    with open(path, "rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b""))


def measure(command, attached, cpu, reader_cpu, rate, seconds):
    """Calls made, seconds they took, lines that came, what the tool said, and its CPU time."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="acu-events-") as out, tempfile.TemporaryFile("w+") as err:
        tracer = subprocess.Popen(["taskset", "-c", str(reader_cpu), *command], stdout=out, stderr=err)
        while attached not in open(out.name, errors="replace").read(200):
            time.sleep(0.05)
        load = subprocess.run(["taskset", "-c", str(cpu), os.path.join(BUILD, "paced"), str(rate), str(seconds)], capture_output=True, text=True, check=True)
        time.sleep(0.5)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        tracer.send_signal(signal.SIGINT)
        tracer.wait(60)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        err.seek(0)
        made, took = load.stdout.split()
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return int(made), float(took), lines_in(out.name) - 1, open(out.name, errors="replace").read(200) + err.read(), used


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--acu", default=os.path.join(ROOT, "build", "release", "acu"))
    parser.add_argument("--out")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=int, default=1000000)
    options = parser.parse_args()
    build()
    cpus = sorted(os.sched_getaffinity(0))
    first, other = cpus[0], cpus[-1]
    rows = []
    for name, command, attached in (("floor", [os.path.join(BUILD, "floor"), os.path.join(BUILD, "floors.bpf.o"), "event"], "attached"),
                                    ("acu", [options.acu, "run", "--notify-attached", "#attached#", "-e", SCRIPT], "#attached#")):
        for place, reader in (("other", other), ("same", first)):
            made, took, came, said, used = measure(command, attached, first, reader, options.rate, options.seconds)
            lost = re.search(r"(?i)([\d,]+) (?:events|records)[^\n]* lost|lost[^\d\n]*([\d,]+)", said)
            lost = int(next(g for g in lost.groups() if g).replace(",", "")) if lost else 0
            if records := re.search(r"records (\d+)", said):
                came = int(records[1])
            rows.append(f"| {name} | {place} | {made / took / 1e6:.2f} | {made:,} | {came:,} | {lost:,} | {used / made * 1e6:.3f} |")
            print(rows[-1], said[-300:] if lost else "", file=sys.stderr, flush=True)
    text = (f"## A million events a second\n\nbench/events.py, {options.seconds:.0f} s each, {time.strftime('%Y-%m-%d')}, Linux {os.uname().release}. The traced program and the reader on the CPU named; "
            "floor: a hand-written program that only counts the records, those of all system calls. "
            "Received: lines in acu's output, records of the floor.\n\n"
            "| tool | reader's CPU | million calls a second | calls | received | lost | reader's CPU seconds per million |\n|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n")
    print(text)
    if options.out:
        write_section(options.out, "events", text)


main()
