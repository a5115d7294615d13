#!/usr/bin/env python3
"""Names that were words of acu's scripts, and texts that could end one: run.py ACU [--filter TEXT]

Functions, files, folders and texts in filters may be called anything. Each command that has a script of its own either does what it does for
plain names, or says in one message why not. Last line: `N passed, N failed, N skipped`.
"""
import contextlib
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, need, run_suite

TMP = tempfile.mkdtemp(prefix="acu-odd-names-")
ACU = os.path.abspath(sys.argv[1])
FUNCTIONS = ["SEND", "VENDOR", "RATE", "VALUES", "LEAVES", "ENTRIES", "FILTER", "PATHS", "END", "BEGIN", "HEAD", "LEAST", "CONDITION", "ours", "chosen"]
FOLDERS = [*FUNCTIONS, "RATE FILTER", "{END}", "a;b", "100%d %s", "é→", "it's", 'say "so"', "two\nlines", "back\\slash", "#define END", "/*", "x" * 200]
CALLS = 51


def program(function, folder="plain"):
    place = os.path.join(TMP, folder)
    out = os.path.join(place, "app")
    if not os.path.exists(out + function):
        os.makedirs(place, exist_ok=True)
        subprocess.run(["gcc", "-O1", "-g", "-fno-inline", f"-DF={function}", "-o", out + function, os.path.join(HERE, "called.c")], check=True, timeout=60 * SLOWNESS)
    return out + function


def acu(*words):
    done = subprocess.run([ACU, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60 * SLOWNESS, cwd=TMP)
    need(done.returncode in (0, 1, 2, 3), f"status {done.returncode} of {words}: {done.stderr[:500]}")
    return done


def in_quotes(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def is_one_error(done):
    """Refused, in one message."""
    return done.returncode in (2, 3) and done.stderr.count("ERROR") == 1


def hits(file):
    return json.loads(acu("report", file, "--json").stdout)["total"]


def recorded(function, folder="plain", *options):
    app, out = program(function, folder), os.path.join(TMP, "out.acu")
    if os.path.exists(out):
        os.remove(out)
    done = acu("record", f"uprobe:{in_quotes(app)}:{function}", *options, "-o", out, "--", app)
    return is_one_error(done) or (done.returncode == 0 and hits(out) == CALLS), done


def functions_are_recorded():
    for function in FUNCTIONS:
        holds, done = recorded(function)
        need(holds, f"{function}: {done.stderr[:500]}")


def files_are_recorded():
    for folder in FOLDERS:
        holds, done = recorded("work", folder)
        need(holds, f"{folder!r}: {done.stderr[:500]}")


def weights_and_filters_are_what_they_say():
    for text in [*FOLDERS, "x" * 4000]:
        holds, done = recorded("work", "plain", "--filter", f"comm != {in_quotes(text)}", "--weight", f"comm == {in_quotes(text)} ? 7 : 1")
        need(holds, f"{text[:100]!r}: {done.stderr[:500]}")


def pictures_are_made():
    for folder in FOLDERS:
        app, out = program("work", folder), os.path.join(TMP, "out.folded")
        if os.path.exists(out):
            os.remove(out)
        done = acu("flame", f"uprobe:{in_quotes(app)}:work", "--filter", f"comm != {in_quotes(folder)}", "-o", out, "--", app)
        if not is_one_error(done):
            with open(out, errors="replace") as file:
                total = sum(int(line.rsplit(" ", 1)[1]) for line in file)
            need(total == CALLS, f"{folder!r}: {total} {done.stderr[:300]}")


def slow_calls_are_found():
    for function in FUNCTIONS:
        done = acu("slow", function, "--min-duration", "20ms", "--json", "--", program(function))
        told = [json.loads(line) for line in done.stdout.splitlines()]
        need([t["what"] for t in told if t["type"] == "slow"] == [function], f"{function}: {done.stdout[:300]} {done.stderr[:500]}")
    for text in FOLDERS:
        done = acu("slow", "work", "--min-duration", "20ms", "--json", "--", program("work", text))
        told = [json.loads(line) for line in done.stdout.splitlines()]
        need([t["what"] for t in told if t["type"] == "slow"] == ["work"], f"{text!r}: {done.stdout[:300]} {done.stderr[:500]}")


def calls_are_drawn():
    for function in FUNCTIONS:
        done = acu("graph", function, "-c", "--", program(function))
        need(re.search(rf" {CALLS} .*\b{function}$", done.stdout, re.M), f"{function}: {done.stdout[:300]} {done.stderr[:500]}")
    for text in FOLDERS:
        done = acu("graph", "work", "-c", "--", program("work", text))
        need(re.search(rf" {CALLS} .*\bwork$", done.stdout, re.M), f"{text!r}: {done.stdout[:300]} {done.stderr[:500]}")


def system_calls_are_told():
    for text in FOLDERS:
        app = program("work", text)
        done = acu("trace", "-q", "-e", "execve", "-P", app, "--filter", f"comm != {in_quotes(text)}", "--", app)
        need(len(done.stderr.splitlines()) == 1 and done.stderr.startswith("execve("), f"{text!r}: {done.stderr[:500]}")
        done = acu("trace", "-c", "-e", "clock_nanosleep", "--filter", f"comm == {in_quotes(text)}", "--", app)
        need(f" {CALLS} " not in done.stderr and "ERROR" not in done.stderr, f"{text!r}: {done.stderr[:500]}")
    done = acu("trace", "-q", "-e", "execve", "--filter", "comm != " + in_quotes("x" * 4000), "--", program("work"))
    need(is_one_error(done) or done.stderr.startswith("execve("), done.stderr[:500])


def on_terminal(*words):
    """What a terminal gets."""
    outer, inner = pty.openpty()
    with subprocess.Popen([ACU, *words], stdin=subprocess.DEVNULL, stdout=inner, stderr=inner, cwd=TMP, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(inner)
        timer = threading.Timer(60 * SLOWNESS, process.kill)
        timer.start()
        out = b""
        with contextlib.suppress(OSError):  # the end of a terminal is an error
            while got := os.read(outer, 1 << 16):
                out += got
        timer.cancel()
    os.close(outer)
    return out


def names_do_not_control_terminals():
    """Process, program, function and file names with escape sequences, in the text of each command; acu's own colors are let through."""
    plain, folder = os.path.join(TMP, "plain"), os.path.join(TMP, "ev\x1b[31mil")
    evil = os.path.join(folder, "pr\x1b[2Jog")
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["gcc", "-O1", "-g", "-no-pie", "-o", plain + "escapes", os.path.join(HERE, "escapes.c")], check=True, timeout=60 * SLOWNESS)
    subprocess.run(["objcopy", "--redefine-sym", "step=st\x1b[7mep", plain + "escapes", evil], check=True)
    address = re.search(r"^(\w+) T step$", subprocess.run(["nm", plain + "escapes"], capture_output=True, text=True, check=True).stdout, re.M).group(1)
    recording = os.path.join(TMP, "escapes.acu")
    with subprocess.Popen([evil]) as process:
        try:
            pid, time = str(process.pid), ["--duration", "0.3s"]
            acu("record", "-q", "-p", pid, *time, "-o", recording)
            mine = f"/pid == {pid}/"
            commands = [("-q", "-e", f"profile:hz:99 {mine} {{ printf(\"%s\\n\", comm); print(comm); @[comm] = count(); @s[ustack(3)] = count(); exit() }}"),
                        ("-q", "-e", f"tracepoint:syscalls:sys_enter_openat {mine} {{ printf(\"%s\\n\", str(args.filename)); exit() }}"),
                        ("trace", "-p", pid, *time), ("snap", "-p", pid), ("modules", "-p", pid), ("sym", "-p", pid, "0x" + address), ("list", f"uprobe:{in_quotes(evil)}:*"),
                        ("stat", "-e", "page-faults", "-p", pid, *time), ("waits", "-p", pid, *time), ("graph", "st*", "-p", pid, *time), ("slow", "syscalls", "-p", pid, "--min-duration", "1us", *time),
                        ("flame", "-p", pid, *time, "-o", os.path.join(TMP, "e.svg")), ("report", recording), ("diff", recording, recording), ("sql", f"select * from processes where pid = {pid}"),
                        ("sql", "--format", "csv", f"select * from processes where pid = {pid}"), ("report", evil), (evil + "x",), ("-e", "begin { \x1b[5m }"), ("-e", f"uprobe:{in_quotes(evil)}:nosuch {{ }}")]
            wrong = []
            for words in commands:
                out = on_terminal(*words)
                rest = re.sub(rb"\x1b\[(?:31|33|36|0)m", b"", out)
                if not out or re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]", rest):
                    wrong.append(f"{words}: {rest[:300]!r}")
            need(not wrong, "\n".join(wrong))
            # In a pipe bytes are what they are; a script that writes escapes itself is obeyed.
            piped = subprocess.run([ACU, "-q", "-e", f"profile:hz:99 {mine} {{ print(comm); exit() }}"], capture_output=True, timeout=60 * SLOWNESS).stdout
            need(b"ev\x1b]0;x\x07il" in piped, repr(piped))
            # A heading is one line, wherever it goes.
            heading = subprocess.run([ACU, "stat", "-e", "page-faults", "-p", pid, *time], capture_output=True, timeout=60 * SLOWNESS).stderr
            need(b"\x1b" not in heading and f"process {pid} (ev\\x1b]0;x".encode() in heading, repr(heading))
            need(b"\x1b[2J" in on_terminal("-q", "-e", "begin { printf(\"\\x1b[2J\"); exit() }"), "a script's own escapes")
        finally:
            process.kill()


def tables_are_shown():
    for text in FOLDERS:
        done = acu("top", f"uprobe:{in_quotes(program('work', text))}:work", "--filter", f"comm != {in_quotes(text)}", "-n", "1", "-I", "300ms", "--", program("work", text))
        need(is_one_error(done) or "work" in done.stdout, f"{text!r}: {done.stdout[:300]} {done.stderr[:500]}")


TESTS = [functions_are_recorded, files_are_recorded, weights_and_filters_are_what_they_say, pictures_are_made, slow_calls_are_found, calls_are_drawn,
         system_calls_are_told, tables_are_shown, names_do_not_control_terminals]

if __name__ == "__main__":
    sys.exit(run_suite(TESTS, TMP))
