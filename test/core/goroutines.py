"""Goroutines of cores and of live memory, held against what Go's own runtime prints of them when it is told to quit."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess

from common import HERE, LIMIT, TMP, Skipped, acu_core, call, end, gcore, need, path


def build(name, *flags, source="goroutines"):
    if not shutil.which("go"):
        raise Skipped("missing: go")
    out = path(name)
    if not os.path.exists(out):
        subprocess.run(["go", "build", *flags, "-o", out, os.path.join(HERE, source + ".go")], check=True, timeout=LIMIT,
                       env=dict(os.environ, GOCACHE=path("gocache"), GO111MODULE="off"))
    return out


def started(binary):
    process = subprocess.Popen([binary], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ, GOTRACEBACK="system"))
    need(process.stdout.readline() == "ready\n", "the program did not get ready")
    return process


def told_by_the_runtime(process):
    """{id: (state, [functions])}"""
    process.send_signal(signal.SIGQUIT)
    text = process.communicate(timeout=LIMIT)[1]
    out = {}
    for number, state, body in re.findall(r"^goroutine (\d+) \[([^\],]*)[^\]]*\]:\n((?:.+\n)*)", text, re.M):
        out[int(number)] = (state, [f for f in re.findall(r"^(?:created by .*|(\S.*?)\((?:[^()]|\{\.\.\.\})*\))$", body, re.M) if f])
    return out


def goroutines_as_the_runtime(acu):
    """Ids, what they wait for and the functions they are in."""
    process = started(build("goroutines"))
    core = gcore(process.pid, "goroutines")
    text = acu_core(acu, core)
    ours = {}
    for group in json.loads(acu_core(acu, core, "--json"))["goroutines"]:
        for number in group["ids"]:
            ours[number] = (group["state"], [f["function"] for f in group["frames"]])
    live = call(acu, "snap", "-p", process.pid)
    theirs = told_by_the_runtime(process)
    process.wait()
    os.unlink(core)
    parked = {n: t for n, t in theirs.items() if n and t[0] not in ("running", "idle")}
    need(len(parked) >= 125, f"{len(parked)} goroutines in the runtime's own list")
    for number, (state, functions) in parked.items():
        need(number in ours, f"goroutine {number} ({state}) is missing")
        need(ours[number][0] == "waiting: " + state, f"goroutine {number}: {ours[number][0]}, the runtime says {state}")
        # The runtime leaves out inlined calls of its own, and the suffix of assembly.
        told = [f.removesuffix(".abi0") for f in ours[number][1]]
        rest = iter(told)
        need(all(any(f == t for t in rest) for f in functions), f"goroutine {number}: {told}, the runtime says {functions}")
    need(re.search(r"^100 goroutines (\d+, ){7}\d+, …: waiting: chan receive\n   0  runtime\.gopark", text, re.M), text)
    need(re.search(r"^20 goroutines .*: waiting: sema\w+\n", text, re.M) or "Mutex" in text, text)
    need("100 goroutines " in live.stdout and "main.waits_for_lock" in live.stdout, live.stdout + live.stderr)


def goroutines_without_debug_information(acu):
    process = started(build("goroutines-w", "-ldflags=-w"))
    try:
        text = call(acu, "snap", "-p", process.pid).stdout
        need("goroutines not available: the program has no debug information" in text, text)
    finally:
        process.stderr.close()
        end(process)


def crash_that_the_runtime_ends(acu):
    """In its handler of a signal it sends itself another one: the stack leads out of both."""
    pattern = open("/proc/sys/kernel/core_pattern").read().strip()
    if "/" in pattern or pattern.startswith("|"):
        raise Skipped(f"cores go to {pattern}")
    folder = path("go-crash")
    os.makedirs(folder, exist_ok=True)
    subprocess.run([build("crashing", source="crashing")], cwd=folder, stderr=subprocess.DEVNULL, timeout=LIMIT, env=dict(os.environ, GOTRACEBACK="crash"),
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
    cores = os.listdir(folder)
    need(len(cores) == 1, str(cores))
    crashed = json.loads(acu_core(acu, os.path.join(folder, cores[0]), "--json"))["stacks"][0]
    functions = [f.get("function", "").removesuffix(".abi0") for f in crashed["frames"]]
    rest = iter(functions)
    wanted = ["runtime.raise", "runtime.sigtramp", "runtime.raise", "runtime.fatalpanic", "runtime.sigpanic", "main.reads", *["main.fails"] * 4, "main.main", "runtime.main", "runtime.goexit"]
    need(all(any(f == w for f in rest) for w in wanted), str(functions))


TESTS = [goroutines_as_the_runtime, crash_that_the_runtime_ends, goroutines_without_debug_information]
