#!/usr/bin/env python3
"""The flight recorder: run.py ACU [--all] [--filter TEXT]

`acu record --flight` over a server with spikes, a flood of triggers, a memory that is too small, a disk that is full, and its own end by kill -9.
Last line: `N passed, N failed, N skipped`.
"""
import functools
import glob
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
from tally import SLOWNESS, Skipped, need, run_suite, untimed

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

    def __init__(self, acu, output, *words):
        self.err = ""
        self.process = subprocess.Popen([acu, "record", "--flight", "-o", output, *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.wait_for("in memory; SIGUSR2 writes it")

    def wait_for(self, text):
        while text not in self.err:
            line = self.process.stderr.readline()
            need(line, f"it ended before {text!r}:\n{self.err}")
            self.err += line

    def end(self, status=0):
        self.process.send_signal(signal.SIGINT)
        self.err += self.process.communicate(timeout=60 * SLOWNESS)[1]
        need(self.process.returncode == status, f"status {self.process.returncode}\n{self.err}")
        return self.err


def flight(acu, *words, status=0):
    """One with a command, from begin to end; what it said."""
    done = subprocess.run([acu, "record", "--flight", *words], capture_output=True, text=True, timeout=120 * SLOWNESS)
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


def test_spike(acu):
    """The file has the lock's holder before the trigger, with its stack, and the wait for the lock with its owner."""
    output = os.path.join(folder(), "spike.acu")
    err = flight(acu, "-o", output, "--streams", "sched,syscalls,cpu,locks", "--when", f"uprobe:{built()}:slow_request /arg0 > 20000/",
                 "--after", "200ms", "--cool-down", "1h", "--", built(), "spikes", "3")
    need(err.count("wrote ") == 1, err)
    found = json.loads(report(acu, output, "--json", "--top", "1000"))
    need([t["text"] for t in found["triggers"]] == [f"uprobe:{built()}:slow_request /arg0 > 20000/"], found["triggers"])
    trigger = (found["triggers"][0]["ns"] - found["begin_ns"]) / 1e9
    need(0.05 < trigger < 3 * SLOWNESS, f"the trigger is {trigger} s after the begin")
    names = {t["name"] for t in found["threads"]}
    need({"holder", "server"} <= names, names)
    counts = kinds(acu, output)
    for name in ("sched_switch", "sched_wakeup", "syscall", "lock", "mark"):
        need(counts[name]["kept"] > 0 and counts[name]["lost"] == 0, f"{name}: {counts[name]}")
    folded = os.path.join(TMP, "before.folded")
    report(acu, output, "-o", folded, "--until", str(trigger))
    need("hold_lock_long" in open(folded).read(), "the holder's stack is not among the samples before the trigger")


def test_all_are_kept(acu):
    """Of a memory that is large enough, each call is in the file."""
    output = os.path.join(folder(), "calls.acu")
    flight(acu, "-o", output, "--streams", "syscalls", "--", built(), "calls", "50000", "crash", status=134)
    count = kinds(acu, output)["syscall"]
    need(50000 <= count["kept"] == count["sent"] <= 50200, count)
    need("ended by signal 6" in report(acu, output), report(acu, output))


def test_a_small_memory_keeps_the_newest(acu):
    output = os.path.join(folder(), "calls.acu")
    flight(acu, "-o", output, "--streams", "syscalls", "--memory", "1M", "--", built(), "calls", "200000", "crash", status=134)
    count = kinds(acu, output)["syscall"]
    need(200000 <= count["sent"] <= 200200 and count["lost"] == 0, count)
    # 48 bytes each; what a migration left on the other CPU is there, too.
    need(2 ** 19 / 48 * 0.9 < count["kept"] <= 2 ** 20 / 48, count)


def test_a_flood_of_triggers(acu):
    """1,000 a second: files are seconds apart, and not more than are wanted."""
    output = os.path.join(folder(), "flood.acu")
    err = flight(acu, "-o", output, "--when", f"uprobe:{built()}:slow_request", "--after", "100ms", "--cool-down", "500ms", "--files", "2",
                 "--", built(), "often", "3")
    written = err.count("wrote ")
    need(3 <= written <= 8 * SLOWNESS, err)
    need(len(glob.glob(os.path.join(os.path.dirname(output), "*"))) == 2, os.listdir(os.path.dirname(output)))
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
                        (["--when", "uprobe:/bin/true:nothing_of_that_name"], "nothing_of_that_name"),
                        (["--when", "interval:s:1 /1 +/"], "ERROR"),
                        (["-o", "/nowhere/r.acu"], "cannot write `/nowhere/r.acu`")):
        done = subprocess.run([acu, "record", "--flight", *words], capture_output=True, text=True, timeout=60 * SLOWNESS)
        need(done.returncode in (1, 2, 3) and text in done.stderr, f"{words}: status {done.returncode}\n{done.stderr}")
    done = subprocess.run([acu, "record", "--when", "interval:s:1"], capture_output=True, text=True, timeout=60 * SLOWNESS)
    need(done.returncode == 2 and "--when" in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(run_suite([t for name, t in sorted(globals().items()) if name.startswith("test_")], TMP))
