#!/usr/bin/env python3
"""What `acu why --measure` finds in one process: process_instruments.py ACU [--filter TEXT]

Programs with one thing to find each (process_programs.c), and others that look alike and do not have it; at the end, `acu why` names the cause.
Last line: `N passed, N failed, N skipped`.
"""
import contextlib
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, Wrong, need, patient, require_real_time, run_suite, untimed

TMP = tempfile.mkdtemp(prefix="acu-why-")
ON_DISK = tempfile.mkdtemp(prefix="acu-why-", dir=os.environ.get("ACU_TEST_DISK", "/var/tmp"))  # fsync on tmpfs takes no time
SOURCE = os.path.join(HERE, "process_programs.c")
PROGRAMS = os.path.join(TMP, "process_programs")
MOST_CPU = 0.5  # of a second, for one measurement with all that it compiles; an instrument alone takes a tenth of it


@contextlib.contextmanager
def running(*words, cwd=None, core_size=0):
    if not os.path.exists(PROGRAMS):
        with untimed():
            subprocess.run(["gcc", "-O1", "-g", "-o", PROGRAMS, SOURCE, "-pthread"], check=True, timeout=100 * SLOWNESS)
    with subprocess.Popen([PROGRAMS, *words], stdout=subprocess.PIPE, text=True, start_new_session=True, cwd=cwd,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (core_size, resource.RLIM_INFINITY))) as program:
        try:
            need(program.stdout.readline() == "ready\n", f"{words} does not start")
            time.sleep(0.3)
            need(program.poll() is None, f"{words} has ended: {program.poll()}")
            yield program.pid
        finally:
            os.killpg(program.pid, signal.SIGKILL)


def acu_why(acu, *words):
    done = subprocess.run([acu, "why", *words, "--json"], capture_output=True, text=True, timeout=100 * SLOWNESS)
    need(done.returncode == 0, f"{words}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def wait_until(is_so):
    for _ in range(int(100 * SLOWNESS)):
        if is_so():
            return
        time.sleep(0.1)
    raise Wrong("it never happens")


def facts(acu, measurement, pid):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = [json.loads(line) for line in acu_why(acu, "--measure", measurement, "-p", str(pid)).splitlines()]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    need(cpu < patient(MOST_CPU), f"{measurement} took {cpu:.2f} s of CPU time")
    return out


def of_kind(found, kind):
    return [f for f in found if f["fact"] == kind]


def only(found, kind, **slots):
    fitting = [f for f in of_kind(found, kind) if all(f.get(k) == v for k, v in slots.items())]
    need(len(fitting) == 1, f"{len(fitting)} facts {kind} with {slots} in {json.dumps(found, indent=1)}")
    return fitting[0]


def line_of(text):
    """Of the source, of the line with this text."""
    return next(i for i, line in enumerate(open(SOURCE), 1) if text in line)


def is_between(fact, slot, low, high):
    need(low <= fact[slot] <= high, f"{slot} is {fact[slot]}, not from {low} to {high}: {fact}")


@contextlib.contextmanager
def server(delay):
    """A port of loopback where each question is answered after so many seconds."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with contextlib.suppress(OSError):
            connection = listener.accept()[0]
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while connection.recv(100):
                time.sleep(delay)
                connection.sendall(b"answer")
    threading.Thread(target=serve, daemon=True).start()
    with listener:
        yield str(listener.getsockname()[1])


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return str(s.getsockname()[1])


def on_disk(name):
    kind = subprocess.run(["stat", "-f", "-c", "%T", ON_DISK], capture_output=True, text=True).stdout.strip()
    if kind in ("tmpfs", "ramfs"):
        raise Skipped(f"{os.path.dirname(ON_DISK)} is in memory, where nothing is made durable ($ACU_TEST_DISK names another folder)")
    return os.path.join(ON_DISK, name)


def test_files_synced_often(acu):
    path = on_disk("rows")
    with running("sync", path) as pid:
        found = facts(acu, "files", pid)
    sync = only(found, "file-sync", path=path)
    need((sync["function"], sync["file"], sync["line"]) == ("commit_row", "process_programs.c", line_of("// commits")), f"another place: {sync}")
    is_between(sync, "bytes", 195, 205)
    is_between(sync, "share", 0.5, 1)
    need(sync["low"] <= sync["share"] <= sync["high"], str(sync))
    # One thread does nothing else: all the calls of a second take about a second.
    need(0.5 <= sync["rate"] * sync["latency"] / 1e9 <= 1.05, f"rate times latency is not the time: {sync}")


def test_files_opened_for_synchronous_writes(acu):
    path = on_disk("synchronous")
    with running("sync-writes", path) as pid:
        found = facts(acu, "files", pid)
    sync = only(found, "file-sync", path=path, function="add_row")
    is_between(sync, "bytes", 200, 200)
    need(not of_kind(found, "file-write"), f"these writes are synchronous: {found}")


def test_files_synced_seldom(acu):
    path = on_disk("seldom")
    with running("sync-seldom", path) as pid:
        found = facts(acu, "files", pid)
    for sync in of_kind(found, "file-sync"):
        is_between(sync, "share", 0, 0.15)
    is_between(only(found, "file-write", path=path, is_log=0), "writes", 100, 1e7)


def test_files_a_log(acu):
    path = os.path.join(TMP, "server.log")
    with running("log", path) as pid:
        found = facts(acu, "files", pid)
    log = only(found, "file-write", path=path, is_log=1, function="log_failure")
    need(re.fullmatch(r"request \d+ failed: no such user", log["sample"]), f"another line: {log}")
    is_between(log, "repeated", 1, 1)
    is_between(log, "share", 0.2, 1)
    per_write = log["rate"] / log["writes"]
    need(32 <= per_write <= 40, f"{per_write} bytes in a line: {log}")


def test_connections_a_slow_server(acu):
    require_real_time("the time of answers is compared")
    with server(0.02) as port, running("ask", port) as pid:
        found = facts(acu, "connections", pid)
    peer = only(found, "peer", address=f"127.0.0.1:{port}")
    is_between(peer, "latency", 20e6, 35e6)
    is_between(peer, "share", 0.7, 1)
    need(peer["round_trip"] * 10 < peer["latency"], f"the network is as slow as the server: {peer}")
    need(peer["failures"] == 0 and peer["connects"] == 0, f"it has connected before: {peer}")
    need(only(found, "ports", peer=f"127.0.0.1:{port}")["used"] < 0.1, str(found))


def test_connections_a_quick_server(acu):
    with server(0) as port, running("ask", port) as pid:
        found = facts(acu, "connections", pid)
    is_between(only(found, "peer", address=f"127.0.0.1:{port}"), "latency", 1e3, 5e6)


def test_connections_refused(acu):
    port = closed_port()
    with running("connect", port) as pid:
        found = facts(acu, "connections", pid)
    peer = only(found, "peer", address=f"127.0.0.1:{port}", reason="refused", failures=1)
    is_between(peer, "connects", 20, 200)


def test_connections_accepted(acu):
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        port = listener.getsockname()[1]

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    listener.accept()[0].close()
        threading.Thread(target=accept, daemon=True).start()
        with running("connect", str(port)) as pid:
            found = facts(acu, "connections", pid)
            listening = facts(acu, "connections", os.getpid())
    peer = only(found, "peer", address=f"127.0.0.1:{port}", reason="", failures=0)
    is_between(peer, "connects", 20, 200)
    is_between(peer, "connect_latency", 1e3, 2e7)
    queue = only(listening, "listen-queue", port=port, limit=128)
    is_between(queue, "accepts", 20, 200)
    is_between(queue, "length", 0, 5)
    need(queue["overflows"] == 0, str(queue))


def test_connections_a_full_listen_queue(acu):
    port = closed_port()
    with running("listen", port) as pid:
        clients = [socket.socket() for _ in range(8)]
        for c in clients:
            c.setblocking(False)
            c.connect_ex(("127.0.0.1", int(port)))
        found = facts(acu, "connections", pid)
        for c in clients:
            c.close()
    queue = only(found, "listen-queue", port=int(port), limit=4)
    is_between(queue, "length", 4, 5)
    need(queue["overflows"] > 0, f"8 clients want to get in: {queue}")


def test_timers_that_wake_it_for_nothing(acu):
    with running("look") as pid:
        found = only(facts(acu, "timers", pid), "timers", function="look_for_work")
    need((found["file"], found["line"]) == ("process_programs.c", line_of("// looks")), f"another place: {found}")
    is_between(found, "rate", 1000, 40000)
    is_between(found, "idle", 0.9, 1)


def test_timers_that_wake_it_for_work(acu):
    with running("look-and-find") as pid:
        is_between(only(facts(acu, "timers", pid), "timers", function="look_for_work"), "idle", 0, 0.1)


def test_page_faults_of_new_memory(acu):
    with running("buffers") as pid:
        found = only(facts(acu, "page-faults", pid), "page-faults", function="fill_buffer", what="new memory")
    need((found["file"], found["line"]) == ("process_programs.c", line_of("// fills")), f"another place: {found}")
    is_between(found, "rate", 10000, 1e7)
    is_between(found, "share", 0.1, 1)  # of the time, of which others may have a part
    need(found["low"] <= found["share"] <= found["high"], str(found))


def test_page_faults_of_memory_that_is_kept(acu):
    with running("buffer") as pid:
        need(not of_kind(facts(acu, "page-faults", pid), "page-faults"), "it has no page faults")


def test_crashes_seen(acu):
    with running("crash") as pid:
        found = [f for f in of_kind(facts(acu, "crashes", pid), "crash-report") if f["name"] == "process_program" and f["file"]]
    need(found, "no crash is seen")
    first = found[0]
    need((first["function"], first["file"], first["line"]) == ("handle_request", "process_programs.c", line_of("// crashes")), f"another place: {first}")
    need((first["signal"], first["reason"]) == ("SIGSEGV", "null pointer"), f"another reason: {first}")


def test_crashes_and_ends(acu):
    with running("end") as pid:
        found = [f for f in of_kind(facts(acu, "crashes", pid), "crash-report") if f["file"]]
    need(not found, f"nothing crashes: {found}")


def test_snapshot_a_deadlock(acu):
    with running("deadlock") as pid:
        found = facts(acu, "snapshot", pid)
    cycle = only(found, "lock-cycle")
    for text in ("in transfer -> ", "in rotate_journal -> "):
        need(text in cycle["threads"], str(cycle))
    need(sorted(cycle["locks"].split(", ")) == ["accounts", "journal"], str(cycle))
    need(cycle["line"] in (line_of("// transfer waits"), line_of("// rotate_journal waits")), str(cycle))
    is_between(cycle, "seconds", 1, 30 * SLOWNESS)


def test_snapshot_locks_in_one_order(acu):
    with running("ordered") as pid:
        found = facts(acu, "snapshot", pid)
    need(not of_kind(found, "lock-cycle") and not of_kind(found, "stuck-thread"), f"its threads take turns: {found}")


def test_snapshot_an_uninterruptible_sleep(acu):
    with running("vfork") as pid:
        found = facts(acu, "snapshot", pid)
    stuck = only(found, "stuck-thread", thread=pid, state="D")
    need("vfork" in stuck["what"] and stuck["kernel_function"], str(stuck))
    is_between(stuck, "seconds", 1, 30 * SLOWNESS)


def test_snapshot_a_stopped_process(acu):
    with running("wait") as pid:
        os.kill(pid, signal.SIGSTOP)
        stuck = only(facts(acu, "snapshot", pid), "stuck-thread", thread=pid, state="T")
    need((stuck["function"], stuck["line"]) == ("pause_ms", line_of("nanosleep(&t")), str(stuck))
    need(not stuck["what"], f"it waits for no file: {stuck}")


def test_snapshot_of_a_sleep(acu):
    with running("listen", closed_port()) as pid:
        found = facts(acu, "snapshot", pid)
    need(not of_kind(found, "stuck-thread") and not of_kind(found, "lock-cycle"), f"it waits for a signal: {found}")


def test_functions_that_a_program_does_not_have(acu):
    """No exceptions of C++ and no conditions: that is measured, and no mistake of a script."""
    source, program = os.path.join(TMP, "plain.c"), os.path.join(TMP, "plain")
    with open(source, "w") as file:
        file.write("""#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int sum;
int main(void) { for (;;) { pthread_mutex_lock(&lock); for (int i = 0; i < 100000; i++) sum += i; pthread_mutex_unlock(&lock); usleep(1000); } }
""")
    with untimed():
        subprocess.run(["gcc", "-O1", "-static", "-o", program, source, "-pthread"], check=True, timeout=100 * SLOWNESS)
    with subprocess.Popen([program]) as process:
        try:
            time.sleep(0.3)
            for measurement in ("exceptions", "signals"):
                need(facts(acu, measurement, process.pid) == [], measurement)
        finally:
            process.kill()


def causes(acu, kind, pid):
    """Of the answer, those that are confirmed or likely."""
    for measurement in ("syscalls", "processes"):
        done = subprocess.run([acu, "why", "--measure", measurement, "-p", str(pid), "--json"], capture_output=True, text=True, timeout=100 * SLOWNESS)
        if done.returncode:
            raise Skipped(f"rules need the measurement {measurement}: {done.stderr.strip().splitlines()[0]}")
    answer = json.loads(acu_why(acu, *([] if kind == "any" else [kind]), "-p", str(pid)))
    return {f["cause"]: f["verdict"] for f in answer["findings"] if f["verdict"] in ("confirmed", "likely")}


def is_named(acu, cause, kind, pid):
    found = causes(acu, kind, pid)
    need(cause in found, f"{cause} is not named: {found}")


def is_not_named(acu, cause, kind, pid):
    found = causes(acu, kind, pid)
    need(cause not in found, f"{cause} is named: {found}")


def test_why_it_waits_for_flushes(acu):
    with running("sync", on_disk("rows")) as pid:
        is_named(acu, "fsync-bound", "slow", pid)


def test_why_another_server_is_slow(acu):
    with server(0.02) as port, running("ask", port) as pid:
        is_named(acu, "slow-upstream", "slow", pid)


def test_why_a_quick_server_is_not(acu):
    with server(0) as port, running("ask", port) as pid:
        is_not_named(acu, "slow-upstream", "slow", pid)


def test_why_nobody_listens(acu):
    with running("connect", closed_port()) as pid:
        is_named(acu, "refused-peer", "failing", pid)


def test_why_timers_wake_it_for_nothing(acu):
    with running("look") as pid:
        is_named(acu, "timer-storm", "slow", pid)


def test_why_timers_wake_it_for_work(acu):
    with running("look-and-find") as pid:
        is_not_named(acu, "timer-storm", "slow", pid)


def test_why_it_touches_new_memory(acu):
    with running("buffers") as pid:
        is_named(acu, "page-fault-storm", "slow", pid)


def test_why_its_worker_crashes(acu):
    with running("crash") as pid:
        is_named(acu, "crash", "failing", pid)


def test_why_others_of_its_name_crash(acu):
    with running("crash"), running("look") as pid:
        is_not_named(acu, "crash", "failing", pid)


def test_why_threads_wait_for_each_other(acu):
    with running("deadlock") as pid:
        is_named(acu, "deadlock", "stuck", pid)


def test_why_threads_wait_for_each_other_is_found_unasked(acu):
    with running("deadlock") as pid:
        is_named(acu, "deadlock", "any", pid)


def test_why_a_thread_waits_for_itself(acu):
    with running("relock") as pid:
        is_named(acu, "deadlock", "any", pid)


def test_why_it_is_stopped(acu):
    with running("wait") as pid:
        os.kill(pid, signal.SIGSTOP)
        for kind in ("any", "stuck"):
            is_named(acu, "stopped", kind, pid)
        os.kill(pid, signal.SIGCONT)
        done = subprocess.run([acu, "why", "stuck", "-q", "-p", str(pid)], capture_output=True, text=True, timeout=100 * SLOWNESS)
        need("nothing found" in done.stdout and f"hint: `acu snap -p {pid}`" in done.stdout, done.stdout)


def test_why_its_group_is_frozen(acu):
    mounts = [line.split()[1] for line in open("/proc/mounts") if line.split()[2] == "cgroup2"]
    if not mounts or os.geteuid() != 0:
        raise Skipped("no control groups of version 2, or not root")
    group = os.path.join(mounts[0], f"acu-why-frozen-{os.getpid()}")
    with running("wait") as pid:
        os.mkdir(group)
        try:
            open(os.path.join(group, "cgroup.procs"), "w").write(str(pid))
            open(os.path.join(group, "cgroup.freeze"), "w").write("1")
            wait_until(lambda: "frozen 1" in open(os.path.join(group, "cgroup.events")).read())
            is_named(acu, "stopped", "stuck", pid)
            need("is frozen with its control group" in acu_why(acu, "stuck", "-p", str(pid)), "why it is stopped is not said")
        finally:
            open(os.path.join(group, "cgroup.freeze"), "w").write("0")
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: "populated 0" in open(os.path.join(group, "cgroup.events")).read())
            os.rmdir(group)


def test_why_a_debugger_has_it(acu):
    with running("wait") as pid, subprocess.Popen(["gdb", "-batch", "-p", str(pid), "-ex", "python import time; time.sleep(100)"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as gdb:
        try:
            wait_until(lambda: "\nState:\tt" in open(f"/proc/{pid}/status").read())
            is_named(acu, "stopped", "stuck", pid)
            need(f"gdb (process {gdb.pid})" in acu_why(acu, "stuck", "-p", str(pid)), "who it is is not said")
        finally:
            gdb.kill()


def test_why_a_zombie(acu):
    with subprocess.Popen(["/bin/true"]) as ended:
        wait_until(lambda: "\nState:\tZ" in open(f"/proc/{ended.pid}/status").read())
        for words in (["why", "-p"], ["trace", "-p"], ["top", "-n", "1", "-p"]):
            done = subprocess.run([acu, *words, str(ended.pid)], capture_output=True, text=True, timeout=60 * SLOWNESS)
            need(done.returncode == 3 and "has ended; its parent has not waited for it" in done.stderr, f"{words}: {done.returncode} {done.stderr}")


def test_why_threads_that_take_turns_do_not(acu):
    with running("ordered") as pid:
        is_not_named(acu, "deadlock", "stuck", pid)


def answer_in(core, acu, kind):
    answer = json.loads(acu_why(acu, kind, core))
    return answer, {f["cause"]: f for f in answer["findings"] if f["verdict"] == "confirmed"}


def test_why_a_core_of_a_crash(acu):
    pattern = open("/proc/sys/kernel/core_pattern").read().strip()
    if "/" in pattern or pattern.startswith("|"):
        raise Skipped(f"the kernel does not write core dumps into the folder of the program ({pattern})")
    with tempfile.TemporaryDirectory(dir=TMP) as folder, running("crash", cwd=folder, core_size=resource.RLIM_INFINITY):
        need(found := os.listdir(folder), "no core dump")
        core = os.path.join(TMP, "crash.core")
        os.rename(os.path.join(folder, found[0]), core)
    answer, found = answer_in(core, acu, "failing")
    need("crash" in found, json.dumps(answer, indent=1))
    crash = found["crash"]
    need(crash["place"] == f"handle_request (process_programs.c:{line_of('// crashes')})", f"another place: {crash}")
    for text in ("SIGSEGV", "null pointer", "address 0x0"):
        need(text in crash["title"], f"{text} is not in {crash['title']}")
    need(all(e["command"] == f"acu core {core}" for e in crash["evidence"]), str(crash))
    need(answer["name"].startswith("process_program"), str(answer["name"]))


def test_why_a_core_of_a_deadlock(acu):
    with running("deadlock") as pid:
        time.sleep(1)
        subprocess.run(["gcore", "-o", os.path.join(TMP, "deadlock"), str(pid)], capture_output=True, timeout=100 * SLOWNESS)
    answer, found = answer_in(os.path.join(TMP, f"deadlock.{pid}"), acu, "stuck")
    need("deadlock" in found, json.dumps(answer, indent=1))
    need("in transfer ->" in json.dumps(found["deadlock"]["evidence"]), str(found["deadlock"]))


def test_why_a_core_of_a_process_that_waits(acu):
    with running("ordered") as pid:
        subprocess.run(["gcore", "-o", os.path.join(TMP, "ordered"), str(pid)], capture_output=True, timeout=100 * SLOWNESS)
    answer, found = answer_in(os.path.join(TMP, f"ordered.{pid}"), acu, "stuck")
    need(not found, json.dumps(answer, indent=1))


def test_why_a_recording(acu):
    record = os.path.join(TMP, "look.acu")
    with running("compute") as pid:
        subprocess.run([acu, "record", "-q", "-p", str(pid), "--duration", "1s", "-o", record], check=True, timeout=100 * SLOWNESS)
    answer = json.loads(acu_why(acu, "slow", record))
    need([m["measurement"] for m in answer["measurements"]] == ["recording"] and answer["name"] == "process_program", str(answer))
    need("hot-function" in [f["cause"] for f in answer["findings"] if f["verdict"] == "likely"], json.dumps(answer, indent=1))


CHANGES = """
import sys, time
def spin(ms):
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end: pass
def parse_request(ms): spin(ms)
def find_rows(): spin(40)
def render(): spin(20)
def handle(ms): parse_request(ms), find_rows(), render()
print("ready", flush=True)
while True: handle(float(sys.argv[1]))
"""


def test_why_of_two_recordings(acu):
    """A function that takes 10% of the CPU time takes 35%; and one that takes as much as before."""
    recordings = {}
    for name, ms in (("before", 6.7), ("after", 32), ("same", 6.7)):
        recordings[name] = os.path.join(TMP, name + ".acu")
        with subprocess.Popen(["/usr/bin/python3", "-c", CHANGES, str(ms)], stdout=subprocess.PIPE, text=True) as program:
            program.stdout.readline()
            subprocess.run([acu, "record", "-q", "-F", "499", "-p", str(program.pid), "--duration", "2s", "-o", recordings[name]], check=True, timeout=100 * SLOWNESS)
            program.kill()
    answer = json.loads(acu_why(acu, "--before", recordings["before"], recordings["after"]))
    first = answer["findings"][0]
    need(first["cause"] == "function-grew" and first["verdict"] in ("confirmed", "likely") and first["title"].startswith("parse_request uses 3"), json.dumps(answer, indent=1))
    answer = json.loads(acu_why(acu, "--before", recordings["before"], recordings["same"]))
    need(all(f["verdict"] == "ruled out" for f in answer["findings"]), json.dumps(answer, indent=1))
    other = os.path.join(TMP, "other.acu")
    with running("compute") as pid:
        subprocess.run([acu, "record", "-q", "-p", str(pid), "--duration", "1s", "-o", other], check=True, timeout=100 * SLOWNESS)
    done = subprocess.run([acu, "why", "--before", other, recordings["after"]], capture_output=True, text=True, timeout=60)
    need(done.returncode == 1 and "there is no process" in done.stderr and "other.acu" in done.stderr, done.stderr)
    done = subprocess.run([acu, "why", "--before", recordings["before"]], capture_output=True, text=True, timeout=60)
    need(done.returncode == 2 and "name the later recording" in done.stderr, done.stderr)


def test_why_by_name(acu):
    with running("deadlock"):
        answer = json.loads(acu_why(acu, "stuck", "-C", "process_program"))
    need(answer["name"] == "process_program" and "deadlock" in [f["cause"] for f in answer["findings"] if f["verdict"] == "confirmed"], json.dumps(answer, indent=1))
    done = subprocess.run([acu, "why", "-C", "no-such-program"], capture_output=True, text=True, timeout=60)
    need(done.returncode and "there is no process called `no-such-program`" in done.stderr, done.stderr)


def test_why_calls_of_a_function_are_slow(acu):
    """Each of three functions that the same thread calls has a reason of its own."""
    require_real_time("shares are compared")
    with running("serve") as pid:
        for function, cause, name in (("look_up_row", "lock-across-sleep", "table_lock"), ("store_row", "lock-across-sleep", "journal_lock"), ("check_row", "hot-function", "compute")):
            answer = json.loads(acu_why(acu, "slow", "-p", str(pid), function))
            first = answer["findings"][0]
            need(answer["function"] == function and first["cause"] == cause and name in first["title"], f"{function}: {json.dumps(answer, indent=1)}")
            need(first["verdict"] in ("confirmed", "likely") and first["share"] > 0.5, json.dumps(first, indent=1))
        wait = only(json.loads(f"[{acu_why(acu, '--measure', 'run-queues', '-p', str(pid), 'check_row').strip().replace(chr(10), ',')}]"), "process-time")
        need(wait["waiting"] < 0.05 and wait["running"] + wait["runnable"] > 0.9, f"it only computes: {wait}")
        answer = json.loads(acu_why(acu, "slow", "-p", str(pid), "--max-cost", "0.5", "check_row"))
        need(answer["result"] == "nothing found" and "could not be measured" in answer["notes"][0], json.dumps(answer, indent=1))
        need("above --max-cost" in json.dumps(answer["measurements"]), json.dumps(answer["measurements"], indent=1))
        answer = json.loads(acu_why(acu, "slow", "-p", str(pid), "no_such_function"))
        need(answer["result"] == "nothing found" and "no thread was seen in a call of `no_such_function`" in answer["notes"][0], json.dumps(answer, indent=1))


def test_why_of_what_is_not_there(acu):
    for words, message in ((["core.none"], "`core.none`: ask `slow`"), ([__file__], "not a recording"), ([__file__, "-p", str(os.getpid())], "a file is asked about by itself"),
                           (["-C", "a", "-p", "1"], "cannot be combined"), (["growing", "-p", str(os.getpid()), "f"], "calls of a function can be `slow`"),
                           (["--measure", "files", "-p", str(os.getpid()), "f"], "is of a whole process"), (["--max-cost", "x"], "--max-cost")):
        done = subprocess.run([acu, "why", *words], capture_output=True, text=True, timeout=60)
        need(done.returncode and message in done.stderr, f"{words}: {done.returncode} {done.stderr}")


def test_why_as_a_page(acu):
    page = os.path.join(TMP, "answer.html")
    with running("deadlock") as pid:
        done = subprocess.run([acu, "why", "stuck", "-q", "-p", str(pid), "-o", page], capture_output=True, text=True, timeout=100 * SLOWNESS)
    need(done.returncode == 0, done.stderr)
    text = open(page).read()
    for part in ("<!DOCTYPE html>", "confirmed", "transfer", "What was measured", f"acu why --measure snapshot -p {pid}"):
        need(part in text, f"{part} is not in the page")
    need("http" not in text.replace("http://www.w3.org", ""), "it asks another host")


if __name__ == "__main__":
    tests = [t for name, t in sorted(globals().items()) if name.startswith("test_")]
    status = run_suite(tests, TMP)
    subprocess.run(["rm", "-rf", ON_DISK], check=True)
    sys.exit(status)
