#!/usr/bin/env python3
"""What goroutines wait for: go.py ACU [--filter TEXT] [--go COMMAND]…

seeded.go waits in known ways and adds up itself how long, by function; `acu flame goroutines` must find the same times, with the reasons of Go's runtime. It is
built by the system's Go, and by each COMMAND: another `go`. Last line: `N passed, N failed, N skipped`.
"""
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
from common import LIMIT, take_values
from tally import Skipped, need, patient, run_tests, take_filter, untimed, wait_until_attached

FOLDER = tempfile.mkdtemp(prefix="acu-go-")
EXACT = 0.03
# A thread that comes back from a system call may have to wait for a CPU again before the program reads its clock: no part of the call.
LATE = {"main.readsPipe": 0.1}
# What a wait may be called: names differ between versions.
LOCK = ("[semacquire]", "[sync.Mutex.Lock]")
REASONS = {
    "main.waitsForChannel": ("[chan receive]",),
    "main.waitsToSend": ("[chan send]",),
    "main.waitsForMutex": LOCK,
    "main.sleeps": ("[sleep]",),
    "main.readsNetwork": ("[IO wait]",),
    "main.selects": ("[select]",),
    "main.waitsForGroup": ("[semacquire]", "[sync.WaitGroup.Wait]"),
    "main.waitsForCondition": ("[sync.Cond.Wait]",),
    "main.readsPipe": ("[system call]",),
    "main.waitsAllTheTime": ("[chan receive]",),
    "main.waitsAmongMany": ("[chan receive]",),
}
ALL_THE_TIME = ("main.waitsAllTheTime", "main.waitsAmongMany")
# By name: flags of `go build`, and whether C is linked in.
BUILDS = {
    "plain": ((), False),
    "stripped": (("-trimpath", "-ldflags=-s -w"), False),
    "cgo": ((), True),
    "movable and stripped": (("-buildmode=pie", "-ldflags=-s -w"), True),
}


# Nothing of it runs any more once it is ready.
IDLE = """package main
import ("fmt"; "time")
//go:noinline
func waitsAllTheTime(c chan int) { <-c }
func main() {
	go time.Sleep(time.Hour)
	go func() { time.Sleep(200 * time.Millisecond); fmt.Println("ready") }()
	waitsAllTheTime(make(chan int))
}
"""


@functools.cache
def built(go, build, source=os.path.join(HERE, "seeded.go")):
    """The path of the program."""
    if not shutil.which(go):
        raise Skipped(f"there is no {go} here")
    flags, has_c = BUILDS[build]
    if has_c and not shutil.which("gcc"):
        raise Skipped("there is no gcc here")
    out = os.path.join(FOLDER, re.sub(r"\W+", "-", f"{go} {build} {os.path.basename(source)}"))
    settings = dict(os.environ, GOCACHE=os.path.join(FOLDER, "cache"), GO111MODULE="off", GOTOOLCHAIN="local", CGO_ENABLED=str(int(has_c)))
    with untimed():
        done = subprocess.run([go, "build", *flags, "-o", out, source], env=settings, capture_output=True, text=True, timeout=900)
    need(done.returncode == 0, f"go build: {done.stderr[:600]}")
    return out


def measured(text):
    """What the program wrote: nanoseconds by function."""
    return {line.split()[0]: int(line.split()[1]) for line in text.splitlines() if len(line.split()) == 2}


def recorded(path):
    """What acu wrote: nanoseconds by function, and by function and note on top."""
    totals, reasons = {}, {}
    with open(path) as file:
        for line in file:
            stack, weight = line.rsplit(" ", 1)
            frames = stack.split(";")
            for function in set(frames) & set(REASONS):
                totals[function] = totals.get(function, 0) + int(weight)
                reasons[function, frames[-1]] = reasons.get((function, frames[-1]), 0) + int(weight)
    return totals, reasons


def begin_recording(command):
    """acu, once it is attached."""
    tracer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    first = tracer.stderr.readline()  # the cost was measured: it will be attached for good
    need("estimated overhead" in first, first)
    wait_until_attached(tracer.pid)
    return tracer


def record_all(acu, program, seconds, is_late=False):
    """The same as record() for a program that starts while all are recorded, from a file that acu has not seen. Late: acu looks at it when it waits already."""
    path, new = os.path.join(FOLDER, "all.folded"), program + "-new"
    shutil.copy(program, new)
    tracer = begin_recording([acu, "flame", "goroutines", "-o", path, "--duration", f"{LIMIT}s"])
    target = None
    try:
        if is_late:
            tracer.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        target = subprocess.Popen([new, str(seconds), "7", "0", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        need(target.stdout.readline() == "ready\n", "the program is not ready")
        tracer.send_signal(signal.SIGCONT)
        time.sleep(patient(1) if is_late else 0)
        own = measured(target.communicate("\n", timeout=LIMIT)[0])
        more = time.monotonic() - begun - own["measured"] / 1e9
        tracer.send_signal(signal.SIGINT)
        problems = tracer.communicate(timeout=LIMIT)[1]
        need(tracer.returncode == 0, f"status {tracer.returncode}: {problems[-600:]}")
    finally:
        for process in filter(None, (target, tracer)):
            process.kill()
            process.wait()
        os.remove(new)
    return own, *recorded(path), more, problems


def record(acu, program, how, many, seconds, *options):
    """Runs the program with acu: its own times, acu's, acu's by reason, the seconds that acu looked at it longer than it measured itself, and acu's messages."""
    path = os.path.join(FOLDER, "waits.folded")
    words = [program, str(seconds), "7", str(many)]
    flame = [acu, "flame", "goroutines", *options, "-o", path]
    if how == "before":
        done = subprocess.run([*flame, "--", *words], capture_output=True, text=True, timeout=LIMIT)
        need(done.returncode == 0, f"status {done.returncode}: {done.stderr[-600:]}")
        return measured(done.stdout), *recorded(path), 0, done.stderr
    target = subprocess.Popen([*words, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        need(target.stdout.readline() == "ready\n", "the program is not ready")
        tracer = begin_recording([*flame, "-p", str(target.pid)])
        out = target.communicate("\n", timeout=LIMIT)[0]
        problems = tracer.communicate(timeout=LIMIT)[1]
        need(tracer.returncode == 0, f"status {tracer.returncode}: {problems[-600:]}")
    finally:
        target.kill()
        target.wait()
    own = measured(out)
    looked = float(re.search(r", ([\d.]+) s, on ", problems).group(1))
    return own, *recorded(path), looked - own["measured"] / 1e9, problems


def waits(go, build, how, many=0, exact=()):
    def test(acu):
        own, found, reasons, more, problems = record(acu, built(go, build), how, many, patient(4), *exact)
        need("lost 0" in problems and "WARNING" not in problems, problems)
        need(float(re.search(r"stacks complete ([\d.]+)%", problems).group(1)) >= 99, problems)
        expected = [function for function in REASONS if many or function != "main.waitsAmongMany"]
        need(set(expected) <= set(own), f"the program measured {own}")
        off = {}
        for function in expected:
            # Until the program began to measure it waited, too, where acu was attached before; how long in each function is not known of all.
            beyond = more * 1e9 * (many if function == "main.waitsAmongMany" else 1)
            least = own[function] + (beyond if function in ALL_THE_TIME else 0)
            weight = found.get(function, 0)
            off[function] = max(weight / (own[function] + beyond) - 1, 1 - weight / least)
            need(off[function] <= EXACT or (weight < least and off[function] <= LATE.get(function, 0)), f"{function}: acu found {weight / 1e9:.3f} s, the program {own[function] / 1e9:.3f} s, attached {more:.2f} s longer\n{problems}")
            named = sum(reasons.get((function, reason), 0) for reason in REASONS[function])
            need(named >= 0.9 * weight, f"{function}: {[(r, w) for (f, r), w in reasons.items() if f == function]}")
        if how == "after":
            need(re.search(r"\d+ waits had begun before the recording", problems), problems)
        return f"largest difference {100 * max(off.values()):.2f}%"
    return test


def is_found(go):
    def test(acu):
        """Without a process, all Go programs that run."""
        path, program = os.path.join(FOLDER, "all.folded"), built(go, "stripped")
        target = subprocess.Popen([program, str(LIMIT), "7", "0", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            need(target.stdout.readline() == "ready\n", "the program is not ready")
            done = subprocess.run([acu, "flame", "goroutines", "--duration", "2s", "-o", path], capture_output=True, text=True, timeout=LIMIT)
            need(done.returncode == 0, done.stderr[-600:])
        finally:
            target.kill()
            target.wait()
        looked = float(re.search(r"Waiting goroutines of all processes, ([\d.]+) s, on ", done.stderr).group(1))
        with open(path) as file:
            lines = [line.rsplit(" ", 1) for line in file if line.startswith(os.path.basename(program)[:15] + ";") and "main.waitsAllTheTime" in line]
        need(len(lines) == 1 and abs(int(lines[0][1]) / 1e9 - looked) <= EXACT * looked, f"{lines} in {looked} s: {done.stderr}")
    return test


def starts_later(go, build, is_late):
    def test(acu):
        """A program that starts while all are recorded."""
        own, found, reasons, more, problems = record_all(acu, built(go, build), patient(3), is_late)
        need("lost 0" in problems and "WARNING" not in problems, problems)
        for function in set(REASONS) - {"main.waitsAmongMany"}:
            weight, least, most = found.get(function, 0), own[function], own[function] + more * 1e9
            need((1 - max(EXACT, LATE.get(function, 0))) * least <= weight <= (1 + EXACT) * most, f"{function}: acu found {weight / 1e9:.3f} s, the program {least / 1e9:.3f} s of {most / 1e9:.3f} s\n{problems}")
            named = sum(reasons.get((function, reason), 0) for reason in REASONS[function])
            need(named >= 0.9 * weight, f"{function}: {[(r, w) for (f, r), w in reasons.items() if f == function]}")
        if is_late:
            need(re.search(r"\d+ waits had begun before acu probed programs that started meanwhile, and count from then on", problems), problems)
    return test


def ends_with_the_program(go):
    def test(acu):
        """Waits of a program that is killed end there, also if none began during the recording."""
        path, source = os.path.join(FOLDER, "ended.folded"), os.path.join(FOLDER, "idle.go")
        with open(source, "w") as file:
            file.write(IDLE)
        program = built(go, "stripped", source)
        target = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
        try:
            need(target.stdout.readline() == "ready\n", "the program is not ready")
            tracer = begin_recording([acu, "flame", "goroutines", "--duration", f"{patient(8)}s", "-o", path])
        finally:
            target.kill()
            target.wait()
        problems = tracer.communicate(timeout=LIMIT)[1]
        need(tracer.returncode == 0, problems[-600:])
        looked = float(re.search(r", ([\d.]+) s, on ", problems).group(1))
        with open(path) as file:
            weights = [int(line.rsplit(" ", 1)[1]) / 1e9 for line in file if line.startswith(os.path.basename(program)[:15] + ";") and "main.waitsAllTheTime" in line]
        need(len(weights) == 1 and 0 < weights[0] < 0.7 * looked, f"{weights} in {looked} s: {problems}")
    return test


def is_charged(go):
    def test(acu):
        """`self` is that of the program's functions, not of the runtime's."""
        done = subprocess.run([acu, "flame", "goroutines", "-q", "--top", "40", "-o", os.path.join(FOLDER, "top.folded"), "--", built(go, "stripped"), "2", "7", "0"],
                              capture_output=True, text=True, timeout=LIMIT)
        need(done.returncode == 0, done.stderr[-600:])
        rows = {function: float(share) for share, function in re.findall(r"^ +([\d.]+)% +[\d.]+ \w+ +[\d.]+% +[\d.]+ \w+ +(\S+)", done.stdout, re.M)}
        for function in set(REASONS) - {"main.waitsAmongMany"}:
            need(rows.get(function, 0) > 2, f"{function} has no time of its own:\n{done.stdout}")
        need(rows.get("runtime.gopark", 0) < 8, done.stdout)  # the runtime has a goroutine of its own
    return test


def refused(acu, *words):
    done = subprocess.run([acu, "flame", *words, "-q", "-o", os.path.join(FOLDER, "none.folded")], capture_output=True, text=True, timeout=LIMIT)
    need(done.returncode, f"no failure: {done.stderr}")
    return done.stderr


def tells_what_is_no_go_program(acu):
    """One clear error."""
    sleeper = subprocess.Popen(["sleep", "1000"])
    try:
        text = refused(acu, "goroutines", "-p", str(sleeper.pid))
    finally:
        sleeper.kill()
        sleeper.wait()
    need(f"no Go program in process {sleeper.pid}: it has mapped /" in text and "acu flame offcpu" in text, text)
    done = subprocess.run([acu, "flame", "goroutines", "-q", "-o", os.path.join(FOLDER, "none.folded"), "--", "sh", "-c", "true"], capture_output=True, text=True, timeout=LIMIT)
    need(done.returncode and re.search(r"`/\S*sh` is no Go program\nhint: name the Go program itself", done.stderr), done.stderr)


def keeps_to_the_limit(go):
    def test(acu):
        """Where probes would take too much, nothing is recorded."""
        target = subprocess.Popen([built(go, "plain"), "60", "7", "0"], stdout=subprocess.DEVNULL)
        try:
            text = refused(acu, "goroutines", "--max-cost", "0", "-p", str(target.pid))
        finally:
            target.kill()
            target.wait()
        need("above the limit of `--max-cost`\nhint: every wait of a goroutine is seen" in text, text)
    return test


def is_named_by_threads(go):
    def test(acu):
        """Kinds that show threads only say what shows goroutines."""
        done = subprocess.run([acu, "flame", "offcpu", "-o", os.path.join(FOLDER, "threads.folded"), "--", built(go, "plain"), "1", "7", "0"],
                              capture_output=True, text=True, timeout=LIMIT)
        need(done.returncode == 0 and "this is a Go program, whose threads wait for its goroutines: `acu flame goroutines` shows" in done.stderr, done.stderr)
    return test


def tests(commands):
    yield "no Go program", tells_what_is_no_go_program
    for go in commands:
        yield f"{go}: attached before it starts", waits(go, "plain", "before")
        yield f"{go}: attached after it starts", waits(go, "plain", "after")
        yield f"{go}: stripped, attached before it starts", waits(go, "stripped", "before")
        yield f"{go}: stripped, attached after it starts", waits(go, "stripped", "after")
        yield f"{go}: with C", waits(go, "cgo", "before")
        yield f"{go}: movable and stripped, with C", waits(go, "movable and stripped", "after")
        yield f"{go}: 10,000 goroutines, attached before they start", waits(go, "plain", "before", 10000, ["--exact"])
        yield f"{go}: 10,000 goroutines, attached after they start", waits(go, "plain", "after", 10000)
        yield f"{go}: all programs", is_found(go)
        yield f"{go}: starts while all are recorded", starts_later(go, "plain", False)
        yield f"{go}: stripped, starts while all are recorded", starts_later(go, "movable and stripped", False)
        yield f"{go}: waits before acu has seen that it starts", starts_later(go, "stripped", True)
        yield f"{go}: killed", ends_with_the_program(go)
        yield f"{go}: self", is_charged(go)
        yield f"{go}: limit of overhead", keeps_to_the_limit(go)
        yield f"{go}: offcpu", is_named_by_threads(go)


if __name__ == "__main__":
    only, commands = take_filter(sys.argv), ["go", *take_values(sys.argv, "--go")]
    try:
        status = run_tests([(name, test) for name, test in tests(commands) if only in name], os.path.abspath(sys.argv[1]), tells_reason=False)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
    sys.exit(status)
