#!/usr/bin/env python3
"""Whose events count: run.py ACU [--filter TEXT]

-p, -t, -u, --cgroup, --container, -a, -C and --filter mean the same in `acu trace`, `flame`, `record`, `top` and `stat`: of
programs that do the same side by side those are told that were asked for, and no others. Last line:
`N passed, N failed, N skipped`.
"""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, Wrong, need, patient, run_suite

TMP = tempfile.mkdtemp(prefix="acu-whose-")
# Two threads that ask for their parent and use the processor, until the input ends; tells their numbers.
BUSY = """
import os, sys, threading, time
ends = False
def work(name):
    open("/proc/thread-self/comm", "w").write(name)
    print(threading.get_native_id(), flush=True)
    until = 0
    while not ends:
        os.getppid(); sum(range(20000))
threads = [threading.Thread(target=work, args=(f"worker{i}",)) for i in range(2)]
for t in threads: t.start(); time.sleep(0.05)
sys.stdin.read()
ends = True
"""


@contextlib.contextmanager
def busy(before=None):
    """A program as above: the process, and the numbers of its two working threads."""
    process = subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=before)
    try:
        yield process, [int(process.stdout.readline()) for _ in range(2)]
    finally:
        process.kill()
        process.communicate()


def acu(program, *words, limit=30, status=0):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=limit * SLOWNESS, cwd=TMP)
    need(status is None or done.returncode == status, f"{words}: status {done.returncode}\n{done.stderr}")
    return done


def traced(program, *words):
    """Threads that were seen in calls, by number."""
    text = acu(program, "trace", "-e", "getppid", "--duration", f"{patient(600):.0f}ms", *words).stderr
    return {int(n) for n in re.findall(r"^\[\S+ (\d+)\] getppid", text, re.M)}, text


def sampled(program, *words):
    """Threads of the samples of a recording, as `NAME-PID/TID`."""
    out = os.path.join(TMP, "samples.perf")
    acu(program, "record", "-F", "499", "--duration", f"{patient(1000):.0f}ms", "-o", out, *words)
    with open(out) as file:
        return {int(n) for n in re.findall(r"^\S+ +\d+/(\d+)", file.read(), re.M)}


def cpu_ms(pid):
    """For how long the threads of a process have run."""
    return sum(int(open(f"/proc/{pid}/task/{tid}/schedstat").read().split()[0]) for tid in os.listdir(f"/proc/{pid}/task")) / 1e6


def counted_and_ran(program, whose, pids):
    """What `acu stat` counts as the CPU time of processes, in ms, and for how long each of `pids` ran meanwhile: they stand still
    before it counts and when it ends, for how long they run depends on the load of this machine."""
    def signal_all(number):
        for pid in pids:
            os.kill(pid, number)
        time.sleep(0.1)  # a thread that runs sees the signal at its next tick

    signal_all(signal.SIGSTOP)
    before = {pid: cpu_ms(pid) for pid in pids}
    counter = subprocess.Popen([program, "stat", "--json", "-e", "task-clock", "-p", ",".join(map(str, whose))], stderr=subprocess.PIPE, text=True)
    try:
        wait_until_open(counter.pid, "perf_event")
        signal_all(signal.SIGCONT)
        time.sleep(0.5)
        signal_all(signal.SIGSTOP)
        ran = {pid: cpu_ms(pid) - before[pid] for pid in pids}
        counter.send_signal(signal.SIGINT)
        text = counter.communicate(timeout=30 * SLOWNESS)[1]
    finally:
        counter.kill()
        signal_all(signal.SIGCONT)
    return json.loads(text.splitlines()[0])["value"], ran


def wait_until_open(pid, kind):
    """Until acu has descriptors of this kind, and no more are added."""
    before, since, end = 0, time.monotonic(), time.monotonic() + 30 * SLOWNESS
    while time.monotonic() < end:
        found = 0
        with contextlib.suppress(OSError):  # one that was closed just now
            found = sum(kind in os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
        if found != before:
            before, since = found, time.monotonic()
        if found and time.monotonic() - since > 0.5:
            return
        time.sleep(0.02)
    raise Wrong(f"acu opens no {kind}")


def test_several_processes(program):
    with busy() as (one, ones), busy() as (two, twos), busy() as (_, others):
        asked = f"{one.pid},{two.pid}"
        seen, text = traced(program, "-p", asked)
        need(seen == set(ones + twos), f"{seen}, not {ones} {twos}\n{text[:500]}")
        seen = sampled(program, "-p", one.pid, "-p", two.pid)
        need(set(ones + twos) <= seen and not seen & set(others), f"{seen}, not {ones} {twos}")
        for whose in ([one.pid, two.pid], [two.pid]):
            told, ran = counted_and_ran(program, whose, [one.pid, two.pid])
            own = sum(ran[pid] for pid in whose)
            need(abs(told - own) < 0.02 * own + 2, f"{whose}: {told} ms, they ran for {ran}")


def test_the_last_end_is_the_end(program):
    for option, number in (("-p", 2), ("--tid", 1)):
        targets = [subprocess.Popen(["cat"], stdin=subprocess.PIPE) for _ in range(number)]
        tracer = subprocess.Popen([program, "trace", option, ",".join(str(t.pid) for t in targets)], stderr=subprocess.PIPE, text=True)
        try:
            wait_until_open(tracer.pid, "bpf_link")
            for target in targets:
                need(tracer.poll() is None, "acu ended before the last of them")
                target.communicate()
                time.sleep(0.5)
            text = tracer.communicate(timeout=30 * SLOWNESS)[1]
            need(tracer.returncode == 0 and (option == "--tid" or text.count("+++ exited with 0 +++") == number), text)
        finally:
            for process in (*targets, tracer):
                process.kill()
                process.wait()


def test_threads(program):
    with busy() as (process, (one, two)):
        text = acu(program, "trace", "-e", "getppid", "--duration", "500ms", "--tid", one).stderr
        need(text.startswith("getppid()"), text[:300])
        seen, text = traced(program, "--tid", f"{one},{two}")
        need(seen == {one, two}, f"{seen}\n{text[:300]}")
        need(sampled(program, "-t", two) == {two}, "other threads have samples")
        told = json.loads(acu(program, "stat", "--json", "-e", "syscalls:sys_enter_getppid", "-t", two, "--duration", "300ms").stderr.splitlines()[0])
        need(told["value"] > 0, str(told))
        idle = json.loads(acu(program, "stat", "--json", "-e", "syscalls:sys_enter_getppid", "-t", process.pid, "--duration", "300ms").stderr.splitlines()[0])
        need(idle["value"] == 0, str(idle))
        tables = acu(program, "top", "--json", "-n", "1", "-I", f"{patient(500):.0f}ms", "-t", one).stdout
        need(len(json.loads(tables)["processes"]) == 1, tables)


def test_cpus(program):
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skipped("there is one CPU")

    def on(cpu):
        return lambda: os.sched_setaffinity(0, {cpu})
    with busy(on(cpus[0])) as (_, ones), busy(on(cpus[1])) as (_, twos):
        seen = sampled(program, "-a", "-C", cpus[1])
        need(seen & set(twos) and not seen & set(ones), f"{seen}, not {twos}")
        seen, text = traced(program, "-C", cpus[0], "-a")
        need(seen & set(ones) and not seen & set(twos), f"{seen}, not {ones}\n{text[:300]}")
        seen, text = traced(program, "-C", f"{cpus[0]}-{cpus[1]}", "-a")
        need(seen >= set(ones + twos), f"{seen}\n{text[:300]}")


def test_expressions(program):
    with busy() as (process, (one, two)):
        seen, text = traced(program, "-p", process.pid, "--filter", 'comm == "worker1" // that one')
        need(seen == {two}, f"{seen}\n{text[:300]}")
        seen = sampled(program, "-p", process.pid, "--filter", f"tid / 1 == {one}")
        need(seen == {one}, f"{seen}")
        done = acu(program, "flame", "tracepoint:syscalls:sys_exit_getppid", "--filter", f"args.ret != {os.getpid()}", "-p", process.pid,
                   "--duration", "300ms", status=1)
        need(re.search(r"^samples 0", done.stderr, re.M) and "nothing was recorded" in done.stderr, done.stderr)
    text = acu(program, "trace", "--filter", "retval < 0 && arg1 != 0", "--", "ls", "/nonexistent", status=2).stderr
    calls = [line for line in text.splitlines() if re.match(r"\w+\(", line)]
    need(any('"/nonexistent"' in line for line in calls) and all(" = -1 E" in line for line in calls), text)
    text = acu(program, "trace", "-c", "--filter", "retval < 0", "--", "ls", "/nonexistent", status=2).stderr
    total = text.index(" total")
    calls, errors = text[text.rindex("\n", 0, total):total].split()[-2:]
    need(calls == errors and int(errors) > 0, text)
    text = acu(program, "trace", "--filter", "duration >= 200ms", "--", "sleep", "0.3").stderr
    need([line.split("(")[0] for line in text.splitlines() if "(" in line and " = " in line] == ["clock_nanosleep"], text)


@contextlib.contextmanager
def group(name):
    """A control group of version 2."""
    mounts = [line.split()[1] for line in open("/proc/mounts") if line.split()[2] == "cgroup2"]
    if not mounts:
        raise Skipped("no control groups of version 2 are mounted")
    folder = os.path.join(mounts[0], name)
    try:
        os.makedirs(folder)
    except OSError as error:
        raise Skipped(f"no control group can be made: {error.strerror}") from error
    try:
        yield folder
    finally:
        for _ in range(100):  # of those that were ended just now
            with contextlib.suppress(OSError):
                os.rmdir(folder)
                break
            time.sleep(0.02)
        os.rmdir(os.path.dirname(folder)) if os.path.dirname(folder) != mounts[0] else None


def test_containers(program):
    number = "ac" + os.urandom(31).hex()
    with group(f"acu-test.slice/docker-{number}.scope") as folder:
        def enter():
            with open(os.path.join(folder, "cgroup.procs"), "w") as file:
                file.write("0")
        with busy(enter) as (process, inside), busy() as (_, outside):
            for option, value in [("--container", number[:12]), ("--container", number), ("--cgroup", folder)]:
                seen, text = traced(program, option, value)
                need(seen == set(inside), f"{option} {value}: {seen}, not {inside}\n{text[:300]}")
            seen = sampled(program, "--container", number[:12])
            need(set(inside) <= seen and not seen & set(outside), f"{seen}, not {inside}")
            told = acu(program, "flame", "--container", number[:12], "--duration", "200ms").stderr
            need(f"CPU of container {number[:12]}" in told, told)
            told = acu(program, "why", "-q", "--container", number[:12], "--duration", "3s").stdout
            need(told.startswith(f"process {process.pid} "), told)
            told = acu(program, "trace", "--container", "no-such", status=2).stderr
            need("there is no container `no-such`; there are " in told and number[:12] in told, told)


MISTAKES = [
    (["trace", "-p", "1,x"], "`-p` takes a number from 1 to 2147483647, not `x`"),
    (["flame", "-p", "1,"], "`-p` takes a number from 1 to 2147483647, not ``"),
    (["stat", "-t", "0"], "`--tid` takes a number from 1 to"),
    (["trace", "--tid", "4194300"], "there is no thread 4194300"),
    (["record", "-t", "4194300"], "there is no thread 4194300"),
    (["stat", "-t", "4194300"], "there is no thread 4194300"),
    (["trace", "-p", "1", "--tid", "1"], "cannot be combined"),
    (["top", "--container", "a", "-a"], "cannot be combined"),
    (["top", "-C", "1-"], "`-C` takes CPUs such as `0-3,7`, not `1-`"),
    (["flame", "offcpu", "-C", "0"], "`-C` is not supported for `offcpu`"),
    (["flame", "leaks", "-p", "1", "--filter", "1"], "are not supported for leaks"),
    (["flame", "leaks", "-p", "1,2"], "needs one process"),
    (["trace", "-a", "--filter", " "], "`--filter` takes an expression"),
    (["trace", "-a", "--filter", "com == 1"], "--filter:1:1-4: unknown name `com`\ncom == 1\n~~~\nHINT: did you mean `comm`?"),
    (["flame", "--filter", "pid == 1 &&"], "--filter:1:12"),
    (["trace", "-a", "--filter", "retval <"], "--filter:1:9"),
    (["stat", "-n", "2", "-a"], "`-n` counts intervals"),
    (["trace", "--conatiner", "a"], "did you mean `--container`?"),
    (["stat", "--filter", "1"], "unknown option `--filter`"),
]


def test_mistakes(program):
    for words, told in MISTAKES:
        done = acu(program, *words, status=None)
        need(done.returncode in (2, 3) and told in done.stderr and done.stderr.count("ERROR") == 1 and not done.stdout,
             f"{words}: {done.returncode} {done.stderr}")


def test_intervals_end(program):
    rows = acu(program, "stat", "-a", "--json", "-e", "cpu-clock", "-I", "100ms", "-n", "3").stderr.splitlines()
    need(len([r for r in rows if "event" in r]) == 3, str(rows))


def test_commands_that_go_on_are_ended(program):
    """When the time is over."""
    for n, words in enumerate((["trace", "-q"], ["record", "-q"], ["flame", "-q"], ["slow", "-q", "syscalls"], ["stat"])):
        command = ["sleep", f"1000.{os.getpid()}{n}"]
        acu(program, *words, "--duration", "300ms", "-o", os.path.join(TMP, f"ended{n}.html"), "--", *command, status=None)
        end = time.monotonic() + 10 * SLOWNESS
        while subprocess.run(["pgrep", "-f", "^" + " ".join(command)], stdout=subprocess.DEVNULL).returncode == 0:
            need(time.monotonic() < end, f"{words}: the command goes on")
            time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(run_suite([f for n, f in globals().items() if n.startswith("test_")], TMP, tells_reason=False))
