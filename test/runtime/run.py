#!/usr/bin/env python3
"""Runs test/runtime/*.bt: run.py ACU [--filter TEXT] [--engine kernel|eval] [--every N] [--without ABILITIES] [--only NAMES]

With --every, of the cases whose names begin with the same word each N-th is run, and the first in any case.
--only runs just these cases (whole names, with commas between).
--without pretends that the kernel lacks these abilities (as `acu info` names them, with commas between).

A case is a script whose leading comment lines say how to run it and what it must print:

  // ENGINE: both            kernel, eval or both (default): with both, both must print this
  // OPTIONS: -f json        before the file          // ARGS: 1 -- --a=2   after the file
                             ($HERE is this folder, $TMP an empty one)
  // ENV: ACU_MAX_STRLEN=8
  // EXPECT: line            standard output, these lines in this order; trailing blanks do not count
  // EXPECT_REGEX: pattern   the same, the whole line matches
  // EXPECT_JSON: {...}      the same, as JSON values
  // EXPECT_SOME: pattern    some line matches; with only these, other lines are free
  // EXPECT_SUM: pattern = 5 the numbers that (…) of the pattern takes from the lines are this in all; other lines are free
  // EXPECT_NOT: pattern     no line contains it
  // EXPECT_STDERR: pattern  found in standard error        // EXPECT_NO_STDERR: pattern
  // BLANKS: exact           blank lines count (by default they are ignored)
  // STATUS: 0
  // RUN: command            started (by sh) once all probes are attached; $TMP is an empty folder, $LOAD is load.py;
                             $TMP/told has what acu has written to standard error so far.
                             When it has ended, acu gets SIGINT (or what SIGNAL: names; `none`: nothing)
  // BUILD: command          by sh before acu starts, such as a compiler's that makes the program to be probed
  // TIMEOUT: 10
  // NEEDS: path             skipped where this file is not there
  // FEATURE: name           skipped where the kernel lacks this ability (`acu info` lists them)
  // SKIP_IF: command        skipped where this ends well, for the reason behind its #
  // REAL_TIME: why          skipped where the processor is emulated ($ACU_TEST_SLOWNESS is more than 1)

A case of the kernel engine that acu refuses because the kernel lacks an ability, which it names, is skipped too.

Last line: `N passed, N failed, N skipped`.
"""
import concurrent.futures
import difflib
import fcntl
import functools
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from hosts import one_word
from tally import SLOWNESS, Skipped, Tally, lacking, why_refused

WITHOUT = []  # abilities that are not used
HEADER = re.compile(r"^// ?([A-Z_]+):(?: (.*))?$")
LINE_KINDS = ("EXPECT", "EXPECT_REGEX", "EXPECT_JSON")
ATTACHED = "#attached#"
# Loads bear the same name in all cases, and probes see the whole machine: one load at a time, also of other runs.
ONE_LOAD = os.path.join(tempfile.gettempdir(), "acu-test-load.lock")


class Case:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)[:-3]
        self.one = {}    # key -> last value
        self.lines = []  # (kind, text) in order
        self.many = {}   # key -> values
        for line in open(path):
            found = HEADER.match(line.rstrip("\n"))
            if not line.startswith("//"):
                break
            if not found:
                continue
            key, value = found.group(1), found.group(2) or ""
            if key in LINE_KINDS:
                self.lines.append((key, value))
            else:
                self.one[key] = value
                self.many.setdefault(key, []).append(value)

    def engines(self):
        engine = self.one.get("ENGINE", "both")
        return ["kernel", "eval"] if engine == "both" else [engine]


def normal(text, exact):
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines if exact else [line for line in lines if line]


def same(kind, wanted, got):
    if kind == "EXPECT":
        return wanted.rstrip() == got
    if kind == "EXPECT_REGEX":
        return re.fullmatch(wanted, got) is not None
    try:
        return json.loads(wanted) == json.loads(got)
    except ValueError:
        return False


def judge(case, out, err, status):
    """What is wrong with a run: a list of lines, empty when it is right."""
    wrong = []
    exact = case.one.get("BLANKS") == "exact"
    got = normal(out, exact)
    if case.lines or not {"EXPECT_SOME", "EXPECT_SUM"} & set(case.many):
        wanted = case.lines if exact else [(k, t) for k, t in case.lines if t]
        if len(got) != len(wanted) or not all(same(k, t, g) for (k, t), g in zip(wanted, got)):
            # Lines that match by pattern are shown as they came, so that the diff has only the differences.
            shown = [g if i < len(got) and same(k, t, g) else t
                     for i, ((k, t), g) in enumerate(zip(wanted, got + [""] * len(wanted)))]
            wrong += list(difflib.unified_diff(shown, got, "expected", "printed", lineterm="", n=2))
            wrong = wrong or ["output differs"]
    for pattern in case.many.get("EXPECT_SOME", []):
        if not any(re.search(pattern, line) for line in got):
            wrong.append(f"no line matches {pattern!r}; printed:")
            wrong += ["  " + line for line in got[:20]]
    for wanted in case.many.get("EXPECT_SUM", []):
        pattern, total = wanted.rsplit(" = ", 1)
        found = [int(m[1]) for m in (re.search(pattern, line) for line in got) if m]
        if sum(found) != int(total):
            wrong.append(f"{pattern!r} is {sum(found)} in all of {len(found)} lines, not {total}")
    for pattern in case.many.get("EXPECT_NOT", []):
        wrong += [f"line must not be there: {line}" for line in got if re.search(pattern, line)]
    for pattern in case.many.get("EXPECT_STDERR", []):
        if not re.search(pattern, err, re.M):
            wrong.append(f"stderr does not match {pattern!r}")
    for pattern in case.many.get("EXPECT_NO_STDERR", []):
        if re.search(pattern, err, re.M):
            wrong.append(f"stderr must not match {pattern!r}")
    wanted_status = int(case.one.get("STATUS", "0"))
    if status != wanted_status:
        wrong.append(f"status {status}, expected {wanted_status}")
    if "Sanitizer" in err or "runtime error:" in err:
        wrong.append("sanitizer report")
    if wrong and err.strip():
        wrong += ["stderr:"] + ["  " + line for line in err.strip().split("\n")[:30]]
    return wrong


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_case(acu, case, engine):
    """What is wrong with a run. Raises Skipped."""
    tmp = tempfile.mkdtemp(prefix="acu-test-")
    environment = dict(os.environ, TMP=tmp, LOAD=os.path.join(one_word(HERE), "load.py"), ACU=one_word(acu), TZ="UTC", LC_ALL="C.UTF-8")
    for setting in case.many.get("ENV", []):
        key, _, value = setting.partition("=")
        environment[key] = value
    expand = lambda text: text.replace("$TMP", tmp).replace("$LOAD", environment["LOAD"]).replace("$HERE", one_word(HERE))
    if "BUILD" in case.one:
        try:
            built = subprocess.run(["/bin/sh", "-c", expand(case.one["BUILD"])], env=environment, capture_output=True, text=True,
                                   timeout=60 * SLOWNESS)
            problem = built.stderr.strip().split("\n")[:20] if built.returncode else []
        except subprocess.TimeoutExpired as late:
            problem = [str(late)]
        if problem:
            shutil.rmtree(tmp, ignore_errors=True)
            return ["BUILD failed:"] + ["  " + line for line in problem]
    command = [acu, "run", "--engine", engine]
    if engine == "kernel":
        command += [word for name in WITHOUT for word in ("--no-feature", name)]
    load = case.one.get("RUN")
    if load is not None:
        command += ["--notify-attached", ATTACHED]
    command += shlex.split(expand(case.one.get("OPTIONS", ""))) + [case.path]
    command += shlex.split(expand(case.one.get("ARGS", "")))
    try:
        if load is None and "$LOAD" not in case.one.get("OPTIONS", ""):
            return supervise(case, command, environment, load)
        with open(ONE_LOAD, "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return supervise(case, command, environment, load)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


def supervise(case, command, environment, load):
    acu = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, errors="replace", start_new_session=True, env=environment)
    timed_out = []

    def give_up():
        timed_out.append(True)
        kill_group(acu)

    timer = threading.Timer(float(case.one.get("TIMEOUT", "10")) * SLOWNESS, give_up)
    timer.start()
    err = []

    def read_errors():
        with open(os.path.join(environment["TMP"], "told"), "w") as told:
            for line in acu.stderr:
                err.append(line)
                told.write(line)
                told.flush()

    reader = threading.Thread(target=read_errors)
    reader.start()
    out = []
    worker = None
    for line in acu.stdout:
        if load is not None and worker is None and line.rstrip("\n") == ATTACHED:
            worker = threading.Thread(target=drive, args=(case, load, environment, acu))
            worker.start()
            continue
        out.append(line)
    status = acu.wait()
    reader.join()
    timer.cancel()
    if worker:
        worker.join()
    refused = status == 5 and case.one.get("STATUS", "0") != "5"
    told = "".join(err)
    reason = why_refused(command[0], told, WITHOUT) if refused else ""
    if reason:
        raise Skipped(reason)
    wrong = judge(case, "".join(out), told, status)
    if timed_out:
        wrong = ["timed out"] + wrong
    return wrong


def drive(case, load, environment, acu):
    """The load, then the signal that ends acu."""
    limit = float(case.one.get("TIMEOUT", "10")) * SLOWNESS
    environment = dict(environment, ACU_PID=str(acu.pid))
    process = subprocess.Popen(["/bin/sh", "-c", load], env=environment, start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(timeout=limit)
    except subprocess.TimeoutExpired:
        kill_group(process)
    name = case.one.get("SIGNAL", "INT")
    if name != "none" and acu.poll() is None:
        acu.send_signal(getattr(signal, "SIG" + name))


def why_not(acu, case, engine, kernel):
    """Why a case cannot run here; empty when it can. `kernel`: why no kernel case can."""
    if engine == "kernel":
        lacks = [f for f in case.many.get("FEATURE", []) if f in lacking(acu) | set(WITHOUT)] if "FEATURE" in case.many else []
        if kernel or lacks:
            return kernel or "the kernel lacks " + lacks[0]
        if "REAL_TIME" in case.one and SLOWNESS > 1:
            return "the CPU is emulated: " + case.one["REAL_TIME"]
    for command in case.many.get("SKIP_IF", []):
        if subprocess.run(["/bin/sh", "-c", command], capture_output=True, timeout=60 * SLOWNESS).returncode == 0:
            return command.rpartition("# ")[2]
    missing = [p for p in case.many.get("NEEDS", []) if not os.path.exists(p)]
    return "missing: " + missing[0] if missing else ""


def kernel_refuses(acu):
    """Why kernel cases are skipped here; empty when they can run."""
    if os.geteuid() != 0:
        return "kernel engine: not root"
    try:
        done = subprocess.run([acu, "run", "--engine", "kernel", "-e", "begin { }"], capture_output=True, text=True,
                              timeout=20)
    except subprocess.TimeoutExpired:
        return ""  # a failure of acu, to be seen as such
    return "kernel engine: " + done.stderr.strip().split("\n")[0] if done.returncode in (4, 5) else ""


def attempt(acu, case, engine):
    """One case: its result, why, and how many seconds it took."""
    begin = time.monotonic()
    try:
        wrong = run_case(acu, case, engine)
        return "failed" if wrong else "passed", "\n".join(wrong), time.monotonic() - begin
    except Skipped as problem:
        return "skipped", str(problem), time.monotonic() - begin


def again(acu, case, engine):
    result, text, _ = attempt(acu, case, engine)
    return text if result == "failed" else ""


def main():
    arguments = sys.argv[1:]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup acu would be told to stay when a terminal goes

    def option(name):
        if name not in arguments:
            return None
        at = arguments.index(name)
        value = arguments[at + 1]
        del arguments[at:at + 2]
        return value

    only, only_engine, every = option("--filter"), option("--engine"), int(option("--every") or 1)
    names = set(filter(None, (option("--only") or "").split(",")))
    WITHOUT.extend(filter(None, (option("--without") or "").split(",")))
    acu = os.path.abspath(arguments[0])
    if not os.access(acu, os.X_OK):
        print(f"runtime: no program {acu}")
        print("0 passed, 1 failed, 0 skipped")
        return 1
    reason = kernel_refuses(acu)
    jobs, tally, seen = [], Tally(), {}
    for path in sorted(glob.glob(os.path.join(HERE, "*.bt"))):
        case = Case(path)
        if only and only not in case.name or names and case.name not in names:
            continue
        word = case.name.partition("_")[0]
        seen[word] = seen.get(word, -1) + 1
        if seen[word] % every:
            continue
        for engine in case.engines():
            if only_engine and engine != only_engine:
                continue
            why = why_not(acu, case, engine, reason)
            if why:
                tally.skipped(case.name, why)
            else:
                jobs.append((case, engine))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [(case, engine, pool.submit(attempt, acu, case, engine)) for case, engine in jobs]
        for case, engine, future in runs:
            result, text, seconds = future.result()
            name = f"{case.name} ({engine})"
            if result == "skipped":
                tally.skipped(case.name, text, seconds)
            elif result == "failed":
                tally.failed(name, text, functools.partial(again, acu, case, engine), seconds)
            else:
                tally.passed(name, seconds)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
