"""Cost of probes on user functions: acu, bpftrace and hand-written BPF by turns, like the rows on system calls.

A program calls one function millions of times, pinned to one CPU (bench/load/functions.c, which also checks each
result). The floor is bench/floor/functions.c: one link for the function (uprobe_multi, or a session for entry and
return). Beside what a call costs more, the kernel's own count of what the program took of that (BPF statistics, in a
run of its own): the trap itself costs the same for all, and on a shared machine hides the rest.
"""
import os
import re
import statistics
import subprocess

PROBE, RETURN = "uprobe:{0}:{1}", "uretprobe:{0}:{1}"
# Row, function, script, program of functions.bpf.c.
ROWS = [
    ("`@ = count()`", "plain_call", PROBE + " {{ @ = count(); }}", "count"),
    ("`@[pid] = count()`", "plain_call", PROBE + " {{ @[pid] = count(); }}", "count_pid"),
    ("`@ = hist(arg0)`", "plain_call", PROBE + " {{ @ = hist(arg0); }}", "hist_argument"),
    ("entry/return latency pair", "plain_call", PROBE + " {{ @s[tid] = nsecs; }} " + RETURN + " /@s[tid]/ "
     "{{ @ = hist(nsecs - @s[tid]); delete(@s[tid]); }}", "latency_session"),
    ("`@[ustack] = count()`, five frames", "plain_call", PROBE + " {{ @[ustack] = count(); }}", "user_stack"),
    ("`@ = count()`, the function begins with `endbr64`", "branch_call", PROBE + " {{ @ = count(); }}", "count"),
]
STATISTICS = "/proc/sys/kernel/bpf_stats_enabled"


def build(root, to):
    source = lambda *p: os.path.join(root, "bench", *p)
    target = lambda p: os.path.join(to, p)
    for command in (
        ["gcc", "-O2", "-fno-omit-frame-pointer", "-no-pie", source("load", "functions.c"), "-o", target("functions")],
        ["clang", "-O2", "-g", "-target", "bpf", f"-I/usr/include/{os.uname().machine}-linux-gnu", "-c",
         source("floor", "functions.bpf.c"), "-o", target("functions.bpf.o")],
        ["gcc", "-O2", source("floor", "functions.c"), "-o", target("functions_floor"), "-lbpf", "-lelf", "-lz"],
    ):
        subprocess.run(command, check=True)


def file_offset(program, function):
    """Where the function stands in the file."""
    names = subprocess.run(["nm", program], capture_output=True, text=True).stdout
    address = int(re.search(r"^([0-9a-f]+) [Tt] " + function + "$", names, re.M).group(1), 16)
    headers = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True).stdout
    for line in re.findall(r"^ +LOAD +(.*)$", headers, re.M):
        offset, virtual, _, size = (int(n, 16) for n in line.split()[:4])
        if virtual <= address < virtual + size:
            return address - virtual + offset
    raise RuntimeError(function + " is in no segment")


def measure(acu, build_folder, tracer, loaded_programs, pin, repeats, calls, rounds, say):
    """By row: {"none"|"floor"|"acu"|"bpftrace": {"least", "median", "inside" or "problem"}}."""
    load_program = os.path.join(build_folder, "functions")

    def load(function, calls, rounds):
        done = subprocess.run([load_program, str(calls), str(rounds), function], capture_output=True, text=True,
                              preexec_fn=pin, check=True)
        return tuple(map(float, done.stdout.split()))

    def inside(function):
        """What one call takes in programs; who counts pays for counting, so nothing else is timed meanwhile."""
        with open(STATISTICS, "w") as file:
            file.write("1")
        before = {p["id"]: p for p in loaded_programs()}
        load(function, calls, 2)
        after = [p for p in loaded_programs()]
        with open(STATISTICS, "w") as file:
            file.write("0")
        taken = [(p.get("run_time_ns", 0) - before.get(p["id"], {}).get("run_time_ns", 0),
                  p.get("run_cnt", 0) - before.get(p["id"], {}).get("run_cnt", 0)) for p in after]
        hit = [t for t in taken if t[1] >= calls]
        return sum(ns for ns, _ in hit) / (calls * 2.1) if hit else None

    results = []
    for row in ROWS:
        name, function, script, program = row
        say(f"functions: {name}")
        script = script.format(load_program, function)
        floor = [os.path.join(build_folder, "functions_floor"), os.path.join(build_folder, "functions.bpf.o"), program,
                 load_program, str(file_offset(load_program, function))]
        tracers = {
            "none": None,
            "floor": lambda: tracer(floor, "attached"),
            "acu": lambda: tracer([acu, "run", "-q", "--notify-attached", "#attached#", "-e", script], "#attached#"),
            "bpftrace": lambda: tracer(["bpftrace", "-e", script], "Attaching", 1.0),
        }
        result = {label: {"least": [], "median": [], "inside": []} for label in tracers}
        for _ in range(repeats):
            for label, start in tracers.items():
                try:
                    running = start() if start else None
                except RuntimeError as problem:
                    result[label]["problem"] = str(problem).strip().split("\n")[-1][:200]
                    continue
                least, median = load(function, calls, rounds)
                result[label]["least"].append(least)
                result[label]["median"].append(median)
                if running:
                    taken = inside(function)
                    if taken:
                        result[label]["inside"].append(taken)
                    running.stop()
        results.append((row, result))
    return results


def write(out, results, ratio):
    out.append("\n## Cost per call of a user function\n\nAdded nanoseconds per call: minimum of all rounds, in parentheses the "
               "difference of medians; after the semicolon the part spent in BPF programs (minimum, from the kernel's "
               "statistics).\n")
    out.append("| script | floor | acu | bpftrace | acu/floor | programs, acu/floor | acu/bpftrace |\n|---|---|---|---|---|---|---|")
    for (name, *_), result in results:
        def added(label):
            if not result[label]["least"]:
                return None
            return (min(result[label]["least"]) - min(result["none"]["least"]),
                    statistics.median(result[label]["median"]) - statistics.median(result["none"]["median"]))

        taken = {label: min(result[label]["inside"]) if result[label]["inside"] else None for label in result}
        values = {label: added(label) for label in result}
        cell = lambda label: "–" if not values[label] else (
            f"{values[label][0]:.0f} ({values[label][1]:.0f})" + (f"; {taken[label]:.0f}" if taken[label] else ""))
        first = lambda label: values[label] and values[label][0]
        out.append(f"| {name} | {cell('floor')} | {cell('acu')} | {cell('bpftrace')} | {ratio(first('acu'), first('floor'))} | "
                   f"{ratio(taken['acu'], taken['floor'])} | {ratio(first('acu'), first('bpftrace'))} |")
    for (name, *_), result in results:
        for label, values in result.items():
            if "problem" in values:
                out.append(f"- {name}, {label}: {values['problem']}")
