#!/usr/bin/env python3
"""A script that keeps its budget: run.py ACU [--filter TEXT]

A storm of system calls, which counts itself, under scripts with `--max-cost`. Limits are parts of one CPU, so that the number of CPUs does not matter.
Last line: `N passed, N failed, N skipped`.
"""
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import need, patient, require_real_time, run_suite

TMP = tempfile.mkdtemp(prefix="acu-budget-")
STORM = os.path.join(TMP, "storm")
PROBE = "tracepoint:syscalls:sys_enter_getppid"
ESTIMATES = "counts, sums, averages and histograms are estimates"
SAMPLED = re.compile(r"WARNING: to keep --max-cost \S+, for ([0-9.]+) of ([0-9.]+) s only one of up to (\d+) events counted, that many times: " + ESTIMATES)


def numbers(text):
    return {name: int(value) for name, value in re.findall(r"^@(\w+): (-?\d+)$", text, re.M)}


def build():
    if not os.path.exists(STORM):
        subprocess.run(["gcc", "-O2", "-o", STORM, os.path.join(HERE, "storm.c")], check=True, timeout=patient(60))
    return STORM


def limit(percent_of_a_cpu):
    return f"{percent_of_a_cpu / os.cpu_count():g}"


def run(acu, script, percent_of_a_cpu, milliseconds=3000, calls="getppid"):
    """The storm under a script: its number of calls, the script's numbers by name, and how acu ended."""
    done = subprocess.run([acu, "run", "-q", "--max-cost", limit(percent_of_a_cpu), "-c", f"{build()} {milliseconds}{' stepped' if calls == 'stepped' else ''}", "-e", script], capture_output=True, text=True, timeout=patient(60))
    calls = re.search(r"^(\d+)$", done.stdout, re.M)
    return int(calls[1]) if calls else None, numbers(done.stdout), done


def close(name, estimate, exact, one_of):
    error = 5 * math.sqrt(one_of / exact)  # standard deviations of a sample
    need(abs(estimate - exact) <= (0.03 + error) * exact, f"@{name} is {estimate}, not {exact} ({100 * (estimate / exact - 1):.2f}%, one of {one_of})")


# Each turn takes long, and the storm gives little time.
HEAVY = "@stacks[kstack, comm, args.__syscall_nr] = count(); @sizes[kstack] = hist(nsecs);"


def only_counts(acu):
    require_real_time("a turn takes longer than the time between two calls")
    calls, maps, done = run(acu, f"{PROBE} /pid == cpid/ {{ {HEAVY} @n = count(); @sum = sum(3); @plain++; @mean = avg(7); }} end {{ clear(@stacks); clear(@sizes); }}", 25)
    told = SAMPLED.search(done.stderr)
    need(done.returncode == 0 and told, done.stderr)
    need(0 < float(told[1]) <= float(told[2]), done.stderr)
    one_of = int(told[3])
    need(one_of >= 2 and one_of & (one_of - 1) == 0, done.stderr)
    close("n", maps["n"], calls, one_of)
    close("sum", maps["sum"], 3 * calls, one_of)
    close("plain", maps["plain"], calls, one_of)
    need(maps["mean"] == 7, str(maps))


def below_the_limit_all_events_count(acu):
    require_real_time("a turn takes longer than the time between two calls")
    calls, maps, done = run(acu, f"{PROBE} /pid == cpid/ {{ @n = count(); }}", 95, 1000)
    need(done.returncode == 0 and "WARNING" not in done.stderr, done.stderr)
    need(maps["n"] == calls, f"{maps} of {calls}")


def what_does_more_ends(acu):
    for script in (f"{PROBE} /pid == cpid/ {{ {HEAVY} @last = nsecs; }}",  # a value that is not added up
                   f"{PROBE} /pid == cpid/ {{ {HEAVY} @n = count(); }} {PROBE} /pid == cpid && @n > 10/ {{ @more = count(); }}",  # a count that another probe reads
                   f"{PROBE} /pid == cpid/ {{ {HEAVY} @largest = max(nsecs); }}"):
        _, _, done = run(acu, script + " end { clear(@stacks); clear(@sizes); }", 0.1, 20000)
        need(done.returncode == 1 and "ended after" in done.stderr and not SAMPLED.search(done.stderr), f"{script}: {done.returncode} {done.stderr}")


def stepped_instructions(acu):
    """A probe there takes nearly all of the CPU's time, which the program's run time and an emulated instruction's trap are a small part of."""
    _, _, done = run(acu, f"uprobe:{build()}:stepped {{ @last = nsecs; }}", 50, 20000, "stepped")
    need(done.returncode == 1 and "ended after" in done.stderr, f"{done.returncode} {done.stderr}")


TESTS = [only_counts, below_the_limit_all_events_count, what_does_more_ends, stepped_instructions]

if __name__ == "__main__":
    sys.exit(run_suite(TESTS, TMP))
