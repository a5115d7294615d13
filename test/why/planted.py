#!/usr/bin/env python3
"""Causes that are planted: planted.py ACU [--all] [--filter TEXT]

`acu why` over programs that have a cause of slowness, each with a twin that looks alike and does not have it, and a decoy: the twin with another oddity, which
is harmless. The cause must come first where it is, and nothing may be confirmed where it is not. At the end: how many were right, and how many the
answer would be that always names the most frequent cause. Decoys, and three runs of each, are for --all. Last line: `N passed, N failed, N skipped`.
"""
import collections
import contextlib
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Wrong, need, require_real_time, run_suite, untimed

ALL = "--all" in sys.argv
TMP = tempfile.mkdtemp(prefix="acu-why-")
PROGRAMS = os.path.join(TMP, "programs")
PYTHON = "/usr/bin/python3"
answers = collections.Counter()  # of those that were asked for: which cause came first


@functools.cache
def loops():
    with untimed():
        subprocess.run(["g++", "-O2", "-g", "-std=c++20", "-o", PROGRAMS, os.path.join(HERE, "planted", "programs.cc"), "-pthread"], check=True, timeout=100 * SLOWNESS)
        return str(statistics.median(int(subprocess.run([PROGRAMS], capture_output=True, text=True, check=True).stdout) for _ in range(9)))


@contextlib.contextmanager
def running(*words):
    program = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        time.sleep(1)
        yield program.pid
    finally:
        program.kill()
        program.wait()


def native(mode, variant):
    return running(PROGRAMS, mode, loops(), variant)


def python(mode, variant):
    return running(PYTHON, os.path.join(HERE, "planted", "programs.py"), mode, variant)


def ask(acu, pid, *words):
    done = subprocess.run([acu, "why", *words, "-p", str(pid), "--json", "-q"], capture_output=True, text=True, timeout=60 * SLOWNESS)
    need(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def found(answer, *verdicts):
    return [f for f in answer["findings"] if f["verdict"] in verdicts]


def shown(answer):
    return json.dumps([{k: f.get(k) for k in ("cause", "subject", "verdict", "share", "evidence")} for f in answer["findings"]], indent=1)


# Of the machine, not of the program: others may run beside the test.
OF_THE_HOST = ("run-queue-delay", "noisy-neighbour")


def is_named(acu, program, cause, place):
    """The cause comes first where it is, at its place in the code; its twin and decoy have nothing that is confirmed."""
    require_real_time("rates are compared")
    loops()
    for _ in range(3 if ALL else 1):
        is_named_once(acu, program, cause, place)


def is_named_once(acu, program, cause, place):
    with program("has") as pid:
        answer = ask(acu, pid)
        first = next((f for f in found(answer, "confirmed", "likely") if f["cause"] not in OF_THE_HOST), None)
        answers[first["cause"] if first else "nothing"] += 1
        need(first and first["cause"] == cause, f"not {cause}: {shown(answer)}")
        need(place in json.dumps(first), f"{place} is not named: {json.dumps(first, indent=1)}")
        need(answer["duration_ns"] < 16e9 * SLOWNESS, f"it took {answer['duration_ns'] / 1e9:.1f} s")
    for variant in ("twin", "decoy") if ALL else ("twin",):
        with program(variant) as pid:
            answer = ask(acu, pid)
            wrong = [f for f in found(answer, "confirmed") if f["cause"] not in OF_THE_HOST]
            need(not wrong, f"{variant}: {shown(answer)}")


def test_hot_function(acu):
    is_named(acu, functools.partial(native, "hot"), "hot-function", "encode")


def test_regex(acu):
    is_named(acu, functools.partial(python, "regex"), "regex-hot", "is_valid")


def test_sleep_under_a_lock(acu):
    is_named(acu, functools.partial(native, "asleep"), "lock-across-sleep", "g_table_lock")


def test_pool(acu):
    is_named(acu, functools.partial(native, "pool"), "pool-exhausted", "query")


def test_interpreter_lock(acu):
    is_named(acu, functools.partial(python, "interpreter"), "interpreter-lock", "compute")


def test_missing_file(acu):
    is_named(acu, functools.partial(native, "missing"), "missing-file-storm", "settings.conf")


def test_births(acu):
    is_named(acu, functools.partial(native, "births"), "exec-storm", "true")


def documented_rule():
    """The rule file that docs/why.md shows."""
    text = open(os.path.join(HERE, "../../docs/why.md")).read()
    text = text[text.index("$ cat > rules/huge-folder.clp"):]
    return "".join(line[2:] + "\n" for line in text[:text.index("> END\n")].split("\n")[1:] if line)


def test_rule_of_a_user(acu):
    """The documented rule finds a cause that acu's own do not know."""
    folder, rules = os.path.join(TMP, "spool"), os.path.join(TMP, "rules")
    os.mkdir(folder), os.mkdir(rules)
    rule = documented_rule()
    need(len(rule.splitlines()) <= 50, f"it has {len(rule.splitlines())} lines")
    open(os.path.join(rules, "huge-folder.clp"), "w").write(rule)
    for i in range(20000):
        open(os.path.join(folder, str(i)), "w").close()
    with running(PYTHON, "-c", f"import os\nwhile True: sum(1 for _ in os.scandir({folder!r}))") as pid:
        without = ask(acu, pid)
        need(not [f for f in found(without, "confirmed") if f["cause"] not in OF_THE_HOST], shown(without))
        answer = ask(acu, pid, "--rules", rules)
        need("huge-folder" in [f["cause"] for f in found(answer, "confirmed")], shown(answer))


def test_mistake_in_a_rule(acu):
    rules = os.path.join(TMP, "broken")
    os.mkdir(rules)
    open(os.path.join(rules, "bad.clp"), "w").write("(defrule bad\n  (syscall (colour 1))\n  =>)\n")
    done = subprocess.run([acu, "why", "-q", "--rules", rules], capture_output=True, text=True, timeout=60)
    need(done.returncode and "bad.clp:" in done.stderr and "colour" in done.stderr, f"{done.returncode}: {done.stdout}{done.stderr}")


def test_all_right(_):
    """How often the cause came first, beside the answer that names the most frequent cause each time."""
    if not answers:
        raise Wrong("nothing was asked")
    return f"{sum(answers.values())} causes; always naming the most frequent one: {max(answers.values())} right"


if __name__ == "__main__":
    tests = [t for name, t in globals().items() if name.startswith("test_")]
    sys.exit(run_suite(tests, TMP, tells_reason=False, limit=400))
