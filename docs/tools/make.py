#!/usr/bin/env python3
"""Regenerates usage and example output of the tools' pages: make.py ACU [NAME...] [--hide REGEX] [--lines N] [--print | --usage]

The introduction of a page is kept; README.md is the list of all tools. If the load is a test in test/tools or test/core, the example
is the output that the test saw. Any other load is run by bash in an empty directory while the tool runs: the lines up to the last
one that ends with `&` before the tool starts (the process of that line is $PID), the rest when the tool is ready. Long outputs are
shortened in the middle; --hide REGEX leaves out what other programs did. --usage updates only usages and README.md. Examples need
root. --print prints the pages instead, for a tool that needs another kernel:
`test/kernels/vm.py 6.1 -- python3 docs/tools/make.py ACU NAME --print`.
"""
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "tools"))
import pages

READY = "#attached#"
LIMIT = 120  # seconds
WIDTH = 150
PLAIN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def usage(acu, name):
    return subprocess.run([acu, name, "--help"], capture_output=True, text=True, check=True).stdout


def by_test(acu, name, load, keep):
    """The command and output that a test of the tool saw."""
    words = load.split()
    subprocess.run([sys.executable, os.path.join(ROOT, words[1]), acu, *words[3:]], check=True, timeout=600, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, ACU_TOOL_OUTPUT=keep))
    with open(os.path.join(keep, name)) as file:
        command, output = file.read().split("\n", 1)
    return command, output


class Before:
    """The part of the load that starts before the tool; `pid` is its last process."""

    def __init__(self, script, folder):
        self.pid = 0
        self.process = None
        if script:
            there, here = os.pipe()
            self.process = subprocess.Popen(["bash", "-c", f"{script}\necho $! >&{here}\nexec {here}>&-\nwait"], cwd=folder, pass_fds=[here],
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            os.close(here)
            with os.fdopen(there) as reader:
                self.pid = int(reader.readline())
            time.sleep(1)

    def end(self):
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def by_load(acu, command, load, folder):
    lines = load.split("\n")
    split = max((n + 1 for n, line in enumerate(lines) if line.endswith("&")), default=0)
    before = Before("\n".join(lines[:split]), folder)
    during = "\n".join(lines[split:]).strip()
    name, rest = command.split(" ", 2)[1], (command.split(" ", 2) + [""])[2]
    try:
        environment = {"PATH": PLAIN_PATH, "HOME": "/root", "PID": str(before.pid)}
        ready = f"--notify-attached '{READY}' " if during else ""
        process = subprocess.Popen(["bash", "-c", f"exec {acu} {name} {ready}{rest}"], cwd=folder, env=environment, text=True, errors="replace",
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out = []
        for line in process.stdout:
            if line != READY + "\n":
                out.append(line)
                continue
            with open(os.path.join(folder, "load.sh"), "w") as script:
                script.write(during + "\n")
            subprocess.run(["/bin/bash", "load.sh"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT, env=environment)
            time.sleep(0.2)
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        err = process.stderr.read()
        if process.wait() != 0:
            raise RuntimeError(f"{name}: {err}")
        return "".join(out)
    finally:
        before.end()


def without(text, hide):
    """The text without lines, map entries and histograms that match the regular expression `hide`."""
    entry = re.compile(r"^(?:@\w*\[[^\]\n]*\n(?:[^\n]*\n)*?\]: \d+|@\w*(?:\[[^\n]*\])?:[ ]*\n(?:[\[(][^\n]*\|\n)+|[^\n]*)\n?", re.M)
    kept = [part for part in (m.group(0) for m in entry.finditer(text)) if not re.search(hide, part)]
    return "".join(kept)


def shortened(text, lines):
    """At most this many lines; the middle is left out."""
    all_lines = [line if len(line) <= WIDTH else line[:WIDTH - 1] + "…" for line in text.strip("\n").split("\n")]
    if len(all_lines) > lines + 1:
        first = lines // 3
        all_lines[first:len(all_lines) - (lines - first)] = ["[...]"]
    return "\n".join(line.rstrip() for line in all_lines) + "\n"


def make(acu, name, hide, lines, is_printed):
    page = pages.read(name)
    if page is None:
        raise RuntimeError(f"docs/tools/{name}.md does not have the format described in test/tools/pages.py")
    page["usage"] = usage(acu, name)
    load = page["load"] or ""
    folder = tempfile.mkdtemp(prefix="acu-example-")
    os.chmod(folder, 0o755)
    try:
        if load.startswith("python3 test/"):
            page["command"], text = by_test(acu, name, load, folder)
        else:
            text = by_load(acu, page["command"], load, folder)
    finally:
        shutil.rmtree(folder)
    text = re.sub(r"/tmp/acu-\w+-\w{8}", "/tmp/example", text)
    page["output"] = shortened(without(text, hide) if hide else text, lines)
    where = ", a virtual machine" if os.environ.get("ACU_TEST_SLOWNESS") else ""
    page["made"] = f"Linux {platform.release().split('-')[0]}, {os.cpu_count()} CPUs{where}."
    if is_printed:
        print(pages.text_of(name, page), end="")
    else:
        pages.write(name, page)


def write_list(acu):
    """Writes README.md: the list printed by `acu tools`, with links."""
    rows = subprocess.run([acu, "tools"], capture_output=True, text=True, check=True).stdout
    out = ("# Tools\n\nEach tool is a script built into the executable: `acu NAME` runs it, `acu NAME --help` explains it, `acu tools` lists them all.\n"
           "Each page has an example from a real load and explains how to read it. Parameters of a tool follow `--`; options of `acu run`, such\n"
           "as `-p PID`, `-c CMD`, `-f json` or `-o FILE`, come before it. `make.py` regenerates the examples.\n\n"
           "`acu NAME --explain` lists the columns, units and maps of a tool, `acu NAME --schema` prints a JSON Schema of its output with `-f json`.\n"
           "You can [write and add tools of your own](../own-tools.md).\n")
    for line in rows.split("\n"):
        found = re.match(r"  (\S+) +(.*)", line)
        if found:
            out += f"- [{found[1]}]({found[1]}.md): {found[2]}\n"
        elif line:
            out += f"\n{'## ' if not line.endswith(':') else ''}{line[0].upper()}{line[1:]}\n" + ("\n" if not line.endswith(":") else "")
    out += "\n[survey](survey.md) is the script behind `make run`.\n"
    with open(os.path.join(pages.FOLDER, "README.md"), "w") as file:
        file.write(out)


def main():
    words = sys.argv[1:]
    options = {"--hide": "", "--lines": "28"}
    for option in options:
        if option in words:
            at = words.index(option)
            options[option] = words[at + 1]
            del words[at:at + 2]
    is_printed, is_usage_only = "--print" in words, "--usage" in words
    words = [w for w in words if w not in ("--print", "--usage")]
    acu = os.path.abspath(words[0])
    failed = 0
    if not is_printed:
        write_list(acu)
    for name in words[1:] or pages.names():
        try:
            if is_usage_only:
                pages.write(name, dict(pages.read(name), usage=usage(acu, name)))
                continue
            make(acu, name, options["--hide"], int(options["--lines"]), is_printed)
            print(f"made {name}", file=sys.stderr, flush=True)
        except Exception as problem:
            failed += 1
            print(f"FAILED {name}: {problem}", file=sys.stderr, flush=True)
    return 1 if failed else 0


sys.exit(main())
