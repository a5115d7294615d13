#!/usr/bin/env python3
"""System calls: run.py ACU [--filter TEXT]

Programs run under `acu trace` and under strace: the same calls, in the same words but for what DIFFERENCES lists, and
the same counts. Then what strace has not, or has in another way. Last line: `N passed, N failed, N skipped`.
"""
import collections
import difflib
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
WORK = os.path.join(TMP, "work")  # where the programs run, made anew for each of them
with open(os.path.join(os.path.dirname(os.path.dirname(HERE)), "src", "spec", "syscalls.cc")) as file:
    CALLS = {name: int(number) for number, name in re.findall(r'\{(\d+), "(\w+)"\}', file.read().split("event_names")[0])}
LAST_OF_STRACE = 450  # the last call that strace 6.1 has a name for
NEWER_CALLS = "|".join(name for name, number in CALLS.items() if number > LAST_OF_STRACE)
# The kinds of difference between acu's text and strace's, ten at most; docs/trace.md lists them with the reason of each.
DIFFERENCES = {
    "in-out values": [(r"\[?\b\d+ => (\d+)\]?", r"[\1]"), (r"(msg_namelen|next_id)=\[?(\d+)\]?", r"\1=\2"), (r"^(capget\(\{version=)\w+", r"\1VERSION"),
                      (r"^(epoll_pwait2\((?:[^,]*, ){3})(?:0x\w+|\{.*?\})(.* = -1 )", r"\1TIMEOUT\2")],
    "dates beside seconds": [(r"(\}|\[\d+) /\* \d+-\d+-\d\dT[^*]* \*/", r"\1"), (r"^(time\(.*\) += \d+) \(\d+-\d+-\d\dT.*\)$", r"\1")],
    "text of interrupted calls": [(r"\b(ERESTART\w+) \(.*\)", r"\1"), (r"^(restart_syscall\()<\.\.\. .* \.\.\.>", r"\1")],
    "netlink payloads": [(r"(nlmsg_pid=-?\d+\}).*(, iov_len=\d+\}|, \d+, (?:0|MSG_\w+), (?:NULL|\{))", r"\1 BODY\2")],
    "arguments of a failed execve": [(r'\["1", "2", "3", "4", "5", "6", "7", "8", .*?\]', "WORDS")],
    "values without a name": [(r" /\* \w*\?+\w* \*/", "")],
    "members of bpf's attributes": [(r"(BPF_MAP_DELETE_ELEM.*), \.\.\.\}", r"\1}")],
    "two names of one number": [(r"\b[A-Z_]+ or ([A-Z_]+)\b", r"\1")],
    "calls and flags newer than strace": [(rf"^(?:syscall_{LAST_OF_STRACE + 1:#x}|syscall_0x1[c-d][0-9a-f]|{NEWER_CALLS})\(.*\)( +=)", r"NEWER\1"),
                                          (r"^((?:pidfd_open|memfd_create)\(.*, )(?:[A-Z_|]*\|)?(?:0x[0-9a-f]+|MFD_\w+)", r"\1FLAGS"),
                                          (r"((?:features=IORING_FEAT_SINGLE_MMAP[A-Z0-9_|]*?LINKED_FILE|flags=IORING_SETUP_[A-Z0-9_|]*?COOP_TASKRUN)\|)[^,]*", r"\1NEWER")],
    "memory that is not copied": [(r'^((?:l?setxattr|add_key|request_key)\((?:"[^"]*"|[^,]*), [^,]*, )("(?:\\.|[^"\\])*"(?:\.\.\.)?|0x\w+|NULL)', r"\1MEMORY"),
                                  (r"^(io_submit\([^,]*, -?\d+, )(?:\[.*\]|0x\w+)\)", r"\1MEMORY)"), (r"^((?:recvfrom|io_pgetevents)\(.*, )(?:\[\d+\]|\{sigmask.*\}|0x\w+)\)", r"\1MEMORY)"),
                                  (r"^(sendmmsg\([^,]*, \[\{msg_hdr=\{.*?msg_flags=[\w|]+\}\}), .*\](, \d)", r"\1, ...]\2"),
                                  (r"^(io_uring_register\([^,]*, IORING_REGISTER_\w+, )(?:\{.*\}|\[.*\]|0x\w+)(, \d)", r"\1MEMORY\2"), (r'(?:""|\[\]|0x1000\d000\b)(?=.* = -1 EFAULT)', "MEMORY")],
}
# What differs from run to run: addresses, ids, times, sizes that grow.
VARYING = [
    (r"0x[0-9a-f]{6,}", "ADDRESS"),
    (r'getrandom\("(\\.|[^"\\])*"(\.\.\.)?', 'getrandom("…"'),
    (r"^\[pid +\d+\] ", ""),
    (r'read\((\d), ".*"(?:\.\.\.)?, 44\) = 44$', r'read(\1, "RANDOM", 44) = 44'),  # of /dev/urandom
    (r'read\((\d), "(\\.|[^"\\])*", 4\) += 4$', r'read(\1, "RANDOM", 4) = 4'),
    (r'/\.git/t\w{6}"', '/.git/tXXXXXX"'),
    (r"tv_usec=\d+", "tv_usec=N"),
    (r'"[0-9a-f]{12}-[0-9a-f]{12} ', '"ADDRESSES '),
    (r"\b\d{3,}\b", "N"),
    (r"\bprocs=\d+\b", "procs=N"),  # of the whole machine; as any larger number
    (r"f_(bfree|bavail|ffree)=\d+", r"f_\1=N"),
    (r" +", " "),
]


# Of a program whose arguments are given: all numbers count but for addresses of the program and results, which may be ids or times.
EXACT = [(r"0x(7[ef]|5[56])[0-9a-f]{10}\b", "ADDRESS"), (r" = \d{3,}$", " = N"), (r"^sysinfo\(\{.*\}\)", "sysinfo({})"), (r"(tv_sec=|\[)\d{9,}", r"\1N"),
         (r"(tv_nsec=)[1-9]\d*", r"\1N"), (r"(tms_\w+=)\d+", r"\1N"), (r"^getcpu\(\[\d+\]", "getcpu([N]")] + [v for v in VARYING if v[1] not in ("ADDRESS", "N")]
COUNTS = collections.Counter()  # of lines compared with strace's: `lines`, `equal`, and by the kinds that make a difference


def replaced(line, patterns):
    for pattern, instead in patterns:
        line = re.sub(pattern, instead, line)
    return line


def lines_of(text, varying=VARYING):
    return [replaced(line, sum(DIFFERENCES.values(), []) + varying) for line in text.splitlines()]


def count_kinds(theirs, ours, varying=VARYING, is_compared=lambda line: True):
    """Of two texts whose lines_of() are the same: how many lines are equal as they are, and which kinds the others are of."""
    counts = collections.Counter()
    sides = (sorted(zip(lines_of(text, varying), text.splitlines())) for text in (theirs, ours))
    for (line, their_line), (_, our_line) in zip(*([pair for pair in side if is_compared(pair[0])] for side in sides)):
        counts["lines"] += 1
        if replaced(their_line, varying) == replaced(our_line, varying):
            counts["equal"] += 1
            continue
        for kind, patterns in DIFFERENCES.items():
            counts[kind] += any(replaced(text, patterns) != text for text in (their_line, our_line))
    return counts


def counts_text(counts):
    return f"{counts['lines']} lines, {counts['equal']} equal; " + ", ".join(f"{kind}: {n}" for kind, n in counts.items() if kind in DIFFERENCES and n)


def trace(acu, *words, limit=30):
    done = subprocess.run([acu, "trace", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", timeout=limit * SLOWNESS, cwd=TMP)
    return done.stdout, done.stderr, done.returncode


def strace(*words):
    if not shutil.which("strace"):
        raise Skipped("strace is not installed")
    path = os.path.join(TMP, "strace.out")
    subprocess.run(["strace", "-f", "-o", path, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=60 * SLOWNESS, cwd=WORK)
    with open(path, errors="replace") as file:
        return joined(file.read())


def joined(text):
    """Without numbers of processes; a call that another process's has cut in two is whole again, in the place of its end."""
    out, begun = [], {}
    for line in text.splitlines():
        process, _, line = re.sub(r"^(\d+) +", r"\1 ", line).partition(" ")
        if line.endswith(" <unfinished ...>"):
            begun[process] = line.removesuffix(" <unfinished ...>")
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>", line)
        if resumed:
            line = begun.pop(process, "") + line[resumed.end():]
        out.append(line)
    return "\n".join(out + list(begun.values())) + "\n"


def traced_lines(acu, *words):
    path = os.path.join(TMP, "acu.out")
    subprocess.run([acu, "trace", "-o", path, "--", *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=60 * SLOWNESS, cwd=WORK)
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
    "chmod": ("chmod", "644", os.path.join(WORK, "file")),
    "touch": ("touch", os.path.join(WORK, "file")),
    "cp": ("cp", "/etc/hostname", os.path.join(WORK, "file")),
    "sort": ("sort", "/etc/passwd"),
    "mv": ("mv", os.path.join(WORK, "file"), os.path.join(WORK, "moved")),
    "ln": ("ln", "-s", "/etc/hostname", os.path.join(WORK, "linked")),
    "mkdir": ("mkdir", "-p", os.path.join(WORK, "new", "folder")),
    "df": ("df", "/"),
    "du": ("du", "/etc/apt"),
    "stat": ("stat", "/etc/hostname"),
    "head": ("head", "-c", "5", "/etc/passwd"),
    "grep": ("grep", "-r", "deb", "/etc/apt"),
    "sed": ("sed", "-n", "1p", "/etc/passwd"),
    "tar": ("tar", "cf", os.path.join(WORK, "x.tar"), "/etc/apt"),
    "gzip": ("gzip", "-nkf", os.path.join(WORK, "file")),
    "timeout": ("timeout", "5", "true"),
    "bash": ("bash", "-c", "for i in 1 2; do echo $i > x; read a < x; done; cd /; umask 022; kill -0 $$"),
    "gcc": ("gcc", "--version"),
    "git": ("git", "--version"),
    "curl": ("curl", "-s", "-m", "2", "http://127.0.0.1:1/"),
    "sqlite3": ("sqlite3", ":memory:", "create table if not exists t(a); insert into t values(1); select count(*) from t;"),
    "awk": ("awk", "BEGIN { print 1 + 1 }"),
    "perl": ("perl", "-e", "print qx(/bin/echo 1) ? 0 : 1; kill 0, $$"),
    "true": ("true",),
    "echo": ("env", "echo", "one", "two"),
    "printf": ("env", "printf", "%s %d\\n", "x", "5"),
    "pwd": ("env", "pwd", "-P"),
    "wc": ("wc", "-l", "/etc/passwd"),
    "tail": ("tail", "-n", "3", "/etc/passwd"),
    "cut": ("cut", "-d:", "-f1", "/etc/passwd"),
    "tr": ("tr", "a", "b"),
    "uniq": ("uniq", "-c", "/etc/passwd"),
    "comm": ("comm", "/etc/passwd", "/etc/passwd"),
    "join": ("join", "/etc/hostname", "/etc/hostname"),
    "paste": ("paste", "/etc/hostname", "/etc/passwd"),
    "split": ("split", "-n", "2", "/etc/passwd", os.path.join(WORK, "part")),
    "tee": ("tee", os.path.join(WORK, "copy")),
    "dd": ("dd", "if=/etc/passwd", "of=" + os.path.join(WORK, "copy"), "bs=64", "count=3", "status=none"),
    "md5sum": ("md5sum", "/etc/passwd"),
    "sha256sum": ("sha256sum", "/etc/passwd"),
    "base64": ("base64", "/etc/passwd"),
    "od": ("od", "-c", "/etc/hostname"),
    "readlink": ("readlink", "-f", "/bin/sh"),
    "realpath": ("realpath", "/bin/../bin/sh"),
    "rm": ("rm", "-rf", os.path.join(WORK, "file")),
    "rmdir": ("rmdir", os.path.join(WORK, "none")),
    "truncate": ("truncate", "-s", "1000", os.path.join(WORK, "file")),
    "mkfifo": ("mkfifo", os.path.join(WORK, "pipe")),
    "chown": ("chown", "0:0", os.path.join(WORK, "file")),
    "install": ("install", "-m", "600", "/etc/hostname", os.path.join(WORK, "installed")),
    "nproc": ("nproc",),
    "nice": ("nice", "-n", "5", "true"),
    "nohup": ("nohup", "true"),
    "seq": ("seq", "1", "1000"),
    "shuf": ("shuf", "-n", "1", "--random-source=/etc/passwd", "/etc/passwd"),
    "xargs": ("xargs", "-a", "/etc/hostname", "echo"),
    "diff": ("diff", "/etc/passwd", "/etc/hostname"),
    "cmp": ("cmp", "/etc/passwd", "/etc/hostname"),
    "sh": ("sh", "-c", "cat /etc/hostname | grep -c . > out; test -f out && echo yes; (cd /; pwd); exec 3<out; read x <&3"),
    "git_init": ("git", "-c", "init.defaultBranch=main", "init", "-q", os.path.join(WORK, "repository")),
    "git_hash": ("git", "hash-object", "/etc/passwd"),
    "gcc_compiles": ("gcc", "-x", "c", "-fsyntax-only", "/dev/null"),
    "ld": ("ld", "--version"),
    "nm": ("nm", "-D", "/bin/true"),
    "readelf": ("readelf", "-h", "/bin/true"),
    "objdump": ("objdump", "-f", "/bin/true"),
    "strip": ("strip", "-o", os.path.join(WORK, "stripped"), "/bin/true"),
    "make": ("make", "--version"),
    "gzip_reads": ("sh", "-c", "gzip -c /etc/passwd | gzip -dc"),
    "tar_reads": ("sh", "-c", "tar cf - -C /etc hostname passwd | tar tf -"),
    "xz": ("xz", "-kc", "/etc/hostname"),
    "bzip2": ("bzip2", "-kc", "/etc/hostname"),
    "dpkg": ("dpkg", "--print-architecture"),
    "file": ("file", "/etc/hostname"),
    "mount": ("mount",),
    "getent": ("getent", "passwd", "root"),
    "ip": ("ip", "link", "show", "lo"),
    "ss": ("ss", "-H", "-x", "state", "listening"),
    "hostname": ("hostname",),
    "lsblk": ("lsblk", "-V"),
    "perl_files": ("perl", "-e", "open F, '>', 'x'; print F 'y' x 9; close F; rename 'x', 'z'; opendir D, '.'; my @n = readdir D; unlink 'z'; print time"),
    "python_starts": ("/usr/bin/python3", "-S", "-c", "import os, subprocess; subprocess.run(['true']); os.getgroups(); os.sched_getparam(0)"),
    "python_threads": ("/usr/bin/python3", "-S", "-c", "import threading, time; t = threading.Thread(target=print); t.start(); t.join(); time.sleep(0.05)"),
    "python3": ("/usr/bin/python3", "-S", "-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(5); s.setblocking(False)"),
}


# Of several processes: what their parent is doing when one ends.
CHANCE = re.compile(r"wait4\(.* = (-1 ECHILD|0$|\? ERESTART)|rt_sigreturn|rt_sigsuspend|--- SIGCHLD|restart_syscall|(read|poll|pselect6|select|ppoll)\(.* = \? ERESTART|futex\(|sched_yield")


def same_words(acu, name):
    """One process: the same lines in the same order. Others: the same lines, since processes run side by side."""
    words = PROGRAMS[name]
    if not shutil.which(words[0]):
        raise Skipped(f"{words[0]} is not installed")
    raw = []
    for run in (strace, lambda *w: traced_lines(acu, *w)):
        shutil.rmtree(WORK, ignore_errors=True)
        os.mkdir(WORK)
        with open(os.path.join(WORK, "file"), "w") as file:
            file.write("x\n")
        raw.append(run(*words))
    theirs, ours = map(lines_of, raw)
    several = any(line.startswith(("clone", "vfork", "fork")) for line in ours)
    if several:  # which of them comes first is chance, and when a signal arrives
        theirs, ours = (sorted(line for line in lines if not CHANCE.match(line)) for lines in (theirs, ours))
    need(theirs == ours, "\n".join(difflib.unified_diff(theirs, ours, "strace", "acu", n=0, lineterm="")))
    need(len(ours) > 20, f"only {len(ours)} lines")
    COUNTS.update(count_kinds(*raw, is_compared=lambda line: not several or not CHANCE.match(line)))


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
    for calls in "write", "trace=write": # a call, though `write=` would be a qualifier
        _, text, _ = trace(acu, "-q", "-e", calls, "--", "cat", "/etc/hostname")
        need(re.fullmatch(r"write\(1, .*\n", text), text)
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
    need(re.search(r'\[pid \d+\] execve\("/bin/true", \["/bin/true"\], 0x\w+ /\* \d+ vars \*/\) = 0', text), text)
    need(re.search(r"^\[pid \d+\] exit_group\(3\) += \?$", text, re.M) and re.search(r"^exit_group\(4\) += \?$", text, re.M), text)
    need(re.search(r"^\[pid \d+\] \+\+\+ exited with 3 \+\+\+$", text, re.M), text)
    need(text.splitlines()[-2] == "+++ exited with 4 +++" and status == 4, f"{text}{status}")
    _, text, status = trace(acu, "-e", "kill", "--", "bash", "-c", "trap : USR1; kill -USR1 $$; kill -9 $$")
    need(re.search(r"--- SIGUSR1 \{si_signo=SIGUSR1, si_code=SI_USER, si_pid=\d+, si_uid=0\} ---", text), text)
    need(text.splitlines()[-2] == "+++ killed by SIGKILL +++" and status == 137, f"{text}{status}")


def paths_of_descriptors(acu):
    _, text, _ = trace(acu, "-y", "-e", "openat,read,close", "--", "cat", "/etc/hostname")
    need(re.search(r"^openat\(AT_FDCWD(<[^>]+>)?, \"/etc/hostname\", O_RDONLY\) = 3</etc/hostname>$", text, re.M), text)
    need(re.search(r"^read\(3</etc/hostname>, ", text, re.M) and "close(3</etc/hostname>)" in text, text)


def sockets_and_devices(acu):
    """-yy: the ends of sockets and the numbers of devices, in strace's words; also of a process that had them before."""
    program = os.path.join(HERE, "sockets.py")
    texts = []
    for run in (strace, lambda *w: trace(acu, "-q", *w[:-3], "-o", os.path.join(TMP, "acu.out"), "--", *w[-3:]) and open(os.path.join(TMP, "acu.out")).read()):
        shutil.rmtree(WORK, ignore_errors=True)
        os.mkdir(WORK)
        text = run("-yy", "-e", "trace=%network,write,dup", sys.executable, "-S", program)
        texts.append([line for line in lines_of(text) if not line.startswith(("--- ", "+++ "))])
    theirs, ours = texts
    need(theirs == ours and len(ours) > 30, "\n".join(difflib.unified_diff(theirs, ours, "strace", "acu", n=0, lineterm="")))
    for part in ("<TCP:[N.0.0.1:N->N.0.0.1:N]>", "<UDPv6:[[::1]:N]>", "<UNIX-STREAM:[N->N]>", '<UNIX-STREAM:[N->N,"listener"]>', "</dev/null<char 1:3>>"):
        need(any(part in line for line in ours), f"no {part} in {ours}")
    code = """import os, socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(1); c = socket.create_connection(s.getsockname()); a, b = socket.socketpair()
print("there", flush=True)
while True: c.send(b"x"); a.send(b"y"); time.sleep(0.05)"""
    target = subprocess.Popen([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE)
    try:
        target.stdout.readline()
        _, text, _ = trace(acu, "-q", "-yy", "-p", str(target.pid), "-e", "sendto", "--duration", "1s")
        need(re.search(r"^sendto\(\d+<TCP:\[127\.0\.0\.1:\d+->127\.0\.0\.1:\d+\]>, \"x\"", text, re.M), text)
        need(re.search(r"^sendto\(\d+<UNIX-STREAM:\[\d+->\d+\]>, \"y\"", text, re.M), text)
    finally:
        target.kill()
        target.wait()


def arguments_as_they_were_given(acu):
    """Descriptors by what they were then, of a program that ends before its lines are read; timeouts and words as they were at the entry."""
    program = os.path.join(TMP, "given")
    subprocess.run(["gcc", "-O1", "-o", program, os.path.join(HERE, "given.c")], check=True)
    calls = "pipe2,socketpair,socket,bind,listen,connect,accept4,ppoll,write,shmget,shmctl,msgget,msgctl,semget,kill"
    os.makedirs(WORK, exist_ok=True)
    theirs = lines_of(strace("-y", "-e", "trace=" + calls, program))
    ours = lines_of(trace(acu, "-q", "-y", "-e", calls, "--", program)[1])
    need(sum("<pipe:[" in line or "<socket:[" in line for line in theirs) > 8, str(theirs))
    theirs, ours = ([re.sub(r"^((?:msg|shm)ctl\(|(?:msg|shm|sem)get.* = )(?:\d+|N)", r"\1N", line) for line in lines if not line.startswith(("--- ", "+++ "))] for lines in (theirs, ours))
    need(theirs == ours, "\n".join(f"strace: {a}\nacu:    {b}" for a, b in zip(theirs, ours) if a != b) or f"{theirs} {ours}")
    _, text, _ = trace(acu, "-e", "fcntl,kill", "--", program)
    for part in ("F_SETLEASE, F_WRLCK)", "F_SETLEASE, F_UNLCK)", "F_SETSIG, SIGUSR1)", "F_NOTIFY, DN_MODIFY|DN_MULTISHOT)", "--- SIGTERM {si_signo=SIGTERM} ---\n+++ killed by SIGTERM"):
        need(part in text, f"no {part} in {text}")
    select = "import os, select\nr, w = os.pipe()\nselect.select([r], [], [], 0.25)\nos.write(w, b'x')\nselect.select([r], [], [], 2.5)"
    _, text, _ = trace(acu, "-e", "select,pselect6", "--", "/usr/bin/python3", "-c", select)
    need(re.search(r"\{tv_sec=0, tv_nsec=250000000\}, NULL\) += 0 \(Timeout\)\n", text), text)
    need(re.search(r"\{tv_sec=2, tv_nsec=500000000\}, NULL\) += 1 \(in \[3\], left \{tv_sec=2, tv_nsec=4\d{8}\}\)\n", text), text)
    inner, outer = os.path.join(TMP, "inner.sh"), os.path.join(TMP, "outer.sh")
    for path, text in (inner, "#!/bin/sh -e\n:\n"), (outer, f"#!{inner}\n"):
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)
    _, text, _ = trace(acu, "-e", "execve", "--", "/usr/bin/python3", "-c", f"import os; os.execv({outer!r}, ['zero', 'one', 'two'])")
    need(re.search(rf'^execve\("{outer}", \["zero", "one", "two"\], 0x\w+ /\* \d+ vars \*/\) = 0$', text, re.M), text)


def structures(acu):
    """Structures of each kind, select's sets, a signal's return, words of an execve that failed, a call without a name: as strace has them."""
    program = os.path.join(TMP, "structures")
    subprocess.run(["gcc", "-O1", "-w", "-o", program, os.path.join(HERE, "structures.c")], check=True)
    shutil.rmtree(WORK, ignore_errors=True)
    os.mkdir(WORK)
    open(os.path.join(WORK, "file"), "w").close()
    varying = [(r"(sem\w+\(|msg\w+\(|= )\d+", r"\1N"), (r"tv_usec=\d+", "tv_usec=N"), (r"(tms_\w+=)\d+", r"\1N"), (r"IORING_FEAT_.*?,", "FEATURES,"), (r"0600", "N")]

    def of_interest(text):
        lines = lines_of(text[text.index("rt_sigaction(SIGUSR1"):])
        lines = [line for line in lines if not line.startswith("exit_group(3)") and "exited with 3" not in line and "vfork" not in line and not line.startswith("--- SIGCHLD")]
        for pattern, instead in varying:
            lines = [re.sub(pattern, instead, line) for line in lines]
        return lines
    theirs, ours = of_interest(strace(program)), of_interest(traced_lines(acu, program))
    need(theirs == ours, "\n".join(difflib.unified_diff(theirs, ours, "strace", "acu", n=0, lineterm="")))
    need(len(ours) > 60 and any(line.startswith("rt_sigreturn({mask=[]})") for line in ours) and any("syscall_0x1f4(0x1, 0x2" in line for line in ours), "\n".join(ours))
    text = trace(acu, "-c", "--", program)[1]
    need(re.search(r" 1 +1 syscall_0x1f4$", text, re.M) and re.search(r" 1 +rt_sigreturn$", text, re.M), text)


def times_of_calls(acu):
    """-t, -tt, -ttt and -r, in strace's shapes."""
    word = r"execve\("
    for option, shape in (("-t", r"\d\d:\d\d:\d\d "), ("-tt", r"\d\d:\d\d:\d\d\.\d{6} "), ("-ttt", r"(\d{10})\.\d{6} "), ("-r", r" {5}0\.000000 "),
                          ("-rtt", r"\d\d:\d\d:\d\d\.\d{6} \(\+ {5}0\.000000\) ")):
        _, text, status = trace(acu, "-q", "-f", option, "-e", "execve", "--", "bash", "-c", "sleep 0.2; /bin/true")
        found = re.match(shape + word, text)
        need(status == 0 and found, f"{option}: {text}")
        if option == "-ttt":
            need(abs(int(found[1]) - time.time()) < 10 * SLOWNESS, text)
        if option == "-r":
            passed = re.search(r"^(?:\[pid \d+\])? +(0\.\d{6}) execve\(\"/bin/true\"", text, re.M)
            need(passed and float(passed[1]) > 0.15, text)
    _, text, _ = trace(acu, "-q", "-tt", "--json", "-e", "exit_group", "--", "true")
    need(re.match(r"\d\d:\d\d:\d\d\.\d{6}$", json.loads(text)["time"]), text)


def classes_of_calls(acu):
    """strace's classes, regular expressions and `?`: the same names for the same words."""
    program = "import ctypes, os\nc = ctypes.CDLL(None)\nfor n in (0, 4, 5, 6, 20, 39, 41, 49, 63, 95, 102, 137, 138, 186, 202, 228, 262, 332): c.syscall(n, -1, 0, 0, 0, 0, 0)"
    for word in ("%stat", "%lstat", "%fstat", "%%stat", "%statfs", "%fstatfs", "%%statfs", "%pure", "%creds", "%network", "%clock", "%desc", "%file", "trace=%signal",
                 "trace=!%file", "/stat", "t=/^(get|f)stat", "?nosuch,getpid"):
        calls = [set(re.findall(r"^(\w+)\(", run, re.M)) for run in (strace("-e", word, sys.executable, "-S", "-c", program),
                                                                    trace(acu, "-q", "-e", word, "--", sys.executable, "-S", "-c", program)[1])]
        need(calls[0] == calls[1], f"{word}: strace {sorted(calls[0] - calls[1])}, acu {sorted(calls[1] - calls[0])}")


NOT_MADE = {
    "exit": "ends the thread; the program ends with exit_group(-1)",
    "fork, vfork": "take no arguments; the programs above make them",
    "pause": "takes no arguments, and waits for a signal",
    "rt_sigreturn": "takes its registers from the stack; structures() makes it",
    "vhangup": "takes no arguments, and hangs up the terminal",
    "uretprobe, uprobe": "end the process with SIGILL",
}
# For each call four sets of arguments that mean nothing, and are certain to harm nothing.
UNUSUAL = ("-1L, 0L, 0L, 0L, 0L, 0L", "-1L, 1L, 2L, 3L, 4L, 5L", "0L, -1L, 0L, 0x7fL, 8L, 0L", "-1L, -1L, -1L, -1L, -1L, -1L")
FIRST_SETS, MINUS_ONES = UNUSUAL[:2], UNUSUAL[3:]
# Calls that one of the sets would let succeed, wait, or reach other processes: what they are made with instead.
INSTEAD = {
    "kill": ["0x7ffffff0L, -1L", "0x7ffffff0L, 0x7fL"],
    "clone": MINUS_ONES, "unshare": MINUS_ONES, "userfaultfd": MINUS_ONES, "umask": MINUS_ONES, "personality": MINUS_ONES, "setfsuid": MINUS_ONES, "setfsgid": MINUS_ONES,
    "ptrace": ["-1L, 0L, 8L, 16L", *MINUS_ONES], "setgroups": MINUS_ONES, "acct": MINUS_ONES, "close": MINUS_ONES, "fchmod": FIRST_SETS, "fchown": FIRST_SETS,
    "setreuid": MINUS_ONES, "setregid": MINUS_ONES, "setresuid": MINUS_ONES, "setresgid": MINUS_ONES, "settimeofday": ["-1L, 1L", *MINUS_ONES],
    "setdomainname": ["0L, -1L", *MINUS_ONES], "sethostname": ["0L, -1L", *MINUS_ONES], "shmget": [UNUSUAL[1], *MINUS_ONES], "msgget": ["-1L, 1L"], "semget": [UNUSUAL[1]],
    "semctl": FIRST_SETS, "shmctl": FIRST_SETS, "msgctl": FIRST_SETS, "shmat": FIRST_SETS, "kexec_load": [UNUSUAL[2], *MINUS_ONES], "kexec_file_load": ["-1L, -1L, 0L, 0L, -1L"],
    "close_range": ["-1L, 0L, 8L", *MINUS_ONES], "dup2": FIRST_SETS, "poll": ["-1L, 1L, 2L"], "ppoll": ["-1L, 1L, 2L, 3L, 4L", *MINUS_ONES],
    "alarm": ["0L"], "setsid": ["0L"], "sync": ["0L"], "munlockall": ["0L"],
}
# Two more sets: every other argument is the address of a page, the rest is 8 (bytes of a set of signals, or a descriptor that is not open).
PAGES = ("0x10000000L, 8L, 0x10002000L, 8L, 0x10004000L, 8L", "8L, 0x10001000L, 8L, 0x10003000L, 8L, 0x10005000L")
# With these they would change the system or the program itself, or wait.
NOT_WITH_PAGES = set("""adjtimex brk capset chroot clock_adjtime clock_settime clone3 init_module ioperm iopl keyctl madvise mlock mlockall mmap mount mprotect mremap mseal msync munlock
    munmap pivot_root prlimit64 quotactl reboot remap_file_pages set_robust_list set_tid_address setgid setrlimit setuid swapoff swapon syslog sysfs umount2 map_shadow_stack
    msgrcv msgsnd semop semtimedop sched_setaffinity sched_setparam sched_setscheduler sched_setattr epoll_wait mincore nanosleep clock_nanosleep select pselect6 bpf
    rt_sigsuspend rt_sigtimedwait restart_syscall landlock_restrict_self""".split())
NOT_WITH_TEXTS = {"execve", "execveat", "futex", "futex_waitv", "futex_wait", "poll", "ppoll", "timer_settime", "timerfd_settime", "recvmmsg", "io_getevents",
                  "io_pgetevents", "mq_timedreceive", "epoll_pwait2"}  # their timeouts would be long, or their words are no text
PAGES_CODE = """  char* pages = mmap((void*)0x10000000, 0x6000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
#define fill(page) strcpy(memset(pages + page, BYTE, 0x1000), TEXT)
#define syscall(...) (fill(0), fill(0x1000), fill(0x2000), fill(0x3000), fill(0x4000), fill(0x5000), syscall(__VA_ARGS__))
"""
CONTENTS = {"zeros": ("0", '""'), "text": ("0x11", '"/x/y"')}  # of the pages


def compare_calls(acu, name, made, before=""):
    """A program of these calls: how many lines are equal, and of which kinds the others are."""
    source, program = os.path.join(TMP, name + ".c"), os.path.join(TMP, name)
    with open(source, "w") as file:
        file.write("#include <string.h>\n#include <sys/mman.h>\nlong syscall(long, ...);\nint main(void) {\n" + before + "".join(f"  syscall({n}L, {arguments});\n" for n, arguments in made) + "}\n")
    subprocess.run(["gcc", "-o", program, source], check=True)
    os.makedirs(WORK, exist_ok=True)
    raw = strace(program), traced_lines(acu, program)
    theirs, ours = (lines_of(text, EXACT) for text in raw)
    need(theirs == ours, "\n".join(difflib.unified_diff(theirs, ours, "strace", "acu", n=0, lineterm="")))
    need(len(ours) > len(made), f"{len(ours)} lines of {len(made)} calls")
    return count_kinds(*raw, EXACT)


def calls_with_unusual_arguments(acu):
    """All calls of x86-64 with arguments that mean nothing: line by line as strace has them, but for DIFFERENCES."""
    not_made = {name for names in NOT_MADE for name in names.split(", ")} | {"exit_group"}
    need(not_made <= set(CALLS) and set(INSTEAD) <= set(CALLS), f"no such call: {(not_made | set(INSTEAD)) - set(CALLS)}")
    made = [(name, number) for name, number in sorted(CALLS.items(), key=lambda c: c[1]) if name not in not_made]
    counts = collections.Counter()
    for i in range(len(UNUSUAL)):  # in several programs, so that acu can follow
        sets = [(number, INSTEAD.get(name, UNUSUAL)[i:i + 1]) for name, number in made]
        counts += compare_calls(acu, f"every{i}", [*((number, arguments) for number, some in sets for arguments in some), (CALLS["exit_group"], "-1L")])
    for i, arguments in enumerate(PAGES):
        for content, (byte, text) in CONTENTS.items():
            left_out = {*INSTEAD, *NOT_WITH_PAGES, *(NOT_WITH_TEXTS if content == "text" else ())}
            counts += compare_calls(acu, f"{content}{i}", [(number, arguments) for name, number in made if name not in left_out], PAGES_CODE.replace("BYTE", byte).replace("TEXT", text))
    need(counts["lines"] > 2400, str(counts))
    print(f"calls with unusual arguments ({len(made) + 1} of {len(CALLS)}): {counts_text(counts)}")


def kinds_of_difference(acu):
    """All kinds are documented; how many lines of the programs are of each."""
    with open(os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "trace.md")) as file:
        listed = re.findall(r"^\d+\. \*\*(.*?)\*\*", file.read(), re.M)
    need(listed == list(DIFFERENCES) and len(listed) <= 10, f"docs/trace.md lists {listed}")
    if COUNTS:
        print(f"programs: {counts_text(COUNTS)}")


def stacks(acu):
    _, text, _ = trace(acu, "-k", "-e", "openat", "--", "cat", "/etc/hostname")
    block = text[text.index('"/etc/hostname"'):]
    need(re.search(r"\n +\w*open64\w*\+\d+\n(.*\n)* +__libc_start_call_main", block), text)


def a_process(acu):
    target = subprocess.Popen(["/usr/bin/python3", "-c", "import os, time\nwhile True: os.stat('/etc/hostname'); time.sleep(0.02)"])
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
        need(status == 0 and re.fullmatch(rf"\[pid {target.pid}\] clock_nanosleep\(CLOCK_REALTIME, 0, 0x[0-9a-f]+, 0x[0-9a-f]+ <unfinished, begun before>\n", text), text)
        _, text, _ = trace(acu, "-q", "-p", str(target.pid), "-e", "futex", "--duration", "300ms")
        need(text == "", text)
        if open("/proc/2/comm").read() == "kthreadd\n":
            _, text, _ = trace(acu, "-q", "-p", "2", "--duration", "300ms")
            need(text == "", f"a thread of the kernel makes no calls: {text}")
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


PROBES = r"(its probes [\d.]+ ms, )?"  # measured a tenth of the time
END = r"^{} calls, 0 lost; acu took [\d.]+ ms of CPU time, {}\d+ MiB$"


def the_last_line(acu):
    """How much it was, what is missing, what it took."""
    text = trace(acu, "-e", "openat", "--", "cat", "/etc/hostname")[1].splitlines()
    need(re.search(END.format(sum(line.startswith("openat") for line in text), PROBES), text[-1]), text[-1])
    text = trace(acu, "-c", "--", "cat", "/etc/hostname")[1].splitlines()
    need(re.search(END.format(text[-2].split()[3], PROBES), text[-1]), str(text[-2:]))
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


def times_of_frequent_calls(acu):
    """All are counted; some are timed, which stand for the others."""
    program = built("frequent")
    for option in [], ["--exact"]:
        out, text, _ = trace(acu, "-c", *option, "--", program, "3")
        calls, sleeps, slept = out.split()
        rows = {name: (float(seconds), int(number)) for seconds, number, name in re.findall(r"^ *[\d.]+ +([\d.]+) +\d+ +(\d+) +(\w+)$", text, re.M)}
        need(rows["getppid"][1] == int(calls) and rows["nanosleep"][1] == int(sleeps), f"{out}{text}")
        need(0.85 < rows["nanosleep"][0] / float(slept) < 1.15, f"{out}{text}")
        timed = re.search(r"^NOTE: times are estimates: ([\d,]+) of ([\d,]+) calls were timed", text, re.M)
        need(not timed if option else timed and int(timed[1].replace(",", "")) < int(calls) / 2, text)
    rows = [json.loads(line) for line in trace(acu, "-c", "--json", "--", program, "2")[1].splitlines() if line.startswith("{")]
    need(all(0 < row["timed"] <= row["calls"] or row["calls"] < 3 for row in rows) and any(row["timed"] < row["calls"] for row in rows), str(rows))
    text = trace(acu, "-c", "-I", "300ms", "-e", "getppid", "--", program, "2")[1]
    need(len(re.findall(r" getppid$", text, re.M)) >= 5 and "NOTE: times are estimates" in text, text)


def so_many_lines(acu):
    _, text, status = trace(acu, "-n", "5", "-q", "--", "cat", "/etc/hostname")
    need(len(text.splitlines()) == 5, text)


def threads_in_calls(acu):
    """Calls that have not returned are lines like others: as many as `-n` allows, and none beside a table."""
    program = "import threading, time\nfor _ in range(300): threading.Thread(target=time.sleep, args=(1000,)).start()\nprint(1, flush=True)\nwhile True: time.sleep(0.01)"
    target = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        target.stdout.readline()
        whose = "-q", "-p", str(target.pid)
        _, text, _ = trace(acu, *whose, "--duration", "300ms")
        need(text.count("<unfinished, begun before>") >= 300, text[-3000:])
        _, text, _ = trace(acu, *whose, "-c", "--duration", "300ms")
        need(" total" in text and "unfinished" not in text, text[-3000:])
        _, text, _ = trace(acu, *whose, "-n", "5")
        need(len(text.splitlines()) == 5 and "unfinished" not in text, text[-3000:])
        _, text, _ = trace(acu, *whose, "-n", "5", "-e", "futex,clock_nanosleep", "--min-duration", "100s", "--duration", "300ms")
        need(len(text.splitlines()) == 5 and text.count("unfinished") == 5, text[-3000:])
    finally:
        target.kill()
        target.wait()


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
    (("-c", "-n", "3", "--", "ls"), "`-n` with `-c` counts intervals and requires `-I`"),
    (("-I", "1s", "-a"), "require `-c`"),
    (("--sort", "tiem", "-c", "-a"), "did you mean `time`?"),
    (("--exact", "--", "ls"), "`--exact` requires `-c`"),
    (("-c", "-P", "/etc", "--", "ls"), "`-P` and `-c` cannot be combined"),
    (("--histogram", "--json", "-a"), "`--histogram` prints one text table"),
    (("-n", "0", "-a"), "`-n` takes a number from 1 to"),
    (("-e", "opennat", "--", "ls"), "there is no system call `opennat`; did you mean `openat`?"),
    (("-e", "%fiel", "--", "ls"), "there is no system call `%fiel`"),
    (("-e", "inject=read:error=EIO", "--", "ls"), "`-e inject=` is not supported: acu does not change calls"),
    (("-e", "fault=read", "--", "ls"), "`-e fault=` is not supported: acu does not change calls"),
    (("-e", "status=failed", "--", "ls"), "use `-Z` for failed calls"),
    (("-e", "/(/", "--", "ls"), "`/(/` is not a regular expression"),
    (("-t", "4711"), "`-t` shows timestamps, as in strace; select threads with --tid"),
    ((), "no target given"),
    (("ls",), "a command goes after `--`"),
    (("-p", "1", "-a"), "cannot be combined"),
    (("-p", "99999999"), "there is no process 99999999"),
    (("-s", "much", "--", "ls"), "`-s` takes a number of bytes"),
    (("--min-duration", "long", "--", "ls"), "`--min-duration` takes a time"),
    (("--", "/nonexistent/program"), "there is no command `/nonexistent/program`"),
]


def mistakes(acu):
    for words, told in MISTAKES:
        out, text, status = trace(acu, *words)
        need(status != 0 and told in text and text.count("\n") == 1 and not out, f"{words}: {status} {text}")


MESSAGES = """
import array, os, socket
a, b = socket.socketpair()
a.sendmsg([b"hello", b" world"]); b.recvmsg(100)
a.sendmsg([b"x" * 40], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1]))]); b.recvmsg(100, 100)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(("127.0.0.1", 0)); u.setblocking(False)
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b"datagram"], [], 0, u.getsockname()); u.recvmsg(50)
try: u.recvmsg(10)
except BlockingIOError: pass
r, w = os.pipe()
os.writev(w, [b"one", b"", b"two", b"-" * 50]); os.readv(r, [bytearray(4), bytearray(4), bytearray(100)])
os.pwritev(os.open("file", os.O_RDWR | os.O_CREAT), [b"a" * 50, b"b"], 0)
os.listdir("/etc/apt")
"""


def messages_and_parts(acu):
    """Messages, iovecs and folders, in strace's words."""
    wanted = r"^(sendmsg|recvmsg|writev|readv|pwritev2|getdents64)\("
    os.makedirs(WORK, exist_ok=True)
    theirs, ours = ([line for line in lines_of(run(sys.executable, "-S", "-c", MESSAGES)) if re.match(wanted, line)]
                    for run in (strace, lambda *w: traced_lines(acu, *w)))
    need(theirs == ours and len(ours) > 12, "\n".join(f"strace: {a}\nacu:    {b}" for a, b in zip(theirs, ours) if a != b))
    text = trace(acu, "-v", "-e", "getdents64", "--", "ls", TMP)[1]
    need('d_type=DT_DIR, d_name="."}' in text and "getdents64(3, [], " in text, text)
    text = trace(acu, "-e", "writev", "--", sys.executable, "-S", "-c", "import os; os.writev(1, [b'%d' % i for i in range(6)])")[1]
    need(re.search(r'\{iov_base="3", iov_len=1\}, \{iov_base=0x\w+, iov_len=1\}, ', text), text)


def built(name, *options):
    program = os.path.join(TMP, name)
    if not os.path.exists(program):
        subprocess.run(["gcc", "-O1", "-w", *options, "-o", program, os.path.join(HERE, name + ".c")], check=True, timeout=60 * SLOWNESS)
    return program


def calls_of_32_bits(acu):
    program = built("calls32", "-static", "-nostdlib", "-no-pie", "-fno-pie")
    if subprocess.run([program], stdout=subprocess.DEVNULL).returncode != 3:
        raise Skipped("this kernel runs no calls of 32-bit programs")
    _, text, status = trace(acu, "--", program)
    for line in ['[32 bit] open("/etc/hostname", O_RDONLY) = 3', '[32 bit] write(1, "', "[32 bit] getpid() = ", "[32 bit] stat64(0x",
                 '[32 bit] access("/nonexistent", R_OK) = -1 ENOENT', "[32 bit] mmap(0, ", "\nexit(3) = ?"]:
        need(line in re.sub(" +", " ", text), f"no `{line}` in {text}")
    need(status == 3, str(status))
    text = trace(acu, "-e", "open", "--", program)[1]
    need(text.startswith("[32 bit] open(") and "getpid" not in text and "read" not in text, text)
    text = trace(acu, "-c", "--", program)[1]
    need(re.search(r" 1 +1 access \(32 bit\)$", text, re.M) and re.search(r" 1 +open \(32 bit\)$", text, re.M), text)
    rows = [json.loads(line) for line in trace(acu, "--json", "-e", "close", "--", program)[1].splitlines() if line.startswith("{")]
    need(rows[0]["call"] == "close" and rows[0]["bits"] == 32 and rows[0]["arguments"] == ["3"], str(rows))


def a_32_bit_program_that_hangs(acu):
    """pause() of i386 has the number of another call of x86-64."""
    source, program = os.path.join(TMP, "pause32.s"), os.path.join(TMP, "pause32")
    with open(source, "w") as file:
        file.write(".globl _start\n_start: movl $29, %eax; int $0x80\njmp _start\n")
    subprocess.run(["as", "--32", "-o", program + ".o", source], check=True, timeout=20 * SLOWNESS)
    subprocess.run(["ld", "-m", "elf_i386", "-o", program, program + ".o"], check=True, timeout=20 * SLOWNESS)
    try:
        target = subprocess.Popen([program])
    except OSError:
        raise Skipped("this kernel runs no programs of 32 bits") from None
    try:
        time.sleep(0.3 * SLOWNESS)
        _, text, _ = trace(acu, "-q", "-p", str(target.pid), "--duration", "300ms")
        need(re.fullmatch(rf"\[pid {target.pid}\] pause\(.* <unfinished, begun before>\n", text), text)
    finally:
        target.kill()
        target.wait()


def programs_of_32_bits(acu):
    """One that executes one of 64 bits: after an execve the kernel has the number of the new program's execve in place of its own."""
    source, program = os.path.join(TMP, "execve32.s"), os.path.join(TMP, "execve32")
    with open(source, "w") as file:
        file.write(""".globl _start
_start: movl $11, %eax; movl $path, %ebx; movl $words, %ecx; xorl %edx, %edx; int $0x80
path: .string "/bin/true"
.align 4
words: .long path, 0
""")
    subprocess.run(["as", "--32", "-o", program + ".o", source], check=True, timeout=20 * SLOWNESS)
    subprocess.run(["ld", "-m", "elf_i386", "-o", program, program + ".o"], check=True, timeout=20 * SLOWNESS)
    try:
        subprocess.run([program], check=True)
    except OSError:
        raise Skipped("this kernel runs no programs of 32 bits") from None
    for times in [], ["-T"]:
        text = trace(acu, *times, "-e", "execve,munmap", "--", program)[1]
        need(text.startswith(f'execve("{program}", ["{program}"], ') and '\n[32 bit] execve("/bin/true", ["/bin/true"], NULL) = 0' in text, text)
        need("munmap(NULL, 0)" not in text, text)
    text = trace(acu, "-c", "-e", "execve,munmap", "--", program)[1]
    need(re.search(r" 1 +execve \(32 bit\)$", text, re.M) and re.search(r" 1 +execve$", text, re.M), text)


def pages_that_are_not_there(acu):
    program, pages = built("absent"), os.path.join(TMP, "pages")
    text = trace(acu, "-e", "access,write,execve", "--", program, pages, "/bin/true")[1]
    for line in ['access("/etc/hostname", R_OK)           = 0', 'write(4, "nobody has touched this" /* read later */, 23) = 23',
                 "access(0x8, R_OK)                       = -1 EFAULT", "write(4, 0x10, 40)                      = 40",
                 'access("", R_OK)                        = -1 ENOENT', 'execve("/nonexistent", ["x"], NULL)     = -1 ENOENT', 'execve("/bin/true", ["x"], NULL)        = 0',
                 "WARNING: 2 arguments could not be read when the call returned (memory not mapped): 1 read later, 1 shown as addresses"]:
        need(line in text, f"no `{line}` in {text}")


def as_strace(name):
    def test(acu):
        same_words(acu, name)
    test.__name__ = f"as_strace_{name}"
    return test


TESTS = [as_strace(name) for name in PROGRAMS]
TESTS += [same_counts, the_last_line, messages_and_parts, calls_of_32_bits, a_32_bit_program_that_hangs, programs_of_32_bits, pages_that_are_not_there, objects, tables, times_of_frequent_calls, so_many_lines, threads_in_calls, calls_of_a_path, only_what_is_asked, slow_ones, families, paths_of_descriptors, sockets_and_devices, arguments_as_they_were_given, structures, times_of_calls, classes_of_calls, calls_with_unusual_arguments, kinds_of_difference, stacks, a_process, a_process_that_hangs, interrupted, mistakes]

if __name__ == "__main__":
    sys.exit(run_suite(TESTS, TMP))
