#!/usr/bin/env python3
"""Variables of Python frames and tasks of asyncio, of stopped programs: python_values.py ACU [--all] [--filter TEXT]

known.py writes down its own variables and tasks; `acu snap` and `acu core` must show the same, with each Python that is found (the system's, those of
version managers): all versions with --all, else the system's and the newest.
Last line: `N passed, N failed, N skipped`.
"""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from common import LIMIT, acu_output, dump, interpreter, interpreters, wait_for_read
from tally import Skipped, need, run_tests, take_filter

KNOWN = os.path.join(HERE, "known.py")
VERSIONS = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"]
SYSTEM = "3.11"
CHOSEN = VERSIONS if "--all" in sys.argv else [SYSTEM, VERSIONS[-1]]
SEEDS = range(1, 9)


class Known:
    """The program as it waits: its process, its folder and what it wrote down."""
    def __init__(self, python, seed, *what):
        self.folder = tempfile.mkdtemp(prefix="acu-values-")
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        self.program = subprocess.Popen([python, KNOWN, self.folder, str(seed), *what], cwd=self.folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, unlimited))
        self.core = ""

    def __enter__(self):
        need(self.program.stdout.readline() == "ready\n", "the program is not ready")
        wait_for_read(self.program.pid)
        with open(os.path.join(self.folder, "expected")) as f:
            self.expected = json.load(f)
        return self

    def __exit__(self, *_):
        self.program.kill()
        self.program.wait()
        shutil.rmtree(self.folder)

    def abort(self):
        """A core dump that the kernel writes, where it writes them into the folder of the program; else gdb's."""
        with open("/proc/sys/kernel/core_pattern") as f:
            pattern = f.read().strip()
        if "/" in pattern or pattern.startswith("|"):
            return dump(self.program.pid, self.folder)
        self.program.communicate("abort\n", timeout=LIMIT)
        cores = [name for name in os.listdir(self.folder) if name.startswith("core")]
        need(cores, "the kernel wrote no core dump")
        return os.path.join(self.folder, cores[0])

    def ask(self, acu, how, *words):
        if how == "snap":
            return acu_output(acu, "snap", "-p", str(self.program.pid), *words)
        self.core = self.core or self.abort()
        return acu_output(acu, "core", self.core, *words)


def compare_frames(found, expected):
    """Frames of functions that wait() was called by: name, arguments, variables."""
    at = next((i for i, f in enumerate(found) if f.get("function", "").rpartition(".")[2] == "stop"), -1)
    need(at >= 0, f"no frame of stop: {[f.get('function') for f in found]}")
    frames = [[f["function"], f.get("args", {}), f.get("locals", {})] for f in found[at + 1:] if f.get("kind") == "python"]
    need([f[0] for f in frames] == [f[0] for f in expected], f"functions {[f[0] for f in frames]}, expected {[f[0] for f in expected]}")
    count = 0
    for (name, *got), (_, *wanted) in zip(frames, expected):
        for part, (a, b) in zip(("argument", "variable"), zip(got, wanted)):
            for variable in {*a, *b}:
                need(a.get(variable) == b.get(variable), f"{name}, {part} {variable} is\n  {a.get(variable)}, expected\n  {b.get(variable)}")
            need(list(a) == list(b), f"{name}: {part}s in the order {list(a)}, expected {list(b)}")
            count += len(b)
    return count


def variables(python, how):
    def test(acu):
        count = 0
        for seed in SEEDS if how == "snap" else [1, 2]:
            with Known(python, seed, "variables") as known:
                frames = json.loads(known.ask(acu, how, "--json"))["stacks"][0]["frames"]
                count += compare_frames(frames, known.expected)
        return f"{count} variables are identical"
    return test


def places(frames):
    return [[f["function"], *f["place"].rsplit(":", 1)] for f in frames]


def compare_tasks(found, expected):
    names = set()
    for group in found["tasks"]:
        chain = [a["name"] for a in group["awaited_by"]]
        for name in group["names"]:
            wanted = expected.get(name)
            need(wanted, f"a task {name} is not expected: {sorted(expected)}")
            need(group["state"].startswith(wanted["state"]), f"{name} is {group['state']}, expected {wanted['state']}")
            if wanted["frames"] is not None:
                frames = [[f, file, str(line)] for f, file, line in wanted["frames"]]
                need(places(group["frames"]) == frames, f"{name}:\n  {places(group['frames'])}, expected\n  {frames}")
            need(len(chain) == len(wanted["awaited_by"]), f"{name} is awaited by {chain}, expected {wanted['awaited_by']}")
            for link, waiter in zip(group["awaited_by"], wanted["awaited_by"]):
                lines = [[f, file, str(line)] for f, file, line in expected[waiter]["frames"]]
                need(places(link["frames"]) == lines, f"{name}: {waiter} is at {places(link['frames'])}, expected {lines}")
            names.add(name)
        need(chain == expected[group["names"][0]]["awaited_by"], f"{group['names'][0]} is awaited by {chain}")
    need(names == set(expected), f"missing: {sorted(set(expected) - names)}")
    sizes = [len(group["names"]) for group in found["tasks"]]
    need(sizes == sorted(sizes, reverse=True), f"groups are not in order: {sizes}")
    running = [g for g in found["tasks"] if g["state"] == "running"]
    need(running and [f["function"].rpartition(".")[2] for f in running[0]["frames"]][-2:] == ["wait", "run_tasks"], f"running: {running}")
    return len(names)


def tasks(python, how, *way):
    def test(acu):
        count = 0
        for seed in SEEDS if how == "snap" else [1, 2]:
            with Known(python, seed, "tasks", *way) as known:
                found = json.loads(known.ask(acu, how, "--async", "--json"))
                need(not found.get("problem") and not found.get("unreadable"), f"{found.get('problem')}, {found.get('unreadable')}")
                count += compare_tasks(found, known.expected)
        return f"{count} tasks are identical"
    return test


def many_tasks(acu):
    """A thousand tasks with one chain are one group, which comes first."""
    code = """import asyncio, sys
async def work(): await asyncio.sleep(1000)
async def main():
    tasks = [asyncio.create_task(work()) for _ in range(1000)]
    await asyncio.sleep(0.01)
    print("ready", flush=True)
    await asyncio.gather(*tasks)
asyncio.run(main())"""
    program = subprocess.Popen([interpreter(SYSTEM), "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        need(program.stdout.readline() == "ready\n", "the program is not ready")
        text = acu_output(acu, "snap", "-p", str(program.pid), "--async", "--max-pause", "1s")
    finally:
        program.kill()
        program.wait()
    groups = re.findall(r"^(?:(1,000 tasks) |task )(\S+?),? .*$", text, re.M)
    need("1,001 asyncio tasks" in text and groups and groups[0][0] == "1,000 tasks" and len(groups) <= 2, text[:800])


def in_scripts(python, how):
    """frame("py:NAME"): values by name, the stack from there on, wildcards, and names that are not there."""
    def test(acu):
        with Known(python, 3, "variables") as known:
            expected = [(arguments["only"], values["local"]) for name, arguments, values in known.expected if name.rpartition(".")[2] == "plain_frame"]
            out = known.ask(acu, how, "-e", 'frame("py:plain_*") { printf("<%s|%s>\\n", args.only, locals.local); print(ustack(1)); }')
            found = re.findall(r"^<(.*?)\|(.*?)>\n\n\s+(\S+) [^\n]*known.py:\d+$", out, re.M | re.S)
            need(len(found) == len(expected), f"{len(found)} calls, expected {len(expected)}: {out}")
            for (only, local, function), texts in zip(found, expected):
                need(function == "plain_frame", f"the stack begins with {function}")
                for text, wanted in zip((only, local), texts):
                    need("…" in wanted or text == plain(wanted), f"{text}, expected {wanted}")
            need(any("…" not in text for texts in expected for text in texts), f"nothing to compare in {expected}")
            out = known.ask(acu, how, "-e", 'frame("py:plain_frame") { print(locals.gone); }')
            need(out.count("<no value>\n") == len(expected), f"a variable that was deleted: {out}")
            for body, message in (("locals.locl", "did you mean `locals.local`?"), ("args.onyl", "did you mean `args.only`?")):
                done = refused(acu, known, how, 'frame("py:plain_frame") { print(%s); }' % body)
                need(message in done and done.count("ERROR") == 1, done)
            done = refused(acu, known, how, 'frame("py:plain_fram") { print(1); }')
            need("did you mean `py:plain_frame`?" in done, done)
    return test


def plain(text):
    """What scripts have of a string: its characters."""
    return eval(text).encode(errors="surrogatepass").decode(errors="replace") if text[0] in "'\"" else text


def refused(acu, known, how, script):
    words = ["snap", "-p", str(known.program.pid)] if how == "snap" else ["core", known.core]
    done = subprocess.run([acu, *words, "-e", script], capture_output=True, text=True, timeout=LIMIT)
    need(done.returncode != 0, f"accepted: {script}")
    return done.stderr


def threads_with_one_stack(acu):
    """They are shown once, with all values of a variable that differs."""
    code = """import threading, time
def work(order, kind):
    time.sleep(1000)
for order in range(6):
    threading.Thread(target=work, args=(order, "same"), daemon=True).start()
time.sleep(0.1)
print("ready", flush=True)
time.sleep(1000)"""
    program = subprocess.Popen([interpreter(SYSTEM), "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        need(program.stdout.readline() == "ready\n", "the program is not ready")
        text, found = (acu_output(acu, "snap", "-p", str(program.pid), *more) for more in ([], ["--json"]))
    finally:
        program.kill()
        program.wait()
    need("order = 0 | 1 | 2 | 3 | …, kind = 'same'\n" in text, text)
    frames = [f for stack in json.loads(found)["stacks"] if len(stack["threads"]) == 6 for f in stack["frames"] if f.get("function") == "work"]
    need(frames and frames[0]["args"] == {"order": list("012345"), "kind": "'same'"}, f"{frames}")


def no_tasks(acu):
    """A program without asyncio says so."""
    with Known(interpreter(SYSTEM), 1, "variables") as known:
        done = subprocess.run([acu, "snap", "-p", str(os.getpid()), "--async"], capture_output=True, text=True, timeout=LIMIT)
        need(done.returncode == 3 and "asyncio.tasks is not loaded" in done.stderr, f"status {done.returncode}: {done.stderr}")
        done = subprocess.run([acu, "snap", "-p", str(known.program.pid), "--async", "-e", "oneshot { print(1); }"], capture_output=True, text=True, timeout=LIMIT)
        need(done.returncode == 2 and "takes no script" in done.stderr, f"status {done.returncode}: {done.stderr}")


def tests():
    yield "many tasks", many_tasks
    yield "no tasks", no_tasks
    yield "threads with one stack", threads_with_one_stack
    for version in CHOSEN:
        if not interpreters(version):
            yield version, lambda _, version=version: interpreter(version)
        for python in interpreters(version):
            name = f"{version} ({python})"
            for how in ("snap", "core"):
                yield f"{name} {how}: variables", variables(python, how)
                yield f"{name} {how}: tasks", tasks(python, how)
                yield f"{name} {how}: scripts", in_scripts(python, how)
            yield f"{name} snap: tasks in Python", tasks(python, "snap", "pure")


if __name__ == "__main__":
    only = take_filter(sys.argv)
    sys.exit(run_tests([(name, test) for name, test in tests() if only in name], os.path.abspath(sys.argv[1]), tells_reason=False))
