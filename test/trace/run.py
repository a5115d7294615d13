#!/usr/bin/env python3
"""System calls: run.py ACU [--filter TEXT]

Programs run under `acu trace` and under strace: the same calls, in the same words but for what DIFFERENCES lists, and
the same counts. Then what strace has not, or has in another way. Last line: `N passed, N failed, N skipped`.
"""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, run_suite

TMP = tempfile.mkdtemp(prefix="acu-trace-")
# What differs from strace's text, and why (docs/trace.md).
DIFFERENCES = [
    (r" /\* \d+ entries \*/", ""),           # of folders: what was read is not copied whole
    (r" /\* \d+ vars? \*/", ""),             # of the environment: only where it is
    (r"getgroups\(0, (\[\]|0x\w+)\)", "getgroups(0, NULL)"),
    (r"\[\d+ => (\d+)\]", r"[\1]"),         # lengths: what they are at the end
    (r"(--- SIG\w+ \{si_signo=\w+, si_code=\w+).*\} ---", r"\1} ---"),  # of signals number and code
    (r"BTRFS_IOC_CLONE or FICLONE", "FICLONE"),
]
# What differs from run to run: addresses, ids, times, sizes that grow.
VARYING = [
    (r"0x[0-9a-f]{6,}", "ADDRESS"),
    (r'getrandom\("(\\.|[^"\\])*"(\.\.\.)?', 'getrandom("…"'),
    (r"^\[pid +\d+\] ", ""),
    (r"\b\d{3,}\b", "N"),
    (r"f_(bfree|bavail|ffree)=\d+", r"f_\1=N"),
    (r" +", " "),
]


def lines_of(text):
    out = []
    for line in text.splitlines():
        for pattern, instead in DIFFERENCES + VARYING:
            line = re.sub(pattern, instead, line)
        out.append(line)
    return out


def trace(acu, *words, limit=30):
    done = subprocess.run([acu, "trace", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", timeout=limit * SLOWNESS, cwd=TMP)
    return done.stdout, done.stderr, done.returncode


def strace(*words):
    if not shutil.which("strace"):
        raise Skipped("strace is not installed")
    path = os.path.join(TMP, "strace.out")
    subprocess.run(["strace", "-f", "-o", path, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=60 * SLOWNESS, cwd=TMP)
    with open(path, errors="replace") as file:
        return re.sub(r"(?m)^\d+ +", "", file.read())


def traced_lines(acu, *words):
    path = os.path.join(TMP, "acu.out")
    subprocess.run([acu, "trace", "-o", path, "--", *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=60 * SLOWNESS, cwd=TMP)
    with open(path, errors="replace") as file:
        return file.read()


PROGRAMS = {
    "cat": ("cat", "/etc/hostname"),
    "ls": ("ls", "-la", "/etc/apt"),
    "find": ("find", "/usr/share/doc/bash"),
    "id": ("id",),
    "date": ("date", "-d", "@0"),
    "uname": ("uname", "-a"),
    "sleep": ("sleep", "0.01"),
    "chmod": ("chmod", "644", os.path.join(TMP, "file")),
    "touch": ("touch", os.path.join(TMP, "file")),
    "cp": ("cp", "/etc/hostname", os.path.join(TMP, "file")),
    "sort": ("sort", "/etc/passwd"),
    "awk": ("awk", "BEGIN { print 1 + 1 }"),
    "perl": ("perl", "-e", "print qx(/bin/echo 1) ? 0 : 1; kill 0, $$"),
    "python3": ("python3", "-S", "-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(5); s.setblocking(False)"),
}


def same_words(acu, name):
    """One process: the same lines in the same order. Others: the same lines, since processes run side by side."""
    words = PROGRAMS[name]
    texts = []
    for run in (strace, lambda *w: traced_lines(acu, *w)):
        with open(os.path.join(TMP, "file"), "w") as file:
            file.write("x\n")
        texts.append(lines_of(run(*words)))
    theirs, ours = texts
    theirs = [line for line in theirs if "resumed>" not in line and "unfinished" not in line]
    missing = collections.Counter(theirs) - collections.Counter(ours)
    extra = collections.Counter(ours) - collections.Counter(theirs)
    text = "\n".join([f"strace: {line}" for line in missing] + [f"acu:    {line}" for line in extra])
    several = any(line.startswith(("clone", "vfork", "fork")) for line in ours)
    # Whether a call was cut in two by another process's is chance.
    need(len(missing) <= (12 if several else 0) and (several or not extra), text)
    need(len(ours) > 20, f"only {len(ours)} lines")


def same_counts(acu):
    words = ("find", "/usr/share/doc", "-maxdepth", "2")
    if not shutil.which("strace"):
        raise Skipped("strace is not installed")
    path = os.path.join(TMP, "counts")
    subprocess.run(["strace", "-f", "-c", "-o", path, *words], stdout=subprocess.PIPE, timeout=60 * SLOWNESS)

    def counts(text):
        rows = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(\d*) *(\w+)$", text, re.M)
        return {name: (int(calls), int(errors or 0)) for calls, errors, name in rows}
    with open(path) as file:
        theirs = counts(file.read())
    ours = counts(trace(acu, "-c", "--", *words)[1])
    need(ours == theirs and len(ours) > 15, f"strace {theirs}\nacu {ours}")


def only_what_is_asked(acu):
    _, text, _ = trace(acu, "-e", "%file", "--", "cat", "/etc/hostname")
    calls = set(re.findall(r"^(\w+)\(", text, re.M))
    need("openat" in calls and "read" not in calls and "mmap" not in calls, str(calls))
    _, text, _ = trace(acu, "-e", "!mmap,openat", "--", "cat", "/etc/hostname")
    calls = set(re.findall(r"^(\w+)\(", text, re.M))
    need("read" in calls and not calls & {"mmap", "openat"}, str(calls))
    _, text, _ = trace(acu, "-e", "open*", "-Z", "--", "cat", "/nonexistent")
    lines = [line for line in text.splitlines() if line.startswith("open")]
    need(lines and all(" = -1 E" in line for line in lines), text)
    need('"/nonexistent", O_RDONLY) = -1 ENOENT (No such file or directory)' in text, text)


def slow_ones(acu):
    _, text, _ = trace(acu, "--min-duration", "100ms", "--", "sh", "-c", "sleep 0.2; true")
    calls = [line for line in text.splitlines() if "(" in line]
    need(any("clock_nanosleep" in line for line in calls) and not any("openat" in line for line in calls), text)
    times = [float(t) for t in re.findall(r"<([\d.]+)>$", text, re.M)]
    need(times and all(t >= 0.1 for t in times), text)


def families(acu):
    """What the command starts is traced, and its exit status is the command's."""
    _, text, status = trace(acu, "-e", "execve,exit_group", "--", "bash", "-c", "/bin/true; (exit 3); exit 4")
    need(re.search(r'\[pid \d+\] execve\("/bin/true", \["/bin/true"\], 0x\w+\) = 0', text), text)
    need(re.search(r"^\[pid \d+\] exit_group\(3\) += \?$", text, re.M) and re.search(r"^exit_group\(4\) += \?$", text, re.M), text)
    need(re.search(r"^\[pid \d+\] \+\+\+ exited with 3 \+\+\+$", text, re.M), text)
    need(text.splitlines()[-2] == "+++ exited with 4 +++" and status == 4, f"{text}{status}")
    _, text, status = trace(acu, "-e", "kill", "--", "bash", "-c", "trap : USR1; kill -USR1 $$; kill -9 $$")
    need("--- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER} ---" in text, text)
    need(text.splitlines()[-2] == "+++ killed by SIGKILL +++" and status == 137, f"{text}{status}")


def paths_of_descriptors(acu):
    _, text, _ = trace(acu, "-y", "-e", "openat,read,close", "--", "cat", "/etc/hostname")
    need(re.search(r"^openat\(AT_FDCWD(<[^>]+>)?, \"/etc/hostname\", O_RDONLY\) = 3</etc/hostname>$", text, re.M), text)
    need(re.search(r"^read\(3</etc/hostname>, ", text, re.M) and "close(3</etc/hostname>)" in text, text)


def stacks(acu):
    _, text, _ = trace(acu, "-k", "-e", "openat", "--", "cat", "/etc/hostname")
    block = text[text.index('"/etc/hostname"'):]
    need(re.search(r"\n +\w*open64\w*\+\d+\n(.*\n)* +__libc_start_call_main", block), text)


def a_process(acu):
    target = subprocess.Popen(["python3", "-c", "import os, time\nwhile True: os.stat('/etc/hostname'); time.sleep(0.02)"])
    try:
        time.sleep(0.3 * SLOWNESS)
        begin = time.monotonic()
        _, text, status = trace(acu, "-p", str(target.pid), "--duration", "1s", "-T")
        need(status == 0 and time.monotonic() - begin < 10 * SLOWNESS, f"{status}")
        need(re.search(r'^(newfstatat\(AT_FDCWD|stat\(|statx\(AT_FDCWD)(, )?"/etc/hostname".* = 0 <0\.\d+>$', text, re.M), text)
        need("[pid" not in text.split("unfinished")[0].rsplit("\n", 1)[0], text)
    finally:
        target.kill()
        target.wait()
    # Its end is the end.
    target = subprocess.Popen(["sleep", "1"])
    _, _, status = trace(acu, "-p", str(target.pid))
    target.wait()
    need(status == 0, str(status))


def a_process_that_hangs(acu):
    """What a thread has been in since before the trace began is told at its end."""
    target = subprocess.Popen(["sleep", "1000"])
    try:
        time.sleep(0.3 * SLOWNESS)
        _, text, status = trace(acu, "-q", "-p", str(target.pid), "--duration", "300ms")
        need(status == 0 and text == f"[pid {target.pid}] clock_nanosleep(... <unfinished, begun before>\n", text)
        _, text, _ = trace(acu, "-q", "-p", str(target.pid), "-e", "futex", "--duration", "300ms")
        need(text == "", text)
    finally:
        target.kill()
        target.wait()


def interrupted(acu):
    """Ctrl-C ends it with what is known; the command goes on to its end by itself."""
    process = subprocess.Popen([acu, "trace", "-c", "-a"], stderr=subprocess.PIPE, text=True)
    time.sleep(1 * SLOWNESS)
    process.send_signal(signal.SIGINT)
    text = process.communicate(timeout=20 * SLOWNESS)[1]
    need("syscall" in text and "total" in text and process.returncode == 0, f"{text}{process.returncode}")


END = r"^{} calls, 0 lost; acu took [\d.]+ ms of CPU time, {}\d+ MB$"


def the_last_line(acu):
    """How much it was, what is missing, what it took."""
    text = trace(acu, "-e", "openat", "--", "cat", "/etc/hostname")[1].splitlines()
    need(re.search(END.format(sum(line.startswith("openat") for line in text), ""), text[-1]), text[-1])
    text = trace(acu, "-v", "--", "cat", "/etc/hostname")[1].splitlines()
    need(re.search(END.format(r"\d+", r"its probes [\d.]+ ms, "), text[-1]), text[-1])
    text = trace(acu, "-c", "--", "cat", "/etc/hostname")[1].splitlines()
    need(re.search(END.format(text[-2].split()[3], ""), text[-1]), str(text[-2:]))
    text = trace(acu, "-q", "-e", "openat", "--", "cat", "/etc/hostname")[1].splitlines()
    need(all(line.startswith("openat") for line in text), text[-1])


def objects(acu):
    text = trace(acu, "--json", "-y", "-k", "-e", "openat,exit_group", "--", "cat", "/nonexistent")[1]
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    row = next(r for r in rows if r.get("arguments", ["", ""])[1:2] == ['"/nonexistent"'])
    need(row["call"] == "openat" and row["result"] == -1 and row["error"] == "ENOENT" and row["seconds"] >= 0 and row["tid"] == row["pid"], str(row))
    need(row["thread"] == "cat" and any("main" in frame for frame in row["stack"]), str(row))
    need(any(r.get("arguments") == ["1"] and "result" not in r for r in rows) and rows[-1]["exited"] == 1, str(rows[-2:]))
    text = trace(acu, "-c", "--json", "--", "cat", "/nonexistent")[1]
    rows = {r["call"]: r for r in map(json.loads, [line for line in text.splitlines() if line.startswith("{")])}
    need(rows["openat"]["errors"] >= 1 and rows["openat"]["calls"] > rows["openat"]["errors"] and rows["read"]["ns"] > 0, text)


def tables(acu):
    text = trace(acu, "-c", "--sort", "calls", "--top", "3", "--", "ls", "/etc")[1]
    calls = [int(n) for n in re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +\d* +(?!total)\w+$", text, re.M)]
    need(len(calls) == 3 and calls == sorted(calls, reverse=True), text)
    text = trace(acu, "-c", "--sort", "name", "--", "ls", "/etc")[1]
    names = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +\d+ +\d* +(\w+)$", text, re.M)
    need(names[-1] == "total" and names[:-1] == sorted(names[:-1]) and len(names) > 10, text)
    text = trace(acu, "-c", "-I", "200ms", "-e", "getppid", "--", sys.executable, "-S", "-c",
                 "import os, time\nfor _ in range(5):\n    for _ in range(100): os.getppid()\n    time.sleep(0.15)")[1]
    parts = [int(n) for n in re.findall(r" (\d+) +getppid$", text, re.M)]
    need(len(parts) >= 2 and sum(parts) == 500, text)
    need(len(re.findall(r"^\d\d:\d\d:\d\d, \d\.\d\d s:$", text, re.M)) >= len(parts), text)
    text = trace(acu, "-c", "-a", "-I", "100ms", "-n", "2")[1]
    need(text.count(" total") == 2, text)


def so_many_lines(acu):
    _, text, status = trace(acu, "-n", "5", "-q", "--", "cat", "/etc/hostname")
    need(len(text.splitlines()) == 5, text)


def calls_of_a_path(acu):
    paths = [("/etc/hostname", "/etc", "hostname"), (os.path.join(TMP, "link"), TMP, "./x/../link")]
    os.makedirs(os.path.join(TMP, "x"), exist_ok=True)
    if not os.path.lexists(os.path.join(TMP, "link")):
        os.symlink("/etc/hostname", os.path.join(TMP, "link"))
    for path, folder, relative in paths:
        for word in (path, relative):
            done = subprocess.run([acu, "trace", "-q", "-P", path, "--", "cat", word], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  cwd=folder, timeout=30 * SLOWNESS)
            lines = [line.split("(")[0] for line in done.stderr.splitlines()]
            need(lines[0] == "openat" and "read" in lines and lines[-1] == "close" and "mmap" not in lines, f"{path} {word}: {done.stderr}")


MISTAKES = [
    (("-c", "-n", "3", "--", "ls"), "`-n` is a number of calls, or with `-c` of intervals"),
    (("-I", "1s", "-a"), "are for the table"),
    (("--sort", "tiem", "-c", "-a"), "did you mean `time`?"),
    (("-c", "-P", "/etc", "--", "ls"), "`-P` is for lines"),
    (("--histogram", "--json", "-a"), "`--histogram` is for one table of text"),
    (("-n", "0", "-a"), "`-n` takes a number from 1 to"),
    (("-e", "opennat", "--", "ls"), "there is no system call `opennat`; did you mean `openat`?"),
    (("-e", "%fiel", "--", "ls"), "there is no system call `%fiel`"),
    ((), "say what to trace"),
    (("ls",), "a command goes behind `--`"),
    (("-p", "1", "-a"), "exclude each other"),
    (("-p", "99999999"), "there is no process 99999999"),
    (("-s", "much", "--", "ls"), "`-s` takes a number of bytes"),
    (("--min-duration", "long", "--", "ls"), "`--min-duration` takes a time"),
    (("--", "/nonexistent/program"), "there is no command `/nonexistent/program`"),
]


def mistakes(acu):
    for words, told in MISTAKES:
        out, text, status = trace(acu, *words)
        need(status != 0 and told in text and text.count("\n") == 1 and not out, f"{words}: {status} {text}")


def as_strace(name):
    def test(acu):
        same_words(acu, name)
    test.__name__ = f"as_strace_{name}"
    return test


TESTS = [as_strace(name) for name in PROGRAMS]
TESTS += [same_counts, the_last_line, objects, tables, so_many_lines, calls_of_a_path, only_what_is_asked, slow_ones, families, paths_of_descriptors, stacks, a_process, a_process_that_hangs, interrupted, mistakes]

if __name__ == "__main__":
    sys.exit(run_suite(TESTS, TMP))
