#!/usr/bin/env python3
"""The flight recorder: run.py ACU [--all] [--filter TEXT]

`acu record --flight` over a server with spikes, a flood of triggers, a memory that is too small, a disk that is full, and its own end by kill -9; with a user's
script, with streams of disks and networks, with triggers that no probe sees, and with `acu dump`. What a busy host does late or otherwise is not what is tested.
Last line: `N passed, N failed, N skipped`.
"""
import contextlib
import fcntl
import functools
import glob
import json
import mmap
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
from tally import SLOWNESS, Skipped, need, patient, run_suite, untimed

TMP = tempfile.mkdtemp(prefix="acu-recorder-")
SERVER = os.path.join(TMP, "server")


@functools.cache
def built():
    with untimed():
        subprocess.run(["gcc", "-O2", "-g", "-o", SERVER, os.path.join(HERE, "server.c"), "-pthread"], check=True, timeout=100 * SLOWNESS)
    return SERVER


def folder():
    return tempfile.mkdtemp(dir=TMP)


class Flight:
    """A recorder that runs; `err` is what it has said so far."""

    def __init__(self, acu, output, *words, **how):
        self.err = ""
        self.process = subprocess.Popen([acu, "record", "--flight", "-o", output, *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, **how)
        self.wait_for("in memory; to write it: acu dump ")

    def wait_for(self, text):
        while text not in self.err:
            line = self.process.stderr.readline()
            need(line, f"it ended before {text!r}:\n{self.err}")
            self.err += line

    def dump(self, acu):
        """The path of the file that `acu dump` has got."""
        done = subprocess.run([acu, "dump", str(self.process.pid)], capture_output=True, text=True, timeout=60 * SLOWNESS)
        need(done.returncode == 0, done.stderr)
        return done.stdout.strip()

    def end(self, status=0):
        self.process.send_signal(signal.SIGINT)
        self.err += self.process.communicate(timeout=60 * SLOWNESS)[1]
        need(self.process.returncode == status, f"status {self.process.returncode}\n{self.err}")
        return self.err


def flight(acu, *words, status=0):
    """One with a command, from begin to end; what it said. Nothing is too old for the file, however long it takes."""
    done = subprocess.run([acu, "record", "--flight", "--before", "1h", *words], capture_output=True, text=True, timeout=140 * SLOWNESS)
    need(done.returncode == status, f"{words}: status {done.returncode}\n{done.stderr}")
    return done.stderr


def report(acu, file, *words):
    done = subprocess.run([acu, "report", file, *words], capture_output=True, text=True, timeout=60 * SLOWNESS)
    need(done.returncode == 0, f"report {file} {words}: {done.stderr}")
    return done.stdout


def kinds(acu, file):
    """By name; that nothing is missing in the counts holds in every file."""
    found = json.loads(report(acu, file, "--json"))
    need(found["complete"], found)
    for kind in found["kinds"]:
        need(kind["sent"] == kind["kept"] + kind["overwritten"] + kind["lost"], f"{kind} does not add up")
    return {kind["name"]: kind for kind in found["kinds"]}


def events(acu, file, category):
    """Of one kind, as the export for Chrome has them."""
    output = os.path.join(folder(), "events.json")
    report(acu, file, "-o", output)
    return [e for e in json.load(open(output))["traceEvents"] if e.get("cat") == category and e["ph"] in "iXb"]


def scheduled(acu, file):
    """(thread, the thread that gets its CPU or is woken by it) of all switches and wake-ups."""
    if not shutil.which("babeltrace2"):
        raise Skipped("babeltrace2 is not installed (babeltrace2)")
    output = os.path.join(folder(), "events.ctf")
    report(acu, file, "-o", output)
    text = subprocess.run(["babeltrace2", output], capture_output=True, text=True, check=True, timeout=60 * SLOWNESS).stdout
    return [(int(one), int(other)) for one, other in re.findall(r" sched_(?:switch|wakeup): .*?\btid = (\d+), .*?\b(?:next|woken)_tid = (\d+)", text)]


@contextlib.contextmanager
def running(*command, **how):
    """A program that runs meanwhile."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def some_seconds(acu, *words):
    """A recording of what runs, with --after that is long enough for a few events of each program."""
    output = os.path.join(folder(), "r.acu")
    run = Flight(acu, output, *words)
    time.sleep(patient(1))
    run.dump(acu)
    run.end()
    return output


def memory_of_a_cpu(memory):
    """Bytes of --memory for each CPU up to the last one that is online, a power of two and not less than two segments; and how many CPUs these are."""
    cpus = int(re.split("[-,]", open("/sys/devices/system/cpu/online").read().strip())[-1]) + 1
    share = memory // cpus
    return max(1 << (share.bit_length() - 1) if share else 0, 128 << 10), cpus


def read_by_others(acu, file):
    """Commands that read recordings of samples read this one as well."""
    told = report(acu, file, "--until", "0.05", "--sort", "self")
    need("CPU of command, 50.0 ms" in told, f"the length of a part: {told}")
    for words, text in ((("sql", "-i", file, "select min(count(*), 1) || ' is there' from samples where stack like '%hold_lock_long%'"), "1 is there"),
                        (("store", os.path.join(folder(), "imported.db"), "import", file), "")):
        done = subprocess.run([acu, *words], capture_output=True, text=True, timeout=60 * SLOWNESS)
        need(done.returncode == 0 and text in done.stdout, f"{words}: {done.stdout} {done.stderr}")


def test_spike(acu):
    """The file has the lock's holder before the trigger, with its stack, and the wait for the lock with its owner."""
    output = os.path.join(folder(), "spike.acu")
    err = flight(acu, "-o", output, "--streams", "sched,syscalls,cpu,locks", "--when", f"uprobe:{built()}:slow_request /arg0 > 20000/",
                 "--after", "200ms", "--cool-down", "1h", "--", built(), "spikes", "3")
    need(err.count("wrote ") == 1, err)
    found = json.loads(report(acu, output, "--json", "--top", "1000"))
    need([t["text"] for t in found["triggers"]] == [f"uprobe:{built()}:slow_request /arg0 > 20000/"], found["triggers"])
    trigger = (found["triggers"][0]["ns"] - found["begin_ns"]) / 1e9
    need(trigger > 0.05, f"the trigger is {trigger} s after the begin")
    names = {t["name"] for t in found["threads"]}
    need({"holder", "server"} <= names, names)
    counts = kinds(acu, output)
    for name in ("sched_switch", "sched_wakeup", "syscall", "lock", "mark"):
        # What a CPU was just writing is lost.
        need(counts[name]["kept"] > 0 and counts[name]["lost"] <= os.cpu_count(), f"{name}: {counts[name]}")
    folded = os.path.join(TMP, "before.folded")
    report(acu, output, "-o", folded, "--until", str(trigger))
    need("hold_lock_long" in open(folded).read(), "the holder's stack is not among the samples before the trigger")
    read_by_others(acu, output)


def check_scheduled(acu, file, ours):
    """Each switch and each wake-up is one of our threads, on one side at least."""
    found = scheduled(acu, file)
    others = [pair for pair in found if not ours & set(pair)]
    need(found and not others, f"{len(others)} of {len(found)} are of other threads: {others[:5]}; ours are {sorted(ours)[:10]}")


def test_a_filter(acu):
    """--filter holds for each stream."""
    streams = ["--streams", "sched,syscalls,cpu,locks,faults"]
    with running(built(), "often", "1000") as one, running(built(), "often", "1000") as other:
        counts = kinds(acu, some_seconds(acu, *streams, "--filter", 'comm == "nosuchprogram" // none'))
        need(not any(kind["sent"] for name, kind in counts.items() if name != "mark"), counts)
        file = some_seconds(acu, *streams, "--filter", f"tid == {one.pid}")
        need(all(kinds(acu, file)[name]["kept"] for name in ("sched_switch", "sched_wakeup", "syscall")), kinds(acu, file))
        need({e["tid"] for e in events(acu, file, "syscall")} == {one.pid}, "system calls of others")
        check_scheduled(acu, file, {one.pid})
        file = some_seconds(acu, *streams, "-p", f"{one.pid},{other.pid}", "--filter", f"pid != {one.pid}")
        need({e["tid"] for e in events(acu, file, "syscall")} == {other.pid}, "system calls of others")
        check_scheduled(acu, file, {other.pid})
    done = subprocess.run([acu, "record", "--flight", "--filter", "com == 1"], capture_output=True, text=True, timeout=60 * SLOWNESS)
    need(done.returncode == 2 and "--filter:1:1" in done.stderr, done.stderr)


def test_threads_and_users(acu):
    """Also the scheduler's events are of those that were asked for alone."""
    program = "import time\nwhile True: time.sleep(0.001)"
    uid = 61234  # nobody's
    with running(built(), "often", "1000"), running(built(), "spikes", "1000") as server, running("/usr/bin/python3", "-c", program, user=uid) as users:
        end = time.monotonic() + 20 * SLOWNESS
        threads = []
        while len(threads) < 2 and time.monotonic() < end:
            time.sleep(0.05)
            threads = [int(tid) for tid in os.listdir(f"/proc/{server.pid}/task") if open(f"/proc/{server.pid}/task/{tid}/comm").read() == "server\n" and int(tid) != server.pid]
        check_scheduled(acu, some_seconds(acu, "-t", str(threads[0])), {threads[0]})
        check_scheduled(acu, some_seconds(acu, "-p", str(server.pid)), {int(tid) for tid in os.listdir(f"/proc/{server.pid}/task")})
        check_scheduled(acu, some_seconds(acu, "-u", str(uid)), {users.pid})


def test_a_control_group(acu):
    mounts = [line.split()[1] for line in open("/proc/mounts") if line.split()[2] == "cgroup2"]
    group = os.path.join(mounts[0] if mounts else "/nowhere", f"acu-recorder-{os.getpid()}")
    try:
        os.mkdir(group)
    except OSError as error:
        raise Skipped(f"no control group can be made: {error.strerror}") from error
    try:
        with running(built(), "often", "1000"), running(built(), "often", "1000") as ours:
            open(os.path.join(group, "cgroup.procs"), "w").write(str(ours.pid))
            check_scheduled(acu, some_seconds(acu, "--cgroup", group), {ours.pid})
    finally:
        os.rmdir(group)


def test_a_command(acu):
    """Its processes from their start to their end, and no others."""
    where = folder()
    output, pids = os.path.join(where, "r.acu"), os.path.join(where, "pids")
    command = f"echo $$ >> {pids}; for i in 1 2 3; do sleep 0.05 & echo $! >> {pids}; wait; done; kill -ABRT $$"
    with running(built(), "often", "1000"):
        flight(acu, "-o", output, "--streams", "sched,syscalls", "--", "sh", "-c", command, status=134)
    ours = [int(line) for line in open(pids)]
    check_scheduled(acu, output, set(ours))
    started = [(e["tid"], int(re.search(r"\((\d+)\)$", e["args"]["started"]).group(1))) for e in events(acu, output, "process_start")]
    need(started == [(ours[0], pid) for pid in ours[1:]], f"{started}; the command's processes are {ours}")
    need([e["tid"] for e in events(acu, output, "process_exit")] == ours[1:] + ours[:1], events(acu, output, "process_exit"))
    last = {one: (one, other) for one, other in scheduled(acu, output)}
    need(set(ours) <= set(last), f"not all leave their CPUs: {last}")


def test_an_exit_status_is_no_signal(acu):
    """A shell makes 128 and a signal's number of it, and so may any program."""
    where = folder()
    err = flight(acu, "-o", os.path.join(where, "r.acu"), "--streams", "sched", "--", "sh", "-c", "exit 255", status=255)
    need("0 files" in err and os.listdir(where) == [], err)
    err = flight(acu, "-o", os.path.join(where, "r.acu"), "--streams", "sched", "--", "sh", "-c", "kill -KILL $$", status=137)
    need("ended by signal 9" in err and "1 file" in err, err)


def check_owners(acu, *before):
    output = os.path.join(folder(), "owners.acu")
    run = Flight(acu, output, "--streams", "locks", "--when", f"uprobe:{built()}:slow_request", "--after", "10ms", "--cool-down", "1h", "--", *before, built(), "owners")
    run.wait_for("wrote ")
    found = [e for e in events(acu, output, "lock") if e["pid"] == e["tid"]]
    owned = {e["args"]["lock"]: e["args"]["owner"] for e in found if e["args"]["owner"] != "idle"}
    need(found, f"no locks\n{run.err}")
    tasks = f"/proc/{found[0]['pid']}/task"
    owners = [tid for tid in os.listdir(tasks) if open(f"{tasks}/{tid}/comm").read() == "owner\n"]
    os.kill(found[0]["pid"], signal.SIGKILL)  # unshare(1) ignores the signal by which acu ends a command
    run.process.communicate(timeout=60 * SLOWNESS)
    need(len(owners) == 1 and list(owned.values()) == [f"owner ({owners[0]})"] * 3, f"{[e['args'] for e in found]}; the owner is {owners}")
    need(len({e["args"]["lock"] for e in found}) == 4, f"{[e['args'] for e in found]}: a wait for each mutex and for the condition variable, none for the end of a thread")


def test_owners_of_locks(acu):
    """Mutexes of three kinds have them, a condition variable has none, and the end of a thread is no lock."""
    check_owners(acu)


def test_owners_in_a_pid_namespace(acu):
    """The program's memory has numbers of its namespace."""
    if subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True).returncode:
        raise Skipped("unshare is refused")
    check_owners(acu, "unshare", "--pid", "--fork", "--kill-child")


def test_memory_is_for_cpus_that_are_online(acu):
    """A virtual machine may be able to get many more."""
    output, possible = os.path.join(folder(), "r.acu"), os.path.join(folder(), "possible")
    open(possible, "w").write("0-239\n")
    step = f"mount --bind {possible} /sys/devices/system/cpu/possible || exit 99; exec \"$@\""
    done = subprocess.run(["unshare", "-m", "sh", "-c", step, "sh", acu, "record", "--flight", "--before", "1h", "--memory", f"{2 * os.cpu_count()}M", "--streams", "syscalls",
                           "-o", output, "--", built(), "calls", "15000", "crash"], capture_output=True, text=True, timeout=100 * SLOWNESS)
    if done.returncode in (1, 99) and "denied" in done.stderr + done.stdout:
        raise Skipped("no file can be mounted over another one")
    need(done.returncode == 134, f"{done.returncode}: {done.stderr}")
    count = kinds(acu, output)["syscall"]
    need(15000 <= count["sent"] == count["kept"], count)


def test_all_are_kept(acu):
    """Of a memory that is large enough, each call is in the file."""
    output = os.path.join(folder(), "calls.acu")
    flight(acu, "-o", output, "--streams", "syscalls", "--", built(), "calls", "50000", "crash", status=134)
    count = kinds(acu, output)["syscall"]
    need(50000 <= count["kept"] == count["sent"] <= 51000, count)
    need("ended by signal 6" in report(acu, output), report(acu, output))


def test_a_small_memory_keeps_the_newest(acu):
    output = os.path.join(folder(), "calls.acu")
    flight(acu, "-o", output, "--streams", "syscalls", "--memory", "1M", "--", built(), "calls", "200000", "crash", status=134)
    count = kinds(acu, output)["syscall"]
    need(200000 <= count["sent"] <= 201000 and count["lost"] == 0, count)
    # 48 bytes each, 72 with a stack, if the call took long; what it left on other CPUs is there, too.
    each, cpus = memory_of_a_cpu(2 ** 20)
    need(each / 72 * 0.9 < count["kept"] <= each * cpus / 48, count)


def test_a_flood_of_triggers(acu):
    """1,000 a second: files are seconds apart, and not more than are wanted."""
    output = os.path.join(folder(), "flood.acu")
    begin = time.monotonic()
    err = flight(acu, "-o", output, "--when", f"uprobe:{built()}:slow_request", "--after", "100ms", "--cool-down", "500ms", "--files", "2",
                 "--", built(), "often", "3")
    took = time.monotonic() - begin
    written = err.count("wrote ")
    need(1 <= written <= took / 0.6 + 2, f"{written} files in {took:.1f} s\n{err}")
    need(len(glob.glob(os.path.join(os.path.dirname(output), "*"))) == min(written, 2), os.listdir(os.path.dirname(output)))
    triggers = int(re.search(r"(\d+) triggers, ", err).group(1))
    need(triggers > 1000, err)


def test_a_full_disk(acu):
    """The recording goes elsewhere, and the flight goes on."""
    disk = folder()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], capture_output=True).returncode:
        raise Skipped("a tmpfs cannot be mounted")
    kept = None
    try:
        run = Flight(acu, os.path.join(disk, "r.acu"), "--after", "10ms", "--cool-down", "10ms")
        subprocess.run([built(), "calls", "50000"], check=True)
        run.process.send_signal(signal.SIGUSR2)
        run.wait_for("hint: the recording is in ")
        need("No space left" in run.err, run.err)
        kept = run.err.rsplit("the recording is in ", 1)[1].strip()
        need(kinds(acu, kept)["syscall"]["kept"] >= 50000, "not all is in the other file")
        need(os.listdir(disk) == [], os.listdir(disk))
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        time.sleep(0.1)
        run.process.send_signal(signal.SIGUSR2)
        run.wait_for("wrote " + os.path.join(disk, "r.acu"))
        need("2 triggers, 2 files" in run.end(status=1), run.err)
        need(kinds(acu, os.path.join(disk, "r.acu"))["syscall"]["kept"] >= 50000, "the second file lacks events")
    finally:
        subprocess.run(["umount", disk], check=True)
        if kept:
            os.unlink(kept)


def test_files_of_a_full_disk_count(acu):
    """What is written elsewhere does not fill that place."""
    disk, elsewhere = folder(), folder()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], capture_output=True).returncode:
        raise Skipped("a tmpfs cannot be mounted")
    try:
        run = Flight(acu, os.path.join(disk, "r.acu"), "--files", "2", "--streams", "sched,syscalls", env=dict(os.environ, TMPDIR=elsewhere))
        subprocess.run([built(), "calls", "50000"], check=True)
        paths = [run.dump(acu) for _ in range(4)]
        need(sorted(os.path.join(elsewhere, name) for name in os.listdir(elsewhere)) == sorted(paths[2:]), f"{os.listdir(elsewhere)} of {paths}\n{run.err}")
        run.end(status=1)
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_file_that_another_recorder_writes(acu):
    """It is left alone, and so is what has the name of a file that was one's own."""
    where = folder()
    output = os.path.join(where, "r.acu")
    part, second, third = output + ".part", os.path.join(where, "r.2.acu"), os.path.join(where, "r.3.acu")
    run = Flight(acu, output, "--streams", "sched", "--files", "2")
    with open(part, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("of another one")
        file.flush()
        need(run.dump(acu) == second, os.listdir(where))
        need(open(part).read() == "of another one", "what another one writes was taken")
    need(run.dump(acu) == output and not os.path.exists(part), f"{os.listdir(where)}: what a killed one left is nobody's")
    shutil.copy(output, second + ".new")
    os.rename(second + ".new", second)
    need(run.dump(acu) == third, os.listdir(where))
    need(sorted(os.listdir(where)) == ["r.2.acu", "r.3.acu", "r.acu"], f"{os.listdir(where)}: r.2.acu is another one's")
    run.end()


def test_two_recorders(acu):
    """Both write files of one name, at the same time: each of them stays as it was written."""
    output = os.path.join(folder(), "r.acu")
    runs = {name: Flight(acu, output, "--streams", name, "--files", "100") for name in ("syscalls", "faults")}
    subprocess.run([built(), "calls", "100000"], check=True)
    paths = {name: [] for name in runs}
    for _ in range(5):
        asked = {name: subprocess.Popen([acu, "dump", str(run.process.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for name, run in runs.items()}
        for name, process in asked.items():
            out, err = process.communicate(timeout=60 * SLOWNESS)
            need(process.returncode == 0, err)
            paths[name].append(out.strip())
    for run in runs.values():
        run.end()
    need(len(set(sum(paths.values(), []))) == 10, paths)
    for name, kind in (("syscalls", "syscall"), ("faults", "page_fault")):
        need(all(kind in kinds(acu, path) for path in paths[name]), f"not all of {paths[name]} are of {name}")


def test_files_of_earlier_runs_stay(acu):
    """Other files are not overwritten; recordings of an earlier run count."""
    where = folder()
    output = os.path.join(where, "r.acu")
    open(output, "w").write("mine")
    for _ in range(3):
        run = Flight(acu, output, "--after", "10ms", "--files", "2", "--streams", "sched")
        run.process.send_signal(signal.SIGUSR2)
        run.wait_for("wrote ")
        run.end()
    need(open(output).read() == "mine", "a file that is no recording was overwritten")
    need(len(os.listdir(where)) == 3, os.listdir(where))


def test_kill_9_leaves_files(acu):
    """What was written is complete, and a file that was being written is read up to where it got."""
    output = os.path.join(folder(), "r.acu")
    run = Flight(acu, output, "--after", "10ms")
    subprocess.run([built(), "calls", "200000"], check=True)  # names are before the events, and shall be few
    run.process.send_signal(signal.SIGUSR2)
    run.wait_for("wrote ")
    run.process.kill()
    run.process.wait()
    need(kinds(acu, output)["sched_switch"]["kept"] > 0, "no events")
    whole = open(output, "rb").read()
    part = output + ".part"
    open(part, "wb").write(whole[:len(whole) * 2 // 3])
    found = json.loads(report(acu, part, "--json"))
    need(not found["complete"] and "cut" in found["notes"][-1], found["notes"])
    need(sum(kind["kept"] for kind in found["kinds"]) > 0, found["kinds"])


def test_mistakes(acu):
    """Each is refused before anything is attached."""
    for words, text in ((["--streams", "sched,foo"], "no such stream: `foo`"),
                        (["--memory", "12"], "takes a size from 1M to 64G"),
                        (["--split", "1s"], "--split"),
                        (["cpu"], "`--streams` selects what is recorded"),
                        (["-e", "BEGIN {"], "stdin:1:"),
                        (["-e", "config = { max_strlen = 10 } interval:s:1 { }"], "no config block"),
                        (["-e", "interval:s:1 { system(\"ls\") }"], "system"),
                        (["-e", "interval:s:1 { @a = 1 }", "--when", "p99(@b) > 1"], "--when:1:"),
                        (["-e", "interval:s:1 { @a = 1 }", "--when", "@triggers > 1"], "--when:1:"),
                        (["-e", "interval:s:1 { @a = 1 }", "/bin/true"], "there is a script already"),
                        (["--when", " "], "not an empty text"),
                        (["--when-pressure", "disk:1"], "takes cpu, memory or io"),
                        (["--when-pressure", "cpu:200%"], "takes cpu, memory or io"),
                        (["--when-memory", "100M"], "name them with -p"),
                        (["--when", "uprobe:/bin/true:nothing_of_that_name"], "nothing_of_that_name"),
                        (["--when", "interval:s:1 /1 +/"], "--when:1:"),
                        (["-o", "/nowhere/r.acu"], "cannot write `/nowhere/r.acu`")):
        done = subprocess.run([acu, "record", "--flight", *words], capture_output=True, text=True, timeout=60 * SLOWNESS)
        need(done.returncode in (1, 2, 3) and text in done.stderr, f"{words}: status {done.returncode}\n{done.stderr}")
    done = subprocess.run([acu, "record", "--when", "interval:s:1"], capture_output=True, text=True, timeout=60 * SLOWNESS)
    need(done.returncode == 2 and "--when" in done.stderr, done.stderr)


SCRIPT = """
#define AT 30
#define IDS(x) 77
macro slow(us) { us > AT * 1000 }
uprobe:SERVER:slow_request /slow(arg0)/ {
  @us = hist(arg0); @triggers = count(); @left[tid] = nsecs; @last_trigger = IDS(1);
  printf("slow request: %d us, %d\\n", arg0, @last_trigger);
  print((trigger = nsecs, thread = (uint64)1, number = (uint32)1));
}
"""


def test_users_script(acu):
    """Its maps trigger, what it prints is recorded, and none of its names is one of the recorder's."""
    where = folder()
    output, script = os.path.join(where, "script.acu"), os.path.join(where, "flight.bt")
    open(script, "w").write(SCRIPT.replace("SERVER", built()))
    err = flight(acu, script, "-o", output, "--when", "p99(@us) > 20000", "--cool-down", "1h", "--after", "10ms", "--", built(), "spikes", "4")
    need(err.count("wrote ") == 1 and "1 file" in err, err)
    found = json.loads(report(acu, output, "--json", "--top", "1000"))
    need([t["text"] for t in found["triggers"]] == ["p99(@us) > 20000"], found["triggers"])
    lines = [line for line in found["log"] if line["text"].startswith("slow request: ")]
    need(lines and len(lines) * 2 == len(found["log"]), found["log"])
    need(all(re.fullmatch(r"slow request: \d{5,} us, 77", line["text"]) and line["thread"] == "server" for line in lines), lines)
    need(all("trigger = " in line["text"] for line in found["log"] if line not in lines), found["log"])
    need(lines[0]["ns"] <= found["triggers"][0]["ns"], "the line is not before what it triggered")
    text = report(acu, output)
    need("\nlog\n" in text and lines[0]["text"] in text, text)
    need(lines[0]["text"] in [e["name"] for e in events(acu, output, "log")], "not in the export")
    page = os.path.join(where, "page.html")
    subprocess.run([acu, "timeline", "-q", output, "-o", page], check=True, timeout=60 * SLOWNESS)
    need(lines[0]["text"] in open(page).read(), "not on the timeline")
    kinds(acu, output)


def test_lines_that_were_held_back(acu):
    """`speculate` in the user's script: what is committed is in the file, with its own times."""
    output = os.path.join(folder(), "held.acu")
    script = f'uprobe:{built()}:slow_request {{ speculate {{ printf("request %d\\n", arg0) }} if (arg0 % 100 == 7) {{ commit() }} else {{ discard() }} }}'
    flight(acu, "-e", script, "-o", output, "--streams", "sched", "--when", "1 == 0", "--", "sh", "-c", f"{built()} often 1; kill -ABRT $$", status=134)
    found = json.loads(report(acu, output, "--json"))
    need([line["text"] for line in found["log"]] == [f"request {n}" for n in range(7, 1000, 100)], found["log"])
    times = [line["ns"] for line in found["log"]]
    need(times == sorted(times) and times[-1] - times[0] >= 0.8e9, times)
    kinds(acu, output)


def test_network(acu):
    """Bytes to and from sockets, with peers."""
    if not os.path.exists("/sys/kernel/tracing/events/sock/sock_recv_length") and not os.path.exists("/sys/kernel/debug/tracing/events/sock/sock_recv_length"):
        raise Skipped("this kernel has no tracepoint sock:sock_recv_length")
    output = os.path.join(folder(), "network.acu")
    program = """
import os, socket
listener = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(listener.getsockname())
b = listener.accept()[0]
for n in range(5):
    a.sendall(b"x" * (1000 + n))
    got = 0
    while got < 1000 + n: got += len(b.recv(4096))
c, d = socket.socketpair()
c.send(b"y" * 77); d.recv(100, socket.MSG_PEEK); d.recv(100)
u = socket.socket(FAMILY, socket.SOCK_DGRAM)
u.bind((LOCAL, 0)); u.connect(u.getsockname()); u.send(b"z" * 55); u.recv(100)
open(PORTS, "w").write(f"{listener.getsockname()[1]} {a.getsockname()[1]}")
os.abort()
"""
    ports = os.path.join(folder(), "ports")
    has_ipv6 = os.path.exists("/proc/net/if_inet6") and " lo\n" in open("/proc/net/if_inet6").read()
    family, local = ("socket.AF_INET6", "::1") if has_ipv6 else ("socket.AF_INET", "127.0.0.1")
    program = program.replace("PORTS", repr(ports)).replace("FAMILY", family).replace("LOCAL", repr(local))
    flight(acu, "-o", output, "--streams", "network", "--", "/usr/bin/python3", "-c", program, status=134)
    server, client = open(ports).read().split()
    found = [{"way": e["args"]["operation"], **e["args"]} for e in events(acu, output, "network")]
    tcp = [(e["way"], e["port"], e["bytes"]) for e in found if e["protocol"] == "tcp" and e["peer"] == "127.0.0.1"]
    need([e for e in tcp if e[0] == "send"] == [("send", int(server), 1000 + n) for n in range(5)], tcp)
    need(sum(e[2] for e in tcp if e[0] == "receive" and e[1] == int(client)) == 5010, tcp)
    need([(e["way"], e["bytes"]) for e in found if e["protocol"] == "unix" and e["bytes"] == 77] == [("send", 77), ("receive", 77)], found)
    need([(e["way"], e["peer"], e["bytes"]) for e in found if e["protocol"] == "udp"] == [("send", local, 55), ("receive", local, 55)], found)
    page = os.path.join(folder(), "page.html")
    subprocess.run([acu, "timeline", "-q", output, "-o", page], check=True, timeout=60 * SLOWNESS)
    need("network, send: bytes/s" in open(page).read(), "not on the timeline")


def require_disk(path):
    """Skips a test where a file is on no disk, or cannot be read past the page cache."""
    with contextlib.ExitStack() as stack:
        try:
            file = os.open(path, os.O_RDONLY | os.O_DIRECT)
        except OSError:
            raise Skipped("files of " + TMP + " cannot be read past the page cache")
        stack.callback(os.close, file)
        reads = lambda: sum(int(line.split()[3]) for line in open("/proc/diskstats"))
        before, page = reads(), mmap.mmap(-1, 65536)
        os.preadv(file, [page], 0)
        if reads() == before:
            raise Skipped("files of " + TMP + " are not on a disk")


def test_block(acu):
    """Reads past the page cache: device, sector, bytes, who and why."""
    path, output = os.path.join(folder(), "data"), os.path.join(folder(), "block.acu")
    open(path, "wb").write(os.urandom(1 << 20))
    subprocess.run(["sync", path], check=True)
    program = """
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
page = mmap.mmap(-1, 65536)
for n in range(16): os.preadv(file, [page], n * 65536)
os.abort()
"""
    require_disk(path)
    flight(acu, "-o", output, "--streams", "block", "--", "/usr/bin/python3", "-c", program, path, status=134)
    found = [e["args"] for e in events(acu, output, "block_io") if e["args"]["operation"] == "read"]
    need(sum(e["bytes"] for e in found) >= 1 << 20, f"{sum(e['bytes'] for e in found)} bytes in {len(found)} requests")
    disks = {line.split()[2] for line in open("/proc/diskstats")}
    need(all(e["device"] in disks and e["sector"] > 0 for e in found), found)
    whole = events(acu, output, "block_io")
    need(all(e["tid"] for e in whole) and any("sf" in e for e in whole), whole[:3])
    page = os.path.join(folder(), "page.html")
    subprocess.run([acu, "timeline", "-q", output, "-o", page], check=True, timeout=60 * SLOWNESS)
    need("requests of " + found[0]["device"] in open(page).read(), "not on the timeline")
    kinds(acu, output)


def test_large_reads(acu):
    """The kernel splits them, and each part is a request."""
    path, output = os.path.join(folder(), "large"), os.path.join(folder(), "large.acu")
    size = 8 << 20
    open(path, "wb").write(os.urandom(size))
    subprocess.run(["sync", path], check=True)
    program = "import mmap, os, sys\nfile = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)\nos.preadv(file, [mmap.mmap(-1, int(sys.argv[2]))], 0)\nos.abort()"
    require_disk(path)
    flight(acu, "-o", output, "--streams", "block", "--", "/usr/bin/python3", "-c", program, path, str(size), status=134)
    found = [e for e in events(acu, output, "block_io") if e["args"]["operation"] == "read"]
    need(sum(e["args"]["bytes"] for e in found) >= size, f"{sum(e['args']['bytes'] for e in found)} bytes in {len(found)} requests")
    need(len({e["tid"] for e in found}) == 1 and all("sf" in e for e in found), found[:3])
    kinds(acu, output)


def test_old_files_go(acu):
    """By number and by size; the newest stays, however large it is."""
    where = folder()
    run = Flight(acu, os.path.join(where, "r.acu"), "--streams", "syscalls", "--files", "99", "--files-size", "1M")
    paths, sizes = [], []
    while sum(sizes) < 3 << 20 and len(sizes) < 30:
        subprocess.run([built(), "calls", "150000"], check=True)
        paths.append(run.dump(acu))
        sizes.append(os.path.getsize(paths[-1]))
        there = [os.path.join(where, name) for name in os.listdir(where)]
        need(paths[-1] in there and (len(there) == 1 or sum(map(os.path.getsize, there)) <= 1 << 20), f"{there}: {sizes}")
    run.end()
    need(len(os.listdir(where)) < len(sizes), f"{sizes}: {os.listdir(where)}")


def test_dump(acu):
    """It waits for the file and prints its path, soon after another one, too."""
    output = os.path.join(folder(), "r.acu")
    run = Flight(acu, output, "--streams", "sched", "--cool-down", "1h")
    paths = []
    for _ in range(2):
        paths.append(run.dump(acu))
        found = json.loads(report(acu, paths[-1], "--json"))
        need(found["complete"] and found["triggers"][0]["text"] == "acu dump", found)
    need(paths == [output, output.replace("r.acu", "r.2.acu")], paths)
    alone = subprocess.run([acu, "dump"], capture_output=True, text=True, timeout=60 * SLOWNESS)
    need(alone.returncode == 0 or "several flight recorders run: " in alone.stderr, alone.stderr)  # there may be others
    err = run.end()
    need(re.search(r"[23] triggers, [23] files", err), err)
    done = subprocess.run([acu, "dump", str(run.process.pid)], capture_output=True, text=True, timeout=60 * SLOWNESS)
    need(done.returncode == 1 and "no flight recorder runs as process" in done.stderr, done.stderr)


def test_dump_does_not_wait(acu):
    """A file that waits for --after is written as well."""
    run = Flight(acu, os.path.join(folder(), "r.acu"), "--streams", "sched", "--after", "1h", "--cool-down", "1ms")
    end = time.monotonic() + patient(20)
    found = {}
    while not found or found["triggers"][0]["text"] != "signal SIGUSR2":  # `acu dump` may be faster than the signal
        need(time.monotonic() < end, f"no file of the signal: {found}")
        run.process.send_signal(signal.SIGUSR2)
        time.sleep(0.3)
        found = json.loads(report(acu, run.dump(acu), "--json"))
    run.end()


def test_memory_of_a_process(acu):
    output = os.path.join(folder(), "memory.acu")
    program = "import sys, time\nx = bytearray(b'x' * (200 << 20))\ntime.sleep(float(sys.argv[1]))"
    err = flight(acu, "-o", output, "--streams", "sched", "--when-memory", "150M", "--after", "10ms", "--cool-down", "1h", "--", "/usr/bin/python3", "-c", program, str(3 * SLOWNESS))
    need(re.search(r"wrote .*: memory \d+ MiB above 150 MiB", err), err)


def test_pressure(acu):
    if not os.path.exists("/proc/pressure/cpu"):
        raise Skipped("this kernel does not measure pressure")
    run = Flight(acu, os.path.join(folder(), "pressure.acu"), "--streams", "sched", "--when-pressure", "cpu:2%", "--after", "10ms", "--cool-down", "1h")
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * os.cpu_count())]
    try:
        run.wait_for("wrote ")
    finally:
        for process in busy:
            process.kill()
            process.wait()
    need(re.search(r"wrote .*: cpu pressure \d+% above 2%", run.err), run.err)
    run.end()


def test_names_of_threads_that_ended(acu):
    """Of a thread that is not recorded itself, and ended before the file was written: it woke one that is."""
    where = folder()
    output, program = os.path.join(where, "r.acu"), os.path.join(where, "shortlived")
    subprocess.run(["cp", "/bin/true", program], check=True)
    helper = subprocess.Popen(["/usr/bin/python3", "-c", f"import subprocess, sys\nfor line in sys.stdin:\n  subprocess.run([{program!r}])\n  print(flush=True)"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    run = Flight(acu, output, "-p", str(helper.pid), "--streams", "sched", "--after", "10ms")
    for _ in range(3):
        print(file=helper.stdin, flush=True)
        helper.stdout.readline()
    run.process.send_signal(signal.SIGUSR2)
    run.wait_for("wrote ")
    run.end()
    helper.kill()
    helper.wait()
    threads = json.loads(report(acu, output, "--json", "--top", "1000"))["threads"]
    need("shortlived" in {t["name"] for t in threads}, threads)
    need("[exited]" not in {t["name"] for t in threads}, threads)


if __name__ == "__main__":
    sys.exit(run_suite([t for name, t in sorted(globals().items()) if name.startswith("test_")], TMP))
