#!/usr/bin/env python3
"""Nothing stays in the kernel: leftovers.py ACU

Runs scripts that use many kinds of objects, ends each in a different way (by itself, SIGINT, SIGTERM, SIGKILL, a
mistake while loading), and compares what the kernel holds before and after: BPF programs, maps and links (ids of bpf(2)),
processes started by -c, dynamic events in tracefs. Also: acu is gone within a second of the signal.
Last line: `N passed, N failed, N skipped`.
"""
import ctypes
import errno
import os
import signal
import subprocess
import sys
import time

from tally import Tally, patient

SCRIPTS = {
    "maps and interval": "begin { @a[1] = count(); @h = hist(5); } interval:ms:50 { @b[comm]++; }",
    "raw tracepoints": "tracepoint:raw_syscalls:sys_enter { @[comm] = count(); } rawtracepoint:sched_switch { @n++; }",
    "all system calls": "tracepoint:syscalls:sys_enter_* { @[probe] = count(); } tracepoint:syscalls:sys_exit_* { @n++; }",
    "latency pair": "tracepoint:raw_syscalls:sys_enter { @t[tid] = nsecs; } "
                    "tracepoint:raw_syscalls:sys_exit /@t[tid]/ { @ = hist(nsecs - @t[tid]); delete(@t, tid); }",
    "profile and stacks": "profile:hz:99 { @[kstack] = count(); } software:faults:100 { @f = count(); }",
    "perf tracepoints": "tracepoint:sched:sched_process_exec { print(str(args.filename)); }",
    "events": 'tracepoint:raw_syscalls:sys_enter { printf("%d %s\\n", args.id, comm); }',
}
# How a run is ended, and the exit status that follows.
ENDS = {"INT": 0, "TERM": 0, "KILL": -signal.SIGKILL}


def ids(kind):
    """All of the kernel's BPF objects of one kind. Only asks for the ids: to open a dying map, as bpftool does, can make the kernel keep it
    for ever (docs/architecture.md, "From samples to a flame graph")."""
    commands = {"prog": 11, "map": 12, "link": 31}  # bpf(2): BPF_PROG_GET_NEXT_ID ...
    number = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
    libc = ctypes.CDLL(None, use_errno=True)
    about = (ctypes.c_uint32 * 3)()  # start_id, next_id, open_flags
    found = set()
    while libc.syscall(number, commands[kind], about, ctypes.sizeof(about)) == 0:
        about[0] = about[1]
        found.add(about[1])
    if ctypes.get_errno() != errno.ENOENT:
        raise OSError(ctypes.get_errno(), f"bpf(2) does not list {kind}s")
    return found


def held():
    """What the kernel holds now, by kind."""
    state = {kind: ids(kind) for kind in ("prog", "map", "link")}
    for name in ("kprobe_events", "uprobe_events", "dynamic_events"):
        try:
            state[name] = set(open("/sys/kernel/tracing/" + name).read().split("\n"))
        except OSError:
            state[name] = set()
    return state


def held_by_processes():
    """Ids that some living process has a descriptor of, by kind: other tracers on this machine are not ours to judge."""
    found = {"prog": set(), "map": set(), "link": set()}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for name in os.listdir(f"/proc/{pid}/fdinfo"):
                for line in open(f"/proc/{pid}/fdinfo/{name}"):
                    kind, _, value = line.partition("_id:")
                    if kind in found and value.strip().isdigit():
                        found[kind].add(int(value))
        except OSError:
            pass
    return found


def left(before):
    """What was made since `before` and stays. Waits a little: the kernel frees some objects later."""
    now = held()
    more = {kind: now[kind] - before[kind] for kind in now}
    for _ in range(50):
        others = held_by_processes()
        time.sleep(0.1)
        now = held()  # after the others: what they gave back meanwhile is gone
        more = {kind: more[kind] & now[kind] - others.get(kind, set()) for kind in more}
        if not any(more.values()):
            return {}
    return {kind: ids for kind, ids in more.items() if ids}


def check(acu, name, script, end):
    before = held()
    acu_process = subprocess.Popen([acu, "run", "--notify-attached", "#attached#", "-e", script],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    for line in acu_process.stdout:
        if line.startswith("#attached#"):
            break
    else:
        return [f"did not attach: {acu_process.stderr.read().strip()[:500]}"]
    during = held()
    time.sleep(0.2)
    acu_process.send_signal(getattr(signal, "SIG" + end))
    start = time.monotonic()
    try:
        acu_process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        acu_process.kill()
        acu_process.communicate()
        return [f"still there 10 s after SIG{end}"]
    took = time.monotonic() - start
    wrong = []
    if all(not during[k] - before[k] for k in ("prog", "map")):
        wrong.append("nothing was loaded: this test sees nothing")
    if acu_process.returncode != ENDS[end]:
        wrong.append(f"status {acu_process.returncode}, expected {ENDS[end]}")
    if took > patient(1000) / 1000:
        wrong.append(f"took {took:.1f} s to end")
    wrong += [f"left in the kernel: {kind}: {sorted(map(str, what))}" for kind, what in left(before).items()]
    return wrong


def check_by_itself(acu, arguments, status):
    before = held()
    try:
        done = subprocess.run([acu, "run", *arguments], capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return ["did not end"]
    wrong = [] if done.returncode == status else [f"status {done.returncode}, expected {status}: {done.stderr[:300]}"]
    return wrong + [f"left in the kernel: {k}: {sorted(map(str, w))}" for k, w in left(before).items()]


def check_child(acu):
    """The command of -c is ended when acu is interrupted first."""
    acu_process = subprocess.Popen([acu, "run", "-c", "/bin/sleep 987", "-e", "interval:s:100 { }"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    acu_process.send_signal(signal.SIGINT)
    try:
        acu_process.wait(10)
    except subprocess.TimeoutExpired:
        acu_process.kill()
        return ["still there 10 s after SIGINT"]
    time.sleep(0.3)
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if open(f"/proc/{pid}/cmdline").read() == "/bin/sleep\x00987\x00":
                found.append(pid)
                os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass
    return [f"the command is still running: {found}"] if found else []


def main():
    acu = os.path.abspath(sys.argv[1])
    if os.geteuid() != 0:
        print("skipped: not root")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    jobs = [(f"{name}, SIG{end}", lambda s=script, n=name, e=end: check(acu, n, s, e))
            for name, script in SCRIPTS.items() for end in ENDS]
    jobs += [
        ("exit()", lambda: check_by_itself(acu, ["-e", "tracepoint:raw_syscalls:sys_enter { @++; exit(5); }"], 5)),
        ("-c", lambda: check_by_itself(acu, ["-c", "/bin/true", "-e", "tracepoint:raw_syscalls:sys_enter { @++; }"], 0)),
        ("script with a mistake", lambda: check_by_itself(acu, ["-e", "begin { @a[1] = 1; } end { print($x); }"], 2)),
        ("missing probe", lambda: check_by_itself(acu, ["-e", "begin { @ = 1; } tracepoint:sched:nope { }"], 3)),
        ("-c with a missing command", lambda: check_by_itself(acu, ["-c", "/no/such/command", "-e", "interval:s:9 { }"], 2)),
        ("-c, interrupted", lambda: check_child(acu)),
    ]
    tally = Tally()
    for name, job in jobs:
        wrong = job()
        if wrong:
            tally.failed(name, "\n".join(wrong), lambda job=job: "\n".join(job()))
        else:
            tally.passed(name)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
