#!/usr/bin/env python3
"""Counters: run.py ACU [--filter TEXT]

What `acu stat` counts of programs that know their own numbers, and how it tells them. Last line:
`N passed, N failed, N skipped`.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, need, run_suite

TMP = tempfile.mkdtemp(prefix="acu-stat-")
# Asks for its parent N times in each of T threads, and of a child.
CALLS = """
import os, sys, threading
def ask():
    for _ in range(int(sys.argv[1])): os.getppid()
threads = [threading.Thread(target=ask) for _ in range(int(sys.argv[2]))]
for t in threads: t.start()
for t in threads: t.join()
if os.fork() == 0:
    ask(); os._exit(0)
os.wait()
"""


def stat(acu, *words, limit=30, status=0):
    done = subprocess.run([acu, "stat", *words], capture_output=True, text=True, timeout=limit * SLOWNESS)
    need(done.returncode == status, f"{words}: status {done.returncode}\n{done.stderr}")
    return done.stderr


def counts(acu, *words, **more):
    """Values by event."""
    return {row["event"]: row["value"] for row in map(json.loads, stat(acu, "--json", *words, **more).splitlines())}


def test_threads_and_children_count(acu):
    told = counts(acu, "-e", "syscalls:sys_enter_getppid,syscalls:sys_exit_getppid", "--", sys.executable, "-c", CALLS, "1000", "3")
    need(told == {"syscalls:sys_enter_getppid": 4000, "syscalls:sys_exit_getppid": 4000}, str(told))


def test_functions_of_programs(acu):
    source, program = os.path.join(TMP, "calls.c"), os.path.join(TMP, "calls")
    with open(source, "w") as file:
        file.write("__attribute__((noipa)) int called(int n) { return n + 1; }\n__attribute__((noipa)) int caller(int n) { return called(n) + 1; }\n"
                   "int main(void) { int n = 0; while (n < 2000) n = caller(n); return 0; }\n")
    subprocess.run(["gcc", "-O1", "-o", program, source], check=True, timeout=60 * SLOWNESS)
    told = counts(acu, "-e", f"uprobe:{program}:called,uretprobe:{program}:called,uprobe:{program}:call*", "--", program)
    need(list(told.values()) == [1000, 1000, 2000], str(told))


def links(folder):
    """Where the links of a folder lead, of those that are there long enough to be read."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    for name in names:
        try:
            yield os.readlink(os.path.join(folder, name))
        except FileNotFoundError:
            pass


def test_process_with_its_threads(acu):
    program = subprocess.Popen([sys.executable, "-c", "import os, threading, time\n"
                                "threads = [threading.Thread(target=lambda: (input_.wait(), [os.getppid() for _ in range(500)])) for _ in range(2)]\n"
                                "input_ = threading.Event()\nfor t in threads: t.start()\nprint(1, flush=True)\ninput()\ninput_.set()"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    program.stdout.readline()
    counting = subprocess.Popen([acu, "stat", "--json", "-e", "syscalls:sys_enter_getppid", "-p", str(program.pid)], stderr=subprocess.PIPE, text=True)
    # It counts when it has as many counters as the process threads.
    folder, counters = f"/proc/{counting.pid}/fd", 0
    while counters < 3 and counting.poll() is None:
        counters = sum("perf_event" in target for target in links(folder))
    program.communicate("\n", timeout=30 * SLOWNESS)
    told = json.loads(counting.communicate(timeout=30 * SLOWNESS)[1])
    need(told["value"] == 1000, str(told))


def test_intervals_add_up(acu):
    script = "import os, time\nfor _ in range(6):\n    for _ in range(100): os.getppid()\n    time.sleep(0.1)"
    rows = [json.loads(line) for line in stat(acu, "--json", "-I", "200ms", "-e", "syscalls:sys_enter_getppid", "--", sys.executable, "-c", script).splitlines()]
    need(len(rows) >= 3 and sum(r["value"] for r in rows) == 600, str(rows))
    need(all(a["time"] < b["time"] for a, b in zip(rows, rows[1:])), str(rows))


def test_layout(acu):
    text = stat(acu, "--", "sleep", "0.2")
    need(" Performance counter stats for 'sleep 0.2':" in text, text)
    need(re.search(r"^ +\d+\.\d\d msec task-clock +# +0\.\d+ CPUs utilized$", text, re.M), text)
    need(re.search(r"^ +\d+ +page-faults +# +[\d.]+ [KM]?/sec$", text, re.M), text)
    need(re.search(r"^ +(<not supported>|[\d,]+) +cycles", text, re.M), text)
    elapsed = re.search(r"^ +([\d.]+) seconds time elapsed$", text, re.M)
    need(elapsed and 0.2 <= float(elapsed[1]) < 0.2 + 5 * SLOWNESS, text)
    need(re.search(r"^ +[\d.]+ seconds user\n +[\d.]+ seconds sys$", text, re.M), text)


def test_columns_as_perf_has_them(acu):
    """The same columns as `perf stat -x`; values, times and perf's metrics differ."""
    def columns(*words):
        done = subprocess.run(words, capture_output=True, text=True, timeout=60 * SLOWNESS)
        need(done.returncode == 0, done.stderr)
        return [line.strip().split(words[2][2:])[:-2] for line in done.stderr.splitlines()]
    for words in (["-x,", "-e", "page-faults,task-clock"], ["-x|", "-r", "2", "-e", "page-faults"], ["-x;", "-I", "100", "-e", "page-faults"]):
        if words[1] == "-I":
            words[2] = "100ms"
        ours = columns(acu, "stat", *words, "--", "sleep", "0.15")
        need(all(len(row) >= 5 and row[-1] == "100.00" and int(row[-2]) > 10000 for row in ours), str(ours))
        if shutil.which("perf"):
            theirs = columns("perf", "stat", *[word.removesuffix("ms") for word in words], "--", "sleep", "0.15")
            kinds = [{tuple(re.sub(r"[\d.]+", "N", column) for column in row) for row in rows} for rows in (theirs, ours)]
            need(kinds[0] == kinds[1], f"perf {theirs}\nacu {ours}")


def test_runs_have_noise(acu):
    text = stat(acu, "-r", "4", "-e", "page-faults,context-switches", "--", "true")
    need("(4 runs)" in text and len(re.findall(r"\( \+- *[\d.]+% \)", text)) == 3, text)


def online_cpus():
    """Numbers of all CPUs, also those that this process may not run on."""
    ranges = [[int(n) for n in part.split("-")] for part in open("/sys/devices/system/cpu/online").read().split(",")]
    return [cpu for r in ranges for cpu in range(r[0], r[-1] + 1)]


def test_cpus_apart(acu):
    rows = [json.loads(line) for line in stat(acu, "-a", "-A", "--json", "-e", "cpu-clock", "--duration", "300ms").splitlines()]
    need(sorted(r["cpu"] for r in rows) == online_cpus() and all(r["value"] >= 250 for r in rows), str(rows))
    rows = stat(acu, "-C", "0", "--json", "-e", "cpu-clock", "--duration", "300ms", "-a").splitlines()
    need(len(rows) == 1 and 250 < json.loads(rows[0])["value"] < 300 + 5000 * SLOWNESS, str(rows))


def test_all_while_a_command_runs(acu):
    """As perf does: of all CPUs, until the command ends, with its exit status; what others do counts."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            rows = [json.loads(line) for line in stat(acu, "-a", "--json", "-e", "cpu-clock,task-clock,faults", "--", "sh", "-c", "sleep 0.3; exit 5", status=5).splitlines()]
            text = stat(acu, "-a", "-e", "cpu-clock", "--", "sleep", "0.1")
            by_cpu = [json.loads(line)["cpu"] for line in stat(acu, "-a", "-A", "--json", "-e", "cpu-clock", "--", "sleep", "0.1").splitlines()]
            many = stat(acu, "-a", "-r", "2", "-I", "50ms", "-e", "cpu-clock", "--", "sleep", "0.1", status=2)
        finally:
            busy.kill()
    told = {row["event"]: row["value"] for row in rows}
    need(told["cpu-clock"] > 250 * len(online_cpus()), str(told))
    need("for all processes:" in text and "seconds time elapsed" in text and "seconds user" not in text, text)
    need(sorted(by_cpu) == online_cpus() and "cannot be combined" in many, f"{by_cpu} {many}")


def test_time_agrees_with_the_kernel(acu):
    spin = "import time, resource\nwhile time.process_time() < 0.5: pass\nu = resource.getrusage(resource.RUSAGE_SELF)\nprint(u.ru_utime + u.ru_stime, u.ru_minflt + u.ru_majflt)"
    done = subprocess.run([acu, "stat", "--json", "-e", "task-clock,page-faults", "--", sys.executable, "-c", spin], capture_output=True, text=True,
                          timeout=60 * SLOWNESS)
    seconds, faults = map(float, done.stdout.split())
    told = {row["event"]: row["value"] for row in map(json.loads, done.stderr.splitlines())}
    need(abs(told["task-clock"] / 1000 - seconds) < 0.1, f"{told}, the program {seconds} s")
    need(abs(told["page-faults"] - faults) < 0.2 * faults, f"{told}, the program {faults}")


def test_status_and_file(acu):
    path = os.path.join(TMP, "counts")
    need(stat(acu, "-q", "-o", path, "-e", "faults", "--", "sh", "-c", "exit 7", status=7) == "", "text on standard error")
    need("faults" in open(path).read(), "nothing in the file")


def test_last_line(acu):
    last = stat(acu, "-e", "task-clock,faults", "--", "true").splitlines()[-1]
    need(re.fullmatch(r"2 counters, 0 lost; acu took [\d.]+ ms of CPU time, \d+ MiB", last), last)
    need("acu took" not in stat(acu, "-q", "--", "true"), "-q tells it")


def test_mistakes_name_what_was_meant(acu):
    for words, told in [(["-e", "cyclse", "--", "true"], "there is no event `cyclse`; did you mean `cycles`?"),
                        (["-e", "sched:sched_swich", "--", "true"], "did you mean `tracepoint:sched:sched_switch`?"),
                        (["-e", "begin", "--", "true"], "the kernel keeps no counts of begin probes"),
                        (["-r", "2", "-a"], "`-r` requires a command"),
                        (["-C", "1-0", "-a"], "`-C` takes CPUs such as `0-3,7`, not `1-0`"),
                        ([], "no target given"),
                        (["-p", "1", "--", "true"], "no target given"),
                        (["-a", "-p", "1", "--", "true"], "cannot be combined"),
                        (["-p", "4194300"], "no process 4194300"),
                        (["--cgroup", "no/such"], "there is no control group `no/such`"),
                        (["--", "no-such-command"], "there is no command `no-such-command`")]:
        done = subprocess.run([acu, "stat", *words], capture_output=True, text=True, timeout=30 * SLOWNESS)
        need(done.returncode and told in done.stderr and done.stderr.count("ERROR") == 1, f"{words}: {done.stderr}")


if __name__ == "__main__":
    sys.exit(run_suite([f for n, f in globals().items() if n.startswith("test_")], TMP, tells_reason=False))
