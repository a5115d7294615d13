#!/usr/bin/env python3
"""The scripts of the DTraceToolkit in `acu dscript`, as they are: toolkit.py ACU FOLDER [--write FILE]

FOLDER has the toolkit (github.com/opendtrace/toolkit), which is not part of acu. Each of its D files runs for two seconds with the options of its first line, without
arguments (-x defaultargs), and with a command where it asks for $target; then it gets the signal of Ctrl-C. Beside it run programs in Java, PHP, Python and Ruby, and commands that
read and write files. --write replaces the table of docs/dtracetoolkit.md. Last line: `N passed, N failed, N skipped`: passed ran and ended with status 0, skipped were refused or
found no program with their probes, failed ended otherwise.
"""
import argparse
import concurrent.futures
import contextlib
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

SECONDS = 2
JAVA = "class Load { static int f(int n) { return n < 1 ? 0 : f(n - 1) + new int[n].length; } public static void main(String[] a) throws Exception { for (;;) { f(5); Thread.sleep(50); } } }"
LOADS = (
    (["/usr/bin/java", "-XX:+ExtendedDTraceProbes", "Load.java"], "Load.java", JAVA),
    (["/usr/bin/php8.2", "load.php"], "load.php", "<?php function f($n) { return $n < 1 ? [] : [f($n - 1), getmypid()]; } while (true) { f(5); usleep(50000); }"),
    (["/usr/bin/python3", "load.py"], "load.py", "import time\ndef f(n): return n and f(n - 1)\nwhile True: f(5), time.sleep(0.05)"),
    (["/usr/bin/ruby", "load.rb"], "load.rb", "def f(n) = n < 1 ? [] : [f(n - 1), \"x\" * n]\nloop { f(5); sleep 0.05 }"),
    (["/bin/sh", "load.sh"], "load.sh", "while :; do /bin/ls / >files; /bin/cat files >copy; /bin/rm copy; sleep 0.1; done"),
)
USAGE, NOT_SUPPORTED, NO_PROGRAM, NO_END = 2, 5, 1, -signal.SIGKILL
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"


@contextlib.contextmanager
def loads():
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        for words, name, text in LOADS:
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
            if os.path.exists(words[0]):
                load = subprocess.Popen(words, cwd=folder, env={**os.environ, "USE_ZEND_DTRACE": "1"}, stdout=subprocess.DEVNULL)
                running.callback(lambda load=load: (load.kill(), load.wait()))
        time.sleep(3)  # Java compiles first
        yield


def run(acu, file):
    """(status, the first mistake that was told)."""
    text = open(file, errors="replace").read()
    first = re.match(r"#!\s*\S*dtrace\s+(.*)", text)
    flags = "".join(word[1:] for word in (first.group(1).split() if first else ()) if word.startswith("-")).replace("s", "")
    words = [acu, "dscript", "-x", "defaultargs", *(["-" + flags] if flags else []), *(["-c", "sleep 5"] if "$target" in text else []), "-s", file]
    process = subprocess.Popen(words, cwd=os.path.dirname(file), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    begin = time.monotonic()
    try:
        process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    is_short = time.monotonic() - begin < 0.8 * SECONDS
    try:
        _, told = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return NO_END, "it does not end"
    if is_short and "Z" in flags and not process.returncode:
        return NO_PROGRAM, "no program here has its probes"
    mistakes = re.findall(r"(?:ERROR|fatal error): (.*)", told)
    return process.returncode, mistakes[0] if mistakes else told.strip().split("\n")[-1]


def table(results):
    ran = [name for name, (status, _) in results.items() if not status]
    lines = [f"{len(ran)} of {len(results)} run: " + ", ".join(f"`{name}`" for name in sorted(ran)) + ".", "", "| does not run here | why |", "|---|---|"]
    return "\n".join(lines + [f"| `{name}` | {why.replace('|', chr(92) + '|')} |" for name, (status, why) in sorted(results.items()) if status]) + "\n"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("acu")
    options.add_argument("folder")
    options.add_argument("--write")
    chosen = options.parse_args()
    with loads():
        return check(chosen)


def check(chosen):
    files = sorted(glob.glob(os.path.join(os.path.abspath(chosen.folder), "[A-Z]*", "*.d")))
    files = [file for file in files if not os.path.islink(file)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda file: run(os.path.abspath(chosen.acu), file), files))
    results = {os.path.basename(file): result for file, result in zip(files, found)}
    failed = [name for name, (status, _) in results.items() if status not in (0, 1, USAGE, NOT_SUPPORTED)]
    for name in failed:
        print(f"FAILED {name}\n  {results[name]}")
    if chosen.write:
        text = open(chosen.write).read()
        begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        open(chosen.write, "w").write(text[:begin] + table(results) + text[end:])
    ran = sum(not status for status, _ in results.values())
    print(f"{ran} passed, {len(failed)} failed, {len(results) - ran - len(failed)} skipped")
    return 1 if failed or not results else 0


sys.exit(main())
