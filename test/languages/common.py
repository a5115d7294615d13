"""Stacks of seeded programs: what a program wrote down of itself against what acu shows at the same instant.

A seeded program calls functions in many ways, by chance, and pulls a trigger each time it has written down its own stack: FOLDER/TID has lines
`name|file|line`, innermost first, with an empty line behind each stack. The trigger is on the line of the innermost frame. Before the trigger it
calls getppid(2), which is the trigger itself or arms the probe of another one. Its comm is `acu-seeded`.

With the trigger `ask` it prints `ready` and reads a line from its input: until it has one, it can be looked at as a stopped program.
"""
import collections
import functools
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from tally import SLOWNESS, Skipped, need

COMM = "acu-seeded"
LIMIT = 120 * SLOWNESS
SHARE = 0.99  # of stacks that must be identical
PRINT = 'printf("# %d %d\\n%s", tid, @stacks[tid], ustack(500))'
GETPPID = f'tracepoint:syscalls:sys_enter_getppid /comm == "{COMM}"/'
UNLINK = f'tracepoint:syscalls:sys_enter_unlink /comm == "{COMM}"/'
COUNT = "@stacks[tid] += 1"
# By name: what is printed of the program's stack, and when.
SCRIPTS = {
    "getppid": f"{GETPPID} {{ {COUNT}; {PRINT} }}",
    "uprobe": f'uprobe:libc:getppid /comm == "{COMM}"/ {{ {COUNT}; {PRINT} }}',
    "sleep": f"""{GETPPID} {{ {COUNT}; @armed[tid] = 1 }}
        tracepoint:sched:sched_switch /@armed[tid] && args.prev_state == 1/ {{ delete(@armed[tid]); {PRINT} }}""",
    "spin": f"""{GETPPID} {{ {COUNT}; @armed[tid] = 1 }}
        profile:hz:997 /@armed[tid]/ {{ delete(@armed[tid]); {PRINT} }}""",
    # Of programs that cannot call libc.
    "unlink": f'{UNLINK} {{ {COUNT}; {PRINT} }}',
    "unlink, spin": f"""{UNLINK} {{ {COUNT}; @armed[tid] = 1 }}
        profile:hz:997 /@armed[tid]/ {{ delete(@armed[tid]); {PRINT} }}""",
    "remove": f'uprobe:libc:remove /comm == "{COMM}"/ {{ {COUNT}; {PRINT} }}',
    "unlink, sleep": f"""{UNLINK} {{ {COUNT}; @armed[tid] = 1 }}
        tracepoint:sched:sched_switch /@armed[tid] && args.prev_state == 1/ {{ delete(@armed[tid]); {PRINT} }}""",
}
EVERY = "--all" in sys.argv
MANY = 2000 if EVERY else 800  # stacks
COUNTS = {"getppid": MANY, "uprobe": MANY, "sleep": MANY, "spin": 2000 if EVERY else 400}
STOPS = {"snap": 100, "core": 20} if EVERY else {"snap": 40, "core": 10}  # of stacks of stopped programs, by the command that shows them
TRIGGERS = {"uprobe": "getppid"}  # of scripts, where it has another name
PYTHONS = ["/usr/bin/python{}", "/usr/local/bin/python{}", os.path.expanduser("~/.pyenv/versions/{}.*/bin/python{}")]
LANGUAGE_FRAME = re.compile(r"^\s+(\S.*?) ([/<(].*):(\d+)$")


@functools.cache
def interpreters(version):
    """The programs of a version of Python."""
    paths = [path for place in PYTHONS for path in sorted(glob.glob(place.replace("{}", version)))]
    return [path for path in paths if subprocess.run([path, "-c", "import ctypes, json, asyncio"], capture_output=True).returncode == 0]


def interpreter(version):
    """The first of them."""
    if not interpreters(version):
        raise Skipped(f"there is no python{version} here")
    return interpreters(version)[0]


def written(folder):
    """By thread: its stacks, each a list of (name, file, line)."""
    out = {}
    for path in glob.glob(os.path.join(folder, "[0-9]*")):
        with open(path) as f:
            parts = f.read().split("\n\n")
        stacks = [[tuple(line.rsplit("|", 2)) for line in part.split("\n")] for part in parts if part.strip()]
        out[int(os.path.basename(path))] = [[(name, file, int(line)) for name, file, line in stack] for stack in stacks]
    return out


def printed(text, frame=LANGUAGE_FRAME):
    """The same of what acu printed, by thread and number of the stack, without native frames."""
    out = collections.defaultdict(dict)
    for event in re.split(r"^# ", text, flags=re.M)[1:]:
        head, _, rest = event.partition("\n")
        tid, number = head.split()
        frames = [frame.match(line) for line in rest.split("\n")]
        out[int(tid)][int(number) - 1] = [(f.group(1), f.group(2) or "", int(f.group(3) or 0)) for f in frames if f]
    return out


def compare(expected, found, most=500, lines=True):
    """How many stacks acu printed, how many of those are identical, and the first that is not. `most`: frames that acu shows of a stack.
    Without `lines` the line of the innermost frame does not count."""
    count = same = 0
    first = ""
    for tid, stacks in expected.items():
        for number, b in sorted(found.get(tid, {}).items()):
            if number >= len(stacks):
                first = first or f"thread {tid}: {len(stacks)} stacks were written, stack {number} printed"
                continue
            a = stacks[number]
            if not lines and a and b and a[0][:2] == b[0][:2]:
                b = [a[0], *b[1:]]
            count += 1
            same += a[:most] == b
            if a[:most] != b and not first:
                at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
                first = (f"thread {tid}, stack {number}: frame {at} of {len(a)} is {a[at] if at < len(a) else 'none'}, "
                         f"printed {b[at] if at < len(b) else 'none'} of {len(b)}")
    return count, same, first


def run_seeded(acu, command, script, how="before", frame=LANGUAGE_FRAME, lines=True):
    """Runs the program (a command line to which the folder is added in the place of FOLDER) under a script; `how`: acu is attached `before` the
    program starts, or `after`; `frame` matches lines of language frames. Gives compare()'s answer."""
    folder = tempfile.mkdtemp(prefix="acu-languages-")
    os.chmod(folder, 0o777)
    words = [folder if word == "FOLDER" else word for word in command]
    options = ["run", "-q", "-B", "full", "-e", SCRIPTS[script]]
    try:
        if how == "before":
            done = subprocess.run([acu, *options, "-c", " ".join(words)], capture_output=True, text=True, errors="replace", timeout=LIMIT)
            need(done.returncode == 0, f"acu: status {done.returncode}: {done.stderr[-600:]}")
            out = done.stdout
        else:
            program = subprocess.Popen([*words, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            try:
                need(program.stdout.readline() == "ready\n", "the program is not ready")
                tracer = subprocess.Popen([acu, *options, "--notify-attached", "#attached#", "-p", str(program.pid)], stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True, errors="replace")
                need(tracer.stdout.readline() == "#attached#\n", "acu is not attached")
                program.stdin.write("\n")
                program.stdin.flush()
                out, problems = tracer.communicate(timeout=LIMIT)
                need(tracer.returncode == 0, f"acu: status {tracer.returncode}: {problems[-600:]}")
            finally:
                program.kill()
                program.wait()
        return compare(written(folder), printed(out, frame), lines=lines)
    finally:
        shutil.rmtree(folder)


def check_seeded(acu, command, script, how="before", expected=1, frame=LANGUAGE_FRAME, lines=True):
    """The same as a test: Wrong, or a line that tells how many. `expected`: stacks, of which one in a hundred may be missing: a
    sample may miss its time, and a sleep may be over before it begins."""
    count, same, first = run_seeded(acu, command, script, how, frame, lines)
    need(count >= 0.99 * expected, f"{count} stacks were printed, expected {expected}; {first}")
    need(same >= SHARE * count, f"{same} of {count} stacks are identical; {first}")
    return f"{same} of {count} stacks are identical"


def acu_run(acu, *words):
    done = subprocess.run([acu, *words], capture_output=True, text=True, errors="replace", timeout=LIMIT)
    need(done.returncode == 0, f"status {done.returncode}: {done.stderr[-600:]}")
    return done


def acu_output(acu, *words):
    return acu_run(acu, *words).stdout


def take_values(arguments, option):
    """Takes each `OPTION VALUE` out of a command line; the values."""
    out = []
    while option in arguments:
        at = arguments.index(option)
        out.append(arguments[at + 1])
        del arguments[at:at + 2]
    return out


def take_commands(arguments, name):
    """The interpreters to test: that of the name, and each `--NAME COMMAND` of a command line."""
    return [(name,), *(tuple(command.split()) for command in take_values(arguments, "--" + name))]


def dump(pid, folder):
    """Makes a core dump of the process, which runs on."""
    if not shutil.which("gcore"):
        raise Skipped("there is no gcore here")
    path = os.path.join(folder, "core")
    subprocess.run(["gcore", "-o", path, str(pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT)
    return f"{path}.{pid}"


def first_stack(acu, how, pid, thread=None):
    """Language frames of the process's first thread, or of `thread`, by `acu snap` or, of its core dump, `acu core`: (name, file, line), innermost first. `how`: "snap" or
    "core"."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["snap", "-p", str(pid)] if how == "snap" else ["core", dump(pid, folder)]
        text = acu_output(acu, *words, "--frames", "1000", "--json")
    stacks = json.loads(text)["stacks"]
    stack = next(s for s in stacks if thread in (None, *s["threads"]))
    frames = [f for f in stack["frames"] if f.get("kind", "user") not in ("user", "inlined")]
    places = [f.get("place", ":0").rsplit(":", 1) for f in frames]
    return [(f["function"], file, int(line)) for f, (file, line) in zip(frames, places)]


def wait_for_read(pid, thread=None):
    """Until the process's first thread, or `thread`, waits in read(0, ...)."""
    end = time.monotonic() + 10 * SLOWNESS
    while time.monotonic() < end:
        with open(f"/proc/{pid}/task/{thread or pid}/syscall") as f:
            if f.read().startswith("0 0x0 "):
                return
        time.sleep(0.001)
    need(False, "the program does not wait for input")


def check_stopped(acu, command, how, count, waits=True, find=first_stack):
    """A seeded program with the trigger `ask`: all of its stacks must be identical, by first_stack(). `command` as of run_seeded(). `waits`: the program's
    first thread waits for input when it is stopped. `find`: see first_stack()."""
    folder = tempfile.mkdtemp(prefix="acu-languages-")
    found = {}
    program = subprocess.Popen([folder if word == "FOLDER" else word for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for number in range(count):
            need(program.stdout.readline() == "ready\n", "the program is not ready")
            if waits:
                wait_for_read(program.pid)
            found[number] = find(acu, how, program.pid)
            program.stdin.write("\n")
            program.stdin.flush()
        expected = written(folder)
    finally:
        program.kill()
        program.wait()
        shutil.rmtree(folder)
    seen, same, first = compare(expected, {tid: found for tid in expected}, most=10000)
    need(seen == same == count, f"{same} of {seen} stacks are identical, expected {count}; {first}")
    return f"{same} of {seen} stacks are identical"


def check_busy(acu, command, outermost, count=60, least=0.8):
    """A seeded program that never waits, by `acu snap`: at least `least` of its stacks lead to the frame `outermost`."""
    folder = tempfile.mkdtemp(prefix="acu-languages-")
    words = [folder if word == "FOLDER" else word for word in command]
    program = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.4 * SLOWNESS)  # it has begun
        found = [first_stack(acu, "snap", program.pid) for _ in range(count)]
    finally:
        program.kill()
        program.wait()
        shutil.rmtree(folder)
    complete = sum(bool(stack) and stack[-1][0] == outermost for stack in found)
    need(complete >= least * count, f"{complete} of {count} stacks are complete, such as {found[:2]}")
    return f"{complete} of {count} stacks are complete"


def check_shares(acu, command, frames, root):
    """The time of each function is what it spends, within 2% of all. `frames`: by share its frame in folded stacks; `root`: the frame of their
    caller, without which the interpreter starts or ends."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "shares.folded")
        acu_output(acu, "flame", "-q", "-F", "1999", "-o", path, "--", *command)
        with open(path) as f:
            stacks = [line.rsplit(" ", 1) for line in f]
    stacks = [(stack.split(";"), int(weight)) for stack, weight in stacks]
    total = sum(weight for stack, weight in stacks if root in stack)
    need(total, f"no stack has {root}")
    found = {share: round(100 * sum(weight for stack, weight in stacks if root in stack and frame in stack) / total, 1) for share, frame in frames.items()}
    need(all(abs(share - expected) <= 2 for expected, share in found.items()), f"shares are {found}")
    return f"shares are {found}"
