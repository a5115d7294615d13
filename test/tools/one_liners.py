#!/usr/bin/env python3
"""Runs the questions of one_liners.txt, several at once: one_liners.py ACU [--filter TEXT]

A question is a paragraph:

  ## What is asked
  $ acu OPTIONS -e 'script' PARAMETERS    as in a shell; `run`, the subcommand, is left out as for everybody
  load COMMAND                            by sh, once all probes are attached; then acu gets SIGINT. Without a load
                                          it must end itself
  see PATTERN                             is found in standard output (^ and $ are ends of lines)
  lines PATTERN = N                       so many times, or `N..M`
  sum PATTERN = N                         its groups, as numbers, add up to N, or to something within `N..M`
  told PATTERN                            is found in standard error
  unless COMMAND # why                    is skipped where this ends well
  real time: why                          is skipped where the processor is emulated
  needs ABILITY                           is skipped where the kernel lacks this (`acu info` lists them)
  disk [TYPE]                             needs a disk under build/ ($ACU_TEST_DISK) that counts its requests, with this file system

$COMM is a name of this question alone, which loads take; $LOAD the loads of test/runtime; $TMP an empty folder;
$DISK one on a disk. Last line: `N passed, N failed, N skipped`.
"""
import concurrent.futures
import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from hosts import one_word
from tally import SLOWNESS, Tally, lacking, why_refused

ROOT = os.path.dirname(os.path.dirname(HERE))
LOAD = one_word(os.path.join(ROOT, "test", "runtime", "load.py"))
DISK = one_word(os.environ.get("ACU_TEST_DISK") or os.path.join(ROOT, "build"))
ATTACHED = "#attached#"
VERBS = ("see", "lines", "sum", "told")


class Question:
    def __init__(self, number, text):
        self.asked, self.command, self.load, self.checks, self.disk, self.needs, self.real_time, self.unless = "", "", "", [], None, [], "", ""
        self.comm = f"acu_q{number}"
        for line in text.split("\n"):
            word, _, rest = line.partition(" ")
            if word == "##":
                self.asked = rest
            elif word == "$":
                self.command = rest
            elif word == "load":
                self.load = rest
            elif word == "disk":
                self.disk = rest
            elif line.startswith("real time: "):
                self.real_time = line.partition(": ")[2]
            elif word == "unless":
                self.unless = rest
            elif word == "needs":
                self.needs.append(rest)
            elif word in VERBS:
                self.checks.append((word, rest))
            elif line and word != "#":
                raise SystemExit(f"one_liners.txt: what is {line!r}?")

    def fill(self, text, folder):
        for name, value in (("$COMM", self.comm), ("$LOAD", LOAD), ("$TMP", folder), ("$DISK", DISK)):
            text = text.replace(name, value)
        return text


def read_questions():
    paragraphs = open(os.path.join(HERE, "one_liners.txt")).read().split("\n\n")
    found = [Question(n, text) for n, text in enumerate(paragraphs)]
    return [q for q in found if q.command]


def check(verb, rest, out, err):
    """None, or what is wrong."""
    pattern, _, wanted = rest.rpartition(" = ") if verb in ("lines", "sum") else (rest, "", "1..1000000000")
    low, _, high = wanted.partition("..")
    found = re.findall(pattern, err if verb == "told" else out, re.M)
    if verb == "sum":
        groups = [group for match in found for group in ([match] if isinstance(match, str) else match)]
        is_number = found and all(group.isdigit() or not group for group in groups)
        count = sum(int(group) for group in groups if group) if is_number else -1
    else:
        count = len(found)
    if int(low) <= count <= int(high or low):
        return None
    return f"{verb} {rest}: " + (f"it is {count}" if found else "nothing like it is there")


def ask(acu, q):
    for ability in q.needs:
        if ability in lacking(acu):
            return "skipped", "the kernel lacks " + ability
    if q.real_time and SLOWNESS > 1:
        return "skipped", "the CPU is emulated: " + q.real_time
    if q.unless and subprocess.run(["/bin/sh", "-c", q.unless], capture_output=True, timeout=30 * SLOWNESS).returncode == 0:
        return "skipped", q.unless.rpartition("# ")[2]
    if q.disk is not None:
        mount = subprocess.run(["findmnt", "-nro", "SOURCE,FSTYPE", "-T", DISK], capture_output=True, text=True).stdout
        if not mount.startswith("/dev/") or q.disk not in mount:
            return "skipped", "no such disk here"
    with tempfile.TemporaryDirectory(prefix="acu-line-") as folder:
        arguments = shlex.split(q.fill(q.command, folder))
        if arguments[0] != "acu":
            raise SystemExit(f"{q.asked}: the command is not acu")
        process = subprocess.Popen([acu, "run", "--notify-attached", ATTACHED, *arguments[1:]], text=True, cwd=folder,
                                   errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = "", ""
        try:
            if q.load:
                for line in process.stdout:
                    if line.strip() == ATTACHED:
                        subprocess.run(["/bin/sh", "-c", q.fill(q.load, folder)], env=dict(os.environ, TMP=folder),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30 * SLOWNESS)
                        if "exit()" not in q.command:
                            process.send_signal(subprocess.signal.SIGINT)
                        break
                    out += line
            rest, err = process.communicate(timeout=30 * SLOWNESS)
            out += rest
        except subprocess.TimeoutExpired:
            process.kill()
            err = process.communicate()[1]
            return "failed", "it takes too long\n" + err[-800:]
        wrong = [w for w in (check(verb, q.fill(text, folder), out, err) for verb, text in q.checks) if w]
        if process.returncode:
            wrong.append(f"status {process.returncode}")
        if "ERROR" in err:
            wrong.append("it speaks of an error")
        if not q.checks:
            wrong.append("nothing is looked for")
    if not wrong:
        return "passed", out
    if process.returncode == 5 and why_refused(acu, err):
        return "skipped", why_refused(acu, err)
    return "failed", "\n".join(wrong) + f"\n  printed:\n{out[-1200:]}\n  stderr:\n{err[-800:]}"


def attempt(acu, q):
    begin = time.monotonic()
    return *ask(acu, q), time.monotonic() - begin


def again(acu, q):
    result, text = ask(acu, q)
    return text if result == "failed" else ""


def main():
    arguments = sys.argv[1:]
    only = arguments[arguments.index("--filter") + 1] if "--filter" in arguments else ""
    acu = os.path.abspath(arguments[0])
    questions = [q for q in read_questions() if only.lower() in q.asked.lower()]
    tally = Tally()
    if os.geteuid() != 0:
        for q in questions:
            tally.skipped(q.asked, "not root")
        return tally.end()
    # Loads are told apart by their names; what counts the whole machine asks for at least so much.
    with concurrent.futures.ThreadPoolExecutor(max(2, (os.cpu_count() or 1))) as pool:
        for q, (result, text, seconds) in zip(questions, pool.map(lambda q: attempt(acu, q), questions)):
            if result == "failed":
                tally.failed(q.asked, f"{q.command}\n{text}", functools.partial(again, acu, q), seconds)
            elif result == "skipped":
                tally.skipped(q.asked, text, seconds)
            else:
                tally.passed(q.asked, seconds)
    return tally.end()


sys.exit(main())
