#!/usr/bin/env python3
"""Side by side: acu, bpftrace (the package), and hand-written BPF, in one run on this machine.

  bench/run.py [--acu build/release/acu] [--quick] [--only start,compile,cost,functions] [--out bench/results.md]

Start-up: each command is run by bench/load/launch.c with `-c stamp`: tracers let that command go when all probes are
attached, so its own start time tells when that was, the same way for each tool. Cost per event: a program makes
cheap system calls pinned to one CPU, first bare, then under each tool; tools take turns in every round, and the
least of all rounds counts (the machine is shared; what only makes it slower is not the tool). Medians stand in
brackets. The floor is bench/floor: what one would write by hand for the same question.
"""
import argparse
import json
import os
import re
import resource
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import compile_time
import section
import user_functions

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build", "bench")

ENTER = "tracepoint:raw_syscalls:sys_enter"
EXIT = "tracepoint:raw_syscalls:sys_exit"
# Row, script, programs of floors.bpf.c; `goal`: acu's goal is 1.05 of the floor.
COST_ROWS = [
    ("`@ = count()`", f"{ENTER} {{ @ = count(); }}", "count", True),
    ("`@[pid] = count()`", f"{ENTER} {{ @[pid] = count(); }}", "count_pid", True),
    ("`@[comm] = count()`", f"{ENTER} {{ @[comm] = count(); }}", "count_comm", True),
    ("`@ = hist(args.id)`", f"{ENTER} {{ @ = hist(args.id); }}", "hist_id", True),
    ("filter that rejects", f"{ENTER} /pid == 1/ {{ @ = count(); }}", "filter", True),
    ("`@[pid, comm, args.id] = count()`", f"{ENTER} {{ @[pid, comm, args.id] = count(); }}", "three_keys", True),
    ("`@++`", f"{ENTER} {{ @++; }}", "increment", False),
    ("enter/exit latency pair", f"{ENTER} {{ @s[tid] = nsecs; }} {EXIT} /@s[tid]/ "
     "{ @ = hist(nsecs - @s[tid]); delete(@s[tid]); }", "latency_enter latency_exit", True),
    ("event to user space", f'{ENTER} {{ printf("%d\\n", args.id); }}', "event", False),
    ("`@[ustack] = count()`, five frames", f"{ENTER} {{ @[ustack] = count(); }}", "user_stack", False),
    ("one `syscalls:sys_enter_X`, count", "tracepoint:syscalls:sys_enter_getppid { @ = count(); }", "one_syscall", True),
]
ONE = f"{ENTER} {{ @[comm] = count(); }}"
MANY = "tracepoint:syscalls:sys_enter_* { @[probe] = count(); }"


def tool(name):
    return os.path.join(ROOT, "tools", name + ".bt")


def say(text):
    print(text, file=sys.stderr, flush=True)


def build():
    os.makedirs(BUILD, exist_ok=True)
    source = lambda *p: os.path.join(ROOT, "bench", *p)
    target = lambda p: os.path.join(BUILD, p)
    machine = os.uname().machine
    for command in (
        ["gcc", "-O2", "-fno-omit-frame-pointer", source("load", "syscalls.c"), "-o", target("syscalls")],
        ["gcc", "-O2", source("load", "launch.c"), "-o", target("launch")],
        ["gcc", "-O2", "-static", source("load", "stamp.c"), "-o", target("stamp")],
        ["gcc", "-O2", "-static", "-Wno-missing-field-initializers", source("floor", "start.c"), "-o", target("start")],
        ["clang", "-O2", "-g", "-target", "bpf", f"-I/usr/include/{machine}-linux-gnu", "-c",
         source("floor", "floors.bpf.c"), "-o", target("floors.bpf.o")],
        ["gcc", "-O2", source("floor", "floor.c"), "-o", target("floor"), "-lbpf", "-lelf", "-lz"],
    ):
        subprocess.run(command, check=True)


# ---------------------------------------------------------------------------------------------- start-up


class Start:
    """Times of one command: lists over all runs."""

    def __init__(self, shown, command, environment=None):
        self.shown, self.command, self.environment = shown, command, environment or {}
        self.attached, self.life, self.cpu, self.memory, self.status = [], [], [], [], set()

    def run(self):
        # The kernel takes a tracepoint off in the background, and makes who attaches to it again wait for that:
        # nobody shall pay for the run before.
        time.sleep(0.2)
        stamp = os.path.join(BUILD, "stamp.out")
        done = subprocess.run([os.path.join(BUILD, "launch"), stamp, *self.command], capture_output=True, text=True,
                              env=dict(os.environ, **self.environment))
        attached, life, cpu, memory, status = map(int, done.stdout.split())
        self.status.add(status)
        if attached > 0:
            self.attached.append(attached / 1e6)
        self.life.append(life / 1e6)
        self.cpu.append(cpu / 1e3)
        self.memory.append(memory / 1024)

    def cells(self):
        middle = lambda v: f"{statistics.median(v):.1f}" if v else "–"
        state = "" if self.status == {0} else f" (status {sorted(self.status)})"
        return [middle(self.attached), middle(self.life), middle(self.cpu), middle(self.memory) + state]


def start_rows(acu, runs, quick):
    stamp = os.path.join(BUILD, "stamp")
    child = f"{stamp} {os.path.join(BUILD, 'stamp.out')}"
    limits = {"BPFTRACE_MAX_PROBES": "2048", "BPFTRACE_MAX_BPF_PROGS": "2048", "BPFTRACE_LOG_SIZE": "1000000"}

    def pair(script_of_acu, script_of_bpftrace=None):
        other = script_of_bpftrace or script_of_acu
        mine = [acu, "run", "-c", child, *script_of_acu]
        theirs = ["bpftrace", "-c", child, *other]
        text = lambda words: " ".join(shlex.quote(os.path.relpath(w, ROOT) if w.startswith(ROOT) else w) for w in words)
        return [("acu", Start(text(["acu", "run", "-c", "STAMP", *script_of_acu]), mine)),
                ("bpftrace", Start(text(["bpftrace", "-c", "STAMP", *other]), theirs, limits))]

    rows = [("one tracepoint, `@[comm] = count()`", pair(["-e", ONE]) +
             [("raw bpf(2) floor", Start("bench/floor/start.c", [os.path.join(BUILD, "start"), os.path.join(BUILD, "stamp.out")]))])]
    rows.append(("begin only", pair(["-e", "BEGIN { exit(); }"])))
    opens = ("tracepoint:syscalls:sys_enter_openat { @f[tid] = args->filename; } tracepoint:syscalls:sys_exit_openat "
             "/@f[tid]/ { printf(\"%s %s\\n\", comm, str(@f[tid])); delete(@f[tid]); }")
    rows.append(("opens, file names", pair(["-e", opens])))
    queue = ("tracepoint:sched:sched_wakeup, tracepoint:sched:sched_wakeup_new { @q[args->pid] = nsecs; } "
             "tracepoint:sched:sched_switch { if (args->prev_state == 0) { @q[args->prev_pid] = nsecs; } "
             "$ns = @q[args->next_pid]; if ($ns) { @us = hist((nsecs - $ns) / 1000); } delete(@q[args->next_pid]); }")
    rows.append(("run queue latency (3 probes)", pair(["-e", queue])))
    rows.append(("profile, kernel stacks", pair(["-e", "profile:hz:99 { @[kstack] = count(); }"])))
    rows.append(("profile, user stacks", pair(["-e", "profile:hz:99 { @[ustack] = count(); }"])))
    for name, variants in rows:
        say(f"start: {name}")
        for _ in range(runs):
            for _, start in variants:
                start.run()
    many = ("`sys_enter_*` (350 probes)", pair(["-e", MANY]))
    for index, (label, start) in enumerate(many[1]):
        if index and quick:
            continue
        say(f"start: {many[0]}: {label}")
        for _ in range(1 if index else runs):
            start.run()
    rows.append((many[0], [v for v in many[1] if v[1].life]))
    own = [(f"tools/{n}.bt", [("acu", Start(f"acu run -c STAMP tools/{n}.bt", [acu, "run", "-c", child, tool(n)]))])
           for n in ("opensnoop", "execsnoop", "runqlat", "biolatency")]
    for name, variants in own:
        say(f"start: {name}")
        for _ in range(runs):
            variants[0][1].run()
    return rows + own


def list_times(acu, runs):
    out = []
    for label, command in (("acu", [acu, "list", "tracepoint:*"]), ("bpftrace", ["bpftrace", "-l", "tracepoint:*"])):
        times = []
        for _ in range(runs):
            start = time.monotonic()
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            times.append((time.monotonic() - start) * 1000)
        out.append((label, statistics.median(times), done.stdout.count(b"\n"), " ".join(command).replace(acu, "acu")))
    return out


# ----------------------------------------------------------------------------------------- cost per event


class Tracer:
    """A running tracer; attached when the constructor returns."""

    def __init__(self, command, ready=None, wait=0.0, environment=None):
        self.errors = tempfile.TemporaryFile()
        self.before = program_ids()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE if ready else subprocess.DEVNULL,
                                        stderr=self.errors, env=dict(os.environ, **(environment or {})))
        if ready:
            line = self.process.stdout.readline().decode(errors="replace")
            while line and not line.startswith(ready):
                line = self.process.stdout.readline().decode(errors="replace")
            # What follows is read and thrown away by a child, not by this process.
            self.sink = subprocess.Popen(["cat"], stdin=self.process.stdout, stdout=subprocess.DEVNULL)
            self.process.stdout.close()
        else:
            self.sink = None
        time.sleep(wait)
        if self.process.poll() is not None:
            self.errors.seek(0)
            raise RuntimeError(self.errors.read().decode(errors="replace")[-600:])

    def instructions(self):
        return program_sizes(program_ids() - self.before)

    def stop(self):
        """Ends it; gives seconds of CPU time and what it said of lost events."""
        used = lambda: resource.getrusage(resource.RUSAGE_CHILDREN)
        before = used()
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        after = used()
        if self.sink:
            self.sink.wait()
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace")
        lost = re.search(r"(?i)lost[^0-9]*(\d+)|(\d+)[^0-9\n]*lost", text)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return cpu, int(next(filter(None, lost.groups()))) if lost else 0


def loaded_programs():
    done = subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True)
    try:
        return [p for p in json.loads(done.stdout or "[]") if "id" in p]
    except (ValueError, TypeError):
        return []


def program_ids():
    return {p["id"] for p in loaded_programs()}


def program_sizes(ids):
    programs = [p for p in loaded_programs() if p["id"] in ids]
    return sum(p.get("bytes_xlated", 0) for p in programs) // 8, sum(p.get("bytes_jited", 0) for p in programs)


def pin():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def load(calls, rounds):
    done = subprocess.run([os.path.join(BUILD, "syscalls"), str(calls), str(rounds)], capture_output=True, text=True,
                          preexec_fn=pin)
    return tuple(map(float, done.stdout.split()))


def cost_row(acu, row, repeats, calls, rounds):
    name, script, programs, _ = row
    is_event = programs == "event"
    if is_event:
        calls, rounds = 50000, 4
    tracers = {
        "none": None,
        "floor": lambda: Tracer([os.path.join(BUILD, "floor"), os.path.join(BUILD, "floors.bpf.o"), *programs.split()], "attached"),
        "acu": lambda: Tracer([acu, "run", "-q", "--notify-attached", "#attached#", "-e", script], "#attached#"),
        "bpftrace": lambda: Tracer(["bpftrace", "-e", script.replace("args.", "args->")], "Attaching", 1.0),
    }
    result = {k: {"least": [], "median": [], "cpu": [], "lost": [], "size": (0, 0)} for k in tracers}
    for _ in range(repeats):
        for label, start in tracers.items():
            into = result[label]
            try:
                tracer = start() if start else None
            except RuntimeError as problem:
                into["problem"] = str(problem).strip().split("\n")[-1][:200]
                continue
            if tracer and not into["size"][0]:
                into["size"] = tracer.instructions()
            least, median = load(calls, rounds)
            into["least"].append(least)
            into["median"].append(median)
            if tracer:
                cpu, lost = tracer.stop()
                into["cpu"].append(cpu / (calls * rounds * 1.1) * 1e6)
                into["lost"].append(lost)
    return result


def added(result, label):
    """Added ns per call: (of the least times, of the medians); None where it did not run."""
    if not result[label]["least"]:
        return None
    return (min(result[label]["least"]) - min(result["none"]["least"]),
            statistics.median(result[label]["median"]) - statistics.median(result["none"]["median"]))


# ------------------------------------------------------------------------------------------------ report


def ratio(a, b):
    return f"{a / b:.2f}" if a is not None and b and b > 0 else "–"


def machine():
    model = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
    return (f"{time.strftime('%Y-%m-%d')}, Linux {os.uname().release}, {os.cpu_count()} CPUs"
            f" ({model.group(1) if model else os.uname().machine})")


def version(command):
    return subprocess.run(command, capture_output=True, text=True).stdout.strip().split("\n")[0]


def write_start(out, rows, listing):
    out.append("## Startup\n\nMilliseconds and MB; medians. *attached*: from exec until all probes are attached "
               "(the command of `-c` starts). *total*: from exec until the process exits, which it does when that command ends.\n")
    out.append("| what | tool | attached | total | CPU time | peak memory | attached, acu/this |\n|---|---|---|---|---|---|---|")
    for name, variants in rows:
        mine = statistics.median(variants[0][1].attached) if variants[0][1].attached else None
        for index, (label, start) in enumerate(variants):
            theirs = statistics.median(start.attached) if index and start.attached else None
            out.append(f"| {name if not index else ''} | {label} | " + " | ".join(start.cells()) + f" | {ratio(mine, theirs)} |")
    out.append("\n" + "\n".join(f"- listing all tracepoints: {label} {ms:.1f} ms, {lines} lines (`{command}`)"
                                for label, ms, lines, command in listing))
    out.append("\nCommands (STAMP: `build/bench/stamp FILE`, run by `build/bench/launch`):\n")
    for name, variants in rows:
        for label, start in variants:
            out.append(f"- `{start.shown}`")


def write_cost(out, results, bare):
    out.append("\n## Cost per event\n\n" f"Added nanoseconds per system call (without a tracer: {bare:.0f} ns): minimum of all rounds, "
               "in parentheses the difference of medians.\n")
    out.append("| script | floor | acu | bpftrace | acu/floor | acu/bpftrace |\n|---|---|---|---|---|---|")
    cell = lambda v: f"{v[0]:.0f} ({v[1]:.0f})" if v else "–"
    for (name, _, _, goal), result in results:
        floor, acu, other = (added(result, k) for k in ("floor", "acu", "bpftrace"))
        mark = "" if not goal or not floor or not acu or acu[0] <= floor[0] * 1.05 else " *"
        out.append(f"| {name} | {cell(floor)} | {cell(acu)} | {cell(other)} | {ratio(acu and acu[0], floor and floor[0])}{mark}"
                   f" | {ratio(acu and acu[0], other and other[0])} |")
    out.append("\n`*`: above the goal of 1.05.")
    for (name, *_), result in results:
        for label in ("floor", "acu", "bpftrace"):
            if "problem" in result[label]:
                out.append(f"- {name}, {label}: {result[label]['problem']}")
    events = dict((row[2], r) for row, r in results).get("event")
    if events:
        out.append("\nCost of reading events in user space: " + "; ".join(
            f"{k}: {statistics.median(events[k]['cpu']):.2f} s of CPU per million events, {max(events[k]['lost'])} lost"
            for k in ("floor", "acu", "bpftrace") if events[k]["cpu"]) + ".")
    out.append("\n## Program sizes\n\nTotal of all programs of a row: instructions after the verifier, bytes of machine code.\n")
    out.append("| script | floor | acu | bpftrace |\n|---|---|---|---|")
    for (name, *_), result in results:
        out.append(f"| {name} | " + " | ".join("%d, %d" % result[k]["size"] if result[k]["size"][0] else "–"
                                                for k in ("floor", "acu", "bpftrace")) + " |")
    out.append("\nCommands: `taskset -c LAST build/bench/syscalls CALLS ROUNDS` while one of these runs:\n")
    for (name, script, programs, _), _ in results:
        out.append(f"- `acu run -q -e '{script}'`, `bpftrace -e …` the same (`args->` for `args.`), "
                   f"`build/bench/floor build/bench/floors.bpf.o {programs}`".replace("\n", "\\n"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--acu", default=os.path.join(ROOT, "build", "release", "acu"))
    parser.add_argument("--quick", action="store_true", help="few runs; bpftrace's 27 s row is left out")
    parser.add_argument("--only", default="start,compile,cost,functions")
    parser.add_argument("--out", default=os.path.join(ROOT, "bench", "results.md"))
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench: needs root")
    acu = os.path.abspath(options.acu)
    build()
    out = ["# Benchmarks, side by side\n",
           f"{machine()}; {version(['bpftrace', '--version'])}; {version([acu, '--version'])}. "
           f"Made by `make bench`{' --quick' if options.quick else ''} (bench/run.py).\n"]
    if "start" in options.only:
        runs = 3 if options.quick else 11
        write_start(out, start_rows(acu, runs, options.quick), list_times(acu, runs))
    if "compile" in options.only:
        say("compile time")
        compile_time.write(out, compile_time.measure(acu, BUILD, 20))
    if "cost" in options.only:
        repeats, calls, rounds = (2, 100000, 10) if options.quick else (5, 250000, 20)
        results = []
        for row in COST_ROWS:
            say(f"cost: {row[0]}")
            results.append((row, cost_row(acu, row, repeats, calls, rounds)))
        write_cost(out, results, min(min(r["none"]["least"]) for _, r in results))
    if "functions" in options.only:
        user_functions.build(ROOT, BUILD)
        repeats, calls, rounds = (2, 50000, 8) if options.quick else (5, 100000, 20)
        user_functions.write(out, user_functions.measure(acu, BUILD, Tracer, loaded_programs, pin, repeats, calls, rounds,
                                                         say), ratio)
    section.write_beginning(options.out, "\n".join(out) + "\n")
    say(f"written: {options.out}")


if __name__ == "__main__":
    main()
