#!/usr/bin/env python3
"""Single calls of acu fail, one for each run: run.py ACU [--all] [--filter TEXT]

For each command the calls of each class (faults.c) are counted, and then one of them fails: acu ends within its time, without a crash, with an error that is told, or with the result
of a run without a fault or a message about what is missing; and nothing stays in the kernel. --all: more than 5,000 faults. Last line: `N passed, N failed, N skipped`.
"""
import difflib
import errno
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from leftovers import held, left
from tally import SLOWNESS, need, require_real_time, run_suite, untimed

ALL = "--all" in sys.argv
TMP = tempfile.mkdtemp(prefix="acu-faults-")
PRELOADED, TARGET = os.path.join(TMP, "faults.so"), os.path.join(TMP, "target")
LIMIT = 30 * SLOWNESS
# In the order of faults.c, with what fails: what the system call could say.
CLASSES = {"malloc": ["ENOMEM"], "open": ["EMFILE", "EACCES"], "read": ["EIO", "EINTR"], "write": ["ENOSPC", "EINTR"], "mmap": ["ENOMEM"], "bpf": ["EPERM", "ENOMEM"],
           "perf": ["EMFILE", "ENOSPC"], "ioctl": ["EBUSY"], "wait": ["EINTR"], "fork": ["EAGAIN"], "stat": ["EACCES", "ENOMEM"], "pipe": ["EMFILE"]}
MOST = 60 if ALL else 3  # faults for a class and an error of a command
total = [0]

BUSY = ["/bin/sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"]
# Name, command, and whether it prints the same each time.
COMMANDS = [
    ("script", ["run", "-e", "begin { @a[1] = count(); @h = hist(5); printf(\"%d\\n\", 7); exit(); }"], True),
    ("evaluator", ["run", "--engine", "eval", "-e", "begin { @a[1] = count(); printf(\"%d\\n\", 7); exit(); }"], True),
    ("count", ["run", "-q", "-e", "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @ = count(); }", "-c", TARGET], True),
    ("events", ["run", "-q", "-e", "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { printf(\"%d\\n\", 1); }", "-c", TARGET], True),
    ("function", ["run", "-q", "-e", f"uprobe:{TARGET}:step {{ @n = count(); }}", "-c", TARGET], True),
    ("trace", ["trace", "-c", "-o", "/dev/null", "--", TARGET], True),
    ("graph", ["graph", "step", "--", TARGET], False),
    ("flame", ["flame", "-q", "-o", os.path.join(TMP, "f.folded"), "--", *BUSY], True),
    ("record", ["record", "-q", "-o", os.path.join(TMP, "r.acu"), "--", *BUSY], True),
    ("report", ["report", os.path.join(TMP, "given.acu")], True),
    ("stat", ["stat", "-e", "page-faults", "--", TARGET], False),
    ("sym", ["sym", "-e", TARGET, "0x1139"], True),
    ("list", ["list", "tracepoint:sched:*"], True),
    ("info", ["info"], False),  # what is refused is its result
    ("core", ["core", os.path.join(TMP, "given.core")], True),
    ("sql", ["sql", "select count(*) from processes where pid = 1"], True),
    ("snap", ["snap", "-p", "SELF"], False),
    ("modules", ["modules", TARGET], True),
    ("diff", ["diff", os.path.join(TMP, "given.acu"), os.path.join(TMP, "given.acu")], True),
    ("picture", ["report", os.path.join(TMP, "given.acu"), "-o", os.path.join(TMP, "p.svg")], True),
    ("export", ["report", os.path.join(TMP, "given.acu"), "-o", os.path.join(TMP, "e.json")], True),
    ("dscript", ["dscript", "-q", "-n", "BEGIN { printf(\"%d\\n\", 7); exit(0); }"], True),
    ("emit", ["emit", "--to", "bpftrace", "-e", "tracepoint:syscalls:sys_enter_getppid { @[comm] = count(); }"], True),
    ("policy", ["policy", "check", "--file", os.path.join(TMP, "given.policy")], True),
    ("slow", ["slow", f"{TARGET}:step", "--", TARGET], False),
    ("waits", ["waits", "--", TARGET], False),
    ("top", ["top", "-n", "1", "-I", "0.1", "--", TARGET], False),
    ("flight", ["record", "--flight", "-q", "-o", os.path.join(TMP, "flight.acu"), "--streams", "sched", "--memory", "1M", "--", TARGET], False),
]


def prepare(acu):
    if os.path.exists(PRELOADED):
        return
    with untimed():
        subprocess.run(["gcc", "-O1", "-g", "-o", TARGET, os.path.join(HERE, "target.c")], check=True)
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-Wno-deprecated-non-prototype", "-o", PRELOADED, os.path.join(HERE, "faults.c"), "-ldl"], check=True)
        subprocess.run([acu, "record", "-q", "-o", os.path.join(TMP, "given.acu"), "--", "/bin/sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"], check=True, stderr=subprocess.DEVNULL)
        with open(os.path.join(TMP, "given.policy"), "w") as file:
            file.write("everyone\n  commands *\n  targets own\n")
        process = subprocess.Popen(["sleep", "60"])
        subprocess.run(["gdb", "-q", "-batch", "-p", str(process.pid), "-ex", "generate-core-file " + os.path.join(TMP, "given.core")], capture_output=True, check=True)
        process.kill(), process.wait()


def run(acu, words, fault):
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        try:
            words = [str(sleeper.pid) if w == "SELF" else w for w in words]
            return subprocess.run([acu, *words], capture_output=True, text=True, errors="replace", timeout=LIMIT, stdin=subprocess.DEVNULL,
                                  env={**os.environ, "LD_PRELOAD": PRELOADED, "ACU_FAULT": fault, "HOME": TMP, "XDG_CACHE_HOME": os.path.join(TMP, "cache")})
        finally:
            sleeper.kill()


def counted(acu, words):
    path = os.path.join(TMP, "counts")
    with open(path, "wb") as file:
        file.write(bytes(8 * len(CLASSES)))
    done = run(acu, words, path)
    need(done.returncode == 0, f"without a fault: status {done.returncode}\n{done.stderr}")
    return done.stdout, dict(zip(CLASSES, struct.unpack(f"{len(CLASSES)}Q", open(path, "rb").read())))


def chosen(count):
    """The first calls, and then some from all of them."""
    if count <= MOST:
        return range(1, count + 1)
    first = MOST // 2 or 1
    return sorted({*range(1, first + 1), *(first + (count - first) * i // (MOST - first) for i in range(1, MOST - first + 1))})


def difference(text, expected):
    return "\n".join(list(difflib.unified_diff(expected.splitlines(), text.splitlines(), "expected", "printed", n=0, lineterm=""))[:12])


def wrong_in(done, expected):
    if done.returncode < 0:
        return f"it crashed: signal {-done.returncode}"
    if done.returncode and not done.stderr.strip():
        return f"status {done.returncode}, and nothing is said"
    if "terminate called" in done.stderr or "ssertion" in done.stderr:
        return "it crashed"
    if done.returncode == 0 and expected is not None and done.stdout != expected and not done.stderr.strip() and "missing: " not in done.stdout:
        return f"another result, and nothing is said:\n{difference(done.stdout, expected)}"
    return ""


def survives(name, words, is_steady):
    def test(acu):
        require_real_time("thousands of runs")
        prepare(acu)
        before = held()
        expected, counts = counted(acu, words)
        again, _ = counted(acu, words)
        wrong = []
        for kind, errors in CLASSES.items():
            for error in errors:
                for n in chosen(counts[kind]):
                    total[0] += 1
                    try:
                        done = run(acu, words, f"{kind}:{n}:{getattr(errno, error)}")
                        problem = wrong_in(done, expected if is_steady and expected == again else None)
                    except subprocess.TimeoutExpired:
                        done, problem = None, f"not done after {LIMIT:.0f} s"
                    if problem:
                        wrong.append(f"{kind} {n} of {counts[kind]}, {error}: {problem}\n{done.stderr[-400:] if done else ''}")
        if more := left(before):
            wrong.append(f"left in the kernel: {more}")
        need(not wrong, f"{len(wrong)} findings\n" + "\n".join(wrong[:12]))
    test.__name__ = name
    return test


def faults_made(_):
    return f"{total[0]} faults"


if __name__ == "__main__":
    if ALL:
        sys.argv.remove("--all")
    sys.exit(run_suite([*(survives(*c) for c in COMMANDS), faults_made], TMP, tells_reason=False, limit=3000 if ALL else 150))
