#!/usr/bin/env python3
"""The measurements of `acu why`: instruments.py ACU [--filter TEXT]

Plants something that is known and looks for it among the facts of `acu why --measure NAME --json`.
Last line: `N passed, N failed, N skipped`.
"""
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, require_real_time, run_suite

TMP = tempfile.mkdtemp(prefix="acu-why-")
CGROUPS = "/sys/fs/cgroup"


@contextlib.contextmanager
def running(*words):
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as program:
        time.sleep(0.5)
        try:
            yield program.pid
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, 9)


def python(text):
    return sys.executable, "-c", text


def facts(acu, measurement, kind, **wanted):
    """Facts of a kind, with these slots."""
    pid = wanted.pop("_pid", None)
    words = [acu, "why", "--measure", measurement, "--json", *(["-p", str(pid)] if pid else [])]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60 * SLOWNESS)
    need(done.returncode == 0, f"{words}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    found = [f for f in map(json.loads, done.stdout.splitlines()) if f["fact"] == kind]
    fit = [f for f in found if all(f.get(k) == v for k, v in wanted.items())]
    need(fit, f"{measurement} has no {kind} with {wanted}: {json.dumps(found)[:3000]}")
    return fit


def between(low, fact, slot, high):
    need(low <= fact[slot] <= high, f"{slot} is not between {low} and {high}: {fact}")


def test_system_counts_what_the_host_does(acu):
    with running(*python("while True: pass")):
        cpu = facts(acu, "system", "host-cpu")[0]
    need(cpu["cpus"] == os.cpu_count(), cpu)
    between(0.9 / cpu["cpus"], cpu, "busy", 1)
    between(0.9, cpu, "busiest", 1)
    between(0, cpu, "least", cpu["busy"] + 0.01)
    between(1, cpu, "switches", 1e7)


def test_system_has_the_memory_of_the_host(acu):
    memory = facts(acu, "system", "memory")[0]
    with open("/proc/meminfo") as file:
        total = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemTotal:"))
    need(memory["total"] == total, memory)
    between(1, memory, "available", total)
    between(1, memory, "cache", total)


def test_system_counts_connections_that_fail(acu):
    with running(*python("import socket, time\n"
                         "while True:\n"
                         "  s = socket.socket()\n"
                         "  s.connect_ex(('127.0.0.1', 1)); s.close(); time.sleep(0.01)")):
        between(10, facts(acu, "system", "network")[0], "connect_failures", 1000)


def test_a_process_that_burns_a_cpu(acu):
    with running(*python("while True: pass")) as pid:
        fact = facts(acu, "processes", "process", pid=pid)[0]
    between(0.8, fact, "runnable", 1.1)
    between(0.8, fact, "busiest", 1)
    between(0.8, fact, "user", 1)
    need(fact["language"] == "python" and fact["threads"] == 1, fact)
    between(0.4, fact, "uptime", 60 * SLOWNESS)


def test_a_process_that_sleeps_is_found_if_it_is_asked_about(acu):
    with running("sleep", "60") as pid:
        fact = facts(acu, "processes", "process", pid=pid, _pid=pid)[0]
    between(0, fact, "cpu", 0.01)
    need(fact["name"] == "sleep" and fact["descriptors"] == 3, fact)


def test_memory_that_grows(acu):
    with running(*python("import time\nkept = []\nwhile True: kept.append(bytearray(1 << 20)); time.sleep(0.05)")) as pid:
        fact = facts(acu, "processes", "process", pid=pid)[0]
    between(5e6, fact, "rss_growth", 25e6)
    between(fact["rss_growth"] / 2, fact, "rss", 1e9)


def test_threads_that_end_do_not_count_twice(acu):
    """Each has run before the interval, too; the process uses no more than one CPU, as Python lets one thread run at a time."""
    with running(*python("import threading, time\n"
                         "def work(seconds):\n"
                         "  end = time.time() + seconds\n"
                         "  while time.time() < end: pass\n"
                         "while True:\n"
                         "  threads = [threading.Thread(target=work, args=(1.5,)) for _ in range(4)]\n"
                         "  for t in threads: t.start()\n"
                         "  for t in threads: t.join()")) as pid:
        fact = facts(acu, "processes", "process", pid=pid)[0]
    between(0.1, fact, "cpu", 1.1)


@contextlib.contextmanager
def group_with_quota():
    """Of 20% of a CPU, in version 2 or 1."""
    name = f"acu-why-{os.getpid()}"
    version_2 = os.path.exists(f"{CGROUPS}/cgroup.subtree_control") and "cpu" in open(f"{CGROUPS}/cgroup.subtree_control").read().split()
    folder = f"{CGROUPS}/{name}" if version_2 else f"{CGROUPS}/cpu/{name}"
    if not version_2 and not os.path.exists(f"{CGROUPS}/cpu/cpu.cfs_quota_us"):
        raise Skipped("no CPU controller is mounted")
    try:
        os.mkdir(folder)
    except OSError as error:
        raise Skipped(f"control groups cannot be made: {error}") from error
    try:
        file, text = ("cpu.max", "20000 100000") if version_2 else ("cpu.cfs_quota_us", "20000")
        with open(f"{folder}/{file}", "w") as quota:
            quota.write(text)
        yield "/" + name, f"{folder}/cgroup.procs"
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
                break
            time.sleep(0.1)


def test_a_group_with_a_quota_is_throttled(acu):
    with group_with_quota() as (name, members), running(*python("while True: pass")) as pid:
        with open(members, "w") as file:
            file.write(str(pid))
        time.sleep(0.3)
        group = facts(acu, "cgroups", "cgroup", name=name)[0]
        process = facts(acu, "processes", "process", pid=pid, _pid=pid)[0]
    need(abs(group["quota"] - 0.2) < 1e-6, group)
    between(0.3, group, "throttled", 0.9)
    need(process["cgroup"] == name, process)
    between(0.05, process, "cpu", 0.3)


def test_calls_that_fail_have_a_path(acu):
    path = "/there is no such folder/at all"
    with running(*python(f"import os, time\nwhile True:\n  os.path.exists({path!r})\n  try: open({path!r})\n  except OSError: pass\n  time.sleep(0.005)")) as pid:
        fact = facts(acu, "syscalls", "syscall", pid=pid, call="openat")[0]
    between(50, fact, "rate", 250)
    need(fact["failed"] == 1 and fact["error"] == "ENOENT" and fact["path"] == path, fact)


def test_time_in_calls(acu):
    with running(*python("import time\nwhile True: time.sleep(0.01)")) as pid:
        fact = facts(acu, "syscalls", "syscall", pid=pid, call="clock_nanosleep")[0]
    between(0.7, fact, "time", 1)
    need(fact["failed"] == 0 and fact["error"] == "", fact)


def test_polls_that_return_nothing(acu):
    with running(*python("import select\np = select.poll()\nwhile True: p.poll(0)")) as pid:
        fact = facts(acu, "syscalls", "syscall", pid=pid, call="poll", _pid=pid)[0]
    between(0.9, fact, "empty", 1)
    between(5000, fact, "rate", 1e8)


def test_many_calls_are_counted_for_a_part_of_the_time(acu):
    """Then the rate is still right: the program tells how many calls it made. On a busy host the part may be one in which it does not run, but not each time."""
    require_real_time("rates are compared")
    counted = os.path.join(TMP, "calls")
    text = ("import os, time\n"
            "n, begin = 0, time.time()\n"
            "while True:\n"
            "  for _ in range(20000): os.getppid()\n"
            "  n += 20000\n"
            f"  with open({counted!r} + '.new', 'w') as f: f.write(f'{{n}} {{time.time()}}')\n"
            f"  os.rename({counted!r} + '.new', {counted!r})")
    with running(*python(text)) as pid:
        for last in (False, False, True):
            n, at = map(float, open(counted).read().split())
            fact = facts(acu, "syscalls", "syscall", pid=pid, call="getppid")[0]
            m, then = map(float, open(counted).read().split())
            real = (m - n) / (then - at)
            if last or real / 3 <= fact["rate"] <= real * 3:
                break
    between(real / 3, fact, "rate", real * 3)


def test_births(acu):
    with running("sh", "-c", "while :; do /bin/true; sleep 0.01; done") as pid:
        fact = facts(acu, "births", "births", parent=pid)[0]
    between(10, fact, "rate", 250)
    need(fact["name"] == "sh" and fact["program"] in ("true", "sleep"), fact)
    between(1e5, fact, "lifetime", 1e9)
    between(0.001, fact, "cpu", 2)


def test_interrupts(acu):
    with running(*python("import time\nwhile True: time.sleep(0.001)")):
        found = facts(acu, "interrupts", "interrupt-load")
    known = {"hi", "timer", "net_tx", "net_rx", "block", "irq_poll", "tasklet", "sched", "hrtimer", "rcu"}
    need(known & {f["source"] for f in found}, found)
    for f in found:
        between(0, f, "share", 1)
        between(0, f, "cpu", os.cpu_count() - 1)
        between(1e-9, f, "rate", 1e7)


def test_requests_of_a_disk(acu):
    file = os.path.join(TMP, "file")
    with running(*python("import os, mmap\n"
                         f"f = os.open({file!r}, os.O_CREAT | os.O_RDWR | os.O_DIRECT)\n"
                         "b = mmap.mmap(-1, 65536)\n"
                         "while True:\n"
                         "  for i in range(64): os.pwrite(f, b, i * 65536)")) as pid:
        if not os.path.exists(file):
            raise Skipped("the file system of temporary files has no direct I/O")
        user = facts(acu, "block-io", "disk-user", pid=pid)[0]
        latency = facts(acu, "block-io", "disk-latency", device=user["device"])[0]
        disk = facts(acu, "system", "disk", device=user["device"])[0]
    between(0.3, user, "share", 1)
    between(65536, user, "bytes", 1e11)
    between(1e3, latency, "service", 1e9)
    between(latency["service"], latency, "tail", 1e11)
    between(0.01, disk, "utilisation", 1)
    between(1, disk, "writes", 1e7)


def test_large_requests_of_a_disk(acu):
    """The kernel splits them, and each part is its user's."""
    file, progress = os.path.join(TMP, "large"), os.path.join(TMP, "progress")
    with running(*python("import mmap, os, time\n"
                         f"f = os.open({file!r}, os.O_CREAT | os.O_RDWR | os.O_DIRECT)\n"
                         f"p = os.open({progress!r}, os.O_CREAT | os.O_RDWR)\n"
                         "b, written = mmap.mmap(-1, 8 << 20), 0\n"
                         "while True:\n"
                         "  written += os.pwrite(f, b, 0)\n"
                         "  os.pwrite(p, b'%20d' % written, 0)\n"
                         "  time.sleep(0.01)")) as pid:
        if not os.path.exists(progress):
            raise Skipped("the file system of temporary files has no direct I/O")
        begin, before = time.monotonic(), int(open(progress).read() or 0)
        user = facts(acu, "block-io", "disk-user", pid=pid)[0]
        real = (int(open(progress).read()) - before) / (time.monotonic() - begin)
    between(real / 3, user, "bytes", real * 3)


def test_the_last_oom_kill(acu):
    folder = f"{CGROUPS}/memory" if os.path.exists(f"{CGROUPS}/memory/memory.limit_in_bytes") else CGROUPS
    limit = "memory.limit_in_bytes" if folder != CGROUPS else "memory.max"
    group = f"{folder}/acu-why-oom-{os.getpid()}"
    try:
        os.mkdir(group)
        with open(f"{group}/{limit}", "w") as file:
            file.write(str(32 << 20))
    except OSError as error:
        with contextlib.suppress(OSError):
            os.rmdir(group)
        raise Skipped(f"memory cannot be limited: {error}") from error
    try:
        text = f"open('{group}/cgroup.procs', 'w').write('0'); x = bytearray(256 << 20)"
        victim = subprocess.Popen(python(text))
        need(victim.wait(timeout=60) == -9, "nothing was killed")
    finally:
        os.rmdir(group)
    fact = facts(acu, "kernel-log", "oom-kill", victim=victim.pid)[0]
    need(fact["cgroup"] == group.removeprefix(folder) and fact["limit"] == 32 << 20, fact)
    between(16 << 20, fact, "rss", 64 << 20)
    need(fact["largest_pid"] == victim.pid, fact)


if __name__ == "__main__":
    sys.exit(run_suite([t for name, t in sorted(globals().items()) if name.startswith("test_")], TMP))
