#!/usr/bin/env python3
"""The lessons of acu: run.py ACU [--filter TEXT]

Last line: `N passed, N failed, N skipped`.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from hosts import one_word
from tally import Skipped, Wrong, need, patient, run_suite

TMP = tempfile.mkdtemp(prefix="acu-learn-test-")
ACU = one_word(os.path.abspath(sys.argv[1]))
LESSONS = 12
# Where the answer is in what the command of each lesson prints. The first match counts.
ANSWERS = [
    r"(shop_(?:check|price|print)_\w+)", r"called by\n.*?(shop_\w+)", r"(shop-\d+\.conf)", r"--ticket=(\d+)", r"@\[(\d{3})\]: \d+\s*$", r"@\[(\d{3})\]: \d+\s*$",
    r"(shop_wait_for_(?:bank|printer|truck))", r"where its time went: (shop_\w+)", r"(auditor|reporter|cleaner) waits for", r"(stock-\d+\.db)", r"(shop_(?:open_door|count_cash|unload_truck))", r"where +(shop_\w+)",
]


class Terminal:
    def __init__(self):
        if not shutil.which("tmux"):
            raise Skipped("tmux is not installed")
        self.base = ["tmux", "-L", f"acu-learn-{os.getpid()}-{time.monotonic_ns()}", "-f", "/dev/null"]
        self.tmux("new-session", "-d", "-x", "160", "-y", "200", "-c", TMP, "env", f"TMPDIR={TMP}", "PS1=$ ", "sh")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        at = self.tmux("display-message", "-p", "#{socket_path}").strip()
        subprocess.run([*self.base, "kill-server"], capture_output=True, timeout=30)
        if at and os.path.exists(at):
            os.unlink(at)

    def tmux(self, *words):
        return subprocess.run([*self.base, *words], capture_output=True, text=True, timeout=30).stdout

    def text(self):
        return self.tmux("capture-pane", "-p", "-J").rstrip()

    def type(self, line):
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def wait(self, pattern, what, limit=40):
        until = time.monotonic() + patient(limit)
        while time.monotonic() < until:
            found = re.search(pattern, self.text(), re.S | re.M)
            if found:
                return found
            time.sleep(0.05)
        raise Wrong(f"no {what} in:\n{self.text()}")


def start(terminal, *words):
    terminal.type(" ".join([ACU, "learn", *words]))
    terminal.wait(r"Lesson \d+ of 12:.*^learn> *\Z", "first lesson")


def play(terminal, number, wrong_first=False):
    """Runs the command of a lesson, reads the answer, and types it."""
    terminal.wait(rf"Lesson {number} of {LESSONS}:.*^learn> *\Z", f"lesson {number}")
    if wrong_first:
        terminal.type("shop_sleep")
        terminal.wait(r"That is not it.*^learn> *\Z", "word on a wrong answer")
    terminal.type("run")
    printed = terminal.wait(rf"Lesson {number} of.*^learn> run\n(.*)\n^learn> *\Z", "output of the command").group(1)
    found = re.search(ANSWERS[number - 1], printed, re.M | re.S)
    need(found, f"lesson {number}: no answer ({ANSWERS[number - 1]}) in:\n{printed}")
    terminal.type(found.group(1))
    terminal.wait(r"^learn> \S*\nRight\.", f"word on the right answer {found.group(1)} of lesson {number}; printed:\n{printed}\n", 10)


def all_lessons(_):
    with Terminal() as t:
        start(t)
        for number in range(1, LESSONS + 1):
            t.wait(rf"Lesson {number} of {LESSONS}:.*^learn> *\Z", f"lesson {number}")
            play(t, number, wrong_first=number == 1)
        t.wait(r"12 of 12 lessons solved", "end")
        t.wait(r"^\$ *\Z", "end of acu")
    need([name for name in os.listdir(TMP) if name.startswith("acu-learn-")] == [], "the folder of the lessons is left")


def words_of_the_prompt(_):
    with Terminal() as t:
        start(t, "3")
        pid = re.search(r"acu trace -p (\d+) ", t.text()).group(1)
        need(open(f"/proc/{pid}/comm").read() == "shop\n", "the broken program is called shop")
        t.type("hint")
        t.wait(r"ENOENT", "hint")
        t.type("!echo PID=$PID")
        t.wait(rf"^PID={pid}$", "PID in the environment")
        t.type("!sleep 60")
        time.sleep(0.5)
        t.tmux("send-keys", "C-c")  # ends the command only
        t.type("again")
        t.wait(r"learn> again\n.*Lesson 3 of 12", "lesson again")
        t.type("solve")
        t.wait(r"The answer is shop-\d+\.conf\..*Lesson 4 of 12", "answer, and the next lesson")
        need(not os.path.exists(f"/proc/{pid}"), "the program of a lesson outlives it")
        t.type("next")
        t.wait(r"Lesson 5 of 12", "next lesson")
        pid = re.findall(r"pid == (\d+)", t.text())[-1]
        t.type("quit")
        t.wait(r"0 of 2 lessons solved", "end")
        need(not os.path.exists(f"/proc/{pid}"), "a program outlives the tutorial")


def outside_of_terminals(_):
    done = subprocess.run([os.path.abspath(sys.argv[1]), "learn"], input="", capture_output=True, text=True, timeout=patient(30), cwd=TMP)
    need(done.returncode == 0 and "0 of 0 lessons solved" in done.stdout, str(done))
    done = subprocess.run([os.path.abspath(sys.argv[1]), "learn", "--list"], capture_output=True, text=True)
    need(len(done.stdout.splitlines()) == LESSONS, done.stdout)
    for word in ("0", "13", "x"):
        done = subprocess.run([os.path.abspath(sys.argv[1]), "learn", word], capture_output=True, text=True)
        need(done.returncode == 2 and "from 1 to 12" in done.stderr, str(done))


TESTS = [all_lessons, words_of_the_prompt, outside_of_terminals]

sys.exit(run_suite(TESTS, TMP))
