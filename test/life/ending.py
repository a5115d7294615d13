#!/usr/bin/env python3
"""How runs end that have much left to do: ending.py ACU [--filter TEXT]

Each test interrupts a run whose queue is full, whose command goes on, or whose reader does not read. Last line: `N passed, N failed,
N skipped`.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, patient, run_suite

TMP = tempfile.mkdtemp(prefix="acu-ending-")
END = 1.0  # seconds until a run has ended, half of which it takes what is queued


def start(acu, script, *options, stdout=None):
    """Runs a script until its probes are attached."""
    out = stdout or open(os.path.join(TMP, "out"), "w+")
    err = open(os.path.join(TMP, "err"), "w+")
    process = subprocess.Popen([acu, "run", "--unsafe", *options, "-e", script], stdout=out, stderr=err)
    wait_for(lambda: "Attached" in said("err") or process.poll() is not None)
    return process


def said(name):
    with open(os.path.join(TMP, name), errors="replace") as file:
        return file.read()


def wait_for(condition, limit=30):
    end = time.monotonic() + patient(limit)
    while not condition():
        need(time.monotonic() < end, "it did not come so far: " + said("err")[-300:])
        time.sleep(0.02)


def end_by(process, number):
    """Sends the signal, and gives the seconds until the end."""
    begin = time.monotonic()
    process.send_signal(number)
    try:
        process.wait(patient(30))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
    return time.monotonic() - begin


def storm(acu, number, seconds):
    """Every switch of the scheduler asks for a command, which causes more of them."""
    loads = [subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"]) for _ in range(2)]
    try:
        process = start(acu, 'tracepoint:sched:sched_switch { system("true"); }')
        need(process.poll() is None, said("err"))
        time.sleep(patient(seconds))
        took = end_by(process, number)
    finally:
        for load in loads:
            load.kill()
            load.wait()
    need(process.returncode == 0, f"status {process.returncode}: {said('err')[-300:]}")
    need(took <= patient(END) + 0.5, f"it ended after {took:.2f} s")
    need(re.search(r"WARNING: dropped \d+ queued events?: ", said("err")), "it does not report what was dropped: " + said("err")[-300:])


def storm_of_commands_ends_at_sigint(acu):
    storm(acu, signal.SIGINT, 3)


def storm_of_commands_ends_at_sigterm(acu):
    storm(acu, signal.SIGTERM, 1)


def long_command_is_ended(acu):
    file = os.path.join(TMP, "pid")
    process = start(acu, f'interval:ms:10 {{ system("echo $$ > {file}.new; mv {file}.new {file}; exec sleep 1000"); }}')
    wait_for(lambda: os.path.exists(file))
    took = end_by(process, signal.SIGINT)
    need(took <= patient(END) + 0.5, f"it ended after {took:.2f} s")
    pid = int(open(file).read())
    need(not os.path.exists(f"/proc/{pid}"), "the command still runs")


def command_that_ignores_signals_is_ended(acu):
    process = start(acu, 'interval:ms:10 { system("trap : TERM INT; while :; do sleep 0.1; done"); }')
    time.sleep(patient(0.5))
    took = end_by(process, signal.SIGTERM)
    need(took <= patient(END) + 0.7, f"it ended after {took:.2f} s")


def commands_of_end_probes_run(acu):
    process = start(acu, 'interval:s:1000 { } end { system("sleep 0.8; echo at the end"); }')
    end_by(process, signal.SIGINT)
    need(said("out") == "at the end\n", said("out"))


def what_is_printed_fast_is_not_dropped(acu):
    process = start(acu, 'interval:ms:1 { @n++; printf("line %d\\n", @n); }')
    wait_for(lambda: said("out").count("line") > 100)
    end_by(process, signal.SIGINT)
    lines = re.findall(r"line (\d+)", said("out"))
    need(lines == [str(n + 1) for n in range(len(lines))], "lines are missing")
    need(f"@n: {len(lines)}\n" in said("out"), "lines are missing at the end")
    need("dropped" not in said("err"), said("err"))


def second_sigint_ends_a_run_whose_reader_sleeps(acu):
    read, write = os.pipe()
    process = start(acu, 'interval:ms:1 { printf("%s\\n", str("' + "x" * 60 + '")); }', stdout=os.fdopen(write, "w"))
    time.sleep(patient(3))
    process.send_signal(signal.SIGINT)
    time.sleep(0.8 * SLOWNESS)
    took = end_by(process, signal.SIGINT) if process.poll() is None else 0
    os.close(read)
    need(took <= patient(END), f"it ended {took:.2f} s after the second SIGINT")


def nothing_attached_ends_at_once(acu):
    # Virtual machines often have no counters of the CPU.
    script = 'config = { missing_probes = "warn" } hardware:cycles:1000000 { @ = count(); }'
    try:
        done = subprocess.run([acu, "run", "-e", script], capture_output=True, text=True, timeout=patient(5))
    except subprocess.TimeoutExpired:
        raise Skipped("the CPU has counters")
    need(done.returncode == 1, f"status {done.returncode}: {done.stderr}")
    need("ERROR: no probe could be attached" in done.stderr, done.stderr)


TESTS = [storm_of_commands_ends_at_sigint, storm_of_commands_ends_at_sigterm, long_command_is_ended,
         command_that_ignores_signals_is_ended, commands_of_end_probes_run, what_is_printed_fast_is_not_dropped,
         second_sigint_ends_a_run_whose_reader_sleeps, nothing_attached_ends_at_once]
sys.exit(run_suite(TESTS, TMP))
