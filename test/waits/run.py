#!/usr/bin/env python3
"""Who waits for whom: run.py ACU [--all] [--filter TEXT]

`acu waits` over programs whose longest wait is not what limits them. Each can run without what limits it: then it is as much faster as acu said.
With --all, on a host that does nothing else, within 25%; else a busy host has its share. Last line: `N passed, N failed, N skipped`.
"""
import functools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, patient, require_real_time, run_suite, untimed

TMP = tempfile.mkdtemp(prefix="acu-waits-")
PROGRAMS = os.path.join(TMP, "programs")
MOST_OFF = 0.25 if "--all" in sys.argv else 0.5


@functools.cache
def loops():
    """Of work in a microsecond, the same for all runs."""
    with untimed():
        subprocess.run(["g++", "-O2", "-g", "-std=c++20", "-o", PROGRAMS, os.path.join(HERE, "programs.cc"), "-pthread"], check=True, timeout=100 * SLOWNESS)
        return str(statistics.median(int(subprocess.run([PROGRAMS], capture_output=True, text=True, check=True).stdout) for _ in range(9)))


def speed(mode, seconds, *words):
    return float(subprocess.run([PROGRAMS, mode, str(seconds), loops(), *words], capture_output=True, text=True, check=True, timeout=60 * SLOWNESS).stdout)


def waits(acu, *words, status=0):
    done = subprocess.run([acu, "waits", *words], capture_output=True, text=True, timeout=60 * SLOWNESS)
    need(done.returncode == status, f"{words}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout, done.stderr


def measured(acu, mode, seconds):
    """What acu says, of a run of the program."""
    with subprocess.Popen([PROGRAMS, mode, str(seconds + 3), loops()], stdout=subprocess.PIPE, text=True) as program:
        out = waits(acu, "--json", "-p", str(program.pid), "--duration", f"{seconds}s")[0]
        program.kill()
    found = json.loads(out)
    need(found["lost"] == 0, f"{found['lost']} records lost")
    return found



def first_limit(found, function):
    need(found["bottlenecks"], json.dumps(found, indent=1))
    first = found["bottlenecks"][0]
    stack = " ".join(first["activities"][0]["activity"].get("stack", []))
    need(function in stack, f"the first bottleneck is in {stack or first['activities'][0]}, not in {function}")
    return first


def is_limited_by(acu, mode, function, group):
    """acu names what limits the program, and says how much faster it would be without that. Speeds are measured in turns, as other programs may run."""
    require_real_time("speeds are compared")
    loops()
    found = measured(acu, mode, patient(2))
    first = first_limit(found, function)
    longest = found["waits"][0]["wait"]
    need(function not in " ".join(longest.get("stack", [])), f"the longest wait is what limits it: {longest}")
    predicted = {g["threads"]: g["factor"] for g in first["speedups"]}
    need(group in predicted, f"{group} would gain nothing: {predicted}")
    with_it, without = [], []
    for _ in range(3):
        with_it.append(speed(mode, 1))
        without.append(speed(mode, 1, "without"))
    if max(max(with_it) / min(with_it), max(without) / min(without)) > 1.25:
        raise Skipped("other programs use the CPUs: the same program is more than 25% slower at times")
    gained = statistics.median(without) / statistics.median(with_it)
    need(abs(predicted[group] / gained - 1) <= MOST_OFF, f"{group} would be {predicted[group]} times as fast; it is {gained:.2f} times: {with_it} {without}")


def test_a_sleep_under_a_lock(acu):
    is_limited_by(acu, "log", "flush_log", "worker")


def test_the_slowest_stage_of_a_pipeline(acu):
    is_limited_by(acu, "pipeline", "pack", "sender")


def test_a_pool_that_is_too_small(acu):
    is_limited_by(acu, "pool", "query", "client")


def test_the_last_of_a_chain_of_threads(acu):
    is_limited_by(acu, "chain", "look_up", "caller")


def test_one_of_several_has_more_to_do(acu):
    is_limited_by(acu, "rounds", "merge", "merger")


def test_a_page_with_pictures(acu):
    loops()
    page = os.path.join(TMP, "waits.html")
    with subprocess.Popen([PROGRAMS, "log", "6", loops()], stdout=subprocess.DEVNULL) as program:
        waits(acu, "-p", str(program.pid), "--duration", "1s", "-o", page)
        program.kill()
    text = open(page).read()
    pictures = [xml.etree.ElementTree.fromstring(p) for p in re.findall(r"<svg.*?</svg>", text, re.S)]
    need(len(pictures) == 2, f"{len(pictures)} pictures")
    titles = [t.text for t in pictures[0].iter("title")]
    need(any("worker" in t for t in titles) and any("flush_log" in t for t in titles), f"who waits for what is not there: {titles}")
    need(any(t.startswith("thread ") for t in (t.text for t in pictures[1].iter("title"))), "no threads")


if __name__ == "__main__":
    sys.exit(run_suite([t for name, t in sorted(globals().items()) if name.startswith("test_")], TMP))
