#!/usr/bin/env python3
"""acu called `bpftrace`, side by side with Debian's bpftrace: run.py ACU [--filter TEXT]

- Each command line of commands.txt, which explains its form, is run by both, one after the other in one folder: standard
  output must be the same, and both succeed or both fail. Left out of what 0.17 prints: "Attaching N probes..." (on standard
  error since 0.24), blanks at the ends of lines, in JSON empty lines, and all that its line `older` explains.
- Each tool that the package installs must compile unchanged, apart from those that tools.txt excuses on this host.
- Those that need no kernel functions run for a moment, and print the same columns; the others where the kernel has what they need.
- A service manager (systemd, Type=notify) is told when the probes are attached.

Skipped without the package. Last line: `N passed, N failed, N skipped`.
"""
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, Tally, Wrong, lacking, need, take_filter

DEBIAN = "/usr/bin/bpftrace"
LIMIT = 20 * SLOWNESS  # seconds for a command
ATTACHING = re.compile(r"^Attaching \d+ probes?\.\.\.$")
# Tools that use tracepoints, intervals and samples only, with a command that gives them something to see.
RUNS = {
    "bashreadline.bt": ("true", r"^TIME +PID +COMMAND$"),
    "cpuwalk.bt": ("true", r"^Sampling CPU at 99hz\.\.\. Hit Ctrl-C to end\.$"),
    "execsnoop.bt": ("/bin/true", r"^TIME\(ms\) +PID +ARGS"),
    "gethostlatency.bt": ("getent hosts localhost", r"^TIME +PID +COMM +LATms HOST$"),
    "killsnoop.bt": ("kill -0 $$", r"^TIME +PID +COMM +SIG +TPID +RESULT$"),
    "naptime.bt": ("sleep 0.1", r"^TIME +PPID +PCOMM +PID +COMM +SECONDS$"),
    "opensnoop.bt": ("cat /etc/hostname", r"^PID +COMM +FD ERR PATH$"),
    "pidpersec.bt": ("true", r"^Tracing new processes\.\.\. Hit Ctrl-C to end\.$"),
    "runqlat.bt": ("true", r"^Tracing CPU scheduler\.\.\. Hit Ctrl-C to end\.$"),
    "setuids.bt": ("true", r"^Tracing setuid\(2\) family syscalls\. Hit Ctrl-C to end\.$"),
    "statsnoop.bt": ("stat /etc/hostname", r"^PID +COMM +ERR +PATH$"),
    "syncsnoop.bt": ("sync -d /etc/hostname", r"^TIME +PID +COMM +EVENT$"),
    "syscount.bt": ("true", r"^Counting syscalls\.\.\. Hit Ctrl-C to end\.$"),
    "writeback.bt": ("true", r"^TIME +DEVICE +PAGES +REASON +ms$"),
    "bitesize.bt": ("sync", r"^Tracing block device I/O\.\.\. Hit Ctrl-C to end\.$"),
}
CONNECT = """python3 -c 'import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
server.accept()[0].close(), client.close()'"""
# Those that need kernel functions, or such as only older kernels have.
RUNS_ON_SOME = {
    "biolatency.bt": ("sync", r"^Tracing block device I/O\.\.\. Hit Ctrl-C to end\.$"),
    "biosnoop.bt": ("sync", r"^TIME\(ms\) +DISK +COMM +PID +LAT\(ms\)$"),
    "biostacks.bt": ("sync", r"^Tracing block I/O with init stacks\. Hit Ctrl-C to end\.$"),
    "capable.bt": ("chown 0 /", r"^TIME +UID +PID +COMM +CAP +NAME +AUDIT$"),
    "dcsnoop.bt": ("stat /nowhere", r"^TIME +PID +COMM +T +FILE$"),
    "loads.bt": ("sleep 0.5", r"^Reading load averages\.\.\. Hit Ctrl-C to end\.$"),
    "mdflush.bt": ("true", r"^TIME +PID +COMM +DEVICE$"),
    "oomkill.bt": ("true", r"^Tracing oom_kill_process\(\)\.\.\. Hit Ctrl-C to end\.$"),
    "runqlen.bt": ("true", r"^Sampling run queue length at 99 Hertz\.\.\. Hit Ctrl-C to end\.$"),
    "swapin.bt": ("sleep 0.5", r"\A(\d\d:\d\d:\d\d|\s*\Z)"),
    "tcpaccept.bt": (CONNECT, r"^TIME +PID +COMM +RADDR +RPORT LADDR +LPORT BL$"),
    "tcpconnect.bt": (CONNECT, r"^TIME +PID +COMM +SADDR +SPORT +DADDR +DPORT +$"),
    "tcpdrop.bt": ("true", r"^TIME +PID +COMM +SADDR:SPORT +DADDR:DPORT +STATE +$"),
    "tcplife.bt": (CONNECT, r"^PID +COMM +LADDR +LPORT RADDR +RPORT TX_KB RX_KB MS$"),
    "tcpretrans.bt": ("true", r"^TIME +PID +LADDR:LPORT +RADDR:RPORT +STATE$"),
    "tcpsynbl.bt": (CONNECT, r"^Tracing SYN backlog size\. Ctrl-C to end\.$"),
    "undump.bt": ("true", r"^TIME +COMM +PID +SIZE +DATA *$"),
    "vfscount.bt": ("cat /etc/hostname", r"^Tracing VFS calls\.\.\. Hit Ctrl-C to end\.$"),
    "vfsstat.bt": ("sleep 1", r"^Tracing key VFS calls\.\.\. Hit Ctrl-C to end\.$"),
    "xfsdist.bt": ("true", r"^Tracing XFS operation latency\.\.\. Hit Ctrl-C to end\.$"),
}


class Command:
    def __init__(self, name, words):
        self.name, self.words = name, words
        self.older, self.expected, self.is_sorted = "", None, False

    def read(self, line):
        word, _, rest = line.strip().partition(" ")
        if word == "older":
            self.older, self.expected = rest, []
        elif word == "sorted":
            self.is_sorted = True
        elif word in ("=", "~"):
            self.expected.append((word, rest))
        else:
            raise SystemExit(f"commands.txt: what is {line!r}?")


def read_commands():
    found, text = [], ""
    for line in open(os.path.join(HERE, "commands.txt")):
        line = line.rstrip("\n")
        if not text and (not line or line.startswith("#")):
            continue
        if not text and line.startswith("  "):
            found[-1].read(line)
            continue
        text += ("\n" if text else "") + line
        name, _, options = text.partition(" $ ")
        try:
            found.append(Command(name, shlex.split(options)))
            text = ""
        except ValueError:  # a quote is open: the next line belongs to it
            pass
    return found


def run(program, words, folder):
    process = subprocess.Popen([program] + words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace")
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Wrong(f"{program} did not end") from None
    return out, err, process.returncode


def lines_of(text, command, is_older):
    lines = [line.rstrip() for line in text.split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    if is_older:
        lines = [line for line in lines if not ATTACHING.match(line)]
        if "json" in command.words:
            lines = [line for line in lines if line]
    return sorted(lines) if command.is_sorted else lines


def fits(wanted, got):
    return len(wanted) == len(got) and all(t == g if kind == "=" else re.fullmatch(t, g) for (kind, t), g in zip(wanted, got))


def compare(command, acu, folder):
    out, err, status = run(acu, command.words, folder)
    got = lines_of(out, command, False)
    if command.older:
        need(fits(command.expected, got), f"printed: {got}\nexpected: {command.expected}\n{err[-600:]}")
        return
    other, complaint, other_status = run(DEBIAN, command.words, folder)
    wanted = lines_of(other, command, True)
    need((status == 0) == (other_status == 0), f"status {status}, bpftrace {other_status}: {err[-600:]}{complaint[-300:]}")
    need(status or got == wanted, f"printed: {got}\nbpftrace: {wanted}\n{err[-300:]}")


def installed_tools():
    listed = subprocess.run(["dpkg", "-L", "bpftrace"], capture_output=True, text=True)
    return [path for path in listed.stdout.split() if path.endswith(".bt") and os.path.exists(path)]


def read_excuses():
    excuses = {}
    for line in open(os.path.join(HERE, "tools.txt")):
        if line.strip() and not line.startswith("#"):
            name, _, rest = line.partition(": ")
            excuses[name] = tuple(part.strip() for part in rest.split(" # "))
    return excuses


def compile_tool(path, acu, folder, excuses):
    _, err, status = run(acu, ["--unsafe", "-d", "bpf", path], folder)
    if status == 0:
        return
    pattern, why = excuses.get(os.path.basename(path), ("(?!)", ""))
    need(re.search(pattern, err), f"does not compile: {err[:1500]}")
    raise Skipped(why)


def run_tool(path, acu, folder, excuses):
    name = os.path.basename(path)
    command, columns = RUNS.get(name) or RUNS_ON_SOME[name]
    told = ""
    with open(os.path.join(folder, "tool.out"), "w+") as out:
        process = subprocess.Popen([acu, path], stdout=out, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, errors="replace")
        for line in process.stderr:
            if line.startswith("Attached "):
                break
            told += line
        if process.poll() is not None or not line.startswith("Attached "):
            process.wait(timeout=LIMIT)
            pattern, why = excuses.get(name, ("(?!)", ""))
            has_none = "kprobe" in lacking(os.path.realpath(acu)) and re.search("cannot attach k(ret)?probe:", told)
            lacks = "the kernel lacks kprobe" if has_none else why if re.search(pattern, told) else ""
            need(name in RUNS_ON_SOME and lacks, f"status {process.returncode}: {told[-600:]}")
            raise Skipped(lacks)
        for _ in range(3):
            subprocess.run(["sh", "-c", command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT)
        out.seek(0)
        text = out.read()
    need(process.returncode == 0, f"status {process.returncode}: {err[-600:]}")
    need(re.search(columns, text, re.M), f"no line {columns!r} in:\n{text[:600]}")


def notified(acu, folder, name):
    """A service manager that waits for READY=1 gets it once the probes are attached, and STOPPING=1 before the end probes run."""
    told = []
    if os.path.exists(name):
        os.unlink(name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name.replace("@", "\0"))
        environment = {**os.environ, "NOTIFY_SOCKET": name}
        script = 'interval:ms:10 { printf("tick\\n"); exit(); } end { printf("end\\n"); }'
        done = subprocess.run([acu, "-q", "-e", script], capture_output=True, text=True, env=environment, cwd=folder, timeout=LIMIT)
        need(done.returncode == 0 and done.stdout.split() == ["tick", "end"], f"status {done.returncode}: {done.stdout!r} {done.stderr[-400:]}")
        manager.setblocking(False)  # what was sent is there
        try:
            while len(told) < 9:
                told.append(manager.recv(4096).decode().split("\n")[0])
        except BlockingIOError:
            pass
    need(told == ["READY=1", "STOPPING=1"], f"told {told}")


def judge(check):
    """What is wrong, or an empty text."""
    try:
        check()
    except Wrong as wrong:
        return str(wrong)
    return ""


def main():
    arguments = sys.argv[1:]
    only = take_filter(arguments)
    acu = os.path.abspath(arguments[0])
    tally = Tally()
    if not os.access(DEBIAN, os.X_OK) or os.geteuid() != 0:
        tally.skipped("all", "Debian's package bpftrace is not installed" if os.geteuid() == 0 else "this takes root")
        return tally.end()
    with tempfile.TemporaryDirectory(prefix="acu-dropin-") as folder:
        named = os.path.join(folder, "bpftrace")
        os.symlink(acu, named)
        subprocess.run(["gcc", "-O1", "-o", os.path.join(folder, "prog"), os.path.join(HERE, "programs.c")], check=True)
        run(named, ["-l", "tracepoint:sched:sched_switch"], folder)  # mounts tracefs where it is not
        excuses = read_excuses()
        checks = [(c.name, lambda c=c: compare(c, named, folder)) for c in read_commands()]
        for path in installed_tools():
            checks.append(("compile " + os.path.basename(path), lambda p=path: compile_tool(p, named, folder, excuses)))
            if os.path.basename(path) in RUNS | RUNS_ON_SOME:
                checks.append(("run " + os.path.basename(path), lambda p=path: run_tool(p, named, folder, excuses)))
        for kind, name in (("file", os.path.join(folder, "notify")), ("abstract", f"@acu-dropin-{os.getpid()}")):
            checks.append((f"service manager, {kind}", lambda n=name: notified(named, folder, n)))
        for name, check in checks:
            if only not in name:
                continue
            begin = time.monotonic()
            try:
                wrong = judge(check)
            except Skipped as why:
                tally.skipped(name, str(why), time.monotonic() - begin)
                continue
            seconds = time.monotonic() - begin
            tally.failed(name, wrong, lambda check=check: judge(check), seconds) if wrong else tally.passed(name, seconds)
        return tally.end()


sys.exit(main())
