#!/usr/bin/env python3
"""The answer of tools/survey.bt as tables: survey_print.py JSON-FILE SECONDS"""
import json
import sys

maps = {}
for line in open(sys.argv[1]):
    try:
        record = json.loads(line)
    except ValueError:
        continue
    if record.get("type") in ("map", "stats", "hist"):
        maps.update(record["data"])
seconds = float(sys.argv[2])


def number(value):
    return int(value)


def syscall(probe):
    for side in ("sys_enter_", "sys_exit_"):
        if side in probe:
            return probe.split(side, 1)[1]
    return probe


def table(title, rows, formats):
    print(f"\n{title}")
    for row in rows:
        print("  " + "  ".join(f % cell for f, cell in zip(formats, row)))


def duration(us):
    return "%.1f s" % (us / 1e6) if us >= 1e6 else "%.1f ms" % (us / 1e3) if us >= 1e3 else "%d us" % us


calls = []
for key, n in maps.get("@calls", {}).items():
    comm, _, probe = key.rpartition(",")
    calls.append((number(n), comm, syscall(probe)))
by_process = {}
for n, comm, name in calls:
    by_process.setdefault(comm, []).append((n, name))
rows = sorted(((sum(n for n, _ in c), comm, sorted(c, reverse=True)[:4]) for comm, c in by_process.items()), reverse=True)
table("System calls by process (a second)", [
    ("%.0f" % (total / seconds), comm, ", ".join(f"{name} {n / seconds:.0f}" for n, name in top))
    for total, comm, top in rows[:12]], ("%9s", "%-16s", "%s"))

took = [(number(v["total"]), number(v["count"]), number(v["average"]), syscall(k)) for k, v in maps.get("@took_us", {}).items()]
table("System calls by the time they took, waiting included (total, calls, average)", [
    (duration(total), count, duration(average), name) for total, count, average, name in sorted(took, reverse=True)[:12]],
    ("%9s", "%9d", "%9s", "%s"))

buckets = [b for b in maps.get("@all_us", []) if b["count"]]
if buckets:
    most = max(number(b["count"]) for b in buckets)
    table("How long all system calls took", [
        (duration(b.get("min", 0)) + " -", number(b["count"]), "@" * max(1, number(b["count"]) * 40 // most)) for b in buckets],
        ("%9s", "%9d", "%s"))

cpu = sorted(((number(n), comm) for comm, n in maps.get("@cpu", {}).items()), reverse=True)
total = sum(n for n, _ in cpu) or 1
table("Where the CPUs were (samples of busy CPUs)", [
    ("%.1f%%" % (100 * n / total), n, comm) for n, comm in cpu[:12]], ("%7s", "%7d", "%s"))

stacks = sorted(((number(n), key) for key, n in maps.get("@stacks", {}).items()), reverse=True)
print("\nMost frequent kernel stacks (share of busy samples)")
for n, key in stacks[:6]:
    frames = [frame.strip() for frame in key.split("\n") if frame.strip()]
    print("  %5.1f%%  %s" % (100 * n / total, " < ".join(f.split("+")[0] for f in frames[:6]) if frames else "(user code)"))
if not maps:
    print("\nnothing was seen")
    sys.exit(1)
