#!/usr/bin/env python3
"""Runs each tool of tools/ on a load made here and checks that the answer makes sense: run.py ACU [--filter TEXT]

Last line: `N passed, N failed, N skipped`.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import behaviour
import caches
import calls
import connections
import disks
import go
import java
import languages
import mistakes
import mysql
import network
import nginx
import postgres
import processes
import programs
import resources
import routes
import scheduling
import schemas
import security
import storage
import web
from common import DISK, LOAD, ROOT, TMP, histogram_total, load, need, trace, value
from tally import patient, require_real_time, run_suite


# ------------------------------------------------------------------------------------------ one for each tool


def syscount(acu):
    def both():
        load("getpid", "acu_load", 20000)()
        load("openat", "acu_load", 5)()

    text = trace(acu, "syscount.bt", both)
    need(20000 <= value(text, "@calls[acu_load]") <= 21000, text[-1500:])
    need(value(text, "@errors[acu_load, 2]") >= 1, text)
    need(value(text, "@total") >= value(text, "@calls[acu_load]"), "the total is less than a part")
    text = trace(acu, "syscount.bt", both, ["--", "--name=acu_load"])
    need(value(text, "@total") == value(text, "@calls[acu_load]"), text)


def execsnoop(acu):
    text = trace(acu, "execsnoop.bt", load("fork_exec", "acu_load", 3))
    lines = [l for l in text.split("\n") if re.match(r"\d+ +\d+ +\d+ +acu_load +true needle thread$", l)]
    need(text.startswith("TIME(ms)"), text)
    need(len(lines) == 3, text)


def opensnoop(acu):
    text = trace(acu, "opensnoop.bt", load("openat", "acu_load", 3), ["--", "--name=acu_load"])
    lines = [l.split() for l in text.strip().split("\n")[1:]]
    need(len(lines) == 5 and all(l[1] == "acu_load" and l[4].startswith(TMP) for l in lines), text)
    need(all(int(l[2]) >= 3 and l[3] == "0" for l in lines[:4]), text)
    need(lines[4][2:4] == ["-1", "2"] and lines[4][4].endswith("needle-missing"), text)
    text = trace(acu, "opensnoop.bt", load("openat", "acu_load", 3), ["--", "--name=acu_load", "--failed"])
    need(len(text.strip().split("\n")) == 2, text)


def runqlat(acu):
    def crowd():  # more threads than CPUs
        spinners = [subprocess.Popen([sys.executable, LOAD, "spin", "acu_spin", "700"])
                    for _ in range(2 * (os.cpu_count() or 1))]
        load("sleep", "acu_load", 100)()
        for s in spinners:
            s.wait()

    text = trace(acu, "runqlat.bt", crowd)
    need(histogram_total(text, "@usecs") >= 100, text)
    slow = re.search(r"^\[(1K|2K|4K|8K), ", text, re.M)
    need(slow, "nobody waited a millisecond although there were more threads than CPUs:\n" + text)


def biolatency(acu):
    path = os.path.join(DISK, "biolatency.tmp")
    before = sum(int(l.split()[7]) for l in open("/proc/diskstats"))

    def write():
        subprocess.run(["dd", "if=/dev/zero", f"of={path}", "bs=64k", "count=64", "oflag=direct,dsync"],
                       stderr=subprocess.DEVNULL)
        os.unlink(path)

    text = trace(acu, "biolatency.bt", write)
    if sum(int(l.split()[7]) for l in open("/proc/diskstats")) == before:
        return "no disk here that counts its requests"
    written = sum(int(n) for n in re.findall(r"^@bytes\[[^\]]*W[^\]]*\]: (\d+)$", text, re.M))
    need(written >= 64 * 65536, text)
    kinds = re.findall(r"^(@usecs\[[^\]]*W[^\]]*\]):", text, re.M)
    need(sum(histogram_total(text, kind) for kind in kinds) >= 64, text)


def killsnoop(acu):
    text = trace(acu, "killsnoop.bt", load("signals", "acu_load", 2))
    lines = [l.split() for l in text.split("\n") if "acu_load" in l]
    need([l[3] for l in lines] == ["10", "10", "0"], text)
    need(all(l[1] == l[4] and l[5] == "0" and re.match(r"\d\d:\d\d:\d\d$", l[0]) for l in lines), text)


def cpuprofile(acu):
    require_real_time("samples are lost")
    text = trace(acu, "cpuprofile.bt", load("syscalls_spin", "acu_load", 1500))
    samples = value(text, "@samples[acu_load]")
    need(100 <= samples <= 220, f"{samples} samples of a program that used the CPU for 1.5 s:\n" + text[-800:])
    stacks = re.findall(r"^@\[\n((?:\s+\S+\n)+)\]: (\d+)$", text, re.M)
    inside = sum(int(n) for frames, n in stacks if "read" in frames)
    need(inside >= samples // 3, f"{inside} of {samples} samples were in read:\n" + text[-1500:])


def pagefaults(acu):
    text = trace(acu, "pagefaults.bt", load("faults", "acu_load", 3000))
    need(3000 <= value(text, "@faults[acu_load]") <= 4500, text)


def survey(acu):
    require_real_time("samples are lost")
    def busy():
        load("sleep", "acu_load", 30)()
        load("syscalls_spin", "acu_load", 1000)()

    text = trace(acu, "survey.bt", busy, ["--", f"--seconds={patient(4):.0f}"], ["-f", "json"])
    maps = {}
    for line in text.split("\n"):
        if line.startswith("{"):
            record = json.loads(line)
            if isinstance(record["data"], dict):
                maps.update(record["data"])
    calls = maps["@calls"]
    need(calls.get("acu_load,tracepoint:syscalls:sys_enter_clock_nanosleep") == 30, str(calls)[:800])
    slept = maps["@took_us"]["tracepoint:syscalls:sys_exit_clock_nanosleep"]
    need(slept["count"] >= 30 and slept["total"] >= 30 * 4900, str(slept))  # others sleep, too, and less long
    need(100 <= maps["@cpu"]["acu_load"] <= 260, str(maps["@cpu"]))
    need(any("read" in stack for stack in maps["@stacks"]), str(maps["@stacks"])[:800])
    need("@all_us" in maps and "@since" not in maps, str(list(maps)))


def perf_agreement(acu):
    """The one-line count of system calls against perf stat, on the same steady load, within 1%."""
    if not shutil.which("perf"):
        return "no perf here"
    command = ["perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "dd", "if=/dev/zero", "of=/dev/null",
               "bs=1", "count=300000"]
    said = []
    script = "tracepoint:raw_syscalls:sys_enter { @[comm] = count(); } interval:s:60 { exit(); }"
    process = subprocess.Popen([acu, "run", "--notify-attached", "#attached#", "-e", script], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    for line in process.stdout:
        if line == "#attached#\n":
            break
    said.append(subprocess.run(command, capture_output=True, text=True, timeout=60).stderr)
    process.send_signal(signal.SIGINT)
    text = process.communicate(timeout=20)[0]
    found = re.search(r"^(\d+),,raw_syscalls:sys_enter", said[0], re.M)
    if not found:
        return "perf stat does not count here: " + said[0].strip()[:100]
    theirs, ours = int(found.group(1)), value(text, "@[dd]")
    need(abs(ours - theirs) <= theirs * 0.01, f"acu counted {ours}, perf stat {theirs}")


def headers(_):
    """Each tool says what it is for, how it is called, and what it prints; and has a test here."""
    for name in sorted(os.listdir(os.path.join(ROOT, "tools"))):
        if not name.endswith(".bt"):
            continue
        lines = open(os.path.join(ROOT, "tools", name)).read().split("\n")
        head = [l for l in lines[:30] if l.startswith("//")]
        need(lines[0].startswith("#!"), f"{name}: no #! line")
        need(head and head[0].startswith(f"// {name[:-3]}: "), f"{name}: the header does not say what it is for")
        need(any("acu run tools/" + name in l for l in head), f"{name}: the header does not show how to call it")
        need(name[:-3] in [test.__name__ for test in TESTS], f"{name} has no test")


TESTS = [headers, perf_agreement, syscount, execsnoop, opensnoop, runqlat, biolatency, killsnoop, cpuprofile, pagefaults, survey,
         *disks.TESTS, *scheduling.TESTS, *calls.TESTS, *network.TESTS, *programs.TESTS, *languages.TESTS, *storage.TESTS, *connections.TESTS, *processes.TESTS,
         *resources.TESTS, *postgres.TESTS, *mysql.TESTS, *caches.TESTS, *web.TESTS, *nginx.TESTS, *routes.TESTS, *schemas.TESTS, *java.TESTS, *go.TESTS, *security.TESTS, *behaviour.TESTS, *mistakes.TESTS]


sys.exit(run_suite(TESTS, TMP))
